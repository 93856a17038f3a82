"""Call each cell of the table of gradients, and print what came of it: `cells.py TARGET LIBRARY`;
more arguments are the forms and modes that are called.

A cell is a form of operators (what they return, take and write), a mode, and an order of derivatives. Its numbers are
compared with those of the same program with PyTorch's own operators; an error must name the operator. The output is
JSON: for each cell its form, mode, order, outcome and text.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

Program = Callable[..., list[Any]]

ORDERS = ("1", "2", "3", "f", "fb", "bf")
BACKWARD = ("1", "2", "3")
# What a cell of a mode has: the other orders are not reached, for the reason beside them.
TORCH_MODES = {
    "eager": ORDERS,
    "no_grad": ("1", "f"),
    "inference_mode": ("1",),
    "torch.func": ORDERS,
    "vmap": ORDERS,
    "checkpoint": BACKWARD,
    "saved-tensor hooks": BACKWARD,
    "threads": BACKWARD,  # forward mode has one level for all threads
    "retained graph": BACKWARD,
    "changed after the call": ("1", "2"),
    "aot_eager": ("1",),
    "dynamic sizes": ("1",),
    "inductor": ("1",),
}
RUNTIME_MODES = {
    **{name: TORCH_MODES[name] for name in ("eager", "no_grad", "inference_mode")},
    "threads": ORDERS,
    **{name: TORCH_MODES[name] for name in ("retained graph", "changed after the call")},
}
# E1310 and E0762 refuse the operators.
REFUSED_BY_LINT = {
    "torch-stable": ("write, return both",),
    "runtime": ("optional result", "no formula, lists of optionals"),
}
# Each takes seconds.
INDUCTOR = ("functional", "in place", "two written")
VALUES = ([[1.5, -2.0], [0.5, 3.0]], [[2.0, 0.25], [-1.0, 1.25]])
TANGENTS = ([[1.0, -0.5], [2.0, 0.25]], [[-1.5, 1.0], [0.5, -2.0]])
WEIGHTS = ([[0.5, -1.0], [2.0, 1.5]], [[1.0, 0.75], [-0.5, 3.0]], [[-2.0, 1.0], [0.25, 0.5]])


# ---- The operators -------------------------------------------------------------------------------


def torch_operators() -> Any:
    """Return the same functions, written with PyTorch's own operators."""

    def multiply_both_(x: Any, y: Any) -> Any:
        p, q = x.clone(), y.clone()
        return x.copy_(p * q), y.copy_(p * p)

    def multiply_all_(xs: Any, y: Any) -> None:
        for x in xs:
            if x is not None:
                x.mul_(y)

    def multiply_into(x: Any, total: Any) -> Any:
        product = x * total.clone()
        return product * 10, total.copy_(product)

    def push_(x: Any, y: Any) -> Any:
        with torch.no_grad():
            x.add_(y.detach())
        return y * y

    return SimpleNamespace(
        mul=torch.mul,
        mul_=lambda x, y: x.mul_(y),
        mul_out=lambda x, y, out: torch.mul(x, y, out=out),
        multiply_=lambda x, y: x.mul_(y),
        multiply_both_=multiply_both_,
        multiply_all=lambda xs, y: [x * y for x in xs],
        multiply_all_=multiply_all_,
        multiply_some_=multiply_all_,
        weigh=lambda xs, ys: sum(x * y for x, y in zip(xs, ys, strict=True)),
        push_=push_,
        multiply_into=multiply_into,
        turned=lambda x: x.t(),
        halves=lambda x: (x[:1], x[1:]),
        joined=lambda x, y: torch.cat([x, y]),
        mul_given=lambda x, y=None: x * 1 if y is None else x * y,
        mul_if=lambda x, y, there: x * y if there else None,
        mul_sign=lambda x, y: (x * y, (x * y).detach().long()),
        mul_when=lambda x, y, learns: x * y if learns else (x * y).detach(),
        mul_joint=lambda x, y: x * y,
        mul_closed=lambda x, y: x * y,
        mul_plain=lambda x, y: x * y,
        mul_once=lambda x, y: x * y,
        mul_gaps=lambda x, ys: [None if y is None else x * y for y in ys],
        own=lambda x: x * 1,
        times=torch.mul,
    )


def own_operators(target: str, library: Path) -> tuple[Any, Any]:
    """Return the module of tensors, and the operators of the library."""
    if target == "runtime":
        sys.path.insert(0, str(library))
        module: Any = importlib.import_module("forms")
        one = module.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=module.float64)
        return module, SimpleNamespace(
            **{name: getattr(module, name, None) for name in OPERATORS}
            | {
                "mul_": lambda x, y: x.mul_(y),
                "mul_out": lambda x, y, out: module.mul(x, y, out=out),
            },
            own=lambda x: module.mul(x, one),
            times=module.mul,
        )
    sys.path.insert(0, str(library.parents[1]))
    importlib.import_module("forms")
    ops: Any = torch.ops.forms
    all_operators = {name: getattr(ops, name, None) for name in OPERATORS}
    all_operators["mul_out"] = lambda x, y, out: ops.mul.out(x, y, out=out)
    return torch, SimpleNamespace(
        **all_operators,
        own=lambda x: x * 1,
        times=torch.mul,
    )


OPERATORS = [name for name in vars(torch_operators()) if name not in ("own", "times")]


# ---- The forms -----------------------------------------------------------------------------------


def functional(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.mul(o.mul(a, b), a)]


def in_place(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(a)
    o.mul_(t, b)
    o.mul_(t, a)
    return [t]


def in_place_only(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(a)
    o.multiply_(t, b)
    o.multiply_(t, a)
    return [t]


def two_written(o: Any, a: Any, b: Any) -> list[Any]:
    t, u = o.own(a), o.own(b)
    o.multiply_both_(t, u)
    return [t, o.times(u, b)]


def written_list(o: Any, a: Any, b: Any) -> list[Any]:
    t, u = o.own(a), o.own(b)
    o.multiply_all_([t, u], b)
    return [o.times(t, a), u]


def written_optionals(o: Any, a: Any, b: Any) -> list[Any]:
    t, u = o.own(a), o.own(b)
    o.multiply_some_([t, None, u], b)
    return [o.times(t, a), u]


def write_and_return(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(WEIGHT_OF[id(o)])
    return [o.times(o.push_(t, o.times(a, b)), a)]


def write_beside_a_result(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(WEIGHT_OF[id(o)])
    r = o.push_(t, o.times(a, b))
    return [o.times(r, a), o.times(t, a)]


def write_and_return_both(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(b)
    r = o.multiply_into(a, t)[0]
    return [o.times(r, a), o.times(t, b)]


def out_argument(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(WEIGHT_OF[id(o)])
    return [o.times(o.mul_out(a, b, t), a)]


def view(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.times(o.turned(o.times(a, b)), a)]


def written_view(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(a)
    o.mul_(o.turned(t), b)
    v = o.turned(t)
    o.mul_(t, a)
    return [t, v]


def several_views(o: Any, a: Any, b: Any) -> list[Any]:
    above, below = o.halves(o.times(a, b))
    return [o.times(above, below), o.times(o.halves(a)[1], below)]


def written_of_several_views(o: Any, a: Any, b: Any) -> list[Any]:
    t = o.own(a)
    above, _ = o.halves(t)
    o.mul_(above, o.halves(b)[1])
    return [o.times(t, b)]


def list_result(o: Any, a: Any, b: Any) -> list[Any]:
    first, second = o.multiply_all([a, b], o.times(a, b))
    return [second, o.times(first, b)]


def one_of_a_list(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.multiply_all([a, b], o.times(a, b))[1]]


def optional_result(o: Any, a: Any, b: Any) -> list[Any]:
    assert o.mul_if(a, b, False) is None
    return [o.times(o.mul_if(a, b, True), a)]


def list_argument(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.weigh([a, o.times(a, b)], [b, a])]


def optional_argument(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.mul_given(o.mul_given(o.times(a, b)), a)]


def integer_result(o: Any, a: Any, b: Any) -> list[Any]:
    product, signs = o.mul_sign(a, b)
    assert not signs.requires_grad
    return [o.times(product, a)]


def condition(o: Any, a: Any, b: Any) -> list[Any]:
    return [
        o.times(o.mul_when(a, b, True), o.mul_when(b, a, False)),
        o.times(o.mul_when(a, b, True), a),
    ]


def one_row(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.mul_joint(o.mul_joint(a, b), a)]


def not_implemented(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.times(o.mul_closed(a, b), a)]


def no_formula(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.times(o.mul_plain(a, b), a)]


def no_formula_in_lists(o: Any, a: Any, b: Any) -> list[Any]:
    return [o.times(o.mul_gaps(a, [None, b])[1], a)]


FORMS: dict[str, Program] = {
    "functional": functional,
    "complex": functional,
    "in place": in_place,
    "in place only": in_place_only,
    "two written": two_written,
    "written list": written_list,
    "written list of optionals": written_optionals,
    "write and return": write_and_return,
    "use what was written": write_beside_a_result,
    "write, return both": write_and_return_both,
    "out=": out_argument,
    "view": view,
    "written view": written_view,
    "several views": several_views,
    "written one of several views": written_of_several_views,
    "list result": list_result,
    "one of a list result": one_of_a_list,
    "optional result": optional_result,
    "list argument": list_argument,
    "optional argument": optional_argument,
    "integer result": integer_result,
    "differentiable on a condition": condition,
    "one row for two": one_row,
    "not_implemented": not_implemented,
    "no formula": no_formula,
    "no formula, lists of optionals": no_formula_in_lists,
}
# A part of the function has no gradient; out= of PyTorch has none at all.
NOT_DIFFERENTIABLE = ("differentiable on a condition", "out=", "use what was written")
# A tensor without a gradient for programs, by the operators that they call.
WEIGHT_OF: dict[int, Any] = {}


# ---- The orders ----------------------------------------------------------------------------------


class Side:
    """PyTorch's operators or the library's, with the tensors and the functions of its module."""

    def __init__(self, module: Any, operators: Any, form: str) -> None:
        self.module, self.operators = module, operators
        self.is_complex = form == "complex"
        self.weights = [self.tensor(one) for one in WEIGHTS]
        self.tangents = [self.tensor(one) for one in TANGENTS]
        WEIGHT_OF[id(operators)] = self.weights[2]
        self.program: Program = partial(FORMS[form], operators)

    def tensor(self, rows: Any) -> Any:
        m = self.module
        if not self.is_complex:
            return m.tensor(rows, dtype=m.float64)
        values = [[complex(x, 1 + x * x) for x in row] for row in rows]
        return m.tensor(values, dtype=m.complex128)

    def leaves(self) -> list[Any]:
        return [self.tensor(one).requires_grad_() for one in VALUES]

    def weights_of(self, outputs: Sequence[Any]) -> list[Any]:
        # The outputs of `halves` are smaller.
        return [
            w if w.shape == o.shape else w[: o.shape[0]]
            for w, o in zip(self.weights, outputs, strict=False)
        ]

    def grad(self, outputs: Sequence[Any], inputs: Sequence[Any], again: bool = True) -> list[Any]:
        tracked = [one for one in outputs if one.requires_grad]
        if not tracked:
            raise RuntimeError("no result requires a gradient")
        return list(
            self.module.autograd.grad(
                tracked,
                inputs,
                self.weights_of(tracked),
                create_graph=again,
                materialize_grads=True,
            )
        )

    def tangents_of(self, outputs: Sequence[Any]) -> list[Any]:
        unpack = self.module.autograd.forward_ad.unpack_dual
        found = [unpack(one).tangent for one in outputs]
        return [one for one in found if one is not None]

    def run(self, f: Program, order: str) -> list[Any]:
        """Return the derivatives of this order of f."""
        leaves = self.leaves()
        if order in BACKWARD:
            found = f(*leaves)
            for _ in range(int(order)):
                found = self.grad(found, leaves)
            return found
        forward = self.module.autograd.forward_ad
        with forward.dual_level():
            given = self.leaves() if order != "f" else [self.tensor(one) for one in VALUES]
            duals = [forward.make_dual(x, t) for x, t in zip(given, self.tangents, strict=True)]
            outputs = f(*duals)
            if order == "f":
                return self.tangents_of(outputs)
            if order == "fb":
                return self.tangents_of(self.grad(outputs, duals))
            return self.grad(self.tangents_of(outputs), given)

    def run_func(self, order: str) -> list[Any]:
        """The same by torch.func."""
        given = [self.tensor(one) for one in VALUES]
        return list(self.transformed(order)(*given))

    def run_batch(self, order: str) -> list[Any]:
        """The same for a batch of two."""
        given = [torch.stack([x, 2 * x]) for x in map(self.tensor, VALUES)]
        return list(torch.func.vmap(self.transformed(order))(*given))

    def transformed(self, order: str) -> Callable[..., Any]:
        def total(f: Callable[..., Any]) -> Callable[..., Any]:
            def call(*given: Any) -> Any:
                outputs = f(*given)
                terms = zip(outputs, self.weights_of(outputs), strict=True)
                return sum((torch.conj(w) * o).real.sum() for o, w in terms)

            return call

        def gradient(f: Callable[..., Any]) -> Callable[..., Any]:
            return torch.func.grad(total(f), argnums=(0, 1))

        def tangent(f: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *given: torch.func.jvp(f, given, tuple(self.tangents))[1]

        f: Callable[..., Any] = lambda *given: tuple(self.program(*given))  # noqa: E731
        if order in BACKWARD:
            for _ in range(int(order)):
                f = gradient(f)
            return f
        return {"f": tangent(f), "fb": tangent(gradient(f)), "bf": gradient(tangent(f))}[order]


# ---- The modes -----------------------------------------------------------------------------------


def without_graph(side: Side, order: str, mode: Any) -> list[Any]:
    """Return the values, which must not require a gradient, or the tangents."""
    if order == "f":
        with mode():
            return side.run(side.program, order)
    given = side.leaves()
    with mode():
        found = side.program(*given)
    assert not any(one.requires_grad for one in found)
    return found


def twice(side: Side, order: str) -> list[Any]:
    """Two passes through one graph have the same gradients."""
    grad = side.module.autograd.grad
    leaves = side.leaves()
    found = side.program(*leaves)
    for _ in range(int(order) - 1):
        found = side.grad(found, leaves)
    tracked = [one for one in found if one.requires_grad]
    both = [
        grad(tracked, leaves, side.weights_of(tracked), retain_graph=keep, materialize_grads=True)
        for keep in (True, False)
    ]
    assert [one.tolist() for one in both[0]] == [one.tolist() for one in both[1]]
    return list(both[0])


def changed_after(side: Side, a: Any, b: Any) -> list[Any]:
    x, y = side.operators.own(a), side.operators.own(b)
    found = side.program(x, y)
    side.operators.mul_(x, side.weights[0])
    side.operators.mul_(y, side.weights[0])
    return found


def hooked(side: Side, a: Any, b: Any) -> list[Any]:
    with torch.autograd.graph.saved_tensors_hooks(lambda x: [x.clone()], lambda held: held[0]):
        return side.program(a, b)


def compiled(side: Side, backend: str, dynamic: bool) -> list[Any]:
    torch._dynamo.reset()
    program: Any = torch.compile(side.program, backend=backend, dynamic=dynamic, fullgraph=True)
    leaves = side.leaves()
    return side.grad(program(*leaves), leaves, again=False)


def numbers(side: Side, mode: str, order: str) -> Any:
    """Return the numbers of a cell."""
    program, autograd = side.program, side.module.autograd
    calls: dict[str, Callable[[], list[Any]]] = {
        "eager": lambda: side.run(program, order),
        "no_grad": lambda: without_graph(side, order, autograd.no_grad),
        "inference_mode": lambda: without_graph(side, order, autograd.inference_mode),
        "torch.func": lambda: side.run_func(order),
        "vmap": lambda: side.run_batch(order),
        "checkpoint": lambda: side.run(
            lambda *given: checkpoint(program, *given, use_reentrant=False), order
        ),
        "saved-tensor hooks": lambda: side.run(partial(hooked, side), order),
        "retained graph": lambda: twice(side, order),
        "changed after the call": lambda: side.run(partial(changed_after, side), order),
        "aot_eager": lambda: compiled(side, "aot_eager", False),
        "dynamic sizes": lambda: compiled(side, "aot_eager", True),
        "inductor": lambda: compiled(side, "inductor", True),
    }
    if mode == "threads":
        with ThreadPoolExecutor(4) as pool:
            all_found = list(pool.map(lambda _: numbers(side, "eager", order), range(4)))
        assert all(one == all_found[0] for one in all_found)
        return all_found[0]
    return [
        one.detach().resolve_conj().tolist() if hasattr(one, "resolve_conj") else one.tolist()
        for one in calls[mode]()
    ]


def elements(nested: Any) -> Iterator[complex]:
    if isinstance(nested, list):
        for one in nested:
            yield from elements(one)
    else:
        yield nested


def are_equal(a: Any, b: Any) -> bool:
    x, y = list(elements(a)), list(elements(b))
    return len(x) == len(y) and all(
        abs(p - q) <= 1e-9 * max(1, abs(q)) for p, q in zip(x, y, strict=True)
    )


def cell(ours: Side, theirs: Side, mode: str, order: str, names: Sequence[str]) -> tuple[str, str]:
    """Return what came of a cell: "right", "refused" or "wrong", and the text of the error or the difference."""
    as_eager = {"aot_eager", "dynamic sizes", "inductor", "threads"}
    expected: Any = None
    refusal = ""
    for tried in dict.fromkeys(("eager" if mode in as_eager else mode, "eager")):
        try:
            expected = numbers(theirs, tried, order)
            break
        except Exception as error:
            refusal = refusal or text_of(error)
    try:
        found = numbers(ours, mode, order)
    except Exception as error:
        text = text_of(error)
        if any(one_word(name) in one_word(text) for name in names):
            return "refused", text
        return (
            ("refused", f"as PyTorch: {text}")
            if refusal
            else ("wrong", f"names no operator: {text}")
        )
    if expected is None:
        return "wrong", f"{found}, but PyTorch: {refusal}"
    return ("right", "") if are_equal(found, expected) else ("wrong", f"{found}, not {expected}")


def check_reference(side: Side) -> None:
    """Compare PyTorch's numbers with finite differences."""
    program: Any = lambda *given: tuple(side.program(*given))  # noqa: E731
    assert torch.autograd.gradcheck(program, side.leaves(), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(program, side.leaves())


def one_word(text: str) -> str:
    # A node of `f_g_` is named FGBackward.
    return text.lower().replace("_", "")


def text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error) or repr(error)}"


def main() -> None:
    warnings.simplefilter("ignore")
    target, library, *wanted = sys.argv[1:]
    module, operators = own_operators(target, Path(library))
    theirs = torch_operators()
    modes = RUNTIME_MODES if target == "runtime" else TORCH_MODES
    cells = []
    for form, program in FORMS.items():
        ours = Side(module, operators, form)
        reference = Side(torch, theirs, form)
        if form not in NOT_DIFFERENTIABLE:
            check_reference(reference)
        names = [name for name in program.__code__.co_names if name in OPERATORS]
        names = [name.removesuffix("_out") for name in names]
        for mode, orders in modes.items():
            if form in REFUSED_BY_LINT.get(target, ()):
                continue
            if wanted and not {form, mode} & set(wanted):
                continue
            if mode == "inductor" and form not in INDUCTOR:
                continue
            for order in orders:
                outcome, text = cell(ours, reference, mode, order, names)
                cells.append((form, mode, order, outcome, text))
    json.dump(cells, sys.stdout)


if __name__ == "__main__":
    main()
