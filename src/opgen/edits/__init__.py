"""Edits of source texts: the fixes of diagnostics applied, and entries put into the usual layout."""

from opgen.edits.apply import apply_edits, encode_like, unified_diff
from opgen.edits.fixing import MAX_FIXES, Fixed, fix_all
from opgen.edits.formatter import format_contents, format_entries
from opgen.edits.formatting import format_all

__all__ = [
    "MAX_FIXES",
    "Fixed",
    "apply_edits",
    "encode_like",
    "fix_all",
    "format_all",
    "format_contents",
    "format_entries",
    "unified_diff",
]
