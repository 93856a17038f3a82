"""Check every formula of a derivatives.yaml against finite differences, in a few lines of a test.

See docs/guides/gradients.md.
"""

from opgen.gradtest.drawing import Draw
from opgen.gradtest.gradient import Gradient, Report, gradients
from opgen.model.domains import Domain, away_from, between, one_of, positive

__all__ = [
    "Domain",
    "Draw",
    "Gradient",
    "Report",
    "away_from",
    "between",
    "gradients",
    "one_of",
    "positive",
]
