"""Bound operators into Python's functions: overloads of one name, in the order in which they are tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from opgen.dataclasses import dataclass, replace
from opgen.model.native_function import NativeFunction, Variant
from opgen.python.signatures import PythonSignature, Spellings


@dataclass(frozen=True, slots=True)
class PythonOverload:
    """One way to call a function: `base`, or `out` if the argument of that name is given."""

    signature: PythonSignature
    base: NativeFunction
    out: NativeFunction | None


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """What has one name in Python; `module` is the submodule, None for the library's own."""

    name: str
    namespace: str
    module: str | None
    method: bool
    overloads: tuple[PythonOverload, ...]


def python_functions(
    functions: Iterable[NativeFunction], spellings: Spellings
) -> tuple[PythonFunction, ...]:
    """Every function and method of `functions`, in the order of their first entries.

    Of these `check_python` has found nothing to report. Raises NoPythonSignature.
    """
    found = (
        PythonFunction(name, namespace, module, method, _overloads(found, method, spellings))
        for (method, namespace, module, name), found in functions_by_name(functions)
    )
    # Of a selection there may be an out variant alone, which Python cannot call.
    return tuple(one for one in found if one.overloads)


Name = tuple[bool, str, str | None, str]


def functions_by_name(
    functions: Iterable[NativeFunction],
) -> Iterator[tuple[Name, list[NativeFunction]]]:
    """(is a method, namespace, module, name), with the operators that Python finds there."""
    groups: dict[Name, list[NativeFunction]] = defaultdict(list)
    for f in functions:
        for method in (False, True):
            if _is_called_as(f, method):
                module = f.python_module or None
                groups[method, f.namespace, module, str(f.func.name.name)].append(f)
    yield from groups.items()


def _is_called_as(f: NativeFunction, method: bool) -> bool:
    """What belongs to a module is a function there, whatever its variants are."""
    if f.python_module is not None:
        return not method
    return (Variant.method if method else Variant.function) in f.variants


def without_outputs(f: NativeFunction, spellings: Spellings, *, method: bool) -> str:
    """The signature by which overloads are told apart. Raises NoPythonSignature."""
    signature = PythonSignature.from_native_function(f, spellings.cpp, method=method)
    return replace(signature, output_args=None).signature_str(spellings)


def _overloads(
    functions: Sequence[NativeFunction], method: bool, spellings: Spellings
) -> tuple[PythonOverload, ...]:
    outs = {
        without_outputs(f, spellings, method=method): f for f in functions if f.func.is_out_fn()
    }
    found = [
        _overload(f, outs.get(without_outputs(f, spellings, method=method)), method, spellings)
        for f in functions
        if not f.func.is_out_fn()
    ]
    return _in_order(sorted(found, key=lambda o: o.signature.signature_str(spellings)))


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
    """`overloads` with what takes less after what takes more, and else in the order given.

    A number is also taken for a tensor, so an overload with a Scalar would never be reached, or one
    with a Tensor never, were they tried the wrong way round. Each waits for those that go before it.
    """
    waits = {
        i: {j for j, other in enumerate(overloads) if _goes_after(one.signature, other.signature)}
        for i, one in enumerate(overloads)
    }
    order = [i for i, before in waits.items() if not before]
    waiting = [i for i, before in waits.items() if before]
    for placed in order:  # grows while it is gone through
        for i in list(waiting):
            waits[i].discard(placed)
            if not waits[i]:
                waiting.remove(i)
                order.append(i)
    assert not waiting, "no type goes both before and after another"
    return tuple(overloads[i] for i in order)


def _goes_after(one: PythonSignature, other: PythonSignature) -> bool:
    """Whether the arguments of `one` are those of `other`, but for types that are tried later."""
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
    """A list of tensors comes after every other list."""
    return other in _TRIED_AFTER.get(type, ()) or (type == "Tensor[]" and "[]" in other)
