"""Fused operators."""

import torch as torch  # load its libraries first, because ours is linked with them

from . import _C as _C  # loads the library
from . import ops as ops
