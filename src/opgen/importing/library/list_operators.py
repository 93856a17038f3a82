"""Load libraries with PyTorch, and print their operators as JSON.

`python list_operators.py '{"libraries": [...], "namespaces": [...]}'`. opgen runs this program and does not import it:
it is the only code of opgen that imports PyTorch, and it imports nothing of opgen.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

# PyTorch prints `Tensor!` as `Tensor($0! -> )`, with an alias set that it generated.
_FRESH = re.compile(r"\(\$\d+(!?)(?: -> )?\)")


def main() -> None:
    """Print one line of JSON to stdout. Output of the libraries themselves goes to stderr."""
    request = json.loads(sys.argv[1])
    stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())
    torch: Any = importlib.import_module("torch")
    before = set(torch._C._dispatch_get_all_op_names())
    for library in request["libraries"]:
        _load(torch, library)
    names = set(torch._C._dispatch_get_all_op_names())
    namespaces = request["namespaces"] or sorted({_namespace(name) for name in names - before})
    selected = sorted(name for name in names if _namespace(name) in namespaces)
    listing = {"version": torch.__version__, "operators": _operators(torch, selected)}
    stdout.write(json.dumps(listing))
    stdout.write("\n")
    stdout.close()
    # Exit at once: libraries may hang or crash while they are unloaded.
    os._exit(0)


def _load(torch: Any, library: str) -> None:
    if os.path.exists(library) or library.endswith((".so", ".pyd", ".dll", ".dylib")):
        torch.ops.load_library(os.path.abspath(library))
    else:
        importlib.import_module(library)


def _namespace(name: str) -> str:
    return name.partition("::")[0]


def _operators(torch: Any, names: Iterable[str]) -> list[dict[str, Any]]:
    return [_operator(torch, name) for name in names]


def _operator(torch: Any, name: str) -> dict[str, Any]:
    base, _, overload = name.partition(".")
    try:
        schema = torch._C._get_schema(base, overload)
    except RuntimeError:
        # A kernel is registered, but no operator.
        return {"name": name, "schema": None, "tags": [], "dump": torch._C._dispatch_dump(name)}
    namespace, _, short = base.partition("::")
    packet = getattr(getattr(torch.ops, namespace), short)
    tags = [tag.name for tag in getattr(packet, overload or "default").tags]
    dump = torch._C._dispatch_dump(name)
    text = _FRESH.sub(r"\1", str(schema))
    return {
        "name": name,
        "schema": text,
        "is_same": _is_same(torch, text, schema),
        "tags": sorted(tags),
        "dump": dump,
    }


def _is_same(torch: Any, text: str, schema: Any) -> bool:
    """Return whether the printed schema parses as the same schema."""
    try:
        return bool(torch._C.parse_schema(text) == schema)
    except RuntimeError:
        return False


if __name__ == "__main__":
    main()
