"""Check that operators do what their schemas say: `opgen verify`, and in a test. See docs/guides/verify.md."""

from importlib.util import find_spec

if find_spec("hypothesis") is None or find_spec("numpy") is None:
    raise ImportError(
        "opgen verify needs hypothesis and numpy: pip install 'hypothesis>=6.100' 'numpy>=1.24'"
    )

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
