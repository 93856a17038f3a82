"""Operators that do two steps in one."""

import torch as torch  # its libraries, which ours is linked to

from . import _C as _C  # loads the library
from . import ops as ops
