"""Load stable_calls.cpp's library and both libraries of operators, and make the calls.

python stable_calls.py CALLS.so PACKAGE/LIBRARY.so BY_HAND.so MODE [count]

MODE: `usual`, `inference`, `constant`, for which the package has `non_differentiable` arguments, or `recorded`, for which it
is that of stable_recorded.yaml (see calls.h).
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from pathlib import Path


def main() -> int:
    calls, library, by_hand, mode, *count = sys.argv[1:]
    package = Path(library).parent
    sys.path.insert(0, str(package.parent))
    importlib.import_module(package.name)
    texts = [text.encode() for text in ("calls", library, by_hand, mode, *count)]
    arguments = (ctypes.c_char_p * len(texts))(*texts)
    # A PyDLL keeps the lock of the interpreter, as a call from Python does until it reaches the operator.
    return ctypes.PyDLL(calls).run_calls(len(texts), arguments, mode.encode())


sys.exit(main())
