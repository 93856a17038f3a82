"""Generated headers and registrations are formatted: clang-format with the repository's style changes nothing.

The trees are those of the golden inputs and of our own operators. The exceptions are listed with their reasons.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.build import REPOSITORY
from support.goldens import GOLDENS
from support.inputs import aten_inputs
from support.trees import make_tree

FORMATTED = re.compile(
    r"include/.+\.h|src/(Register\w+|Operators\w*|TensorMethods\w*|Composite\w+)\.cpp"
)
# Files with text that is not wrapped as clang-format does it, by the line that tells them. Each is rare, and would take
# a parser of nested expressions to wrap.
EXCEPTIONS = {
    "the macro of an inner loop lists all element types": re.compile(r"_h_UFUNC_"),
    "the macro of a meta function for symbolic sizes": re.compile(
        r"_h_(PRECOMPUTE_)?META_\w+ +\\$"
    ),
    "the flags of many precomputed values": re.compile(r"^  template <bool .{81,}"),
    "a name that is longer than a line": re.compile(r"^ {8}\S{93,}$"),
    "the macros of selected element types": re.compile(r"^#define OPGEN_DISPATCH_TAG"),
    "guards and adapters name types of functions": re.compile(
        r"opgen::(Adapt|DeviceGuarded|DeviceChecked|FromFunctional|FunctionalFromOut|InplaceFromOut)<"
    ),
    "tables for PyTorch alone": re.compile(
        r"^OPGEN_LIBRARY_IMPL\(\w+, (Autograd|Functionalize|ADInplaceOrView)"
    ),
}


def goldens() -> dict[str, dict[str, str]]:
    """Return the trees of the golden inputs for the runtime."""
    runtime = [golden for golden in GOLDENS if golden.options.get("target") is None]
    return {golden.name: dict(golden.tree().files) for golden in runtime}


def own() -> dict[str, dict[str, str]]:
    """Return the tree of the repository's own operators."""
    inputs = aten_inputs((REPOSITORY / "native_functions.yaml",), name="aten")
    return {"own": dict(make_tree(inputs).files)}


@pytest.mark.parametrize("trees", [goldens, pytest.param(own, marks=pytest.mark.slow)])
def test_clang_format_changes_nothing(
    trees: Callable[[], dict[str, dict[str, str]]], tmp_path: Path
) -> None:
    if shutil.which("clang-format") is None:
        pytest.skip("clang-format is not installed")
    written = {
        tmp_path / name / path: text
        for name, tree in trees().items()
        for path, text in tree.items()
        if FORMATTED.fullmatch(path)
    }
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    style = f"--style=file:{REPOSITORY / '.clang-format'}"
    paths = list(map(str, written))
    for i in range(0, len(paths), 200):
        subprocess.run(["clang-format", "-i", style, *paths[i : i + 200]], check=True)
    changed = [path for path, text in written.items() if path.read_text() != text]
    unexpected = [path for path in changed if not excused(written[path])]
    assert not unexpected, "\n".join(first_difference(path, written[path]) for path in unexpected)
    assert len(changed) <= len(written) / 50, f"{len(changed)} of {len(written)} files"


def excused(text: str) -> bool:
    return any(
        pattern.search(line) for pattern in EXCEPTIONS.values() for line in text.splitlines()
    )


def first_difference(path: Path, text: str) -> str:
    pairs = zip(text.splitlines(), path.read_text().splitlines())
    old, new = next(((a, b) for a, b in pairs if a != b), ("", "more lines"))
    return f"{path}\n-{old}\n+{new}"
