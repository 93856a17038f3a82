"""Group bound operators into Python functions: the overloads of each name, in the order in which they are tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from opgen.model.native_function import NativeFunction, Variant
from opgen.python.signatures import PythonSignature, Spellings


class PythonOverload(Struct, frozen=True):
    """One overload: it calls `base`, or `out` if the argument `out` is passed."""

    signature: PythonSignature
    base: NativeFunction
    out: NativeFunction | None


class PythonFunction(Struct, frozen=True):
    """A function or method. `module` is its submodule, None for the package itself."""

    name: str
    namespace: str
    module: str | None
    method: bool
    overloads: tuple[PythonOverload, ...]


def python_functions(
    functions: Iterable[NativeFunction], spellings: Spellings
) -> tuple[PythonFunction, ...]:
    """Return all Python functions and methods, in the order of their first entries.

    `functions` must have no errors by `check_python`. Raises NoPythonSignature.
    """
    bound = (
        PythonFunction(name, namespace, module, method, _overloads(group, method, spellings))
        for (method, namespace, module, name), group in functions_by_name(functions)
    )
    # A selection may include an out variant alone, which Python cannot call.
    return tuple(function for function in bound if function.overloads)


Name = tuple[bool, str, str | None, str]


def functions_by_name(
    functions: Iterable[NativeFunction],
) -> Iterator[tuple[Name, list[NativeFunction]]]:
    """Yield each (is method, namespace, module, name) with its operators."""
    groups: dict[Name, list[NativeFunction]] = defaultdict(list)
    for f in functions:
        for method in (False, True):
            if _is_called_as(f, method):
                module = f.python_module or None
                groups[method, f.namespace, module, str(f.func.name.name)].append(f)
    yield from groups.items()


def _is_called_as(f: NativeFunction, method: bool) -> bool:
    """Return whether `f` is a method, or a function. An operator with a module is always a function there."""
    if f.python_module is not None:
        return not method
    return (Variant.method if method else Variant.function) in f.variants


def without_outputs(f: NativeFunction, spellings: Spellings, *, method: bool) -> str:
    """Return the signature without outputs, which identifies an overload. Raises NoPythonSignature."""
    signature = PythonSignature.from_native_function(f, spellings.cpp, method=method)
    return replace(signature, output_args=None).signature_str(spellings)


def _overloads(
    functions: Sequence[NativeFunction], method: bool, spellings: Spellings
) -> tuple[PythonOverload, ...]:
    outs = {
        without_outputs(f, spellings, method=method): f for f in functions if f.func.is_out_fn()
    }
    overloads = [
        _overload(f, outs.get(without_outputs(f, spellings, method=method)), method, spellings)
        for f in functions
        if not f.func.is_out_fn()
    ]
    return _in_order(sorted(overloads, key=lambda o: o.signature.signature_str(spellings)))


def _overload(
    base: NativeFunction, out: NativeFunction | None, method: bool, spellings: Spellings
) -> PythonOverload:
    signature = PythonSignature.from_native_function(base, spellings.cpp, method=method)
    if out is not None:
        options = signature.tensor_options_args
        signature = PythonSignature.from_native_function(out, spellings.cpp, method=method)
        signature = replace(signature, tensor_options_args=options, returns=base.func.returns)
    return PythonOverload(signature, base, out)


def _in_order(overloads: Sequence[PythonOverload]) -> tuple[PythonOverload, ...]:
    """Sort overloads topologically: one whose types must be tried later comes after the other; else keep the order.

    For example, a number is also accepted for a tensor, so the order decides whether an overload with a Scalar or one
    with a Tensor is called.
    """
    predecessors = {
        i: {
            j
            for j, other in enumerate(overloads)
            if _goes_after(overload.signature, other.signature)
        }
        for i, overload in enumerate(overloads)
    }
    order = [i for i, before in predecessors.items() if not before]
    waiting = [i for i, before in predecessors.items() if before]
    for placed in order:  # The loop appends to the list.
        for i in list(waiting):
            predecessors[i].discard(placed)
            if not predecessors[i]:
                waiting.remove(i)
                order.append(i)
    assert not waiting, "no type goes both before and after another"
    return tuple(overloads[i] for i in order)


def _goes_after(one: PythonSignature, other: PythonSignature) -> bool:
    """Return whether the argument types of `one` are those of `other`, or types that are tried later."""
    ours = [str(a.type) for a in replace(one, output_args=None).arguments()]
    theirs = [str(a.type) for a in replace(other, output_args=None).arguments()]
    if len(ours) != len(theirs) or ours == theirs:
        return False
    return all(a == b or _is_tried_after(a, b) for a, b in zip(ours, theirs))


_TRIED_AFTER = {
    "Scalar": {"Tensor"},
    "Scalar?": {"Tensor?"},
    "int": {"Tensor"},
    "SymInt": {"Tensor"},
    "int[]": {"int", "int?"},
    "SymInt[]": {"int[]"},
}


def _is_tried_after(type: str, other: str) -> bool:
    """Return whether `type` is tried after `other`. A list of tensors comes after all other lists."""
    return other in _TRIED_AFTER.get(type, ()) or (type == "Tensor[]" and "[]" in other)
