"""Names in messages, as parsers want them."""

from opgen.diagnostics.suggestions import did_you_mean, meant, shorten

__all__ = ["did_you_mean", "meant", "shorten"]
