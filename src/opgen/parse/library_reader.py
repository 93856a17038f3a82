"""Schema text of library namespaces into FunctionSchema values, by the rules of PyTorch's runtime parser.

The text is in its canonical spelling (`schema_spelling`). Source of the rules: `torch._C.parse_schema` and
`TORCH_LIBRARY` of PyTorch 2.13, by trial. What that parser takes and no C++ kernel can have is refused with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from opgen import data
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.cpp_identifier import MAX_NAME, RESERVED_PREFIX, is_identifier, is_macro
from opgen.model.function_schema import (
    Annotation,
    Argument,
    FunctionSchema,
    OperatorName,
    Return,
)
from opgen.model.profile import Profile
from opgen.model.types import (
    BaseTy,
    BaseType,
    CppClass,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from opgen.parse import codes_schema as codes
from opgen.parse.library_keywords import KEYWORDS
from opgen.parse.library_schema import arguments_in_roles, base_name, distinct
from opgen.parse.names import meant, shorten
from opgen.parse.schema_parser import TAKEN_NAMES, SchemaReader
from opgen.parse.schema_text import skip_quoted
from opgen.parse.text_reader import Locate, SchemaCache

_BASE_TYPES = {name: BaseType(BaseTy[name]) for name in data.read_names("library_types.txt")}
# Types that PyTorch's parser takes, and why no kernel of C++ can have them.
_NO_KERNEL = {
    **dict.fromkeys(("Future", "Await", "RRef"), "the dispatcher has no C++ type for it"),
    **dict.fromkeys(("Union", "None", "NoneType"), "PyTorch's registry takes no kernel for it"),
    **dict.fromkeys(("Capsule", "Quantizer"), "PyTorch's registry takes no kernel for it"),
    **dict.fromkeys(("AnyClassType", "AnyEnumType"), "it is a type of TorchScript's alone"),
    "number": "write 'Scalar'",
}
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.([A-Za-z0-9_.]*[A-Za-z0-9_])")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARK = re.compile(r"\?|\[([0-9]*)\]")
_LABEL = r"[A-Za-z_][A-Za-z0-9_]*"
# A set of labels may end in the wildcard, which then stands for all.
_SET = rf"(?:\*|{_LABEL}(?:\|{_LABEL})*(?:\|\*)?)"
_ANNOTATION = re.compile(rf"({_SET})(!?)(?: -> ({_SET}))?")
_MAX_MARKS = 8
_MAX_SIZE_DIGITS = 9
_MAX_NESTING = 8
_NO_CLASSES: Mapping[str, CppClass] = MappingProxyType({})


class LibraryReader(SchemaReader):
    """Reads the parts of a schema of a library; `schema()` reads all of it."""

    __slots__ = ("_classes",)

    def __init__(
        self,
        text: str,
        diagnostics: Diagnostics,
        locate: Locate | None = None,
        cache: SchemaCache | None = None,
        classes: Mapping[str, CppClass] = _NO_CLASSES,
    ) -> None:
        """`classes` are those of C++ that custom classes stand for, by TorchScript's names."""
        super().__init__(text, diagnostics, locate, cache)
        self._classes = classes

    def _assembled(
        self, name_at: tuple[int, int], arguments_at: tuple[int, int], returns_at: tuple[int, int]
    ) -> FunctionSchema | None:
        text = self._text[slice(*name_at)]
        base, dot, overload = text.partition(".")
        is_named = self._is_operator_name(base, name_at[0])
        is_named &= not dot or self._is_overload(overload, name_at[0] + len(base), name_at[1])
        lists = self._positional_and_keyword(*arguments_at)
        returns = self._returns(*returns_at)
        if self._failed or not is_named or lists is None or returns is None:
            return None
        count = len(lists[0])
        every = distinct((*lists[0], *lists[1]))
        arguments = arguments_in_roles(every[:count], every[count:], returns)
        name = OperatorName(base_name(base, arguments, returns), overload)
        return FunctionSchema(name, arguments, returns, Profile.library)

    # Names

    def _is_operator_name(self, text: str, start: int) -> bool:
        if not self._has_usable_name(text, start):
            return False
        end = start + len(text)
        if text in KEYWORDS:
            self._report_word(text, start)
            return False
        if text in TAKEN_NAMES or is_macro(text):
            self.report(codes.E0342, f"'{text}' is a name of C++ already", start, end)
            return False
        if not text.strip("_"):
            self.report(codes.E0304, f"'{text}' is no name for an operator", start, end)
            return False
        return True

    def _is_overload(self, text: str, start: int, end: int) -> bool:
        if len(text) > MAX_NAME:
            message = f"an overload name has at most {MAX_NAME} characters"
            self.report(codes.E0309, message, start, end)
        elif not text:
            self.report(codes.E0309, "no overload after '.'", start, end)
        elif not is_identifier(text):
            self.report(codes.E0309, f"bad overload name '{shorten(text)}'", start, end)
        elif text == "default" or text.startswith("__"):
            message = f"PyTorch keeps the overload name '{shorten(text)}' for itself"
            self.report(codes.E0309, message, start, end)
        elif text in KEYWORDS:
            self._report_word(text, start + 1)
        else:
            return True
        return False

    def _is_name(self, name: str, start: int, code: Code, what: str) -> bool:
        end = start + len(name)
        if not is_identifier(name):
            self.report(code, f"bad {what} name '{shorten(name)}'", start, end)
        elif len(name) > MAX_NAME:
            message = f"{what} names have at most {MAX_NAME} characters"
            self.report(code, message, start, end)
        elif name in KEYWORDS:
            self._report_word(name, start)
        elif name.startswith(RESERVED_PREFIX):
            message = f"'{shorten(name)}': names that begin with '{RESERVED_PREFIX}' are reserved"
            self.report(codes.E0342, message, start, end)
        else:
            return True
        return False

    def _report_word(self, word: str, start: int) -> None:
        message = f"'{word}' is a keyword of PyTorch's schema parser"
        self.report(codes.E0327, message, start, start + len(word), hint="choose another name")

    # Arguments

    def _positional_and_keyword(
        self, start: int, end: int
    ) -> tuple[list[Argument], list[Argument]] | None:
        """The arguments before and after `*`."""
        positional: list[Argument] = []
        keyword: list[Argument] = []
        target = positional
        default: tuple[int, int] | None = None
        for begin, stop in self.pieces(start, end):
            piece = self._text[begin:stop]
            if piece == "*":
                target = keyword
                continue
            if piece == "...":
                self._report_dots(begin, "arguments")
                continue
            argument = self.argument(begin, stop)
            if argument is None:
                continue
            target.append(argument)
            if argument.default is not None:
                default = (begin, stop)
            elif default is not None and target is positional:
                self._check_order(argument, begin, stop, default)
        return None if self._failed else (positional, keyword)

    def _check_order(
        self, argument: Argument, start: int, end: int, default: tuple[int, int]
    ) -> None:
        """PyTorch takes lists alone behind an argument that has a default."""
        if not isinstance(argument.type, ListType):
            message = f"'{argument.name}' has no default, and an argument before it has"
            hint = "give it a default, or put it first, or after '*'"
            labels = [(*default, "has a default")]
            self.report(codes.E0326, message, start, end, labels=labels, hint=hint)

    def _report_dots(self, start: int, what: str) -> None:
        message = f"any number of {what} ('...') is nothing that a C++ kernel can have"
        self.report(codes.E0325, message, start, start + len("..."))

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts between commas that are outside of parentheses, brackets and quotes."""
        if start >= end:
            return
        depth, begin = 0, start
        for at in skip_quoted(self._text, start, end):
            sign = self._text[at]
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0)
            if sign == "," and depth <= 0:
                yield begin, at
                begin = at + (2 if self._text.startswith(", ", at) else 1)
        yield begin, end

    def _is_default(self, text: str, start: int) -> bool:
        end = start + len(text)
        if not text:
            self.report(codes.E0311, "a default is missing after '='", start - 1, end)
        elif not text.isprintable():
            self.report(codes.E0311, "a default cannot hold control characters", start, end)
        elif _is_unclosed(text):
            self.report(codes.E0311, "the default is not closed", start, end)
        else:
            return True
        return False

    def _has_bad_blanks(self, declaration: str, default: str | None, start: int) -> bool:
        # The spelling is canonical.
        return False

    # Returns

    def _returns(self, start: int, end: int) -> tuple[Return, ...] | None:
        text = self._text[start:end]
        if text == "()":
            return ()
        if text.startswith("("):
            closing = _closing(self._text, start)
            if closing != end - 1:
                self._report_parenthesis(start, closing, end)
                return None
            start, end = start + 1, end - 1
        found = []
        for begin, stop in self.pieces(start, end):
            if begin > start and not text.startswith("("):
                message = "several returns stand in parentheses"
                self.report(codes.E0301, message, start, end, hint=f"write '({shorten(text)})'")
                return None
            if self._text[begin:stop] == "...":
                self._report_dots(begin, "returns")
            else:
                found.append(self._return(begin, stop))
        good = tuple(value for value in found if value is not None)
        if len(found) == len(good) == 1 and isinstance(good[0].type, TupleType):
            # What PyTorch infers from a kernel's type are as many returns as the tuple has elements.
            message = "PyTorch's registry takes no kernel that returns one tuple"
            hint = f"write '{text[1:-1]}' for as many returns" if text.startswith("((") else None
            self.report(codes.E0325, message, start, end, hint=hint)
        return None if self._failed or len(good) < len(found) else good

    def _report_parenthesis(self, start: int, closing: int, end: int) -> None:
        """Report returns in parentheses that do not end where the text does."""
        if closing < 0:
            self.report(codes.E0301, "'(' is not closed", start, end)
            return
        message = "nothing follows the parenthesis that closes the returns"
        hint = "a tuple is a return of its own: '((int, int)[])'"
        self.report(codes.E0301, message, closing + 1, end, hint=hint)

    def _new_return(self, text: str, start: int, end: int) -> Return | None:
        if not text.strip():
            self.report(codes.E0310, "a return is missing here", start, end)
            return None
        space = text.rfind(" ", text.rfind(")") + 1)
        type_end = end if space < 0 else start + space
        read = self.annotated_type(start, type_end)
        named = space < 0 or self._is_name(text[space + 1 :], type_end + 1, codes.E0321, "return")
        if read is None or not named:
            return None
        return Return(None if space < 0 else text[space + 1 :], read[0], read[1])

    # Types

    def annotated_type(self, start: int, end: int) -> tuple[Type, Annotation | None] | None:
        read = self._marked(start, end, 0)
        if read is None:
            return None
        found, annotation, stop = read
        if stop < end:
            self._report_rest(start, stop, end)
            return None
        return found, annotation

    def _report_rest(self, start: int, stop: int, end: int) -> None:
        """Report the characters `stop` to `end`, which no type goes on with."""
        rest = self._text[stop:end]
        if rest.startswith(("(", "!")):
            before = self._text[start:stop]
            message = f"PyTorch's parser takes no alias annotation after '{shorten(before)}'"
            hint = None
            if before.endswith("?"):
                hint = f"write '{shorten(before[:-1] + rest + '?')}'"
            self.report(codes.E0329, message, stop, end, hint=hint)
            return
        message = f"'{shorten(self._text[start:end])}' is no type"
        self.report(codes.E0307, message, start, end)

    def _marked(
        self, start: int, end: int, nesting: int
    ) -> tuple[Type, Annotation | None, int] | None:
        """A type with its marks and annotations, and where it ends."""
        base = self._base(start, end, nesting)
        if base is None:
            return None
        found, at = base
        annotation: Annotation | None = None
        is_annotated = isinstance(found, BaseType | DictType)
        depth = 0
        while at < end:
            if is_annotated and self._text[at] in "(!":
                read = self._annotation_at(at, end)
                if read is None:
                    return None
                new, at = read
                annotation = Annotation(
                    new.alias_set, new.is_write, new.alias_set_after, depth, annotation
                )
                is_annotated = False
                continue
            mark = _MARK.match(self._text, at, end)
            if mark is None:
                break
            depth += 1
            marked = self._with_mark(found, mark, depth)
            if marked is None:
                return None
            found, at = marked, mark.end()
            is_annotated = isinstance(found, ListType)
            if mark[1]:
                # Only the marks of a list without a size may follow others.
                at, found, annotation = self._behind_size(at, end, found, depth, annotation)
                break
        return found, annotation, at

    def _behind_size(
        self, at: int, end: int, found: Type, depth: int, annotation: Annotation | None
    ) -> tuple[int, Type, Annotation | None]:
        """An annotation and a `?` behind `[3]`, the last that PyTorch's parser takes there."""
        if at < end and self._text[at] in "(!":
            read = self._annotation_at(at, end)
            if read is not None:
                new, at = read
                annotation = Annotation(
                    new.alias_set, new.is_write, new.alias_set_after, depth, annotation
                )
        if at < end and self._text[at] == "?":
            return at + 1, OptionalType(found), annotation
        return at, found, annotation

    def _with_mark(self, elem: Type, mark: re.Match[str], depth: int) -> Type | None:
        size = mark[1]
        if depth > _MAX_MARKS:
            message = f"a type has at most {_MAX_MARKS} marks"
            self.report(codes.E0323, message, mark.start(), mark.end())
            return None
        if mark[0] == "?":
            return OptionalType(elem)
        if size and (size[0] == "0" or len(size) > _MAX_SIZE_DIGITS):
            message = f"bad list size '{shorten(size)}'"
            self.report(codes.E0314, message, mark.start(1), mark.end(1))
            return None
        return ListType(elem, int(size) if size else None)

    def _annotation_at(self, start: int, end: int) -> tuple[Annotation, int] | None:
        """The annotation that begins here, and where it ends."""
        if self._text[start] == "!":
            return Annotation((), True, ()), start + 1
        closing = _closing(self._text, start)
        if not start < closing < end:
            self.report(codes.E0312, "'(' is not closed", start, end)
            return None
        inside = self._text[start + 1 : closing]
        match = _ANNOTATION.fullmatch(inside)
        if match is None or not KEYWORDS.isdisjoint(_WORD.findall(inside)):
            message = f"'{shorten(inside)}' is not an alias annotation"
            hint = "as in '(a!)', '(a)', '(a -> *)', or '!' for an alias set without a name"
            self.report(codes.E0312, message, start + 1, closing, hint=hint)
            return None
        after = tuple(match[3].split("|")) if match[3] else ()
        return Annotation(tuple(match[1].split("|")), bool(match[2]), after), closing + 1

    def _base(self, start: int, end: int, nesting: int) -> tuple[Type, int] | None:
        """What the marks stand behind, and where it ends."""
        if nesting > _MAX_NESTING:
            message = f"a type holds at most {_MAX_NESTING} others inside each other"
            self.report(codes.E0323, message, start, end)
            return None
        if self._text.startswith("(", start, end):
            return self._tuple(start, end, nesting)
        custom = _CUSTOM_CLASS.match(self._text, start, end)
        if custom is not None:
            return CustomClassType(custom[1], self._classes.get(custom[1])), custom.end()
        word = _WORD.match(self._text, start, end)
        name = "" if word is None else word[0]
        at = start + len(name)
        if name == "Dict" and self._text.startswith("(", at, end):
            return self._dict(at, end, nesting)
        if name in _NO_KERNEL:
            stop = end if self._text.startswith("(", at, end) else at
            message = f"no C++ kernel can have the type '{shorten(self._text[start:stop])}'"
            self.report(codes.E0325, message, start, stop, hint=_NO_KERNEL[name])
            return None
        found = _BASE_TYPES.get(name)
        if found is None:
            self._report_type(name, start, at if name else end)
            return None
        return found, at

    def _report_type(self, name: str, start: int, end: int) -> None:
        text = self._text[start:end]
        hint, near = meant(name, (*_BASE_TYPES, "Dict"))
        notes = []
        if name[:1].islower():
            notes.append("PyTorch's parser takes it for a type variable, which no kernel can have")
        message = f"unknown type '{shorten(text)}'" if text else "no type"
        self.report(
            codes.E0307,
            message,
            start,
            end,
            notes=notes,
            hint=hint if name else None,
            replacement=near if name else None,
        )

    def _tuple(self, start: int, end: int, nesting: int) -> tuple[Type, int] | None:
        closing = _closing(self._text, start)
        if not start < closing < end:
            self.report(codes.E0307, "'(' is not closed", start, end)
            return None
        elems = self._elements(start + 1, closing, nesting)
        return None if elems is None else (TupleType(elems), closing + 1)

    def _dict(self, start: int, end: int, nesting: int) -> tuple[Type, int] | None:
        closing = _closing(self._text, start)
        if not start < closing < end:
            self.report(codes.E0307, "'(' is not closed", start, end)
            return None
        elems = self._elements(start + 1, closing, nesting)
        if elems is None:
            return None
        if len(elems) != 2:
            message = f"a Dict has a key and a value, this one has {len(elems)} types"
            self.report(codes.E0307, message, start, closing + 1)
            return None
        return DictType(*elems), closing + 1

    def _elements(self, start: int, end: int, nesting: int) -> tuple[Type, ...] | None:
        found = []
        for begin, stop in self.pieces(start, end):
            read = self._marked(begin, stop, nesting + 1)
            if read is None:
                return None
            elem, annotation, at = read
            if at < stop:
                self._report_rest(begin, at, stop)
                return None
            if annotation is not None:
                message = "PyTorch's parser drops an alias annotation inside of another type"
                self.report(codes.E0329, message, begin, stop)
                return None
            found.append(elem)
        return tuple(found)


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis that opens there closes; -1 if it does not."""
    depth = 0
    for at in skip_quoted(text, opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return -1


def _is_unclosed(default: str) -> bool:
    """Whether quotes or brackets of a default do not end."""
    depth, last = 0, -1
    for at in skip_quoted(default, 0, len(default)):
        depth += {"[": 1, "]": -1}.get(default[at], 0)
        last = at
    quoted = default[last + 1 :]
    return depth != 0 or (bool(quoted) and (len(quoted) < 2 or quoted[-1] not in "\"'"))
