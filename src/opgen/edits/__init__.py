"""Edit source texts: apply the fixes of diagnostics, and format entries."""

from opgen.edits.apply import apply_edits, encode_like
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
]
