"""The two kinds of tensors: PyTorch's, and those of a package of target runtime. The module comes from the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, TypeAlias

from msgspec import Struct

# A function of the tensors whose gradients are checked.
Function = Callable[..., tuple[Any, ...]]

# Messages of formulas that are not there, which is not a wrong gradient.
NOT_THERE = ("not implemented", "does not support it", "no forward-mode formula")


class Program(Struct):
    """A function and its inputs, which depend on the leaves. `written` are tensors that it writes."""

    f: Function
    inputs: Sequence[Any]
    leaves: Sequence[Any]
    written: Sequence[Any] = ()


class Different(Exception):
    """A call has other results or gradients under torch.compile."""


class NotCompiled(Exception):
    """A call cannot be compared under torch.compile; the text says why."""


def is_comparison(error: BaseException) -> bool:
    """Whether an error says that a gradient was computed, and differs from finite differences or has another shape."""
    text = str(error)
    if "Batching rule not implemented" in text:
        return False
    return (
        isinstance(error, Different)
        or type(error).__name__ == "GradcheckError"
        or "invalid gradient" in text
    )


def first_line(error: BaseException | None) -> str:
    """Return the first line of an exception's message, or the name of its class if it has none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class BaseTensors:
    """What the checks need of tensors: those of `module`, a thing that is PyTorch or like it."""

    # What a kernel throws to refuse a call.
    refusals: tuple[type[Exception], ...] = (RuntimeError, ValueError, IndexError, TypeError)
    # The dtypes of which a gradient is checked; the first is required.
    dtypes: tuple[str, ...] = ("float64", "complex128")
    # Whether gradients are checked under vmap and torch.compile, too.
    has_transforms: bool = False

    def __init__(self, module: Any) -> None:
        self.module = module

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.module.Tensor)

    def clone(self, value: Any) -> Any:
        return value.clone()

    def leaf(self, value: Any) -> Any:
        """Return the tensor as one that requires a gradient."""
        return value.detach().requires_grad_()

    def is_differentiable(self, value: Any) -> bool:
        """Return whether the dtype of a tensor has gradients."""
        return bool(value.dtype.is_floating_point or value.dtype.is_complex)

    def check(self, f: Function, inputs: Sequence[Any], *, forward: bool, batched: bool) -> None:
        """Compare the gradients with finite differences; throw an error if they differ."""
        transforms = {
            "check_batched_grad": batched,
            "check_batched_forward_grad": forward and batched,
        }
        options = transforms if self.has_transforms else {}
        self.module.autograd.gradcheck(f, tuple(inputs), check_forward_ad=forward, **options)

    def check_compiled(self, make: Callable[[], Program], *, dynamic: bool) -> None:
        """Compare a program with the same under torch.compile. Throw Different, or NotCompiled.

        `make` returns it with new tensors. With `dynamic`, sizes are symbols.
        """
        raise NotCompiled("a package of target runtime has no torch.compile")

    def problem(self) -> str:
        """Return why no gradient at all can be computed in this process, or ""."""
        # A package computes gradients in the thread that asks for them.
        return ""


class TorchTensors(BaseTensors):
    """PyTorch's."""

    has_transforms = True

    def tensor(self, values: Sequence[Any], shape: Sequence[int], dtype: str, layout: str) -> Any:
        """Return a tensor with these elements. `layout` is "dense", "transposed" or "strided"."""
        torch = self.module
        dense = torch.tensor(list(values), dtype=getattr(torch, dtype)).reshape(tuple(shape))
        if layout == "transposed":
            order = tuple(reversed(range(dense.dim())))
            return dense.permute(order).contiguous().permute(order)
        if layout == "strided" and dense.dim() > 0:
            wide = dense.new_zeros((*dense.shape[:-1], 2 * dense.shape[-1]))
            every_second = wide[..., ::2]
            every_second.copy_(dense)
            return every_second
        return dense

    def operator(
        self, namespace: str, name: str, overload: str, positional: Sequence[str]
    ) -> Callable[..., Any]:
        """Return an operator as a function; `positional` are the names of its positional arguments."""
        packet = getattr(getattr(self.module.ops, namespace), name)
        found: Callable[..., Any] = getattr(packet, overload or "default")
        return found

    def check_second(self, f: Function, inputs: Sequence[Any], *, forward: bool) -> None:
        """Compare the gradients of gradients with finite differences. With `forward`, forwards over backwards."""
        self.module.autograd.gradgradcheck(
            f,
            tuple(inputs),
            check_undefined_grad=not forward,
            check_fwd_over_rev=forward,
            check_rev_over_rev=not forward,
        )

    def check_compiled(self, make: Callable[[], Program], *, dynamic: bool) -> None:
        torch = self.module
        try:
            expected = self._values_of(make())
        except Exception as error:
            raise NotCompiled(f"without torch.compile: {first_line(error)}") from error
        program = make()
        try:
            torch._dynamo.reset()
            program.f = torch.compile(
                program.f, backend="aot_eager", fullgraph=True, dynamic=dynamic
            )
            found = self._values_of(program)
        except Exception as error:
            # What a back end of torch.compile throws is in another exception.
            raise NotCompiled(first_line(getattr(error, "inner_exception", error))) from error
        for what, value in expected.items():
            try:
                torch.testing.assert_close(found[what], value, equal_nan=True)
            except AssertionError as error:
                text = f"{what} is {found[what]!r}, and without it {value!r}"
                raise Different(f"under torch.compile, {text}") from error

    def _values_of(self, program: Program) -> dict[str, Any]:
        """Return the results of a program, the tensors that it writes, and the gradients of its leaves."""
        torch = self.module
        results = program.f(*program.inputs)
        values = {f"result {i}": value for i, value in enumerate(results)}
        values |= {f"written tensor {i}": value for i, value in enumerate(program.written)}
        # A written tensor is used after the program, too, which is another way of its gradient.
        used = [
            value if value.grad_fn is None else value * 1
            for value in values.values()
            if self.is_differentiable(value)
        ]
        pairs = [
            (value, torch.full_like(value, 1 + i / 4))
            for i, value in enumerate(used)
            if value.requires_grad
        ]
        gradients: Sequence[Any] = [None] * len(program.leaves)
        if pairs:
            outputs, weights = zip(*pairs)
            gradients = torch.autograd.grad(outputs, program.leaves, weights, allow_unused=True)
        for i, (leaf, gradient) in enumerate(zip(program.leaves, gradients)):
            values[f"gradient {i}"] = torch.zeros_like(leaf) if gradient is None else gradient
        return {what: value.detach() for what, value in values.items()}

    def problem(self) -> str:
        try:
            self.module.ones(1, dtype=self.module.float64, requires_grad=True).sum().backward()
        except Exception as error:
            return first_line(error)
        return ""


class PackageTensors(BaseTensors):
    """Those of a package of target runtime, which compares gradients with finite differences itself."""

    def tensor(self, values: Sequence[Any], shape: Sequence[int], dtype: str, layout: str) -> Any:
        if layout == "strided" and shape:
            wide = [x for value in values for x in (value, value)]
            return self._dense(wide, (*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
        if layout == "transposed":
            # The order of elements does not matter: they are random.
            turned = self._dense(values, shape[::-1], dtype)
            for i in range(len(shape)):
                turned = self.module._C._movedim(turned, 0, len(shape) - 1 - i)
            return turned
        return self._dense(values, shape, dtype)

    def _dense(self, values: Sequence[Any], shape: Sequence[int], dtype: str) -> Any:
        if 0 in shape:
            one = self.module.tensor([0], dtype=dtype)
            return self.module._C._zeros_of(tuple(shape), one)
        rows = list(values)
        for size in reversed(shape[1:]):
            rows = [rows[i : i + size] for i in range(0, len(rows), size)]
        return self.module.tensor(rows if shape else rows[0], dtype=dtype)

    def operator(
        self, namespace: str, name: str, overload: str, positional: Sequence[str]
    ) -> Callable[..., Any]:
        """An operator by its name: also a method's, and one that the package has no function for."""

        def call(*values: Any, **named: Any) -> Any:
            given = {**dict(zip(positional, values)), **named}
            results = self.module._C._call_operator(f"{namespace}::{name}", overload, given)
            return results[0] if len(results) == 1 else tuple(results)

        return call

    def clone(self, value: Any) -> Any:
        """Return a copy, with a history if the dtype has gradients; not a view, because operators may write it."""
        if not self.is_differentiable(value):
            return self.module.tensor(value)
        return self.module._C._clone(value)

    def check_second(self, f: Function, inputs: Sequence[Any], *, forward: bool) -> None:
        """The gradient as a function of the inputs and of the weights of the outputs, whose gradient is checked."""
        count, autograd = len(inputs), self.module.autograd
        weights = [self._weight(output) for output in f(*inputs)]

        def gradient(*given: Any) -> tuple[Any, ...]:
            with autograd.enable_grad():
                leaves = [x.requires_grad_() for x in given[:count]]
                pairs = [(y, w) for y, w in zip(f(*leaves), given[count:]) if y.requires_grad]
                outputs, used = zip(*pairs)
                found: tuple[Any, ...] = autograd.grad(
                    outputs, leaves, used, create_graph=True, materialize_grads=True
                )
            return found

        autograd.gradcheck(
            gradient,
            (*inputs, *weights),
            check_forward_ad=forward,
            check_backward_ad=not forward,
        )

    def _weight(self, output: Any) -> Any:
        dtype = str(output.dtype).rpartition(".")[2]
        # Any numbers: none is zero, and no two are equal.
        values = [0.5 + 0.25 * i for i in range(output.numel())]
        return self.leaf(self._dense(values, tuple(output.shape), dtype))


Tensors: TypeAlias = TorchTensors | PackageTensors


def elements_of(nested: Any) -> Iterator[Any]:
    """Yield the numbers in nested lists."""
    if isinstance(nested, list):
        for item in nested:
            yield from elements_of(item)
    else:
        yield nested


def tensors_of(module: ModuleType) -> Tensors:
    """Return the tensors of a module: of `torch`, or of a package of target runtime."""
    if hasattr(module, "ops"):
        return TorchTensors(module)
    if hasattr(module, "Tensor"):
        return PackageTensors(module)
    raise TypeError(f"{module.__name__} has no tensors: pass torch, or a package of target runtime")
