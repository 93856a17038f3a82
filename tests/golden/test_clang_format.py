"""Generated C++ is formatted: clang-format with the repository's style changes nothing.

The trees are those of our own operators, of the golden inputs for both targets, and of the libraries for PyTorch that
other tests build. The exceptions are listed with their reasons.
"""

from __future__ import annotations

import difflib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs
from support.build import REPOSITORY
from support.goldens import GOLDENS
from support.inputs import aten_inputs
from support.trees import make_tree

# Statements, rows of tables and macros that clang-format changes, by the reason. Each is rare.
EXCEPTIONS = {
    "the macro of an inner loop lists all element types": re.compile(r"^#define \w+_h_UFUNC_"),
    "the macro of a meta function for symbolic sizes has the author's parameters twice": re.compile(
        r"^#define \w+_h_(PRECOMPUTE_)?META_"
    ),
    "few other words fit into a line with the name": re.compile(r"\S{66,}"),
    "short rows would be in columns, so that one row would depend on its neighbours": re.compile(
        r"^    (opgen::kernel\(\S+\),|\{\.name = [^\n]*\},)$"
    ),
    "the best line end in a template within a template depends on all arguments of both": re.compile(
        r"opgen::(Adapt|Device\w+|From\w+|FunctionalFrom\w+|InplaceFrom\w+|Existing)<"
        r"|opgen::(Functionalize|FunctionalTwin|WriterTwin|DecomposeToWriter)<|static_cast<"
    ),
    "a conditional expression as an argument": re.compile(r" \? ::std::make_optional\("),
}


def goldens() -> dict[str, dict[str, str]]:
    """Return the trees of the golden inputs, for both targets."""
    found = {}
    for golden in GOLDENS:
        found[golden.name] = dict(golden.tree().files)
        inputs = replace(golden.inputs(), target="torch", namespace="mylib")
        tree = build_tree(inputs, Diagnostics())
        if tree is not None:
            found[f"{golden.name}_torch"] = dict(tree.files)
    return found


def libraries() -> dict[str, dict[str, str]]:
    """Return the trees of the repository's own operators, and of libraries for PyTorch."""
    own = aten_inputs((REPOSITORY / "native_functions.yaml",), name="aten")
    found = {"own": dict(make_tree(own, python=True, shards=3).files)}
    run = REPOSITORY / "tests" / "integration" / "run"
    for yaml in ("torch_library/forms.yaml", "torch_everyday/native_functions.yaml"):
        tree = build_tree(Inputs((run / yaml,), target="torch", python=True), Diagnostics())
        assert tree is not None
        found[yaml] = dict(tree.files)
    return found


@pytest.mark.parametrize("trees", [goldens, pytest.param(libraries, marks=pytest.mark.slow)])
def test_clang_format_changes_nothing(
    trees: Callable[[], dict[str, dict[str, str]]], tmp_path: Path
) -> None:
    if shutil.which("clang-format") is None:
        pytest.skip("clang-format is not installed")
    written = {
        tmp_path / name / path: text
        for name, tree in trees().items()
        for path, text in tree.items()
        if path.endswith((".h", ".cpp"))
    }
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    style = f"--style=file:{REPOSITORY / '.clang-format'}"
    paths = list(map(str, written))
    for i in range(0, len(paths), 200):
        subprocess.run(["clang-format", "-i", style, *paths[i : i + 200]], check=True)
    changed = {path: text for path, text in written.items() if path.read_text() != text}
    unexpected = [line for path, text in changed.items() for line in unexcused(path, text)]
    assert not unexpected, "\n".join(unexpected[:40])
    assert {"include", "src", "stubs", "python"} <= {kind(path, tmp_path) for path in written}
    assert len(changed) <= len(written) / 50, f"{len(changed)} of {len(written)} files"


def kind(path: Path, folder: Path) -> str:
    """The folder of a tree that a file is in."""
    return next(name for name in path.relative_to(folder).parts if name in FOLDERS)


FOLDERS = ("include", "src", "stubs", "python")


def unexcused(path: Path, text: str) -> Iterator[str]:
    """Yield the statements that clang-format changed and for which no exception is listed."""
    old, new = text.splitlines(), path.read_text().splitlines()
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        found = statement(old, start, end)
        if tag != "equal" and not any(one.search(found) for one in EXCEPTIONS.values()):
            yield f"{path}:{start + 1}: {found}"


def statement(lines: list[str], start: int, end: int) -> str:
    """The whole statement, row of a table or macro around some lines."""
    while start > 0 and not begins(lines[start], lines[start - 1]):
        start -= 1
    while end < len(lines) and not begins(lines[end], lines[end - 1]):
        end += 1
    return "\n".join(lines[start:end])


def begins(line: str, above: str) -> bool:
    indent = len(line) - len(line.lstrip())
    if line.startswith("#"):
        return True
    return not above.endswith("\\") and indent <= 4 and (not above or above[-1] in ";{},")
