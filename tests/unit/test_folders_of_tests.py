"""No folder of tests hides a module: pytest puts the folder of every test module on Python's path."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_no_folder_hides_a_library() -> None:
    """Without torch installed, a folder `torch` would be imported as the module, and tests that need torch would run."""
    on_the_path = {path.parent for path in TESTS.rglob("test_*.py")}
    names = {entry.name for folder in on_the_path for entry in folder.iterdir() if entry.is_dir()}
    assert "torch_target" in names
    assert not names & {"torch", "torchgen", "numpy", "jinja2", "yaml", "click", "opgen"}
