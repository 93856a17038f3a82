"""What Python 3.10 lacks: typing_extensions is for it alone, as it takes 2 ms of every run."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from typing import assert_never, dataclass_transform
else:
    from typing_extensions import assert_never, dataclass_transform

__all__ = ["assert_never", "dataclass_transform"]
