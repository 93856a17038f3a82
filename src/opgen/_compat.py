"""Functions that Python 3.10 lacks. Only 3.10 imports typing_extensions, which takes 2 ms."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from typing import assert_never
else:
    from typing_extensions import assert_never

__all__ = ["assert_never"]
