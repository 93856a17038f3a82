"""Small inputs and the files generated from them: `trees/<feature>/input.yaml` becomes `trees/<feature>/expected.txt`.

For two inputs the whole tree is kept, for the others only the files that their feature changes (see
support/goldens.py). An unexpected file is as wrong as a missing one.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

from support.build import REPOSITORY
from support.goldens import COPIED, FOLDER, GOLDENS, Golden, check_format, read, snapshot

UPDATE = "OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_golden.py"
each_golden = pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)


@each_golden
def test_the_files_are_as_expected(golden: Golden) -> None:
    made = golden.kept()
    if os.environ.get("OPGEN_UPDATE_GOLDEN"):
        golden.expected.write_text(snapshot(made))
    difference = diff(read(golden.expected), made)
    assert not difference, f"{difference}\nIf this is intended: {UPDATE} -k '{golden.name}'"


def test_every_folder_has_an_input() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/expected.txt")}
    assert folders == {golden.name for golden in GOLDENS}, "a folder lacks one of its two files"


def test_whole_trees_are_kept_for_few_inputs() -> None:
    """A change of a file that every library has should rewrite few goldens."""
    assert {golden.name for golden in GOLDENS if "files" not in golden.options} == {
        "external_backend_extends",
        "structured_pointwise",
    }


def test_every_kind_of_generated_file_is_kept_somewhere() -> None:
    files = [item for golden in GOLDENS for item in golden.tree().files.items()]
    made = {kind(path) for path, text in files if text not in COPIED}
    kept = {kind(path) for golden in GOLDENS for path in read(golden.expected)}
    assert not made - kept


def test_generated_python_is_formatted() -> None:
    """Projects that commit it run black on all their files."""
    for golden in GOLDENS:
        check_format(golden.kept())


def test_the_modules_of_every_package_are_copied() -> None:
    made = {
        text
        for golden in GOLDENS
        if golden.options.get("python")
        for text in golden.tree().files.values()
    }
    modules = sorted(REPOSITORY.glob("runtime/python/package/**/*.py"))
    assert len(modules) > 20 and made.issuperset(path.read_text() for path in modules)


def kind(path: str) -> str:
    """Return the name of a file without the operator, the dispatch key and the number of its shard."""
    name = Path(path).name
    if "/ops/" in path:
        endings = ("_ops.h", "_native.h", "_meta.h", "_dispatch.h")
        return next((ending for ending in endings if name.endswith(ending)), "function header")
    stems = ("RegisterSchema", "RegisterBackendSelect", "Register", "Stubs", "NativeFunctions.h")
    stems += ("NativeMetaFunctions.h", "RedispatchFunctions.h", "Functions.h", "Operators")
    return next((stem for stem in (*stems, "TensorMethods", "module") if stem in name), name)


def diff(expected: dict[str, str], made: dict[str, str]) -> str:
    """Return a unified diff of two sets of files; empty if they are the same."""
    parts = []
    for path in sorted({*expected, *made}):
        old, new = expected.get(path), made.get(path)
        if old == new:
            continue
        if old is None:
            parts.append(f"{path} is generated, but not expected\n")
        elif new is None:
            parts.append(f"{path} is expected, but not generated\n")
        else:
            lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
            parts += difflib.unified_diff(*lines, f"{path} (expected)", f"{path} (generated)")
    return "".join(parts)
