"""Declare operators in stubs as a framework's own Python API calls them: each overload with the schema's arguments.

These functions have no generated bindings: the framework provides them. `AnnotationNames` are the names of its types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from keyword import iskeyword

from msgspec import Struct
from msgspec.structs import replace

from opgen.model.function_schema import Argument
from opgen.model.native_function import NativeFunction
from opgen.model.types import (
    BaseTy,
    BaseType,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from opgen.python.layout import declare, with_docstring
from opgen.python.python_types import AnnotationNames, or_none

# The default in a stub if its value is not one of Python's own.
_SOME_DEFAULT = "..."
_VALUE = re.compile(r"""None|True|False|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|(['"])[^'"\\]*\1""")
# Names of a stub that begin with an underscore.
_PRIVATE = re.compile(r"\b_([A-Za-z]\w*)")
# The types that type checkers accept for another: Python's numeric tower.
_ACCEPTED_FOR = {
    "_complex": ("_float", "_int", "_bool"),
    "_float": ("_int", "_bool"),
    "_int": ("_bool",),
}


class Parameter(Struct, frozen=True):
    name: str
    annotation: str
    default: str | None

    def __str__(self) -> str:
        return self._text(self.annotation)

    def help_text(self) -> str:
        """Return `alpha: float = 1`: with the names of types that users write."""
        return self._text(_public(self.annotation))

    def _text(self, annotation: str) -> str:
        text = f"{self.name}: {annotation}"
        return text if self.default is None else f"{text} = {self.default}"


def _public(annotation: str) -> str:
    return _PRIVATE.sub(r"\1", annotation)


class OperatorCall(Struct, frozen=True):
    """One overload. `positional` parameters may be passed by name, except the first `unnamed` of them.

    If it `is_open`, any further arguments may follow.
    """

    name: str
    positional: tuple[Parameter, ...]
    keywords: tuple[Parameter, ...]
    unnamed: int
    returns: str
    is_open: bool = False

    def declaration(self, doc: str | None = None, name: str | None = None) -> str:
        """Return `def plus(self: Tensor, other: Tensor) -> Tensor: ...`, with a documentation or another name."""
        return with_docstring(self._declaration(name or self.name, []), doc)

    def method(self, doc: str | None) -> str:
        """Return `def __call__(_self, /, self: Tensor) -> Tensor: ...`: the operator as a method of an object."""
        return with_docstring(self._declaration("__call__", ["_self"]), doc)

    def help_text(self) -> str:
        """Return `plus(self: Tensor, other: Tensor) -> Tensor`: one line, with the names of types that users write."""
        parameters = [p if isinstance(p, str) else p.help_text() for p in self._parameters([])]
        return f"{self.name}({', '.join(parameters)}) -> {_public(self.returns)}"

    def _declaration(self, name: str, receiver: Sequence[str]) -> str:
        return declare(name, [str(p) for p in self._parameters(receiver)], self.returns)

    def _parameters(self, receiver: Sequence[str]) -> list[Parameter | str]:
        """Return the parameters, and the marks between them."""
        parameters: list[Parameter | str] = [*receiver, *self.positional]
        if self.unnamed or receiver:
            parameters.insert(self.unnamed + len(receiver), "/")
        if self.is_open:
            return [*parameters, "*args: _Any", "**kwargs: _Any"]
        if self.keywords:
            parameters += ["*", *self.keywords]
        return parameters

    def includes(self, other: OperatorCall) -> bool:
        """Return whether this overload accepts every call of `other`, by their annotations."""
        names = [parameter.name for parameter in self.positional]
        if [parameter.name for parameter in other.positional] != names[: len(other.positional)]:
            return False
        remaining = {p.name: p for p in (*other.positional, *other.keywords)}
        for own in (*self.positional, *self.keywords):
            theirs = remaining.pop(own.name, None)
            if (theirs is None or theirs.default is not None) and own.default is None:
                return False
            if theirs is not None and not _types(theirs.annotation) <= _types(own.annotation):
                return False
        return not remaining


def reachable_calls(
    functions: Sequence[NativeFunction], names: AnnotationNames
) -> list[tuple[NativeFunction, OperatorCall]]:
    """Return the overloads of one name, without those whose calls an earlier one accepts."""
    kept: list[tuple[NativeFunction, OperatorCall]] = []
    for f in functions:
        call = operator_call(f, names)
        if not any(earlier.includes(call) for _, earlier in kept):
            kept.append((f, call))
    return kept


def merged_call(calls: Sequence[OperatorCall]) -> OperatorCall:
    """Return a signature that accepts every call that one of `calls` accepts, as far as they have the same names."""
    positional: list[Parameter] = []
    is_open = False
    for at in range(max(len(call.positional) for call in calls)):
        found = {call.positional[at].name for call in calls if at < len(call.positional)}
        if len(found) > 1:
            is_open = True
            break
        positional.append(_merged_parameter(found.pop(), calls))
    for at, parameter in enumerate(positional):
        if parameter.default is None and any(p.default is not None for p in positional[:at]):
            positional[at] = replace(parameter, default=_SOME_DEFAULT)
    taken = {parameter.name for parameter in positional}
    keywords = dict.fromkeys(p.name for call in calls for p in call.keywords if p.name not in taken)
    return OperatorCall(
        calls[0].name,
        tuple(positional),
        () if is_open else tuple(_merged_parameter(name, calls) for name in keywords),
        min(max(call.unnamed for call in calls), len(positional)),
        _union(call.returns for call in calls),
        is_open,
    )


def _merged_parameter(name: str, calls: Sequence[OperatorCall]) -> Parameter:
    """Return the parameter that stands for those called `name`. It is optional if it is so in one of the calls."""
    found = [
        next((p for p in (*call.positional, *call.keywords) if p.name == name), None)
        for call in calls
    ]
    own = [p for p in found if p is not None]
    defaults = {p.default for p in own}
    default = defaults.pop() if len(defaults) == 1 else _SOME_DEFAULT
    if default is None and len(own) < len(found):
        default = _SOME_DEFAULT
    return Parameter(name, _union(p.annotation for p in own), default)


def _union(annotations: Iterable[str]) -> str:
    """Return `_Tensor | None`, with each alternative once."""
    parts = (part for annotation in annotations for part in _alternatives(annotation))
    return " | ".join(dict.fromkeys(parts))


def operator_call(f: NativeFunction, names: AnnotationNames) -> OperatorCall:
    """Return the overload of an operator: the arguments of its schema, in order."""
    arguments = f.func.arguments
    positional = arguments.flat_positional
    keyword_only = (*arguments.flat_kwarg_only, *arguments.out)
    keywords = [i + 1 for i, a in enumerate(positional) if iskeyword(a.name)]
    returned = [_annotation(r.type, names, returned=True) for r in f.func.returns]
    return OperatorCall(
        str(f.func.name.name),
        tuple(_parameter(a, names) for a in positional),
        tuple(_parameter(a, names) for a in keyword_only),
        max(keywords, default=0),
        returned[0] if len(returned) == 1 else _tuple(returned) if returned else "None",
    )


def _parameter(a: Argument, names: AnnotationNames) -> Parameter:
    name = f"{a.name}_" if iskeyword(a.name) else a.name
    default = None if a.default is None else _default(a.default)
    return Parameter(name, _annotation(a.type, names), default)


def _tuple(types: Sequence[str]) -> str:
    return f"_tuple[{', '.join(types)}]" if types else "_tuple[()]"


def _annotation(type: Type, names: AnnotationNames, *, returned: bool = False) -> str:
    """Return the annotation of an argument, or of what is `returned`."""

    def inner(elem: Type) -> str:
        return _annotation(elem, names, returned=returned)

    match type:
        case BaseType(name):
            own = names.returns.get(name) if returned else None
            return own or names.arguments.get(name, "_Any")
        case CustomClassType():
            return "_Any"
        case DictType(key, value):
            return f"_dict[{inner(key)}, {inner(value)}]"
        case TupleType(elems):
            return _tuple(list(map(inner, elems)))
        case OptionalType(elem):
            return or_none(inner(elem))
        case ListType(elem) if returned:
            return f"_list[{inner(elem)}]"
        case ListType(elem, size):
            sequence = f"_Sequence[{inner(elem)}]"
            # A list of numbers with a fixed size may be passed as one number, but not a symbolic one.
            repeats = size is not None and elem in (BaseType(BaseTy.int), BaseType(BaseTy.float))
            return f"{inner(elem)} | {sequence}" if repeats else sequence


def _default(default: str) -> str:
    if default[:1] == "[" and default[-1:] == "]":
        parts = [part.strip() for part in default[1:-1].split(",") if part.strip()]
        if not all(map(_VALUE.fullmatch, parts)):
            return _SOME_DEFAULT
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if not _VALUE.fullmatch(default):
        return _SOME_DEFAULT
    return f'"{default[1:-1]}"' if default[0] in "\"'" else default


def _types(annotation: str) -> frozenset[str]:
    """Return all types that an annotation accepts."""
    types = set[str]()
    for name in _alternatives(annotation):
        if name.startswith("_Sequence["):
            inner = name.removeprefix("_Sequence[").removesuffix("]")
            types |= {f"_Sequence[{elem}]" for elem in _types(inner)}
        else:
            types |= {name, *_ACCEPTED_FOR.get(name, ())}
    return frozenset(types)


def _alternatives(annotation: str) -> Iterable[str]:
    """Return the parts of a union. Unions inside brackets are not split."""
    return (part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation))
