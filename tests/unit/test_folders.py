"""Folders of the sources stay small, and each module is in the folder that it belongs to."""

from __future__ import annotations

import pytest

from support.build import REPOSITORY

MOST = 35


@pytest.mark.parametrize(
    "top", ["src/opgen", "runtime/include", "runtime/src", "runtime/torch", "runtime/python"]
)
def test_a_folder_has_few_files(top: str) -> None:
    """Protects readers: a flat folder of 60 or 90 files has no order in which to read it."""
    folders = [REPOSITORY / top, *(p for p in (REPOSITORY / top).rglob("*") if p.is_dir())]
    sizes = {
        str(folder.relative_to(REPOSITORY)): sum(
            path.suffix in (".py", ".h", ".cpp") for path in folder.iterdir()
        )
        for folder in folders
    }
    assert max(sizes.values()) > 5
    assert not {name: size for name, size in sizes.items() if size > MOST}


def test_no_module_is_outside_of_a_package() -> None:
    """A new module at the top belongs into one of the packages, which lint-imports keeps in order."""
    loose = {path.name for path in (REPOSITORY / "src/opgen").glob("*.py")}
    assert loose == {"__init__.py", "__main__.py", "api.py", "edits.py"}
