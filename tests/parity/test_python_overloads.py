"""Which overload of a Python function is tried first: opgen's order is torchgen's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from loading import load_registry

from opgen.python.check import is_bound
from opgen.python.overloads import python_functions
from opgen.python.signatures import Spellings
from opgen.targets import TARGETS

HERE = Path(__file__).parent


def test_overloads_and_their_order(packaged: Path) -> None:
    """Protects calls that several overloads could take, and the merging of out variants.

    Every function and method of PyTorch's file has the same overloads, in the same order, each with
    the same signature and the same operator behind out=.
    """
    native = packaged / "native"
    files = [native / "native_functions.yaml", native / "tags.yaml"]
    script = [sys.executable, str(HERE / "torchgen_overloads.py"), *map(str, files)]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    theirs = {(m, module, name): found for m, module, name, found in json.loads(done.stdout)}

    target = TARGETS["torch"]
    spellings = Spellings(target.spelling, target.python)
    bound = [f for f in load_registry(native).functions if is_bound(f)]
    ours = {
        (one.method, one.module, one.name): [
            [
                o.signature.signature_str(spellings),
                str(o.base.func.name),
                None if o.out is None else str(o.out.func.name),
            ]
            for o in one.overloads
        ]
        for one in python_functions(bound, spellings)
    }
    assert ours.keys() == theirs.keys()
    assert {key: found for key, found in ours.items() if found != theirs[key]} == {}
    assert sum(len(found) > 1 for found in ours.values()) > 100
