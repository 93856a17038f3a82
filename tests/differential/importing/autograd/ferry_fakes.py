"""The fake kernel of an operator of ferry.cpp, which says that it is in this module."""

from __future__ import annotations

import torch


@torch.library.register_fake("ferry::raw", allow_override=True)
def raw(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape)
