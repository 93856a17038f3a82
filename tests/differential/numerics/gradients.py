"""Compare the gradients of one operator with PyTorch's, on the inputs that its results are compared on.

For each input: which results require a gradient; the gradients, for weights that are drawn; the tangents, for directions that
are drawn; and the gradients of the gradients. Tensors have any layout, some of them require a gradient, some results are not
used, and what an operator writes in place is a new tensor, or a view of one.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import torch

from differential.numerics import reference
from differential.numerics.constraints import CONSTRAINTS
from differential.numerics.draw import Draw, Refused, operator_base
from differential.numerics.gradient_exceptions import consistent, leaves_out
from differential.numerics.python_driver import Form, PythonHandle, PythonLibrary
from differential.numerics.values import (
    BY_NAME,
    Dtype,
    TensorValue,
    Value,
    contiguous_strides,
    elements,
    from_numbers,
)
from opgen.gradtest.gradient import Gradient, gradients
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from support.build import REPOSITORY

# Give up after this many drawn inputs per wanted input.
_DRAWS_PER_INPUT = 40
# |ours - theirs| <= this, relative to the largest element of theirs and 1.
_TOLERANCE = {
    "float16": 2e-2,
    "bfloat16": 1.5e-1,
    "float32": 2e-4,
    "float64": 1e-9,
    "complex64": 2e-4,
    "complex128": 1e-9,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One input on which ours differ."""

    operator: str
    dtype: str
    seed: int
    part: str
    text: str
    arguments: Mapping[str, Value]

    def __str__(self) -> str:
        rows = "\n".join(f"  {name} = {value}" for name, value in self.arguments.items())
        return f"{self.operator} {self.dtype} seed {self.seed} [{self.part}] {self.text}\n{rows}"


@dataclass(slots=True)
class GradientReport:
    """What was compared for one operator and dtype."""

    compared: int = 0
    nonzero: int = 0
    tangents: int = 0
    second: int = 0
    refused: int = 0
    # Calls whose results require no gradient.
    plain: int = 0
    findings: list[Finding] = field(default_factory=list)


class Different(Exception):
    """Ours differ from PyTorch's in one part: "gradient", "tangent", "second gradient"."""

    def __init__(self, part: str, text: str) -> None:
        super().__init__(text)
        self.part = part


class GradientChecker:
    """Compares the operators of the package `module` with PyTorch's."""

    def __init__(
        self,
        module: ModuleType,
        registry: Registry,
    ) -> None:
        self.module: Any = module
        self.functions = {str(f.func.name): f for f in registry.functions}
        self.gradients = every_gradient(registry)
        self.library = PythonLibrary(module, registry, Form.FUNCTION)

    def check(
        self, name: str, dtype: Dtype, count: int, *, most_findings: int = 3
    ) -> GradientReport:
        """Compare inputs until `count` of them have a gradient that is not zero."""
        report, seed = GradientReport(), 0
        patience = count * _DRAWS_PER_INPUT
        while report.nonzero < count and seed < patience:
            self.check_seed(name, dtype, seed, report)
            seed += 1
            if len(report.findings) >= most_findings:
                break
            if report.compared == 0 and seed >= 60:
                break  # PyTorch has no gradient for this dtype.
            if report.nonzero == 0 and report.compared >= count:
                break  # Its gradient is zero everywhere.
        return report

    def check_seed(self, name: str, dtype: Dtype, seed: int, report: GradientReport) -> None:
        """Compare one input and count it in `report`."""
        arguments = self._draw(name, dtype, seed)
        if arguments is None or leaves_out(name, "gradient", arguments):
            return
        run = _Run(self, self.gradients[name], arguments, f"{name} {dtype.name} {seed}")
        try:
            run.compare(report)
        except Different as found:
            text = " ".join(str(found).split("\n"))[:600]
            report.findings.append(Finding(name, dtype.name, seed, found.part, text, arguments))

    def differs(
        self,
        name: str,
        dtype: Dtype,
        part: str,
        applies: Callable[[Mapping[str, Value]], bool],
        seeds: int = 120,
    ) -> bool:
        """Return whether a call to which an exception applies differs in its part; "all" stands for every part."""
        for seed in range(seeds):
            arguments = self._draw(name, dtype, seed)
            if arguments is None or not applies(arguments):
                continue
            run = _Run(self, self.gradients[name], arguments, f"{name} {dtype.name} {seed}")
            run.exceptions = False
            try:
                run.compare(GradientReport())
            except Different as found:
                if part in ("all", found.part):
                    return True
        return False

    def _draw(self, name: str, dtype: Dtype, seed: int) -> dict[str, Value] | None:
        """Return the arguments of a call; None if there are none for this seed."""
        function = self.functions[name]
        draw = Draw(function.func, dtype, seed, CONSTRAINTS)
        draw.special = False
        try:
            return consistent(operator_base(function.func), draw.all())
        except Refused:
            return None


class _Side:
    """PyTorch, or our package: what the comparison needs of tensors."""

    def __init__(self, autograd: Any, forward: Any) -> None:
        self.autograd = autograd
        self.forward = forward

    def make(self, value: Value) -> Any:
        raise NotImplementedError

    def whole(self, made: Any) -> Any:
        """Return a tensor over all of the storage of a tensor that `make` made."""
        raise NotImplementedError

    def tensor(self, made: Any) -> Any:
        raise NotImplementedError

    def call(self, arguments: Mapping[str, Any]) -> list[Any]:
        raise NotImplementedError

    def array(self, tensor: Any) -> Any:
        raise NotImplementedError


class _Theirs(_Side):
    def __init__(self, name: str) -> None:
        super().__init__(torch.autograd, torch.autograd.forward_ad)
        self._operator = reference.find(name)

    def make(self, value: Value) -> Any:
        return reference.make(value)

    def whole(self, made: Any) -> Any:
        count = made.untyped_storage().nbytes() // made.itemsize
        return made.new_empty(0).set_(made.untyped_storage(), 0, (count,), (1,))

    def tensor(self, made: Any) -> Any:
        return made

    def call(self, arguments: Mapping[str, Any]) -> list[Any]:
        return reference.results_of(self._operator, arguments)

    def array(self, tensor: Any) -> Any:
        plain = tensor.detach()
        if plain.layout != torch.strided or plain._is_zerotensor():
            plain = torch.zeros(plain.shape, dtype=plain.dtype) + plain.to_dense()
        return reference.read(plain.resolve_conj().resolve_neg()).array()


class _Ours(_Side):
    def __init__(self, module: Any, library: PythonLibrary, name: str) -> None:
        super().__init__(module.autograd, module.autograd.forward_ad)
        self._call = module._C._call_operator
        self._library = library
        self._name = name

    def make(self, value: Value) -> Any:
        return self._library.make(value)

    def whole(self, made: Any) -> Any:
        return made.base

    def tensor(self, made: Any) -> Any:
        return made.object

    def call(self, arguments: Mapping[str, Any]) -> list[Any]:
        given = {name: _objects(value) for name, value in arguments.items()}
        base, _, overload = self._name.partition(".")
        found: list[Any] = self._call(f"aten::{base}", overload, given)
        return found

    def array(self, tensor: Any) -> Any:
        return self._library.read(tensor).array()


def _objects(value: Any) -> Any:
    if isinstance(value, PythonHandle):
        return value.object
    return [_objects(v) for v in value] if isinstance(value, list | tuple) else value


_Place = tuple[str, int | None]


class _Run:
    """One drawn input, on both sides."""

    def __init__(
        self,
        checker: GradientChecker,
        gradient: Gradient,
        arguments: Mapping[str, Value],
        text: str,
    ) -> None:
        self.checker = checker
        self.gradient = gradient
        self.name = str(gradient.schema.name)
        self.exceptions = True
        self.operator = operator_base(gradient.schema)
        self.arguments = arguments
        self.random = random.Random(zlib.crc32(text.encode()))
        self.written = gradient.schema.arguments.mutable_arg_names
        places = [p for p, value in self._tensors() if p[0] in gradient.inputs and _is_real(value)]
        self.chosen = [p for p in places if self.random.random() < 0.8] or places
        self.through_view = self.random.random() < 0.5
        self.drops_results = self.random.random() < 0.3
        # That of the least precise dtype of the call.
        dtypes = [value.dtype.name for _, value in self._tensors()]
        dtypes += [value.name for value in arguments.values() if isinstance(value, Dtype)]
        self.tolerance = max((_TOLERANCE.get(name, 0) for name in dtypes), default=0)
        self.theirs: _Side = _Theirs(self.name)
        self.ours: _Side = _Ours(checker.module, checker.library, self.name)

    def _tensors(self) -> Iterator[tuple[_Place, TensorValue]]:
        for name, value in self.arguments.items():
            if isinstance(value, TensorValue):
                yield (name, None), value
            elif isinstance(value, tuple):
                for i, item in enumerate(value):
                    if isinstance(item, TensorValue):
                        yield (name, i), item

    def compare(self, report: GradientReport) -> None:
        if not self.chosen:
            return
        state = self.random.getstate()
        try:
            wanted = self._gradients(self.theirs)
        except Exception:
            report.refused += 1
            return
        self.random.setstate(state)
        try:
            found = self._gradients(self.ours)
        except Exception as error:
            raise Different("gradient", f"PyTorch has one, ours raises {_words(error)}") from error
        if found.flags != wanted.flags:
            if self.exceptions and leaves_out(self.name, "requires_grad", self.arguments):
                return
            raise Different("requires_grad", f"{found.flags}, not {wanted.flags}")
        if not any(wanted.flags):
            report.plain += 1
            return
        self._compare("gradient", found.first, wanted.first)
        report.compared += 1
        report.nonzero += any(g is not None and self.theirs.array(g).any() for g in wanted.first)
        self._compare_second(found, wanted, report)
        self._compare_tangents(report)

    # Gradients.

    def _gradients(self, side: _Side) -> _Found:
        """Call the operator and compute its gradients."""
        made = {name: _made(side, value) for name, value in self.arguments.items()}
        leaves: list[Any] = []
        given = {name: _plain(side, value) for name, value in made.items()}
        with torch.enable_grad():
            for place in self.chosen:
                leaf, used = self._leaf(side, _get(made, place), place)
                leaves.append(leaf)
                _set(given, place, used)
            results = _flat(side.call(given)) or _flat([given[name] for name in self.written])
        flags = [bool(r.requires_grad) for r in results]
        results = [r for r in results if r.requires_grad]
        if self.drops_results and len(results) > 1:
            results = [r for r in results if self.random.random() < 0.6] or results[:1]
        if not results:
            return _Found(flags, leaves, [], [])
        weights = [self._weight(side, r).requires_grad_() for r in results]
        first = side.autograd.grad(results, leaves, weights, create_graph=True, allow_unused=True)
        return _Found(flags, leaves, weights, list(first))

    def _leaf(self, side: _Side, made: Any, place: _Place) -> tuple[Any, Any]:
        """Return a leaf, and the tensor of it that is passed."""
        if place[0] not in self.written:
            leaf = side.tensor(made).detach().requires_grad_()
            return leaf, leaf
        if not self.through_view:
            leaf = side.tensor(made).detach().requires_grad_()
            return leaf, leaf.clone()
        leaf = side.whole(made).detach().requires_grad_()
        value = _get(self.arguments, place)
        return leaf, leaf.clone().as_strided(value.sizes, value.strides, value.offset)

    def _weight(self, side: _Side, like: Any) -> Any:
        dtype = str(like.dtype).rpartition(".")[2]
        return side.tensor(side.make(self._numbers(dtype, tuple(like.shape)))).detach()

    def _numbers(self, dtype: str, sizes: tuple[int, ...]) -> TensorValue:
        count = elements(sizes)
        numbers = np.array([self.random.uniform(-2, 2) for _ in range(count)])
        if dtype.startswith("complex"):
            numbers = numbers + 1j * np.array([self.random.uniform(-2, 2) for _ in range(count)])
        made = from_numbers(_dtype(dtype), numbers)
        return TensorValue(_dtype(dtype), sizes, contiguous_strides(sizes), 0, made.tobytes())

    # Gradients of gradients.

    def _compare_second(self, found: _Found, wanted: _Found, report: GradientReport) -> None:
        if self.exceptions and leaves_out(self.name, "second gradient", self.arguments):
            return
        state = self.random.getstate()
        try:
            theirs = self._second(self.theirs, wanted)
        except Exception:
            return
        if theirs is None:
            return
        self.random.setstate(state)
        try:
            ours = self._second(self.ours, found)
        except Exception as error:
            text = f"PyTorch has one, ours raises {_words(error)}"
            raise Different("second gradient", text) from error
        if ours is None:
            ours = [None] * len(theirs)
        # Where PyTorch has none, it is not always zero.
        pairs = [(mine, their) for mine, their in zip(ours, theirs) if their is not None]
        self._compare("second gradient", [p[0] for p in pairs], [p[1] for p in pairs])
        report.second += 1

    def _second(self, side: _Side, found: _Found) -> list[Any] | None:
        weights = [None if g is None else self._weight(side, g) for g in found.first]
        pairs = [(g, w) for g, w in zip(found.first, weights) if g is not None and g.requires_grad]
        if not pairs:
            return None
        inputs = [*found.leaves, *found.weights]
        roots, used = zip(*pairs)
        return list(side.autograd.grad(roots, inputs, used, allow_unused=True))

    # Tangents.

    def _compare_tangents(self, report: GradientReport) -> None:
        if self.exceptions and leaves_out(self.name, "tangent", self.arguments):
            return
        state = self.random.getstate()
        try:
            wanted = self._tangents(self.theirs)
        except Exception:
            return
        self.random.setstate(state)
        try:
            found = self._tangents(self.ours)
        except Exception as error:
            text = f"PyTorch has one, ours raises {_words(error)}"
            raise Different("tangent", text) from error
        self._compare("tangent", found, wanted)
        report.tangents += 1

    def _tangents(self, side: _Side) -> list[Any]:
        made = {name: _made(side, value) for name, value in self.arguments.items()}
        given = {name: _plain(side, value) for name, value in made.items()}
        with side.forward.dual_level():
            for place in self.chosen:
                value = side.tensor(_get(made, place)).detach()
                if place[0] in self.written and self.random.random() < 0.5:
                    value = value.clone()
                dual = side.forward.make_dual(value, self._weight(side, value))
                _set(given, place, dual)
            results = _flat(side.call(given)) or _flat([given[name] for name in self.written])
            found = [side.forward.unpack_dual(r).tangent for r in results]
            return [None if t is None else t.detach() for t in found]

    # Comparing.

    def _compare(self, part: str, ours: Sequence[Any], theirs: Sequence[Any]) -> None:
        if len(ours) != len(theirs):
            raise Different(part, f"{len(ours)}, not {len(theirs)}")
        for i, (mine, their) in enumerate(zip(ours, theirs)):
            self._compare_one(part, i, mine, their)

    def _compare_one(self, part: str, i: int, ours: Any, theirs: Any) -> None:
        # An undefined gradient stands for zeros.
        if theirs is None and self.operator == "native_layer_norm_backward":
            return  # It is not zero.
        if theirs is None or ours is None:
            other = self.theirs.array(theirs) if theirs is not None else None
            other = self.ours.array(ours) if ours is not None else other
            if other is not None and other.any():
                raise Different(part, f"{i}: {ours}, not {theirs}")
            return
        # PyTorch's tangents may have another dtype than their tensor.
        same = part == "tangent" or str(ours.dtype) == str(theirs.dtype)[6:]
        if tuple(ours.shape) != tuple(theirs.shape) or not same:
            raise Different(
                part,
                f"{i}: {tuple(ours.shape)} {ours.dtype}, not {tuple(theirs.shape)} {theirs.dtype}",
            )
        a, b = self.ours.array(ours), self.theirs.array(theirs)
        if str(ours.dtype) in ("float16", "bfloat16"):
            # What overflows in half precision depends on how it is computed.
            a = np.where(np.isfinite(b), a, b)
        if not _are_close(a, b, max(self.tolerance, _TOLERANCE[str(ours.dtype)])):
            raise Different(part, f"{i}: {a.tolist()}, not {b.tolist()}")


@dataclass(frozen=True, slots=True)
class _Found:
    flags: list[bool]
    leaves: list[Any]
    weights: list[Any]
    first: list[Any]


def every_gradient(registry: Registry) -> dict[str, Gradient]:
    """Return the operators by name, except those with out=. One without a formula may call others that have one."""
    found = gradients(REPOSITORY / "native_functions.yaml", target="runtime")
    every = {str(gradient.schema.name): gradient for gradient in found}
    for function in registry.functions:
        if function.func.kind() is not SchemaKind.out:
            every.setdefault(str(function.func.name), _of_all_tensors(function))
    return every


def _of_all_tensors(function: NativeFunction) -> Gradient:
    arguments = function.func.arguments.flat_all
    return Gradient(
        namespace=function.namespace,
        schema=function.func,
        inputs=tuple(a.name for a in arguments if a.type.is_tensor_like()),
        outputs=tuple(range(len(function.func.returns))),
        forward=True,
    )


def _are_close(a: Any, b: Any, tolerance: float) -> bool:
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = b[np.isfinite(b)]
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    if scale > 1e6:
        tolerance *= 1e4  # Near a pole, the last digits of the input decide.
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= tolerance * scale
    # Which infinity or NaN is the result depends on the order of operations.
    return bool((near | (a == b) | ~(np.isfinite(a) | np.isfinite(b))).all())


def _is_real(value: TensorValue) -> bool:
    return value.dtype.kind in ("float", "complex")


def _dtype(name: str) -> Dtype:
    return BY_NAME[name]


def _made(side: _Side, value: Value) -> Any:
    if isinstance(value, tuple) and any(isinstance(v, TensorValue) for v in value):
        return [None if v is None else side.make(v) for v in value]
    return side.make(value)


def _plain(side: _Side, made: Any) -> Any:
    return list(made) if isinstance(made, list) else made


def _get(values: Mapping[str, Any], place: _Place) -> Any:
    name, index = place
    return values[name] if index is None else values[name][index]


def _set(values: dict[str, Any], place: _Place, value: Any) -> None:
    name, index = place
    if index is None:
        values[name] = value
    else:
        values[name][index] = value


def _flat(results: Sequence[Any]) -> list[Any]:
    found = []
    for result in results:
        if isinstance(result, list | tuple):
            found += _flat(result)
        else:
            found.append(result.object if isinstance(result, PythonHandle) else result)
    return [r for r in found if hasattr(r, "requires_grad")]


def _words(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    return text[:300]
