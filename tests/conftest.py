"""For all tests: the folder of this file is importable, so that they can say `from support import build`."""

from support.figures import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

# What `opgen new` makes has tests of its own, of a package that is not here.
collect_ignore = ["golden/new_package"]
