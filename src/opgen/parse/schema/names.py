"""Check the names in a schema: of operators, overloads, namespaces, arguments and returns."""

from __future__ import annotations

import re

from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.cpp_words import (
    C_FUNCTIONS,
    MAX_NAME,
    RESERVED_NAMESPACES,
    RESERVED_PREFIX,
    is_cpp_name,
    is_identifier,
    is_macro,
)
from opgen.model.function_schema import AUGMENTED_ASSIGNMENT_NAMES, BaseOperatorName
from opgen.model.profile import Profile
from opgen.model.types import BaseTy
from opgen.parse.schema.text import SchemaText

# Words that PyTorch's schema parser reserves: they cannot be names in a schema of a library.
# Source: `torch._C.parse_schema` of PyTorch 2.13, tried with each keyword of Python and each name of a type.
KEYWORDS = frozenset(
    (
        *("False", "None", "NoneType", "True", "and", "as", "assert", "break", "class"),
        *("continue", "def"),
        *("del", "elif", "else", "for", "global", "if", "import", "in", "is", "not"),
        *("or", "pass", "raise", "return", "while", "with"),
    )
)
# C++ functions with these names would hide types that signatures use.
_TAKEN_NAMES = frozenset(
    (
        *(t.name for t in BaseTy if t.name[0].isupper() and t is not BaseTy.Any),
        *("int64_t", "ArrayRef", "IntArrayRef", "SymIntArrayRef", "OptionalArrayRef"),
        *("OptionalIntArrayRef", "OptionalSymIntArrayRef", "TensorList", "ITensorListRef"),
        *("DimnameList", "TensorOptions"),
    )
)
_OVERLOAD = re.compile(r"[A-Za-z0-9_]+")
_DUNDER = re.compile(r"__([^_]+)__")


def is_operator_name(at: SchemaText, text: str, start: int, profile: Profile) -> bool:
    """Return whether files and C++ functions can have the name `text`, which is at `start`; report it if not."""
    end = start + len(text)
    if not is_identifier(text):
        message = f"bad operator name '{shorten(text)}'" if text else "no operator name"
        hint = _identifier_hint(text) if text else "write one before '('"
        at.report("E0304", message, start, end, hint=hint)
    elif len(text) > MAX_NAME:
        message = f"an operator's name has at most {MAX_NAME} characters: it names files"
        at.report("E0304", message, start, end)
    elif text.startswith(RESERVED_PREFIX):
        _report_prefix(at, text, start)
    elif profile is Profile.library and text in KEYWORDS:
        _report_keyword(at, text, start)
    elif text in _TAKEN_NAMES or is_macro(text):
        at.report("E0342", f"'{text}' is already a name in C++", start, end)
    elif profile is Profile.library and not text.strip("_"):
        at.report("E0304", f"'{text}' cannot be the name of an operator", start, end)
    else:
        return True
    return False


def marked_name(
    at: SchemaText, text: str, start: int, *, allow_out: bool
) -> BaseOperatorName | None:
    """Return a name by torchgen's rules, where its prefix and suffix alone say what the operator does.

    `allow_out` is whether the name may end with `_out`. None if an error was reported.
    """
    end = start + len(text)
    if text.endswith("_out") and not allow_out:
        hint = f"did you mean '{shorten(text)[: -len('_out')]}.out'?"
        at.report("E0305", "an operator name cannot end in '_out'", start, end, hint=hint)
        return None
    dunder = _DUNDER.fullmatch(text)
    if dunder is not None:
        return _dunder(at, dunder[1], start, end)
    inplace = text.endswith("_")
    base = text[:-1] if inplace else text
    functional = base.endswith("_functional")
    if functional and inplace:
        message = f"'{shorten(text)}' is marked as functional and as in-place"
        at.report("E0308", message, start, end)
        return None
    base = base.removesuffix("_functional")
    if not base:
        message = f"'{text}' has no name besides its prefix or suffix"
        at.report("E0304", message, start, end)
        return None
    return BaseOperatorName(base, inplace, False, functional)


def _dunder(at: SchemaText, base: str, start: int, end: int) -> BaseOperatorName | None:
    if not base.startswith("i"):
        return BaseOperatorName(base, inplace=False, dunder_method=True)
    if base[1:] in AUGMENTED_ASSIGNMENT_NAMES:
        return BaseOperatorName(base[1:], inplace=True, dunder_method=True)
    message = f"'__{shorten(base)}__' is not the name of an augmented assignment"
    candidates = [f"i{name}" for name in AUGMENTED_ASSIGNMENT_NAMES]
    at.report("E0306", message, start, end, hint=did_you_mean(base, candidates))
    return None


def is_overload(at: SchemaText, text: str, dot: int, end: int, profile: Profile) -> bool:
    """Return whether `text`, which is between the `.` at `dot` and `end`, can be an overload; report it if not."""
    is_library = profile is Profile.library
    if len(text) > MAX_NAME:
        at.report("E0309", f"an overload name has at most {MAX_NAME} characters", dot, end)
    elif not text:
        at.report("E0309", "no overload after '.'", dot, end)
    elif not (is_identifier(text) if is_library else _OVERLOAD.fullmatch(text)):
        hint = "'::' follows a namespace, '.' an operator" if is_library and "." in text else None
        at.report("E0309", f"bad overload name '{shorten(text)}'", dot, end, hint=hint)
    elif is_library and (text == "default" or text.startswith("__")):
        message = f"PyTorch reserves the overload name '{shorten(text)}'"
        at.report("E0309", message, dot, end)
    elif is_library and text in KEYWORDS:
        _report_keyword(at, text, dot + 1)
    else:
        return True
    return False


def is_name(at: SchemaText, name: str, start: int, code: str, what: str, profile: Profile) -> bool:
    """Return whether an argument or return (`what`) can have the name at `start`; if not, report it, perhaps by `code`."""
    end = start + len(name)
    is_library = profile is Profile.library
    if not is_identifier(name):
        at.report(code, f"bad {what} name '{shorten(name)}'", start, end)
    elif is_library and len(name) > MAX_NAME:
        at.report(code, f"{what} names have at most {MAX_NAME} characters", start, end)
    elif is_library and name in KEYWORDS:
        _report_keyword(at, name, start)
    elif name.startswith(RESERVED_PREFIX):
        _report_prefix(at, name, start)
    elif not is_library and is_macro(name):
        at.report("E0342", f"'{name}' is a macro of C++", start, end)
    else:
        return True
    return False


def is_namespace(at: SchemaText, namespace: str, start: int) -> bool:
    """Return whether operators may be in `namespace`, which is at `start` of the text; report it if not."""
    end = start + len(namespace)
    if len(namespace) > MAX_NAME:
        at.report("E0303", f"a namespace has at most {MAX_NAME} characters", start, end)
    elif not namespace:
        at.report("E0303", "no namespace before '::'", start, start + 2)
    elif not is_cpp_name(namespace):
        message = f"bad namespace '{shorten(namespace)}'"
        at.report("E0303", message, start, end, hint=_identifier_hint(namespace))
    elif namespace in RESERVED_NAMESPACES or namespace.startswith(RESERVED_PREFIX):
        at.report("E0342", f"the namespace '{namespace}' is reserved", start, end)
    elif namespace in C_FUNCTIONS:
        message = f"'{namespace}' is a function of the C library, so it cannot be a namespace"
        at.report("E0342", message, start, end, hint="choose another name")
    elif namespace in KEYWORDS:
        _report_keyword(at, namespace, start)
    else:
        return True
    return False


def _report_keyword(at: SchemaText, word: str, start: int) -> None:
    message = f"'{word}' is a keyword of PyTorch's schema parser"
    at.report("E0327", message, start, start + len(word), hint="choose another name")


def _report_prefix(at: SchemaText, name: str, start: int) -> None:
    message = f"'{shorten(name)}': names that begin with '{RESERVED_PREFIX}' are reserved"
    at.report("E0342", message, start, start + len(name))


def _identifier_hint(text: str) -> str | None:
    """Return a hint for a name that has other characters than an identifier."""
    namespace, colon, name = text.partition(":")
    if colon and is_identifier(namespace) and is_identifier(name):
        return f"did you mean '{shorten(namespace)}::{shorten(name)}'?"
    words = re.sub(r"[-. ]", "_", text)
    return f"did you mean '{shorten(words)}'?" if words != text and is_identifier(words) else None
