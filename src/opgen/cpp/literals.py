"""Translate defaults of a schema to C++ expressions, and find those that their types, or PyTorch, cannot have."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from opgen import data
from opgen.cpp.cpp_types import TypeSpelling
from opgen.diagnostics.suggestions import meant
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

_INT = r"[+-]?[0-9]+"
# Without a leading zero, which C++ reads as octal, and with at most 19 digits, as int64_t has.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,18})")
_LARGEST = 2**63 - 1
# A single string literal with escapes that have the same meaning in C++ and in Python.
_STRING = r"""\"(?:[^"\\]|\\["'\\abfnrtv])*\"|'(?:[^'\\]|\\["'\\abfnrtv])*'"""
_FLOAT = rf"{_INT}(\.[0-9]*)?([eE]{_INT})?|[+-]?\.[0-9]+([eE]{_INT})?"
_ANY_INT, _ANY_FLOAT = re.compile(_INT), re.compile(_FLOAT)
_BOOL = "True|False"
_NUMBERS = (re.compile(f"{_INT}|Mean"), "a whole number")
# Words for element types, with the enumerators or numbers that they stand for.
DTYPE_WORDS: Mapping[str, str] = {row[0]: row[1] for row in data.read_rows("dtype_words.txt")}
_IMAGINARY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)j")

# The defaults of each type: a pattern, and a description for messages. All other types have only None.
_PLAIN = {
    BaseTy.int: _NUMBERS,
    BaseTy.SymInt: _NUMBERS,
    BaseTy.DeviceIndex: _NUMBERS,
    BaseTy.float: (re.compile(_FLOAT), "a number"),
    BaseTy.Scalar: (re.compile(f"{_FLOAT}|{_BOOL}"), "a number, True or False"),
    BaseTy.complex: (_IMAGINARY, "an imaginary number, as in '1j'"),
    BaseTy.bool: (re.compile(_BOOL), "True or False"),
    BaseTy.SymBool: (re.compile(_BOOL), "True or False"),
    BaseTy.str: (re.compile(_STRING), "a string in quotes"),
    BaseTy.ScalarType: (
        re.compile("|".join((*DTYPE_WORDS, "[0-9]+"))),
        "a dtype, as in 'float' or 'int64'",
    ),
    BaseTy.Layout: (re.compile("strided|[0-9]+"), "strided"),
    BaseTy.MemoryFormat: (re.compile("contiguous_format|[0-9]+"), "contiguous_format"),
    BaseTy.Device: (re.compile(_STRING), "a string in quotes, as in 'cpu'"),
}


class BadDefault(Exception):
    """A default that its type cannot have. The message says why."""


def find_misfit(default: str, type: Type) -> str | None:
    """Describe the valid defaults of `type`, for a message, if `default` is not valid; None if it is."""
    match type:
        case OptionalType(elem):
            if default == "None":
                return None
            problem = find_misfit(default, elem)
            has_no_default = isinstance(elem, BaseType) and elem.name not in _PLAIN
            return f"'{type}' takes None" if problem is not None and has_no_default else problem
        case ListType(elem, size):
            return _find_misfit_in_list(default, elem, size)
        case BaseType(base) if base in _PLAIN:
            pattern, description = _PLAIN[base]
            if not pattern.fullmatch(default):
                return f"'{type}' takes {description}"
            return _find_number_problem(default)
        case BaseType(BaseTy.Tensor):
            return "a Tensor has no default: write 'Tensor? x=None'"
        case _:
            return f"'{type}' has no default"


def _find_number_problem(default: str) -> str | None:
    """Return why a number has another value in C++, or is out of range; None if it is valid or not a number."""
    if _ANY_INT.fullmatch(default):
        if not _WHOLE.fullmatch(default):
            return "a whole number has no leading zeros, and at most 19 digits"
        return None if abs(int(default)) <= _LARGEST else f"a whole number is at most {_LARGEST}"
    if _ANY_FLOAT.fullmatch(default) and math.isinf(float(default)):
        return "a number is at most 1.79e308"
    return None


# The defaults that torchgen translates, for types of which PyTorch's parser accepts more.
_TORCHGEN_DEFAULTS = {
    BaseTy.ScalarType: ("long",),
    BaseTy.Layout: ("strided",),
    BaseTy.MemoryFormat: ("contiguous_format",),
    BaseTy.Device: (),
    BaseTy.complex: (),
}


def find_misfit_to_torchgen(default: str, type: Type) -> str | None:
    """Return what to write instead of `default`, which fits `type`; None if torchgen translates it."""
    match type:
        case OptionalType(elem):
            return None if default == "None" else find_misfit_to_torchgen(default, elem)
        case BaseType(base) if default not in _TORCHGEN_DEFAULTS.get(base, (default,)):
            valid = _TORCHGEN_DEFAULTS[base]
            return f"'{type}' takes {valid[0]}" if valid else f"'{type}' has no default"
        case _:
            return None


def _find_misfit_in_list(default: str, elem: Type, size: int | None) -> str | None:
    if not (default.startswith("[") and default.endswith("]")):
        if size is None:
            return f"write the default of a list without a size in brackets: [{default}]"
        if str(elem) == "bool":
            return "write all elements of an array of bool, in brackets"
        return find_misfit(default, elem)
    items = default[1:-1].split(",") if default != "[]" else []
    return next((problem for item in items if (problem := find_misfit(item, elem))), None)


def default_expression(default: str, type: Type, spelling: TypeSpelling, *, symint: bool) -> str:
    """Return a default as a C++ expression. Raises BadDefault for a bare value of a list without a size."""
    if default == "None" and str(type) in ("Tensor?", "Tensor"):
        return "{}"
    match type:
        case BaseType(BaseTy.str):
            return _string(default)
        case BaseType(BaseTy.ScalarType) if default != "long":
            return _enumerator("ScalarType", DTYPE_WORDS.get(default, default), spelling)
        case BaseType(BaseTy.Layout):
            name = "Strided" if default == "strided" else default
            return _enumerator("Layout", name, spelling)
        case BaseType(BaseTy.MemoryFormat) if default.isdigit():
            return _enumerator("MemoryFormat", default, spelling)
        case BaseType(BaseTy.Device):
            return f"{spelling.prefix}Device({_string(default)})"
        case BaseType(BaseTy.complex):
            return f"{spelling.names['complex']}(0, {default[:-1]})"
        case OptionalType(elem):
            if default != "None":
                return default_expression(default, elem, spelling, symint=symint)
        case ListType(elem, size):
            if default.startswith("[") and default.endswith("]"):
                return "{" + _elements(default[1:-1], elem, spelling) + "}"
            if symint and default.isdigit() and str(elem) == "SymInt":
                return spelling.symint_default.format(default)
            if size is None:
                raise BadDefault(
                    f"write the default of a list without a size in brackets: [{default}]"
                )
        case _:
            pass
    return spelling.defaults.get(default, default)


def _enumerator(enum: str, name: str, spelling: TypeSpelling) -> str:
    """Return an enumerator, whose `name` may be its number."""
    if name.isdigit():
        return f"static_cast<{spelling.prefix}{enum}>({name})"
    return f"{spelling.prefix}{enum}::{name}"


def _elements(text: str, elem: Type, spelling: TypeSpelling) -> str:
    """Return the elements of a list as C++ expressions: bools and quotes differ."""
    if not text:
        return ""
    return ", ".join(
        default_expression(element.strip(), elem, spelling, symint=False)
        for element in text.split(",")
    )


def _string(default: str) -> str:
    """Convert a string literal of a schema (single or double quotes) to one of C++ (double quotes)."""
    if not default.startswith("'"):
        return default
    content, converted, i = default[1:-1], [], 0
    while i < len(content):
        if content[i] == "\\" and i + 1 < len(content):
            converted.append("'" if content[i + 1] == "'" else content[i : i + 2])
            i += 2
            continue
        converted.append('\\"' if content[i] == '"' else content[i])
        i += 1
    return '"' + "".join(converted) + '"'


_NOTHING = frozenset(("nullptr", "null", "NULL", "nil", "std::nullopt", "nullopt", "{}", "none"))
_TRUTH = {"true": "True", "false": "False", "TRUE": "True", "FALSE": "False"}
_SUFFIXED = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFlLuU]+")
_DTYPE = re.compile(r"(?:torch\.|np\.|at::k?|c10::k?|k)(\w+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CURLY = re.compile(r"[{(](.*)[})]", re.DOTALL)
# The words that are the defaults of a type.
_WORDS_OF: Mapping[Type, tuple[str, ...]] = {
    BaseType(BaseTy.ScalarType): tuple(DTYPE_WORDS),
    BaseType(BaseTy.bool): ("True", "False"),
    BaseType(BaseTy.Layout): ("strided",),
    BaseType(BaseTy.MemoryFormat): ("contiguous_format",),
}
_INFINITE = frozenset(("inf", "nan", "INFINITY", "NAN", "float('inf')", 'float("inf")', "math.inf"))


def advise_on_default(default: str, type: Type) -> tuple[str | None, str | None]:
    """Return what to write instead of `default`, which `type` cannot have, and a fix if it means the same."""
    elem = type.elem if isinstance(type, OptionalType) else type
    fix = _same(default, type, elem)
    if fix is not None and find_misfit(fix, type) is None:
        return f"write '{fix}'", fix
    if elem in _WORDS_OF:
        hint, certain = meant(default, _WORDS_OF[elem])
        if hint is not None:
            return hint, certain
    if default == "None" and elem != BaseType(BaseTy.Tensor):
        return f"a value that may be None has the type '{type}?'", None
    if elem == BaseType(BaseTy.str) and _WORD.fullmatch(default):
        return f"write '\"{default}\"', with quotes", None
    if elem == BaseType(BaseTy.float) and default in _INFINITE:
        return (
            "a schema has no infinity and no NaN: write 'float? x=None', and let the kernel choose",
            None,
        )
    return None, None


def _same(default: str, type: Type, elem: Type) -> str | None:
    """Return the spelling of a schema for `default`; None if there is none."""
    if isinstance(type, OptionalType) and default in _NOTHING:
        return "None"
    if default in _TRUTH:
        return _TRUTH[default]
    if (number := _SUFFIXED.fullmatch(default)) is not None:
        return number[1]
    if elem == BaseType(BaseTy.ScalarType) and (dtype := _DTYPE.fullmatch(default)) is not None:
        return next((word for word in DTYPE_WORDS if word.lower() == dtype[1].lower()), None)
    if isinstance(elem, ListType) and (items := _CURLY.fullmatch(default)) is not None:
        return f"[{items[1].replace(' ', '').rstrip(',')}]"
    return None


# The element types of lists that may have a default. PyTorch's parser treats an enumeration as an int.
_IN_LISTS = frozenset(
    (
        *(BaseTy.int, BaseTy.SymInt, BaseTy.DeviceIndex, BaseTy.bool, BaseTy.float, BaseTy.complex),
        *(BaseTy.ScalarType, BaseTy.Layout, BaseTy.MemoryFormat),
    )
)
# The names of devices are not a fixed list: backends add their own.
_DEVICE = re.compile(r"""["'][a-z_]+(:(0|[1-9][0-9]*))?["']""")
_WHOLE_NUMBER = re.compile(r"-?[0-9]+")


def find_rejected(default: str, type: Type) -> str | None:
    """Return what to write instead of `default`, which is valid for `type` in C++; None if PyTorch accepts it.

    PyTorch's parser rejects such defaults, or calls that use them fail. Source: `torch._C.parse_schema` of PyTorch 2.13,
    tried with defaults of every type, and calls of C++ kernels with them.
    """
    if default.startswith("+"):
        return f"a number has no '+': {default[1:]}"
    match type:
        case OptionalType(elem):
            return None if default == "None" else _find_rejected_optional(default, elem)
        case ListType(elem, _):
            return _find_rejected_list(default, elem)
        case BaseType(BaseTy.SymBool):
            return "PyTorch's parser accepts no default for a SymBool"
        case BaseType(BaseTy.Device) if not _DEVICE.fullmatch(default):
            return "write a device as in 'cpu' or 'cuda:1'"
        case _:
            return None


def _find_rejected_optional(default: str, elem: Type) -> str | None:
    """Return the same for the default of an optional, which PyTorch does not convert to its element's type."""
    match elem:
        case OptionalType(inner):
            return _find_rejected_optional(default, inner)
        case ListType():
            return f"'{elem}?' accepts only None"
        case BaseType(BaseTy.Device):
            return "'Device?' accepts only None"
        case BaseType(BaseTy.float) if _WHOLE_NUMBER.fullmatch(default):
            return f"PyTorch reads this as an int: write {default}.0"
        case BaseType(BaseTy.SymBool):
            return None
        case _:
            return find_rejected(default, elem)


def _find_rejected_list(default: str, elem: Type) -> str | None:
    if not isinstance(elem, BaseType) or elem.name not in _IN_LISTS:
        return f"PyTorch's parser accepts no default for a list of '{elem}'"
    if not default.startswith("["):
        if _WORD.fullmatch(default) and default not in ("True", "False"):
            return f"write a word in brackets: [{default}]"
        return find_rejected(default, elem)
    items = default[1:-1].split(",")
    return next((advice for item in items if (advice := find_rejected(item, elem))), None)
