"""Run with the library's path: shows its functions on libtorch."""

from __future__ import annotations

import sys

import show
import torch

torch.ops.load_library(sys.argv[1])
show.show(torch.ops.functions, torch.tensor)
