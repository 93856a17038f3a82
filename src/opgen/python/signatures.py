"""Build Python signatures of operators, for the argument parser and for stubs, and group them into functions.

The arguments are those of the schema, in its order, with two exceptions. The out arguments become a single optional
one, `out`. Tensor options (dtype, layout, device, pin_memory) come last, followed by `requires_grad`; factories and
similar operators have them even if the schema does not.
"""

from __future__ import annotations

import keyword
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from graphlib import TopologicalSorter
from itertools import permutations

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.cpp.cpp_types import TypeSpelling
from opgen.model.function_schema import TENSOR, Argument, Return
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.layout import declare
from opgen.python.python_types import (
    NoPythonSignature,
    PythonSpelling,
    or_none,
    parser_default,
    parser_type,
    python_default,
    stub_default,
)

# Added to each signature with tensor options, so that no schema can have an argument with this name.
REQUIRES_GRAD = "requires_grad"


class Spellings(Struct, frozen=True):
    """The spelling of types and defaults: in C++, from which Python's defaults are derived, and in Python.

    It also has the signatures of operators, each made once.
    """

    cpp: TypeSpelling
    python: PythonSpelling
    _made: dict[tuple[str, bool], PythonSignature] = field(default_factory=dict)

    def signature(self, f: NativeFunction, *, method: bool) -> PythonSignature:
        """Return the signature of `f` as a function or as a method. Raises NoPythonSignature."""
        key = (f.full_name, method)
        if key not in self._made:
            self._made[key] = PythonSignature.from_native_function(f, self.cpp, method=method)
        return self._made[key]


class PythonArgument(Struct, frozen=True):
    """An argument. `default` is a result of `python_default`: a C++ expression with Python's words and numbers.

    `annotation` replaces that of the type in stubs.
    """

    name: str
    type: Type
    default: str | None
    annotation: str | None = None

    def parser_text(self, spellings: Spellings, *, method: bool) -> str:
        """Return the argument as the argument parser reads it: `Tensor input`, `int64_t dim=-1`."""
        type = parser_type(self.type, spellings.python)
        name = self._python_name(method)
        text = f"{type} {name}"
        if self.default is None:
            return text
        return f"{text}={parser_default(self.default, spellings.cpp)}"

    def stub_text(self, spellings: Spellings, *, method: bool) -> str:
        """Return the argument as a stub declares it: `input: Tensor`, `dim: _int = -1`."""
        type = self.annotation or spellings.python.argument_annotation(self.type)
        name = self._python_name(method)
        # `from_` for the keyword `from`.
        identifier = f"{name}_" if keyword.iskeyword(name) else name
        text = f"{identifier}: {or_none(type) if name == 'out' else type}"
        if self.default is None:
            return text
        return f"{text} = {stub_default(self.default, self.type, spellings.cpp, spellings.python)}"

    def _python_name(self, method: bool) -> str:
        """Return the name in Python: `input` for the tensor `self` of a function."""
        is_input = self.name == "self" and self.type == TENSOR and not method
        return "input" if is_input else self.name


_WORD = re.compile(r"\w+")


class PythonOutArgument(PythonArgument, frozen=True, kw_only=True):
    """The single argument for all out arguments. `outputs` are those of the schema."""

    outputs: tuple[PythonArgument, ...]

    @staticmethod
    def from_outputs(outputs: tuple[PythonArgument, ...]) -> PythonOutArgument | None:
        """Combine the out arguments. None if there are none. Raises NoPythonSignature."""
        if not outputs:
            return None
        if len(outputs) == 1:
            return PythonOutArgument(outputs[0].name, outputs[0].type, "None", outputs=outputs)
        if not all(a.type.is_tensor_like() for a in outputs):
            raise NoPythonSignature("one of several out arguments is not a tensor")
        tensors = ListType(TENSOR, len(outputs))
        return PythonOutArgument("out", tensors, "None", outputs=outputs)


# The types and defaults of these do not depend on the schema.
_TENSOR_OPTIONS = (
    PythonArgument("dtype", OptionalType(BaseType(BaseTy.ScalarType)), "None"),
    PythonArgument("layout", OptionalType(BaseType(BaseTy.Layout)), "None"),
    PythonArgument("device", OptionalType(BaseType(BaseTy.Device)), "None"),
    PythonArgument("pin_memory", OptionalType(BaseType(BaseTy.bool)), "False"),
    PythonArgument(REQUIRES_GRAD, OptionalType(BaseType(BaseTy.bool)), "False"),
)


class PythonSignature(Struct, frozen=True):
    """The signature of an operator as a function, or as a method, which has no argument `self`.

    `result` replaces the annotation of `returns` in stubs.
    """

    name: str
    input_args: tuple[PythonArgument, ...]
    input_kwargs: tuple[PythonArgument, ...]
    output_args: PythonOutArgument | None
    tensor_options_args: tuple[PythonArgument, ...]
    returns: tuple[Return, ...]
    method: bool
    result: str | None = None

    @staticmethod
    def from_native_function(
        f: NativeFunction, spelling: TypeSpelling, *, method: bool = False
    ) -> PythonSignature:
        """Build the signature of `f`. Raises NoPythonSignature."""
        arguments = f.func.arguments
        if any(a.name == REQUIRES_GRAD for a in arguments.flat_all):
            raise NoPythonSignature(f"an argument is named {REQUIRES_GRAD}")
        positional = arguments.flat_positional
        if method:
            positional = tuple(a for a in positional if a.name != "self")
        outputs = _python_arguments(arguments.out, spelling)
        return PythonSignature(
            name=str(f.func.name.name),
            input_args=_python_arguments(positional, spelling),
            input_kwargs=_python_arguments(arguments.flat_without_options, spelling),
            output_args=PythonOutArgument.from_outputs(outputs),
            tensor_options_args=_TENSOR_OPTIONS if _takes_tensor_options(f) else (),
            returns=f.func.returns,
            method=method,
        )

    def arguments(self) -> tuple[PythonArgument, ...]:
        outputs = () if self.output_args is None else (self.output_args,)
        return self.input_args + self.input_kwargs + outputs + self.tensor_options_args

    def signature_str(self, spellings: Spellings) -> str:
        """Return the signature as the argument parser reads it. Raises NoPythonSignature."""
        texts = [a.parser_text(spellings, method=self.method) for a in self.arguments()]
        return f"{self.name}({', '.join(self._with_star(texts))})"

    def signature_str_pyi(self, spellings: Spellings) -> str:
        """Return the signature as a stub declares it. Raises NoPythonSignature."""
        parameters = [a.stub_text(spellings, method=self.method) for a in self.arguments()]
        own = ["self"] if self.method else []
        returns = self._stub_returns(spellings.python)
        return declare(self.name, own + self._with_star(parameters), returns)

    def signature_str_pyi_vararg(self, spellings: Spellings) -> str | None:
        """Return the form `zeros(2, 3)` of `zeros((2, 3))` as a stub declares it; None if there is no such form.

        Raises NoPythonSignature.
        """
        if len(self.input_args) != 1 or str(self.input_args[0].type) not in ("int[]", "SymInt[]"):
            return None
        (list_arg,) = self.input_args
        assert isinstance(list_arg.type, ListType)
        number = spellings.python.argument_annotation(list_arg.type.elem)
        parameters = [a.stub_text(spellings, method=self.method) for a in self.arguments()[1:]]
        own = ["self"] if self.method else []
        own += [f"{list_arg.name}0: {number}", "/", f"*{list_arg.name}: {number}"]
        returns = self._stub_returns(spellings.python)
        return declare(self.name, own + parameters, returns)

    def signature_str_help(self, spellings: Spellings) -> str:
        """Return the signature on one line for help texts: `add(input: Tensor, dim: int = 0) -> Tensor`.

        Raises NoPythonSignature.
        """
        parameters = [a.stub_text(spellings, method=self.method) for a in self.arguments()]
        returns = self._stub_returns(spellings.python)
        text = f"{self.name}({', '.join(self._with_star(parameters))}) -> {returns}"
        display_names = spellings.python.display_names
        return _WORD.sub(lambda word: display_names.get(word[0], word[0]), text)

    def _with_star(self, parameters: list[str]) -> list[str]:
        """Return the parameters with a `*` before the keyword-only ones, if there are any."""
        positional = len(self.input_args)
        if len(parameters) == positional:
            return parameters
        return [*parameters[:positional], "*", *parameters[positional:]]

    def _stub_returns(self, spelling: PythonSpelling) -> str:
        if self.result is not None:
            return self.result
        if field_names(self.returns):
            return f"{spelling.return_types}.{self.name}"
        types = [spelling.return_annotation(r.type) for r in self.returns]
        if len(types) > 1:
            return f"tuple[{', '.join(types)}]"
        return types[0] if types else "None"


def field_names(returns: Sequence[Return]) -> tuple[str, ...]:
    """Return the fields of the named tuple for several returns; () if they have no names, or there is only one.

    Raises NoPythonSignature if only some have a name.
    """
    names = tuple(r.name for r in returns if r.name is not None)
    if len(returns) <= 1 or not names:
        return ()
    if len(names) < len(returns):
        raise NoPythonSignature("some of the returns have names, but others do not")
    return names


def _python_arguments(
    arguments: Iterable[Argument], spelling: TypeSpelling
) -> tuple[PythonArgument, ...]:
    return tuple(
        PythonArgument(
            a.name,
            a.type,
            None if a.default is None else python_default(a.default, a.type, spelling),
        )
        for a in arguments
    )


def _takes_tensor_options(f: NativeFunction) -> bool:
    """Return whether Python callers of `f` may choose dtype, layout and device.

    For torchgen's profile (see its api/python.py) they may if `f` is a factory, `new_…` or `…_like`. The name of a
    library's operator means nothing: it takes the options that its schema has.
    """
    if f.is_library:
        return f.func.arguments.tensor_options is not None
    if f.category_override in ("dummy", "factory", "new", "like"):
        return f.category_override != "dummy"
    name = str(f.func.name.name)
    is_like = name.endswith("_like") and not f.func.is_out_fn()
    return name.startswith("new_") or is_like or f.func.creates_tensor


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
    signature = spellings.signature(f, method=method)
    return replace(signature, output_args=None).signature_str(spellings)


def _overloads(
    functions: Sequence[NativeFunction], method: bool, spellings: Spellings
) -> tuple[PythonOverload, ...]:
    keys = [without_outputs(f, spellings, method=method) for f in functions]
    outs = {key: f for key, f in zip(keys, functions) if f.func.is_out_fn()}
    overloads = []
    for key, base in zip(keys, functions):
        if base.func.is_out_fn():
            continue
        signature, out = spellings.signature(base, method=method), outs.get(key)
        if out is not None:
            options = signature.tensor_options_args
            signature = spellings.signature(out, method=method)
            signature = replace(signature, tensor_options_args=options, returns=base.func.returns)
        overloads.append(PythonOverload(signature, base, out))
    return _in_order(sorted(overloads, key=lambda o: o.signature.signature_str(spellings)))


def _in_order(overloads: Sequence[PythonOverload]) -> tuple[PythonOverload, ...]:
    """Sort overloads topologically: one whose types must be tried later comes after the other; else keep the order.

    For example, a number is also accepted for a tensor, so the order decides whether an overload with a Scalar or one
    with a Tensor is called.
    """
    inputs = (replace(o.signature, output_args=None).arguments() for o in overloads)
    types = [[str(a.type) for a in arguments] for arguments in inputs]
    # No type goes both before and after another, so there is an order.
    sorter = TopologicalSorter[int](dict.fromkeys(range(len(types)), ()))
    for (i, ours), (j, theirs) in permutations(enumerate(types), 2):
        differ = len(ours) == len(theirs) and ours != theirs
        if differ and all(a == b or _is_tried_after(a, b) for a, b in zip(ours, theirs)):
            sorter.add(i, j)
    return tuple(overloads[i] for i in sorter.static_order())


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
