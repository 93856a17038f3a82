"""Check that operators do what their schemas say: `opgen verify`, and in a test. See docs/guides/verify.md."""

from opgen.verify.api import Report, verify
from opgen.verify.runner.session import VerificationError

__all__ = ["Report", "VerificationError", "verify"]
