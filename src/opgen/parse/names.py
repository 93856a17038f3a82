"""Names in messages, as parsers want them."""

from opgen.diagnostics.suggestions import Vocabulary, did_you_mean, shorten

__all__ = ["Vocabulary", "did_you_mean", "shorten"]
