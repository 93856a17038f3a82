"""Settings for all tests. The folder of this file is importable, so tests write `from support import build`."""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from support import library
from support.build import cache_folder
from support.figures import pytest_terminal_summary
from support.sampling import keep_sample

__all__ = ["pytest_terminal_summary"]

# Files of the slow tests that take a minute or more, the longest first. pytest-xdist starts files in the order of their
# tests here: a long file that started last would run alone.
_LONGEST = (
    *("test_python_numerics", "test_operators", "test_gradients", "test_guides", "test_op_db"),
    *("test_torch_library", "test_new_package", "test_get_started", "test_torch_aten"),
    *("test_torch_gradients", "test_runtime_tests", "test_privateuse1_example"),
    *("test_torch_target", "test_torch_symbolic", "test_formula_stubs", "test_stub_checkers"),
    *("test_seeded_defects", "test_torch_derived", "test_installed_runtime", "test_train_example"),
    *("test_adopt_example", "test_compared_with_torch", "test_torch_backend", "test_readme"),
)

# Python compiles each module of opgen once, not in each of the thousands of processes that the tests start; the checkout
# stays clean.
sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(cache_folder() / "bytecode")
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Builds of users' projects share what they compile of opgen among themselves, and leave the user's own cache alone.
os.environ["OPGEN_CACHE_DIR"] = str(cache_folder() / "compiled-parts")
os.environ.pop("OPGEN_CACHE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--whole", action="store_true", help="run all slow tests, not this commit's share"
    )
    parser.addoption(
        "--changed",
        metavar="BASE",
        help="run all tests of the operators, and of the files of tests, that changed since this commit",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long files first, then files of many tests. Leave out the nightly tests unless the expression of `-m` names
    them: some are slow tests' largest cases, which `-m slow` would select.
    """
    counts = Counter(item.path for item in items)
    places = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(
        key=lambda item: (places.get(item.path.stem, len(places)), -counts[item.path], item.path)
    )
    is_named = any("::" in argument for argument in config.args)
    if not config.option.whole and not is_named:
        named = {Path(argument).resolve() for argument in config.args}
        items[:], left = keep_sample(items, config.option.changed, named)
        config.hook.pytest_deselected(items=left)
    if "nightly" in config.option.markexpr:
        return
    nightly = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=nightly)
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Choose the library of the repository's own operators: all of them only if a test needs them."""
    if not any(item.get_closest_marker("whole_library") for item in session.items):
        library.use_slice()
