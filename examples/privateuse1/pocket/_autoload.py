"""The entry point `torch.backends`: what PyTorch imports and calls at the end of `import torch`.

It is a module of its own: PyTorch asks for it also while `import pocket` is under way and waits for `import torch`.
"""

from __future__ import annotations


def load() -> None:
    """Nothing is left to do: to import this module, Python has imported `pocket`."""
