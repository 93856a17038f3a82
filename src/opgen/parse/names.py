"""Names in messages, as parsers want them."""

from opgen.diagnostics.suggestions import did_you_mean, nearest, shorten

__all__ = ["did_you_mean", "nearest", "shorten"]
