"""Operators that do two steps in one."""

from . import _C as _C  # loads the library
from . import ops as ops
