"""The stages in their order: files in, a Registry or a tree of texts out.

`load` is parse and resolve; `build_tree` goes on through views and render. Between stages the road
ends if there are errors; from views onward a failure is a bug in opgen.

All but `Inputs` is imported when it is first used: checking a file needs no views, and a run that finds
its stamp (`stamp.py`) needs no stage at all.
"""

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from opgen.pipeline.inputs import Inputs, input_files, schema_files

if TYPE_CHECKING:
    from opgen.pipeline.answers import (
        SCHEMAS,
        dump,
        explain,
        explain_all_codes,
        explain_code,
        json_schema,
        selection_list,
        skeletons,
        summarize,
    )
    from opgen.pipeline.checking import (
        check_target,
        read_additions,
    )
    from opgen.pipeline.checking_python import check_python
    from opgen.pipeline.codes import CODES
    from opgen.pipeline.comparing import Comparison, compare
    from opgen.pipeline.coverage import CoverageReport, report_coverage
    from opgen.pipeline.declared import declared_tags
    from opgen.pipeline.editing import edited_tree
    from opgen.pipeline.generating import build_tree
    from opgen.pipeline.importing import import_operators
    from opgen.pipeline.installed import installed_package, installed_schema
    from opgen.pipeline.linting import inspect, lint, survey
    from opgen.pipeline.loading import load, misplaced_blanks
    from opgen.pipeline.stamp import find_stamp, leave_stamp, read_request
    from opgen.pipeline.starting import new_package
    from opgen.pipeline.world import check_world

__all__ = [
    "CODES",
    "SCHEMAS",
    "Comparison",
    "CoverageReport",
    "Inputs",
    "build_tree",
    "check_python",
    "check_target",
    "check_world",
    "compare",
    "declared_tags",
    "dump",
    "edited_tree",
    "explain",
    "explain_all_codes",
    "explain_code",
    "find_stamp",
    "import_operators",
    "input_files",
    "inspect",
    "installed_package",
    "installed_schema",
    "json_schema",
    "leave_stamp",
    "lint",
    "load",
    "misplaced_blanks",
    "new_package",
    "read_additions",
    "read_request",
    "report_coverage",
    "schema_files",
    "selection_list",
    "skeletons",
    "summarize",
    "survey",
]

# The module of each name.
_LATER: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("SCHEMAS", "dump", "explain", "explain_all_codes"), "answers"),
        **dict.fromkeys(("explain_code", "json_schema", "skeletons", "summarize"), "answers"),
        "selection_list": "answers",
        **dict.fromkeys(("check_target", "read_additions"), "checking"),
        "check_python": "checking_python",
        **dict.fromkeys(("inspect", "lint", "survey"), "linting"),
        **dict.fromkeys(("CoverageReport", "report_coverage"), "coverage"),
        **dict.fromkeys(("installed_package", "installed_schema"), "installed"),
        **dict.fromkeys(("Comparison", "compare"), "comparing"),
        **dict.fromkeys(("load", "misplaced_blanks"), "loading"),
        **dict.fromkeys(("find_stamp", "leave_stamp", "read_request"), "stamp"),
        "CODES": "codes",
        "build_tree": "generating",
        "check_world": "world",
        "declared_tags": "declared",
        "edited_tree": "editing",
        "import_operators": "importing",
        "new_package": "starting",
    }
)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'opgen.pipeline' has no attribute '{name}'")
    return getattr(importlib.import_module(f"opgen.pipeline.{_LATER[name]}"), name)
