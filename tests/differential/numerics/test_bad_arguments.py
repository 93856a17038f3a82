"""Invalid arguments, one at a time, for every operator of native_functions.yaml: each is rejected with an error that
names it.

Protects memory (nothing is read or written out of bounds) and the reader of the message, which says which operator was
called with which arguments. A new operator is tested without a line here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from differential.numerics.constraints import CONSTRAINTS
from differential.numerics.draw import Draw, Refused
from differential.numerics.driver import Library, OperatorError, TensorResult
from differential.numerics.spoil import Spoilt, spoilt, spoilt_out
from differential.numerics.values import (
    BY_NAME,
    FLOAT32,
    TensorValue,
    Value,
    contiguous_strides,
    elements,
)
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction
from support.library import own_registry
from support.selection import each

FUNCTIONS = {str(function.func.name): function for function in own_registry().functions}
# Valid inputs per operator from which invalid ones are made.
INPUTS = 4
DRAWS = 60

# "operator:kind", or "operator:kind:argument": valid although the name suggests otherwise, and why.
FINE: dict[str, str] = {
    "copy:device": "copies between devices",
    "to:device": "reads only the device of another tensor",
    "_to_copy:dtype of the result": "converts",
    "is_same_size:device": "looks at sizes only",
    "result_type:device": "looks at dtypes only",
    "resize_as:device": "takes the sizes of another tensor only",
    "reshape_as:device": "as resize_as",
    "view_as:device": "as resize_as",
    "expand_as:device": "as resize_as",
    "slice_inverse:device": "takes the sizes of another tensor only",
    "gather_backward:device:self": "takes the sizes of another tensor only",
    "masked_select_backward:device:input": "takes the sizes of another tensor only",
    "slice_scatter:device:self": "copies src to another device",
    "empty:dtype of the result": "the out argument determines the dtype",
    "zeros:dtype of the result": "as empty",
    "ones:dtype of the result": "as empty",
    "full:dtype of the result": "as empty",
    "eye:dtype of the result": "as empty",
    "linspace:dtype of the result": "as empty",
    "empty_strided:dtype of the result": "as empty",
    "scalar_tensor:dtype of the result": "as empty",
    "empty_like:dtype of the result": "as empty",
    "zeros_like:dtype of the result": "as empty",
    "ones_like:dtype of the result": "as empty",
    "full_like:dtype of the result": "as empty",
    "new_empty:dtype of the result": "as empty",
    "new_zeros:dtype of the result": "as empty",
    "new_ones:dtype of the result": "as empty",
    "new_full:dtype of the result": "as empty",
    "bernoulli:dtype of the result": "draws zeros and ones, which every dtype has",
    "sum:dtype of the result": "without a dtype the sum has that of the out argument",
    "prod:dtype of the result": "as sum",
    "nansum:dtype of the result": "as sum",
    "logspace:dtype of the result": "as empty",
    "tile:dimension": "dims are numbers of copies",
    "tensor_split:device:self": "reads the numbers of tensor_indices_or_sections, on the CPU",
    "diagonal_scatter:device:self": "as slice_scatter",
    "select_scatter:device:self": "as slice_scatter",
}


def good_inputs(name: str, library: Library) -> Iterator[dict[str, Value]]:
    """Return inputs without out arguments that the operator's functional form accepts."""
    schema = FUNCTIONS[name].func
    found = 0
    for dtype in (FLOAT32, BY_NAME["int64"], BY_NAME["bool"]):
        for seed in range(DRAWS):
            try:
                draw = Draw(schema, dtype, seed, CONSTRAINTS)
                arguments = draw.all()
            except Refused:
                continue
            if schema.kind() != SchemaKind.out:
                try:
                    library.call(f"aten::{name}", arguments)
                except OperatorError:
                    continue
            yield arguments
            found += 1
            if found == INPUTS:
                return
        if found:
            return


def outs(
    function: NativeFunction, arguments: dict[str, Value], library: Library
) -> dict[str, TensorValue] | None:
    """Return out arguments with the shape and dtype of the functional form's results."""
    group = FUNCTIONAL_OF.get(str(function.func.name))
    if group is None:
        return None
    try:
        results = library.call(f"aten::{group}", arguments)
    except OperatorError:
        return None
    tensors = [result for result in results if isinstance(result, TensorResult)]
    names = [argument.name for argument in function.func.arguments.out]
    if len(tensors) != len(names):
        return None
    return {
        each: TensorValue(
            t.dtype,
            t.sizes,
            contiguous_strides(t.sizes),
            0,
            bytes(t.dtype.itemsize * max(1, elements(t.sizes))),
        )
        for each, t in zip(names, tensors)
    }


FUNCTIONAL_OF = {
    str(group.out.func.name): str(group.functional.func.name)
    for group in own_registry().groups
    if group.out is not None and group.functional is not None
}


def is_fine(name: str, bad: Spoilt) -> bool:
    base = name.partition(".")[0].rstrip("_")
    keys = (f"{each}:{bad.kind}" for each in (name, base))
    return any(key in FINE or f"{key}:{bad.argument}" in FINE for key in keys)


@each("name", FUNCTIONS)
def test_invalid_arguments_are_rejected_by_name(
    name: str, library: Library, record_property: Callable[[str, object], None]
) -> None:
    function = FUNCTIONS[name]
    refused: Counter[str] = Counter()
    wrong: list[str] = []
    for good in good_inputs(name, library):
        given: dict[str, Value] = dict(good)
        cases = list(spoilt(function.func, good))
        if function.func.kind() == SchemaKind.out:
            right = outs(function, good, library)
            if right is None:
                continue
            given |= right
            for out, value in right.items():
                cases += spoilt_out(out, value)
        for bad in cases:
            if is_fine(name, bad):
                continue
            handles = {key: library.make(value) for key, value in given.items()}
            handles[bad.argument] = library.make(bad.value, bad.device)
            try:
                library.call_handles(f"aten::{name}", handles)
            except OperatorError as error:
                said = str(error)
                if f"aten::{name}" not in said or bad.argument not in said:
                    wrong.append(f"{bad.kind} ({bad.argument}): {said}")
                refused[bad.kind] += 1
            else:
                wrong.append(f"{bad.kind}: accepted {bad.argument} = {bad.value} with {good}")
    for kind, count in refused.items():
        record_property(f"bad arguments refused: {kind}", count)
    assert not wrong, "\n".join(wrong[:6])


def test_outputs_may_not_share_memory(library: Library) -> None:
    """Otherwise the values written to one output would be overwritten through the other."""
    one = library.make(np.zeros(3, np.int64))
    arguments = {"self": library.make(np.arange(6).reshape(2, 3)), "dim": library.make(0)}
    with pytest.raises(OperatorError, match=r"share memory\n  in aten::max\.dim_max\(self = "):
        library.call_handles("aten::max.dim_max", {**arguments, "max": one, "max_values": one})
