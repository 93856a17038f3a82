"""The operators of a library as Python calls them: the bound operators and their signatures."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from opgen import data
from opgen.emit.common.base import GeneratedFile, Record, copied_modules, generated, group_by
from opgen.emit.common.context import Context
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import ATEN
from opgen.model.types import BaseTy, BaseType, OptionalType
from opgen.python.check import is_bound
from opgen.python.frameworks import reasons_against_jax
from opgen.python.python_types import or_none, parser_kind, python_default
from opgen.python.signatures import (
    REQUIRES_GRAD,
    PythonArgument,
    PythonFunction,
    PythonOutArgument,
    PythonOverload,
    PythonSignature,
    Spellings,
    field_names,
    python_functions,
)

# PyTorch binds these by hand; opgen generates their bindings.
_BOUND_HERE = frozenset({"contiguous", "copy_", "nonzero", "nonzero_numpy", "to"})
# Operators whose options may be positional, as in PyTorch: `a.to("cpu")`, `a.to("cpu", dtype)`.
_TO = "to.dtype_layout"
_TO_POSITIONAL = ("device", "dtype", "non_blocking", "copy")
# Operators of PyTorch that are one function in Python, `nonzero`. An argument that the operators do not have selects one.
_SELECTED_BY = {
    "nonzero": PythonArgument("as_tuple", BaseType(BaseTy.bool), "False", "_Literal[False]"),
    "nonzero_numpy": PythonArgument("as_tuple", BaseType(BaseTy.bool), None, "_Literal[True]"),
}
_JOINED = {"nonzero_numpy": "nonzero"}
_TAKE_NUMBERS = frozenset(data.read_names("python_numbers.txt"))
_CHOICES = data.read_rows("python_choices.txt")

# Shown for an out variant that a selection includes without its operator.
_ALONE = "its functional variant is not selected"

Fields = tuple[tuple[str, str], ...]


class ResultClass(Record, frozen=True):
    """A named tuple that operators return: `fields` are names and annotations."""

    name: str
    fields: Fields


class PythonCalls(Struct, frozen=True, dict=True):
    """The functions and methods of a package, by submodule and name; `operators` are all operators that they call.

    `left_out` has the reason for each operator that could have a Python binding but has none.
    """

    context: Context
    spellings: Spellings
    functions: tuple[PythonFunction, ...]
    operators: tuple[NativeFunction, ...]
    left_out: tuple[str, ...]

    def signature(self, o: PythonOverload, *, method: bool) -> PythonSignature:
        """Return the signature with those tensor options that the operator itself takes, and its defaults."""
        f = o.out or o.base
        made = self.spellings.signature(f, method=method)
        signature = replace(
            made,
            returns=o.base.func.returns,
            result=self._result(o.base),
            input_args=tuple(self._described(o.base, a) for a in made.input_args),
            input_kwargs=tuple(self._described(o.base, a) for a in made.input_kwargs),
            output_args=None if made.output_args is None else self._out(made.output_args),
            tensor_options_args=tuple(
                self._described(o.base, a) for a in _options(self.context, o)
            ),
        )
        selector = selected_by(o.base)
        if selector is not None:
            signature = replace(
                signature,
                name=_python_name(o.base),
                input_kwargs=(*signature.input_kwargs, selector),
            )
        return _options_first(signature) if str(f.func.name) == _TO else signature

    @cached_property
    def backends(self) -> Mapping[str, list[str]]:
        """The dispatch keys that each operator has kernels for."""
        rows = (row for some in self.context.registered.values() for row in some)
        own = (row for row in rows if row.key is not DispatchKey.BackendSelect)
        grouped = group_by(own, lambda row: row.function.full_name)
        return {name: [row.key.name for row in some] for name, some in grouped.items()}

    def result_class(self, o: PythonOverload) -> ResultClass | None:
        """Return the named tuple that `o` returns; None if the names of its results cannot be those of a named tuple."""
        fields = self._fields(o.base)
        return None if fields is None else self._classes[str(o.base.func.name.name), fields]

    def result_classes(self) -> tuple[ResultClass, ...]:
        """Return all named tuples, sorted by name."""
        return tuple(sorted(self._classes.values(), key=lambda one: one.name))

    @cached_property
    def _classes(self) -> dict[tuple[str, Fields], ResultClass]:
        """Overloads of one name share a class if they have the same fields; otherwise the classes are numbered."""
        found: dict[tuple[str, Fields], ResultClass] = {}
        names: Counter[str] = Counter()
        for function in self.functions:
            for o in function.overloads:
                fields = self._fields(o.base)
                name = str(o.base.func.name.name)
                if fields is None or (name, fields) in found:
                    continue
                number = f"_{names[name]}" if names[name] else ""
                names[name] += 1
                found[name, fields] = ResultClass(name + number, fields)
        return found

    def _fields(self, f: NativeFunction) -> Fields | None:
        names = field_names(f.func.returns)
        is_valid = (n.isidentifier() and not keyword.iskeyword(n) and n[0] != "_" for n in names)
        if not names or not all(is_valid):
            return None
        return tuple(
            zip(names, (self.spellings.python.return_annotation(r.type) for r in f.func.returns))
        )

    def _described(self, f: NativeFunction, a: PythonArgument) -> PythonArgument:
        """Return `a` with an annotation that is more precise than the one of its type."""
        if takes_numbers(f, a):
            return replace(a, annotation="Tensor | _Number")
        if is_empty_list(a):
            return replace(a, annotation=or_none(self.spellings.python.argument_annotation(a.type)))
        choices = _choices(f, a)
        if not choices:
            return a
        literal = f"_Literal[{', '.join(choices)}]"
        optional = isinstance(a.type, OptionalType)
        return replace(a, annotation=or_none(literal) if optional else literal)

    def _out(self, out: PythonOutArgument) -> PythonOutArgument:
        if len(out.outputs) == 1:
            return replace(
                out, annotation=or_none(self.spellings.python.argument_annotation(out.type))
            )
        tensors = ", ".join(["Tensor"] * len(out.outputs))
        return replace(out, annotation=f"_tuple[{tensors}] | _list[Tensor] | None")

    def _result(self, f: NativeFunction) -> str | None:
        """Return the return type in a stub, if it does not follow from `returns`."""
        python = self.spellings.python
        if returns_self(f):
            return python.argument_annotation(f.func.arguments.flat_all[0].type)
        fields = self._fields(f)
        if fields is not None:
            return f"{python.return_types}.{self._classes[str(f.func.name.name), fields].name}"
        if field_names(f.func.returns):
            return f"tuple[{', '.join(python.return_annotation(r.type) for r in f.func.returns)}]"
        return None


def python_calls(context: Context) -> PythonCalls:
    """Return the contents of a library's package."""
    bound = [
        f
        for f in context.registry.functions
        if context.keeps(f) and (is_bound(f) or str(f.func.name.name) in _BOUND_HERE)
    ]
    if context.library.extends is not None:
        # Class Tensor belongs to the library that this one extends, so methods become functions.
        plain = frozenset({Variant.function})
        bound = [replace(f, variants=plain) if Variant.method in f.variants else f for f in bound]
    spellings = Spellings(context.target.cpp.spelling, context.target.python)
    problems = [(f, _unknown_type(f)) for f in bound]
    operators = tuple(f for f, why in problems if why is None)
    functions = sorted(
        _joined(python_functions(operators, spellings)),
        key=lambda one: (one.module or "", one.name, one.method, one.namespace),
    )
    called = {id(f) for one in functions for o in one.overloads for f in (o.base, o.out)}
    problems = [(f, why or (None if id(f) in called else _ALONE)) for f, why in problems]
    operators = tuple(f for f, why in problems if why is None)
    left_out = tuple(f"{f.func.name} ({why})" for f, why in problems if why is not None)
    return PythonCalls(context, spellings, tuple(functions), operators, left_out)


def takes_numbers(f: NativeFunction, a: PythonArgument) -> bool:
    """Return whether a number may be passed for the tensor `a`."""
    named = f.namespace == ATEN and str(f.func.name.name) in _TAKE_NUMBERS
    return named and parser_kind(a.type) == "Tensor" and not isinstance(a, PythonOutArgument)


def is_empty_list(a: PythonArgument) -> bool:
    """Return whether the default of `a` is an empty list of ints, for which None may be passed too."""
    return a.default == "{}" and parser_kind(a.type) == "Ints"


def selected_by(f: NativeFunction) -> PythonArgument | None:
    """Return the argument that only Python's function has, because `f` is one of several operators that it calls."""
    if f.namespace != ATEN or f.func.name.name.inplace:
        return None
    return _SELECTED_BY.get(str(f.func.name.name))


def _python_name(f: NativeFunction) -> str:
    name = str(f.func.name.name)
    return _JOINED.get(name, name) if f.namespace == ATEN else name


def _joined(functions: Iterable[PythonFunction]) -> Iterator[PythonFunction]:
    """Yield the functions, those of operators that are one function in Python as one."""
    found: dict[tuple[str, str, str | None, bool], PythonFunction] = {}
    for f in functions:
        name = _python_name(f.overloads[0].base)
        key = (f.namespace, name, f.module, f.method)
        before = found[key].overloads if key in found else ()
        found[key] = replace(f, name=name, overloads=before + f.overloads)
    yield from found.values()


def returns_self(f: NativeFunction) -> bool:
    """Return whether Python returns the first argument: the operator writes it and returns nothing itself."""
    arguments = f.func.arguments.flat_all
    return not f.func.returns and f.func.name.name.inplace and len(arguments) != 0


def _unknown_type(f: NativeFunction) -> str | None:
    """Return a type of `f` to which no Python argument converts."""
    types = (a.type for a in f.func.arguments.flat_all)
    return next((f"no {type} in Python" for type in types if parser_kind(type) is None), None)


def _options_first(signature: PythonSignature) -> PythonSignature:
    named = {a.name: a for a in signature.input_kwargs + signature.tensor_options_args}
    positional = tuple(named[name] for name in _TO_POSITIONAL)
    return replace(
        signature,
        input_args=signature.input_args + positional,
        input_kwargs=tuple(a for a in signature.input_kwargs if a not in positional),
        tensor_options_args=tuple(a for a in signature.tensor_options_args if a not in positional),
    )


def _choices(f: NativeFunction, a: PythonArgument) -> tuple[str, ...]:
    """Return the strings that an argument of PyTorch's operators may be; none if they are unknown."""
    if f.namespace != ATEN or parser_kind(a.type) != "Str":
        return ()
    name = str(f.func.name.name)
    for pattern, argument, *texts in _CHOICES:
        if a.name == argument and fnmatchcase(name, pattern):
            return tuple(f'"{text}"' for text in texts)
    return ()


def _options(context: Context, o: PythonOverload) -> Iterator[PythonArgument]:
    """Yield the options that the operator takes, and `requires_grad` if PyTorch's function has it."""
    options = o.base.func.arguments.tensor_options
    if options is None:
        return
    for a in options.all():
        default = python_default(a.default or "None", a.type, context.target.cpp.spelling)
        yield PythonArgument(a.name, a.type, default)
    yield from (a for a in o.signature.tensor_options_args if a.name == REQUIRES_GRAD)


class Part(Record, frozen=True):
    """A folder `name` of modules. `exports` are names of it that the package has, too. A framework's is made on request.

    An operator with the name of the part, or of an export, takes precedence.
    """

    name: str
    exports: tuple[str, ...] = ()
    is_framework: bool = False


PARTS = (
    Part("autograd", ("enable_grad", "inference_mode", "no_grad", "set_grad_enabled")),
    Part("array_api", ("e", "finfo", "iinfo", "inf", "like", "nan", "newaxis", "pi")),
    Part("jax", is_framework=True),
)


def parts_of(calls: PythonCalls) -> tuple[Part, ...]:
    """Return the parts that the package has: those whose names no function or module of operators has."""
    taken = {(f.module or f.name).split(".")[0] for f in calls.functions if not f.method}
    wanted = calls.context.library.frameworks
    parts = (part for part in PARTS if part.name in wanted or not part.is_framework)
    return tuple(part for part in parts if part.name not in taken)


def free_exports(part: Part, taken: Collection[str]) -> tuple[str, ...]:
    """Return the exports whose names no function of the library has."""
    return tuple(name for name in part.exports if name not in taken)


def build_parts(context: Context, calls: PythonCalls) -> Iterator[GeneratedFile]:
    """Copy the modules of the parts, and the stub of the extension module that the parts call."""
    parts = () if context.library.extends_python else parts_of(calls)
    folder = f"python/{context.library.name}"
    for part in parts:
        yield from copied_modules(f"python/package/{part.name}", f"{folder}/{part.name}")
        if part.is_framework:
            yield generated(
                path=f"{folder}/{part.name}/_left_out.py",
                template="left_out.py.j2",
                namespaces=tuple(sorted({f.namespace for f in context.registry.functions})),
                rows=tuple(
                    f'"{f.full_name}": "{reason}"'
                    for f, reason in reasons_against_jax(context.registry.functions)
                ),
            )
    if parts:
        yield GeneratedFile(f"{folder}/_C.pyi", "python/package/_C.pyi")
