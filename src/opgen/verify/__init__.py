"""Check that operators do what their schemas say: `opgen verify`, and in a test. See docs/guides/verify.md."""

from opgen.model.domains import Domain, away_from, between, one_of, positive
from opgen.verify.api import Report, replay, verify
from opgen.verify.runner.session import VerificationError

__all__ = [
    "Domain",
    "Report",
    "VerificationError",
    "away_from",
    "between",
    "one_of",
    "positive",
    "replay",
    "verify",
]
