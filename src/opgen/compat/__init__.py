"""Compare two versions of a schema file, and find the changes that break users of the older one."""

from opgen.compat.breaks import Break, Direction, not_allowed, parse_allow_list
from opgen.compat.schema_rules import compare_operators

__all__ = [
    "Break",
    "Direction",
    "compare_operators",
    "not_allowed",
    "parse_allow_list",
]
