"""The stages in their order: files in, a Registry or a tree of texts out.

`load` is parse and resolve; `build_tree` goes on through views and render. Between stages the road
ends if there are errors; from views onward a failure is a bug in opgen.

What needs the views is imported when it is first used: checking a file, the commonest run, needs none.
"""

import importlib
from typing import TYPE_CHECKING, Any

from opgen.pipeline.checking import (
    check_python,
    check_target,
    inspect,
    lint,
    read_additions,
    survey,
)
from opgen.pipeline.codes import CODES
from opgen.pipeline.inputs import Inputs, declared_tags, input_files, schema_files
from opgen.pipeline.loading import load, load_or_raise, misplaced_blanks

if TYPE_CHECKING:
    from opgen.pipeline.answers import (
        SCHEMAS,
        dump,
        explain,
        explain_all_codes,
        explain_code,
        json_schema,
        skeletons,
        summarize,
    )
    from opgen.pipeline.comparing import Comparison, compare
    from opgen.pipeline.generating import build_tree

__all__ = [
    "CODES",
    "SCHEMAS",
    "Comparison",
    "Inputs",
    "build_tree",
    "check_python",
    "check_target",
    "compare",
    "declared_tags",
    "dump",
    "explain",
    "explain_all_codes",
    "explain_code",
    "input_files",
    "inspect",
    "json_schema",
    "lint",
    "load",
    "load_or_raise",
    "misplaced_blanks",
    "read_additions",
    "schema_files",
    "skeletons",
    "summarize",
    "survey",
]

_LATER = {
    **dict.fromkeys(("SCHEMAS", "dump", "explain", "explain_all_codes"), "answers"),
    **dict.fromkeys(("explain_code", "json_schema", "skeletons", "summarize"), "answers"),
    **dict.fromkeys(("Comparison", "compare"), "comparing"),
    "build_tree": "generating",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'opgen.pipeline' has no attribute '{name}'")
    return getattr(importlib.import_module(f"opgen.pipeline.{_LATER[name]}"), name)
