"""Print the results of a library's functions on libtorch; the argument is the library's path."""

from __future__ import annotations

import sys

import show
import torch

torch.ops.load_library(sys.argv[1])
show.show(torch.ops.functions, torch.tensor)
