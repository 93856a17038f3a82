"""Which overload of a Python function is tried first: opgen's order is torchgen's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loading import load_registry

from opgen.cpp.names import operator_struct_name
from opgen.python.check import is_bound
from opgen.python.signatures import Spellings, python_functions
from opgen.targets import TARGETS
from support.inputs import aten_inputs
from support.trees import make_tree

HERE = Path(__file__).parent


def overloads_of_torchgen(packaged: Path) -> list[Any]:
    files = [packaged / "native" / name for name in ("native_functions.yaml", "tags.yaml")]
    script = [sys.executable, str(HERE / "torchgen_overloads.py"), *map(str, files)]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    return list(json.loads(done.stdout))


def test_overloads_and_their_order(source: Path) -> None:
    """Protects calls that fit several overloads, and the merging of out variants.

    Every function and method of PyTorch's file has the same overloads, in the same order, each with the same signature
    and the same operator for out=.
    """
    theirs = {(m, module, name): found for m, module, name, found in overloads_of_torchgen(source)}

    target = TARGETS["torch"]
    spellings = Spellings(target.cpp.spelling, target.python)
    bound = [f for f in load_registry(source / "native").functions if is_bound(f)]
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
    assert sum(len(found) > 1 for found in ours.values()) > len(ours) / 30


@pytest.mark.slow
def test_the_operators_that_a_module_calls(packaged: Path) -> None:
    """Protects the final selection: the operators in the module's rows are those that torchgen binds.

    Exceptions are an operator that takes a Stream, for which Python has no object, and those that PyTorch binds by
    hand and for which opgen makes a row.
    """
    native = packaged / "native"
    theirs = {
        name
        for *_, overloads in overloads_of_torchgen(packaged)
        for _, *operators in overloads
        for name in operators
        if name is not None
    }
    assert len(theirs) == 2298
    structs = {
        operator_struct_name(f.func): str(f.func.name) for f in load_registry(native).functions
    }
    module = make_tree(aten_inputs((native / "native_functions.yaml",)), python=True).files[
        "python/module.cpp"
    ]
    ours = {structs[name] for name in re.findall(r"&at::_ops::(\w+)::slot", module)}
    assert theirs - ours == {"record_stream"}
    by_hand = {"contiguous", "copy_", "nonzero", "nonzero.out", "nonzero_numpy"}
    by_hand |= {"to.device", "to.dtype", "to.dtype_layout", "to.other"}
    assert ours - theirs == by_hand
