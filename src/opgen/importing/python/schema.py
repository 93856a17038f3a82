"""Infer a schema from a Python function's annotations.

Source of the rules: torch.library.infer_schema of PyTorch 2.13, which evaluates annotations; here their syntax is read.
Each rule was compared with its results.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType

from msgspec import Struct

from opgen import data
from opgen.importing.python.module import Around, Function, PythonModule

_MAX_DEPTH = 8
UNKNOWN = "unknown"


class NoSchema(Exception):
    """Annotations or defaults from which PyTorch infers no schema, or which are known only at run time."""


# Schema types by the names of Python's types, and the suffixes besides `?` with which PyTorch accepts each.
_BASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "torch.Tensor": ("Tensor", "[]", "?[]"),
        "int": ("SymInt", "[]", "[]?"),
        "float": ("float", "[]", "[]?"),
        "bool": ("bool", "[]", "[]?"),
        "str": ("str",),
        "torch.types.Number": ("Scalar", "[]"),
        "torch.dtype": ("ScalarType",),
        "torch.device": ("Device",),
        "torch.distributed.distributed_c10d.GroupName": ("str",),
    }
)
# Full names of types in string annotations, and of names in other modules that are the same types.
_SHORT: Mapping[str, str] = MappingProxyType(
    {
        "Tensor": "torch.Tensor",
        "device": "torch.device",
        "dtype": "torch.dtype",
        "types.Number": "torch.types.Number",
        "torch._tensor.Tensor": "torch.Tensor",
        "torch._C.dtype": "torch.dtype",
        "torch._C.device": "torch.device",
        "builtins.int": "int",
        "builtins.float": "float",
        "builtins.bool": "bool",
        "builtins.str": "str",
    }
)
# Generic types, and the modules that have them, besides the built-in ones.
_MODULES = ("typing.", "typing_extensions.", "collections.abc.")
_LISTS = ("list", "List", "Sequence")
_RETURNS = ("torch.Tensor", "int", "float", "bool", "torch.types.Number")
_NUMBER = frozenset({"int", "float", "bool"})
_DTYPE = re.compile(
    r"torch\.(?:q?u?int\d+(?:x\d)?|b?float\d+\w*|complex\d+|bool|half|short|int|long|float|double|c(?:half|float|double))"
)
_WORDS = data.read_rows("dtype_words.txt")
_FIRST = {enumerator: word for word, enumerator in reversed(_WORDS)}
# Of element types with two names, PyTorch prints the first.
_DTYPES: Mapping[str, str] = {word: _FIRST[enumerator] for word, enumerator in _WORDS}


class _Annotation(Struct, frozen=True):
    """The type `base` with a suffix: `?` for None, `[]` for a list, or both; `?[]` is a list of such types."""

    base: str
    suffix: str = ""

    def schema_type(self) -> str | None:
        """Return the schema type; None if PyTorch does not accept this annotation."""
        name, *suffixes = _BASES.get(self.base, ("",))
        return f"{name}{self.suffix}" if name and self.suffix in ("", "?", *suffixes) else None


class _Argument(Struct, frozen=True):
    schema_type: str
    name: str
    default: str | None
    is_keyword: bool


def infer_schema(
    module: PythonModule,
    function: Function,
    around: Around,
    mutates: Iterable[str] | str,
    tags: Sequence[str] = (),
) -> str:
    """Return the schema without its name, `(Tensor x) -> Tensor`.

    `around` are the functions and classes around `function`. `mutates` are names of written arguments, or UNKNOWN for
    all tensors. `tags` may be "inplace" or "out", which decide the returns. Raises NoSchema.
    """
    reader = _Reader(module, around)
    arguments = reader.arguments(function.args)
    unknown = [] if mutates == UNKNOWN else set(mutates) - {a.name for a in arguments}
    if unknown:
        raise NoSchema(f"mutates_args has '{min(unknown)}', which is not an argument")
    parameters: list[str] = []
    written: list[str] = []
    for index, argument in enumerate(arguments):
        if argument.is_keyword and "*" not in parameters:
            parameters.append("*")
        type_ = argument.schema_type
        is_tensor = type_.startswith("Tensor")
        if is_tensor if mutates == UNKNOWN else argument.name in mutates:
            if not is_tensor:
                raise NoSchema(f"'{argument.name}' is written, but is not a tensor")
            type_ = f"Tensor(a{index}!){type_.removeprefix('Tensor')}"
            written.append(f"Tensor(a{index}!)")
        default = "" if argument.default is None else f"={argument.default}"
        parameters.append(f"{type_} {argument.name}{default}")
    returns = reader.returns(function.returns)
    if "inplace" in tags:
        returns = "Tensor(a0!)"
    elif "out" in tags:
        returns = written[0] if len(written) == 1 else f"({', '.join(written)})"
    return f"({', '.join(parameters)}) -> {returns}"


class _Reader(Struct, frozen=True):
    module: PythonModule
    around: Around

    # Arguments

    def arguments(self, node: ast.arguments) -> list[_Argument]:
        if node.posonlyargs or node.vararg or node.kwarg:
            raise NoSchema("positional-only arguments, *args and **kwargs have no schema")
        missing: list[ast.expr | None] = [None] * (len(node.args) - len(node.defaults))
        plain = zip(node.args, [*missing, *node.defaults], repeat(False))
        keyword = zip(node.kwonlyargs, node.kw_defaults, repeat(True))
        return [self._argument(*one) for one in (*plain, *keyword)]

    def _argument(self, argument: ast.arg, default: ast.expr | None, is_keyword: bool) -> _Argument:
        if argument.annotation is None:
            raise NoSchema(f"'{argument.arg}' has no annotation")
        type_ = self._annotation(argument.annotation, _MAX_DEPTH).schema_type()
        if type_ is None:
            raise NoSchema(f"'{argument.arg}' has type '{ast.unparse(argument.annotation)}'")
        value = None if default is None else self._default(default, _MAX_DEPTH)
        return _Argument(type_, argument.arg, value, is_keyword)

    def _default(self, node: ast.expr, depth: int) -> str:
        match node:
            case ast.Constant(value=str(text)):
                return f'"{text}"'
            case ast.Constant(value=None | bool() | int() | float()):
                return str(node.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return str(-number)
            case ast.Call(args=[ast.Constant(value=str(text))]) if (
                self._name(node.func) == "torch.device"
            ):
                return f'"{text}"'
            case ast.Name() | ast.Attribute() if _DTYPE.fullmatch(self.module.dotted(node)):
                name = self.module.dotted(node).removeprefix("torch.")
                return _DTYPES.get(name, name)
            case ast.Name() | ast.Attribute():
                value = self.module.find_value(node, self.around) if depth else None
                if value is not None:
                    return self._default(value, depth - 1)
        raise NoSchema(f"the default '{ast.unparse(node)}' is known only at run time")

    # Annotations

    def _annotation(self, node: ast.expr, depth: int) -> _Annotation:
        if depth <= 0:
            raise NoSchema("an annotation is nested too deeply")
        match node:
            case ast.Constant(value=str(text)):
                return self._annotation(_parse(text), depth - 1)
            case ast.BinOp(op=ast.BitOr()):
                return self._union(_alternatives(node), depth - 1)
            case ast.Subscript(value=generic, slice=inner):
                return self._subscript(self._generic(generic), inner, depth - 1)
            case ast.Name() | ast.Attribute():
                return self._named(node, depth)
            case _:
                return _Annotation(ast.unparse(node))

    def _named(self, node: ast.Name | ast.Attribute, depth: int) -> _Annotation:
        name = self._name(node)
        if name in _BASES:
            return _Annotation(name)
        value = self.module.find_value(node, self.around)
        return _Annotation(name) if value is None else self._annotation(value, depth - 1)

    def _name(self, node: ast.expr) -> str:
        dotted = self.module.dotted(node)
        return _SHORT.get(dotted, dotted)

    def _generic(self, node: ast.expr) -> str:
        """Return the name of a generic type without the module that has it."""
        name = self._name(node)
        return name.removeprefix(next((one for one in _MODULES if name.startswith(one)), ""))

    def _subscript(self, generic: str, inner: ast.expr, depth: int) -> _Annotation:
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if generic == "Optional" and len(parts) == 1:
            return self._union([parts[0], ast.Constant(None)], depth)
        if generic == "Union":
            return self._union(parts, depth)
        if generic in _LISTS and len(parts) == 1:
            item = self._annotation(parts[0], depth)
            if "[" not in item.suffix:
                return _Annotation(item.base, f"{item.suffix}[]")
        return _Annotation(f"{generic}[{ast.unparse(inner)}]")

    def _union(self, parts: Sequence[ast.expr], depth: int) -> _Annotation:
        types = [part for part in parts if not is_none(part)]
        mark = "?" if len(types) < len(parts) else ""
        annotations = [self._annotation(part, depth) for part in types]
        has_list = any("[" in annotation.suffix for annotation in annotations)
        if {annotation.base for annotation in annotations} == _NUMBER and not has_list:
            return _Annotation("torch.types.Number", mark)
        if len(annotations) != 1:
            return _Annotation(" | ".join(map(ast.unparse, parts)))
        (only,) = annotations
        return _Annotation(only.base, only.suffix.removesuffix(mark) + mark)

    # Returns

    def returns(self, node: ast.expr | None) -> str:
        if node is None:
            raise NoSchema("its return type is not annotated")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = _parse(node.value)
        if is_none(node):
            return "()"
        if isinstance(node, ast.Subscript) and self._generic(node.value) in ("tuple", "Tuple"):
            inner = node.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            types = [self._return(part) for part in parts]
            return f"(({types[0]}))" if len(types) == 1 else f"({', '.join(types)})"
        return self._return(node)

    def _return(self, node: ast.expr) -> str:
        annotation = self._annotation(node, _MAX_DEPTH)
        is_sequence = isinstance(node, ast.Subscript) and self._generic(node.value) == "Sequence"
        if annotation == _Annotation("torch.Tensor", "[]") and not is_sequence:
            return "Tensor[]"
        if annotation != _Annotation(annotation.base) or annotation.base not in _RETURNS:
            raise NoSchema(f"it returns '{ast.unparse(node)}'")
        return _BASES[annotation.base][0]


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NoSchema(f"the annotation '{text[:60]}' is not a type") from None


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """Return the types of `a | b | c`."""
    types: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        types.append(node.right)
        node = node.left
    return [node, *reversed(types)]


def is_none(node: ast.expr) -> bool:
    """Return whether a node is `None`."""
    return isinstance(node, ast.Constant) and node.value is None
