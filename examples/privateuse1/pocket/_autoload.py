"""The entry point `torch.backends`: PyTorch imports it and calls `load` at the end of `import torch`.

It is a separate module because PyTorch also imports it while `import pocket` is waiting for `import torch`.
"""

from __future__ import annotations


def load() -> None:
    """Do nothing: importing this module has already imported `pocket`."""
