"""Compare every structured operator of examples/privateuse1, in all its variants, with the CPU on random inputs.

    operators.py BACKEND_YAML CALLS SEED

Both devices get the same calls: with mixed dtypes, Python numbers and zero-dimensional CPU tensors, with broadcast,
permuted, sliced, expanded and empty tensors, and out= of any dtype and shape. They must return the same dtypes,
shapes, strides and values, or raise the same exception.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pocket
import torch
import yaml

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
COMPLEX = (torch.complex64, torch.complex128)
# The example's other operators are only for real numbers.
FOR_COMPLEX = frozenset(
    ("add", "sub", "mul", "div", "neg", "addcmul", "addcdiv", "sum", "mean", "mm", "addmm", "bmm")
)
# Results differ in their last bits: ours sum in another order, or use another exp().
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
TOLERANCE |= {torch.complex128: 1e-9, torch.complex64: 2e-5}
PRODUCTS = {"mm": (2, 0), "addmm": (2, 1), "bmm": (3, 0)}
# The CPU kernels of these write a row-major result into the memory of out=, ignoring its strides
# (gelu if elements are bfloat16 or half).
STRIDED = ("_log_softmax", "_log_softmax_backward_data", "gelu")
# On one of the two devices, these silently write twice to the same memory.
UNCHECKED = {
    *STRIDED,
    "threshold",
    "threshold_backward",
    "sum",
    "mean",
    "amax",
    "amin",
    "aminmax",
    "argmax",
}
UNCHECKED |= {*PRODUCTS, "cumsum"}
SPECIAL = (float("nan"), float("inf"), -float("inf"), 0.0)
SHAPES = ((3, 4), (4,), (3, 1), (1, 4), (), (0, 4), (2, 3, 4), (2, 1, 1), (1,), (5, 2, 3, 4))


@dataclass(frozen=True)
class Pair:
    """One argument on both devices."""

    cpu: Any
    device: Any

    def copy(self) -> Pair:
        if not isinstance(self.cpu, torch.Tensor):
            return self
        # Copies with its strides; clone() keeps only those of dense tensors.
        base = [
            t.as_strided((span(t),), (1,), t.storage_offset()).clone()
            for t in (self.cpu, self.device)
        ]
        return Pair(*(b.as_strided(self.cpu.shape, self.cpu.stride()) for b in base))


def span(tensor: torch.Tensor) -> int:
    """Return the elements of memory from its first element to its last one."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))


def number(rng: random.Random) -> Any:
    return rng.choice((0, 1, 2, -3, 0.5, -1.25, 2.75, 100, True))


def values(
    rng: random.Random,
    count: int,
    dtype: torch.dtype,
    special: tuple[float, ...] = SPECIAL,
) -> torch.Tensor:
    if dtype in INTEGERS:
        low = 0 if dtype in (torch.bool, torch.uint8) else -6
        return torch.randint(low, 2 if dtype == torch.bool else 7, (count,), dtype=dtype)
    result = (torch.randn(count, dtype=torch.float64) * 3).round(decimals=2).to(dtype)
    if dtype in COMPLEX:
        result = torch.complex(result.real, torch.randn(count, dtype=result.real.dtype))
    elif count and rng.random() < 0.1:
        result[rng.randrange(count)] = rng.choice(special)
    return result


KINDS = ("plain", "plain", "gaps", "offset", "expanded")


def tensor(
    rng: random.Random,
    shape: tuple[int, ...],
    dtype: torch.dtype,
    kinds: tuple[str, ...] = KINDS,
    special: tuple[float, ...] = SPECIAL,
) -> Pair:
    """Return a tensor of this shape, its dimensions in any order in memory, sometimes with gaps or an offset."""
    order = (
        rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.5 else [*range(len(shape))]
    )
    back = [order.index(i) for i in range(len(shape))]
    kind = rng.choice(kinds)
    stored = [shape[i] for i in order]
    wide = [*stored, 2] if kind == "gaps" else [2, *stored] if kind == "offset" else stored
    if kind == "expanded" and stored and stored[0] > 1:
        wide = [1, *stored[1:]]
    count = 1
    for size in wide:
        count *= size
    base = values(rng, count, dtype, special)

    def view(memory: torch.Tensor) -> torch.Tensor:
        memory = memory.view(wide)
        if kind == "gaps":
            memory = memory[..., 0]
        elif kind == "offset":
            memory = memory[1]
        return memory.expand(stored).permute(back)

    return Pair(view(base), view(base.to("pocket")))


def dtypes_of(root: str) -> tuple[torch.dtype, ...]:
    if root.startswith("_log_softmax"):
        return FLOATS
    integers = tuple(dtype for dtype in INTEGERS if root not in PRODUCTS or dtype != torch.bool)
    return (*FLOATS, *integers, *(COMPLEX if root in FOR_COMPLEX else ()))


def tensors(rng: random.Random, root: str, count: int) -> list[Pair]:
    """Return tensors that fit together in most cases."""
    some = dtypes_of(root)
    common = rng.choice(some if rng.random() < 0.4 else FLOATS)
    same = rng.random() < 0.4
    kinds = [common if same else rng.choice(some) for _ in range(count)]
    if {*COMPLEX} & {*kinds}:
        # There is no arithmetic for complex numbers of two halves.
        kinds = [torch.float32 if kind == torch.float16 else kind for kind in kinds]
    if root in PRODUCTS:
        return factors(rng, root, common)
    shapes = [
        rng.choice(SHAPES if rng.random() < 0.3 else ((3, 4), (4,), (3, 1), ())) for _ in kinds
    ]
    if root.endswith(("_backward", "_backward_data")):
        shapes = [shapes[0]] * count
        kinds = [common] * count
    # For infinity, the CPU's vectorised gelu gives NaN, and pow 0.5 is computed as the square root.
    special = (float("nan"), 0.0) if root in ("gelu", "pow") else SPECIAL
    made = [tensor(rng, *given, special=special) for given in zip(shapes, kinds)]
    for i in range(1, count):
        # At most one number on the CPU, and none where ATen's shape rule does not accept any.
        if rng.random() < 0.2 and not root.endswith("_data") and root != "addcdiv":
            on_cpu = values(rng, 1, kinds[i])[0]
            made[i] = Pair(on_cpu, on_cpu)
            break
    return made


def factors(rng: random.Random, root: str, dtype: torch.dtype) -> list[Pair]:
    n, k, m = (rng.choice((0, 1, 2, 3, 5)) for _ in range(3))
    # With nothing to add up, the CPU's addmm rejects factors that are not integers.
    k = max(k, 1) if dtype in INTEGERS else k
    dims, added = PRODUCTS[root]
    batch = (rng.choice((1, 2)),) if dims == 3 else ()
    made = [tensor(rng, (*batch, n, k), dtype), tensor(rng, (*batch, k, m), dtype)]
    if rng.random() < 0.05:
        made[1] = tensor(rng, (*batch, k + 1, m), dtype)
    return [tensor(rng, rng.choice(((n, m), (m,), (1, m), ())), dtype)] * added + made


def argument(rng: random.Random, name: str, kind: str, first: torch.Tensor) -> Any:
    """Return a value of this type that is not a tensor; `first` is the operator's first tensor."""
    dims = range(-first.dim(), first.dim()) if first.dim() else range(-1, 1)
    match name, kind:
        case ("dtype", _):
            return rng.choice((None, None, torch.float32, torch.float64, torch.int64))
        case ("input_dtype", _):
            return first.dtype
        case ("reduction", _):
            return rng.choice((0, 1, 2))
        case ("approximate", _):
            return rng.choice(("none", "tanh"))
        case ("keepdim", _):
            return rng.random() < 0.5
        case ("half_to_float", _):
            return False
        case ("dim", "int"):
            return rng.choice(dims)
        case ("dim", "Optional[int]"):
            return rng.choice((None, *dims))
        case ("dim", _):
            return rng.sample(
                [d % max(first.dim(), 1) for d in dims][: first.dim()], rng.randint(0, first.dim())
            )
        case ("alpha", _):
            # Not 0: a BLAS computes NaN times 0 as 0, and oneDNN's addmm as NaN. Not True: off the
            # CPU, ATen's meta checks whether out= is of bools.
            return rng.choice((1, 2, -3, 0.5, -1.25, 2.75, 100))
        case (_, "number" | "Optional[number]"):
            return number(rng)
    raise AssertionError(f"no values for {kind} {name}")


@dataclass(frozen=True)
class Operator:
    """The variants of one structured operator."""

    out: Any
    functional: Any
    inplace: Any

    @staticmethod
    def of(name: str) -> Operator:
        root, overload = name.split(".")
        packet = getattr(torch.ops.aten, root)
        out = getattr(packet, overload)

        def like(packet: Any) -> Any:
            found = [getattr(packet, o) for o in packet.overloads()] if packet else []
            return next((o for o in found if inputs(o) == inputs(out) and o is not out), None)

        functional = like(packet)
        assert functional, f"{name} has no functional variant"
        return Operator(out, functional, like(getattr(torch.ops.aten, f"{root}_", None)))


def inputs(op: Any) -> list[tuple[str, str]]:
    return [(a.name, str(a.type)) for a in op._schema.arguments if not a.is_out]


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result that a caller sees: the tensor, or the exception."""
    try:
        return call()
    except Exception as error:
        return error


def text(error: Exception) -> str:
    return re.sub(r"pocket(:0)?|cpu|CPU", "DEVICE", str(error).splitlines()[0])


def differ(ours: Any, theirs: Any, coarsest: float, layout: bool) -> str | None:
    """Return why results differ; `coarsest` is the tolerance of the least exact operand."""
    if isinstance(theirs, Exception):
        if not isinstance(ours, Exception):
            return f"no error, where the CPU says {theirs}"
        same = type(ours) is type(theirs) and text(ours) == text(theirs)
        return None if same else f"{ours!r} for {theirs!r}"
    if isinstance(ours, Exception):
        return f"{ours!r}"
    if isinstance(theirs, tuple):
        parts = [differ(*both, coarsest, layout) for both in zip(ours, theirs)]
        return next((why for why in parts if why), None)
    if ours.device.type != "pocket":
        return f"on {ours.device}"
    for fact in ("dtype", "shape"):
        if getattr(ours, fact) != getattr(theirs, fact):
            return f"{fact} {getattr(ours, fact)} for {getattr(theirs, fact)}"
    # The stride of a dimension with one element does not matter.
    strides = [(a, b) for a, b, n in zip(ours.stride(), theirs.stride(), theirs.shape) if n > 1]
    if layout and theirs.numel() and any(a != b for a, b in strides):
        return f"stride {ours.stride()} for {theirs.stride()}"
    return values_differ(ours.cpu(), theirs, coarsest)


def values_differ(ours: torch.Tensor, theirs: torch.Tensor, coarsest: float) -> str | None:
    tolerance = coarsest if theirs.dtype in TOLERANCE else 0
    finite = torch.nan_to_num(theirs.to(torch.complex128).abs(), 0, 0, 0)
    absolute = tolerance * max(1.0, float(finite.max()) if finite.numel() else 0)
    if torch.allclose(ours, theirs, rtol=tolerance, atol=absolute, equal_nan=True):
        return None
    return f"{ours.tolist()} for {theirs.tolist()}"


def called(op: Any, arguments: list[Any], outs: dict[str, Any]) -> Any:
    """Return the result of `op` for these arguments, in the order of the schema."""
    schema = [a for a in op._schema.arguments if not a.is_out]
    named = {a.name: value for a, value in zip(schema, arguments) if a.kwarg_only}
    return op(*arguments[: len(arguments) - len(named)], **named, **outs)


def outs(rng: random.Random, root: str, op: Any, expected: Any) -> dict[str, Pair]:
    """Return tensors for out=, often with the dtype and the shape of `expected`."""
    names = [a.name for a in op._schema.arguments if a.is_out]
    results = expected if isinstance(expected, tuple) else (expected,) * len(names)
    fits = not isinstance(expected, Exception) and rng.random() < 0.7
    allowed = KINDS[:-1] if root in UNCHECKED else KINDS
    made = {}
    for name, result in zip(names, results):
        shape = tuple(result.shape) if fits else rng.choice(SHAPES)
        dtype = result.dtype if fits and rng.random() < 0.5 else rng.choice(dtypes_of(root))
        made[name] = tensor(rng, shape if rng.random() < 0.8 else (0,), dtype, allowed).copy()
    return made


@dataclass(frozen=True)
class Call:
    """The outcome of one random call on the device and on the CPU, the call, and the tolerance."""

    ours: Any
    theirs: Any
    said: str
    coarsest: float
    # On the CPU, casts of expanded operands determine the layout of the result.
    layout: bool


def call(rng: random.Random, operator: Operator, variant: str) -> Call:
    root = operator.out._schema.name.removeprefix("aten::")
    schema = inputs(operator.out)
    some = iter(tensors(rng, root, sum(kind == "Tensor" for _, kind in schema)))
    arguments: list[Pair] = []
    first: torch.Tensor | None = None
    for name, kind in schema:
        if kind == "Tensor":
            pair = next(some)
            first = pair.cpu if first is None else first
            if arguments and root in {"add", "sub", "mul", "div"} and rng.random() < 0.2:
                pair = Pair(*[number(rng)] * 2)
        else:
            assert first is not None
            pair = Pair(*[argument(rng, name, kind, first)] * 2)
        arguments.append(pair)
    op, given = operator.functional, {}
    if variant == "inplace":
        op = operator.inplace
        arguments[0] = arguments[0].copy()
    elif variant == "out":
        op = operator.out
        expected = outcome(lambda: called(operator.functional, [a.cpu for a in arguments], {}))
        given = outs(rng, root, op, expected)
    said = ", ".join(describe(a.cpu, a.device) for a in (*arguments, *given.values()))

    def run(side: str) -> Any:
        outs = {name: getattr(out, side) for name, out in given.items()}
        return outcome(lambda: called(op, [getattr(a, side) for a in arguments], outs))

    theirs, ours = run("cpu"), run("device")
    memory = next((out.cpu for out in given.values()), None)
    strided = memory is not None and not memory.is_contiguous()
    if root in STRIDED and strided and isinstance(theirs, torch.Tensor):
        theirs = outcome(lambda: memory.copy_(expected))
    kinds = [a.cpu.dtype for a in arguments if isinstance(a.cpu, torch.Tensor)]
    kinds += [a.cpu for a in arguments if isinstance(a.cpu, torch.dtype)]
    kinds += [theirs.dtype] if isinstance(theirs, torch.Tensor) else []
    coarsest = max(TOLERANCE.get(kind, TOLERANCE[torch.float32]) for kind in kinds)
    layout = len({*kinds}) == 1
    return Call(ours, theirs, f"{op}({said})", coarsest, layout)


def describe(cpu: Any, device: Any) -> str:
    if not isinstance(cpu, torch.Tensor):
        return repr(cpu)
    where = "" if device.device.type == "pocket" else " on the CPU"
    return f"{str(cpu.dtype)[6:]}{[*cpu.shape]}/{[*cpu.stride()]}{where}"


def main(backend: str, calls: int, seed: int) -> None:
    """Print what was compared; exit with the differences, if any."""
    warnings.simplefilter("ignore")
    torch.manual_seed(seed)
    rng = random.Random(seed)
    with open(backend) as file:
        listed = yaml.safe_load(file)
    names = [name for key, some in listed.items() if key.startswith("structured") for name in some]
    operators = [Operator.of(name) for name in names]
    seen: Counter[str] = Counter()
    wrong = []
    for i in range(calls):
        operator = operators[i % len(operators)]
        variants = ["functional", "out", *(["inplace"] if operator.inplace else [])]
        made = call(rng, operator, rng.choice(variants))
        if isinstance(made.theirs, Exception) and "not implemented" in str(made.theirs):
            seen["not implemented on the CPU"] += 1
            continue
        seen["errors" if isinstance(made.theirs, Exception) else "results"] += 1
        if why := differ(made.ours, made.theirs, made.coarsest, made.layout):
            wrong.append(f"{made.said}: {why}")
    print(len(operators), "operators,", calls, "calls:", dict(seen), "differences:", len(wrong))
    used = pocket.fallbacks()
    ours = {op._schema.name for o in operators for op in (o.out, o.functional, o.inplace) if op}
    fell = {name for name in used if name.split(".")[0] in ours}
    if wrong or fell:
        sys.exit("\n".join([*wrong, *(f"{name} ran on the CPU" for name in sorted(fell))]))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
