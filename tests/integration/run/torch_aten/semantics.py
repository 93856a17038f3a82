"""A table of the effects of out= and in-place, made by running ATen; our operators must have the same:

    semantics.py LIBRARY

Each case is run twice, on torch.ops.aten and on the generated slice of it, and everything that a caller sees is
compared: results, contents of tensors, version counters, warnings, and the exact errors.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import torch

Case = Callable[[Any], Any]
CASES: dict[str, Case] = {}
_PLACE = re.compile(r"^\[W[^\]]*\] ")


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def look(value: Any) -> Any:
    """Return a value as a caller sees it."""
    match value:
        case torch.Tensor():
            elements = (
                None
                if value.is_meta
                else torch.view_as_real(value).tolist() if value.is_complex() else value.tolist()
            )
            state = None if value.is_inference() else value._version
            return (
                str(value.dtype),
                tuple(value.shape),
                value.stride(),
                str(value.device),
                elements,
                state,
                value.requires_grad,
                value.is_leaf,
                value.is_conj(),
                value.is_neg(),
            )
        case tuple() | list():
            return tuple(map(look, value))
        case _:
            return value


def outcome(case: Case, ops: Any, namespace: str) -> Any:
    """Return the result of the case, with `namespace` removed from messages."""
    with standard_error() as said:
        torch.manual_seed(0)
        try:
            seen = ("result", look(case(ops)))
        except Exception as error:
            seen = ("error", type(error).__name__, first_line(str(error), namespace))
    return seen, tuple(first_line(_PLACE.sub("", line), namespace) for line in said)


@contextlib.contextmanager
def standard_error():
    """Return the lines written to standard error, where warnings of torch.ops go."""
    lines = []
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines.extend(file.read().decode().splitlines())


def first_line(text: str, namespace: str) -> str:
    return text.splitlines()[0].replace(f"{namespace}::", "") if text else text


def attempt(call: Callable[[], Any], *left: torch.Tensor, words: bool = True) -> Any:
    """Return the error of `call`, or its result, and the contents of the tensors. Without `words`, only the error's
    type is compared: ATen's own Meta is written in Python, with other messages.
    """
    try:
        result = call()
    except Exception as error:
        kind = type(error).__name__
        text = str(error).splitlines()[0].replace("slice::", "").replace("aten::", "")
        return kind, text if words else None, look(left)
    return [result is t for t in left], look(result), look(left)


A = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
B = torch.tensor([10.0, 20.0])
N = torch.tensor([[1, 2], [3, 4]])


# ---- out= of another shape ----


@case
def resize_with_a_warning(o):
    out = torch.zeros(3)
    return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def resize_of_an_empty_one_without(o):
    out = torch.zeros(0)
    return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def resize_to_nothing(o):
    out = torch.zeros(2, 2)
    return attempt(lambda: o.add.out(A[:0], B, out=out), out)


@case
def resize_of_gaps(o):
    out = torch.zeros(6)[::2]
    return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def resize_takes_the_strides_of_the_result(o):
    out = torch.zeros(0)
    return attempt(lambda: o.add.out(A.t(), A.t(), out=out), out)


@case
def resize_takes_a_memory_format(o):
    x, out = torch.randn(1, 2, 3, 3).to(memory_format=torch.channels_last), torch.zeros(0)
    return attempt(lambda: o.avg_pool2d.out(x, [2, 2], out=out), out)


@case
def strides_stay_if_sizes_do(o):
    out = torch.zeros(2, 2).t()
    return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def strides_stay_with_a_memory_format(o):
    x, out = torch.randn(1, 2, 3, 3).to(memory_format=torch.channels_last), torch.zeros(1, 2, 2, 2)
    return attempt(lambda: o.avg_pool2d.out(x, [2, 2], [1, 1], out=out), out)


@case
def resize_of_one_of_two(o):
    values, indices = torch.zeros(2), torch.zeros(5, dtype=torch.long)
    return attempt(lambda: o.max.dim_max(A, 1, max=values, max_values=indices), values, indices)


@case
def resize_of_a_matrix(o):
    out = torch.zeros(3, 3)
    return attempt(lambda: o.mm.out(A, A, out=out), out)


@case
def resize_of_a_view_of_more(o):
    memory = torch.zeros(8)
    return attempt(lambda: o.add.out(A, B, out=memory[:1]), memory)


@case
def resize_of_what_cannot_be(o):
    memory = torch.from_numpy(torch.zeros(2).numpy())
    return attempt(lambda: o.add.out(A, B, out=memory))


# ---- out= of another dtype ----


@case
def out_is_wider(o):
    out = torch.zeros(2, 2, dtype=torch.float64)
    return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def out_cannot_hold_fractions(o):
    out = torch.zeros(2, 2, dtype=torch.int64)
    return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def out_is_narrower(o):
    out = torch.zeros(2, 2, dtype=torch.int8)
    return attempt(lambda: o.add.out(N, N, out=out), out)


@case
def out_is_bool(o):
    out = torch.zeros(2, 2, dtype=torch.bool)
    return attempt(lambda: o.add.out(N, N, out=out), out)


@case
def out_is_real(o):
    out = torch.zeros(2, 2)
    return attempt(lambda: o.mul.out(A.to(torch.complex64), B, out=out), out)


@case
def out_of_a_quotient_is_integer(o):
    out = torch.zeros(2, 2, dtype=torch.int64)
    return attempt(lambda: o.div.out(N, N, out=out), out)


@case
def out_of_a_comparison(o):
    outs = [torch.zeros(2, 2, dtype=d) for d in (torch.bool, torch.float32, torch.uint8)]
    return [attempt(lambda out=out: o.eq.Tensor_out(A, B, out=out), out) for out in outs]


@case
def out_without_an_iterator(o):
    out = torch.zeros(2, 2, dtype=torch.float64)
    return attempt(lambda: o.mm.out(A, A, out=out), out)


@case
def out_of_indices(o):
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int32)
    return attempt(lambda: o.max.dim_max(A, 1, max=values, max_values=indices), values, indices)


@case
def out_of_a_sum_says_the_dtype(o):
    out = torch.zeros(2, dtype=torch.float64)
    return [
        attempt(lambda: o.sum.IntList_out(A, [1], out=out), out),
        attempt(lambda: o.sum.IntList_out(A, [1], dtype=torch.float32, out=out), out),
    ]


@case
def out_of_an_unstructured_one(o):
    out = torch.zeros(2, 2, dtype=torch.float64)
    return attempt(lambda: o.roll.out(A, [1], out=out), out)


@case
def resize_by_an_unstructured_one(o):
    out = torch.zeros(3)
    return attempt(lambda: o.roll.out(A, [1], out=out), out)


@case
def out_of_a_generated_one(o):
    outs = torch.zeros(3), torch.zeros(2, 2, dtype=torch.float64), torch.zeros(2, 2)
    return [attempt(lambda out=out: o.zero.out(A, out=out), out) for out in outs]


# ---- devices ----


@case
def out_is_on_meta(o):
    out = torch.zeros(2, 2, device="meta")
    return attempt(lambda: o.add.out(A, B, out=out), out, words=False)


@case
def out_is_on_meta_without_an_iterator(o):
    out = torch.zeros(2, 2, device="meta")
    return attempt(lambda: o.tril.out(A, out=out), out, words=False)


@case
def out_of_a_generated_one_is_on_meta(o):
    out = torch.zeros(2, 2, device="meta")
    return attempt(lambda: o.zero.out(A, out=out), out, words=False)


@case
def one_of_two_is_on_meta(o):
    return attempt(lambda: o.add.Tensor(A, B.to("meta")), words=False)


@case
def a_number_may_be_elsewhere(o):
    return attempt(lambda: o.add.Tensor(A.to("meta"), torch.tensor(2.0)), words=False)


@case
def inputs_are_on_meta_and_out_is_not(o):
    out = torch.zeros(2, 2)
    return attempt(lambda: o.add.out(A.to("meta"), B.to("meta"), out=out), out, words=False)


@case
def matrices_are_on_meta_and_out_is_not(o):
    out = torch.zeros(2, 2)
    return attempt(lambda: o.tril.out(A.to("meta"), out=out), out, words=False)


# ---- overlap ----


@case
def out_overlaps_itself(o):
    return attempt(lambda: o.add.out(A, B, out=torch.zeros(2).expand(2, 2)))


@case
def out_overlaps_itself_without_an_iterator(o):
    return attempt(lambda: o.gather.out(A, 0, N - 1, out=torch.zeros(2).expand(2, 2)))


@case
def out_is_an_input(o):
    x = A.clone()
    return attempt(lambda: o.add.out(x, x, out=x), x)


@case
def out_overlaps_an_input_in_part(o):
    memory = torch.arange(6.0)
    return attempt(lambda: o.add.out(memory[:4], memory[2:], out=memory[1:5]), memory)


@case
def out_is_an_input_turned(o):
    x = A.clone()
    return attempt(lambda: o.add.out(x, B, out=x.t()), x)


@case
def out_interleaves_with_an_input(o):
    memory = torch.arange(8.0)
    return attempt(lambda: o.add.out(memory[::2], B.repeat(2), out=memory[1::2]), memory)


@case
def two_outs_overlap(o):
    x = torch.zeros(2, dtype=torch.long)
    return attempt(lambda: o.max.dim_max(N, 1, max=x, max_values=x), x)


@case
def out_is_a_matrix_multiplied(o):
    x = A.clone()
    return attempt(lambda: o.tril.out(x, out=x), x)


@case
def in_place_overlaps_itself(o):
    x = torch.zeros(2).expand(2, 2)
    return attempt(lambda: o.add_.Tensor(x, A), x)


@case
def in_place_overlaps_the_other_in_part(o):
    memory = torch.arange(6.0)
    return attempt(lambda: o.mul_.Tensor(memory[1:5], memory[:4]), memory)


@case
def in_place_with_itself_turned(o):
    x = A.clone()
    return attempt(lambda: o.mul_.Tensor(x, x.t()), x)


# ---- in-place ----


@case
def in_place_to_a_larger_shape(o):
    x = B.clone()
    return attempt(lambda: o.add_.Tensor(x, A), x)


@case
def in_place_to_more_dimensions(o):
    x = torch.zeros(1, 2)
    return attempt(lambda: o.mul_.Tensor(x, torch.zeros(1, 1, 2)), x)


@case
def in_place_to_a_larger_shape_without_an_iterator(o):
    x = B.clone()
    return attempt(lambda: o.addmm_.default(x, A, A), x)


@case
def in_place_cannot_hold_fractions(o):
    x = N.clone()
    return attempt(lambda: o.add_.Tensor(x, A), x)


@case
def in_place_of_a_quotient_of_integers(o):
    x = N.clone()
    return attempt(lambda: o.div_.Tensor(x, N), x)


@case
def in_place_float_function_of_integers(o):
    x = N.clone()
    return attempt(lambda: o.sqrt_.default(x), x)


@case
def in_place_comparison_keeps_the_dtype(o):
    x = A.clone()
    return attempt(lambda: o.eq_.Tensor(x, B), x)


@case
def in_place_without_an_iterator_of_another_dtype(o):
    x = A.clone()
    return attempt(lambda: o.addmm_.default(x, A.double(), A.double()), x)


@case
def in_place_running_sum_of_another_dtype(o):
    x = N.clone()
    return attempt(lambda: o.cumsum_.default(x, 0, dtype=torch.float32), x)


@case
def in_place_in_other_strides(o):
    x = torch.zeros(2, 2).t()
    return attempt(lambda: o.tril_.default(x.add_(1)), x)


@case
def in_place_on_meta(o):
    x = A.to("meta")
    return [
        attempt(lambda: o.add_.Tensor(x, B.to("meta")), x),
        attempt(lambda: o.add_.Tensor(x[0], x), x, words=False),
    ]


@case
def in_place_of_a_small_float_by_a_number(o):
    x = A.half()
    return attempt(lambda: o.add_.Tensor(x, torch.tensor(70000.0)), x)


# ---- checks of arguments before anything runs ----


@case
def shapes_do_not_broadcast(o):
    return attempt(lambda: o.add.Tensor(A, torch.zeros(3)))


@case
def a_number_of_another_kind(o):
    return attempt(lambda: o.add.Tensor(N, N, alpha=0.5))


@case
def a_dimension_that_is_not_there(o):
    return [attempt(lambda: o.cumsum.default(A, 2)), attempt(lambda: o.max.dim(A, -3))]


# ---- numbers that stand for an operation ----


@case
def conjugate_inputs(o):
    x = torch.tensor([1 + 2j, 3 - 1j])
    return [o.mul.Tensor(x.conj(), x), o.mul.Tensor(x.conj(), x.conj())]


@case
def conjugate_out(o):
    x, out = torch.tensor([1 + 2j, 3 - 1j]), torch.zeros(2, dtype=torch.complex64).conj()
    return attempt(lambda: o.mul.out(x, x, out=out), out)


@case
def conjugate_in_place(o):
    x = torch.tensor([1 + 2j, 3 - 1j])
    return attempt(lambda: o.mul_.Tensor(x.conj(), x), x)


@case
def negative_in_place(o):
    x = torch.tensor([1 + 2j, 3 - 1j]).conj().imag
    return attempt(lambda: o.mul_.Tensor(x, torch.ones(2)), x)


# ---- gradients ----


@case
def out_wants_a_gradient(o):
    out = torch.zeros(2, 2, requires_grad=True)
    return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def out_of_what_wants_a_gradient(o):
    x, out = A.clone().requires_grad_(), torch.zeros(2, 2)
    return attempt(lambda: o.add.out(x, B, out=out), out)


@case
def out_wants_a_gradient_where_none_is_kept(o):
    out = torch.zeros(2, 2, requires_grad=True)
    with torch.no_grad():
        return attempt(lambda: o.add.out(A, B, out=out), out)


@case
def out_of_what_wants_one_where_none_is_kept(o):
    x, out = A.clone().requires_grad_(), torch.zeros(2, 2)
    with torch.no_grad():
        return attempt(lambda: o.add.out(x, B, out=out), out)


@case
def in_place_on_a_leaf(o):
    x = A.clone().requires_grad_()
    return attempt(lambda: o.add_.Tensor(x, B), x)


@case
def in_place_on_a_view_of_a_leaf(o):
    x = A.clone().requires_grad_()
    return attempt(lambda: o.add_.Tensor(x[0], B), x)


@case
def in_place_on_a_leaf_where_no_gradient_is_kept(o):
    x = A.clone().requires_grad_()
    with torch.no_grad():
        return attempt(lambda: o.add_.Tensor(x, B), x)


@case
def in_place_on_one_of_several_views(o):
    x = (A.clone().requires_grad_() * 1).unbind(0)[0]
    return attempt(lambda: o.add_.Tensor(x, B), x)


@case
def in_place_on_a_view_made_without_gradients(o):
    x = A.clone().requires_grad_() * 1
    with torch.no_grad():
        view = x[0]
    return attempt(lambda: o.add_.Tensor(view, B.clone().requires_grad_()), view)


@case
def a_saved_tensor_was_changed(o):
    x = A.clone().requires_grad_()
    y = x.exp()
    o.add_.Tensor(y.detach(), B)
    return attempt(lambda: y.sum().backward())


@case
def a_saved_tensor_was_an_out(o):
    x = A.clone().requires_grad_()
    y = x.exp()
    o.add.out(A, B, out=y.detach())
    return attempt(lambda: y.sum().backward())


@case
def versions_are_counted(o):
    x, out = A.clone(), torch.zeros(2, 2)
    versions = [x._version]
    for call in (
        lambda: o.add_.Tensor(x, B),
        lambda: o.sqrt_.default(x),
        lambda: o.add.out(x, B, out=out),
    ):
        call()
        versions.append((x._version, out._version))
    return versions


@case
def versions_of_two_outs(o):
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.long)
    o.max.dim_max(A, 1, max=values, max_values=indices)
    return values._version, indices._version


@case
def versions_of_a_view(o):
    x = A.clone()
    o.add_.Tensor(x[0], B)
    o.add.out(B, B, out=x[1])
    return x._version


@case
def versions_of_an_unstructured_one(o):
    x, out = A.clone(), torch.zeros(2, 2)
    o.zero_.default(x)
    o.roll.out(A, [1], out=out)
    return x._version, out._version


@case
def versions_on_meta(o):
    x = A.to("meta")
    o.add_.Tensor(x, B.to("meta"))
    return x._version


@case
def inference_tensors_stay_where_they_were_made(o):
    with torch.inference_mode():
        x = A.clone()
    return attempt(lambda: o.add_.Tensor(x, B), x), attempt(lambda: o.add.out(A, B, out=x), x)


@case
def in_place_in_inference_mode(o):
    x = A.clone()
    with torch.inference_mode():
        y = A.clone()
        return attempt(lambda: o.add_.Tensor(x, B), x), attempt(lambda: o.add_.Tensor(y, B), y)


@case
def results_in_inference_mode(o):
    with torch.inference_mode():
        return o.add.Tensor(A, B).is_inference(), o.max.dim(A, 0)[1].is_inference()


# ---- other modes ----


@case
def deterministic_filling(o):
    torch.use_deterministic_algorithms(True)
    try:
        out = torch.zeros(1)
        o.add.out(A, B, out=out)
        return out
    finally:
        torch.use_deterministic_algorithms(False)


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    different = []
    for name, run in CASES.items():
        theirs = outcome(run, torch.ops.aten, "aten")
        ours = outcome(run, torch.ops.slice, "slice")
        if ours != theirs:
            different.append(f"{name}\n  slice {ours}\n  aten  {theirs}")
    assert not different, f"{len(different)} of {len(CASES)} differ\n" + "\n".join(different)
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    main()
