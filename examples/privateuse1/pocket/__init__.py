"""The device "pocket" for PyTorch: `import pocket`, then torch.ones(2, device="pocket").

The library is $POCKET_LIBRARY, or libpocket.so in the folder of this file. This module is also `torch.pocket`, which
PyTorch uses to query devices. If the package is installed, `import torch` imports it (_autoload.py).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

torch.ops.load_library(os.environ.get("POCKET_LIBRARY") or Path(__file__).with_name("libpocket.so"))
torch.utils.rename_privateuse1_backend("pocket")


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def _lazy_init() -> None:
    """Do nothing: the device needs no initialisation."""


def _is_in_bad_fork() -> bool:
    return False


def device_count() -> int:
    return torch.ops.pocket.device_count()


def current_device() -> int:
    return torch.ops.pocket.current_device()


def set_device(device: int | str | torch.device) -> None:
    torch.ops.pocket.set_device(_index(device))


class device:
    """`with torch.pocket.device(1):` makes device 1 the default for tensors without a device index."""

    def __init__(self, device: int | str | torch.device):
        self.index = _index(device)

    def __enter__(self) -> None:
        self.before = current_device()
        set_device(self.index)

    def __exit__(self, *_: object) -> None:
        set_device(self.before)


def synchronize(device: int | str | torch.device | None = None) -> None:
    """Do nothing: each kernel has finished when its launch returns."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: random numbers come from the CPU's generator, which torch.manual_seed seeds."""


def launches(device: int | str | torch.device = 0) -> int:
    """Return the number of kernels that have run on `device`."""
    return torch.ops.pocket.launches(_index(device))


def memory_allocated(device: int | str | torch.device = 0) -> int:
    """Return the number of bytes of `device` memory in use by tensors."""
    return torch.ops.pocket.memory_allocated(_index(device))


def fallbacks() -> dict[str, int]:
    """Return the operators that ran on the CPU since the last call, with the number of their calls."""
    return dict(torch.ops.pocket.fallbacks())


def _index(device: int | str | torch.device) -> int:
    if isinstance(device, int):
        return device
    index = torch.device(device).index
    return current_device() if index is None else index


torch._register_device_module("pocket", sys.modules[__name__])
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
