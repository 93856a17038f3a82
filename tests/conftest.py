"""Settings for all tests. The folder of this file is importable, so tests write `from support import build`."""

import os

import pytest

from support import library
from support.build import cache_folder
from support.figures import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

# The package that `opgen new` makes has tests of its own, which need that package installed.
collect_ignore = ["golden/new_package"]

# Builds of users' projects share what they compile of opgen among themselves, and leave the user's own cache alone.
os.environ["OPGEN_CACHE_DIR"] = str(cache_folder() / "compiled-parts")
os.environ.pop("OPGEN_CACHE", None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the nightly tests unless the expression of `-m` names them: some are slow tests' largest cases, which
    `-m slow` would select.
    """
    if "nightly" in config.option.markexpr:
        return
    nightly = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=nightly)
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Choose the library of the repository's own operators: all of them only if a test needs them."""
    if not any(item.get_closest_marker("whole_library") for item in session.items):
        library.use_slice()
