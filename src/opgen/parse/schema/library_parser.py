"""Parse schemas of library namespaces as FunctionSchema values, by the rules of PyTorch's runtime parser.

The text is in its canonical spelling (`model.schema_spelling`). Source of the rules: `torch._C.parse_schema` and
`TORCH_LIBRARY` of PyTorch 2.13, by trial. What they accept but no C++ kernel can have is an error that says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from opgen import data
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import meant, shorten
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
from opgen.parse.schema.keywords import KEYWORDS
from opgen.parse.schema.parser import TAKEN_NAMES, SchemaReader
from opgen.parse.schema.reader import Locate, SchemaCache
from opgen.parse.schema.roles import arguments_in_roles, base_name, distinct
from opgen.parse.schema.scanning import skip_quoted
from opgen.parse.schema.type_parser import MAX_SUFFIXES, SUFFIX, USUAL_TYPES, add_suffix

_BASE_TYPES = {name: BaseType(BaseTy[name]) for name in data.read_names("library_types.txt")}
# Types that PyTorch's parser accepts, and why no C++ kernel can have them.
_NO_KERNEL = {
    **dict.fromkeys(("Future", "Await", "RRef"), "the dispatcher has no C++ type for it"),
    **dict.fromkeys(("Union", "None", "NoneType"), "PyTorch's registry takes no kernel for it"),
    **dict.fromkeys(("Capsule", "Quantizer"), "PyTorch's registry takes no kernel for it"),
    **dict.fromkeys(("AnyClassType", "AnyEnumType"), "only TorchScript has this type"),
    "number": "write 'Scalar'",
}
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.([A-Za-z0-9_.]*[A-Za-z0-9_])")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LABEL = r"[A-Za-z_][A-Za-z0-9_]*"
# An alias set may end with the wildcard `*`, which then stands for the whole set.
_SET = rf"(?:\*|{_LABEL}(?:\|{_LABEL})*(?:\|\*)?)"
_ANNOTATION = re.compile(rf"({_SET})(!?)(?: -> ({_SET}))?")
_MAX_NESTING = 8
_NO_CLASSES: Mapping[str, CppClass] = MappingProxyType({})


class LibraryReader(SchemaReader):
    """Parses the parts of a schema of a library; `schema()` parses all of it."""

    __slots__ = ("_classes",)

    def __init__(
        self,
        text: str,
        diagnostics: Diagnostics,
        locate: Locate | None = None,
        cache: SchemaCache | None = None,
        classes: Mapping[str, CppClass] = _NO_CLASSES,
    ) -> None:
        """Parse `text`. `classes` maps TorchScript names of custom classes to their C++ classes."""
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
        distinctly_named = distinct((*lists[0], *lists[1]))
        arguments = arguments_in_roles(distinctly_named[:count], distinctly_named[count:], returns)
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
            self.report("E0342", f"'{text}' is already a name in C++", start, end)
            return False
        if not text.strip("_"):
            self.report("E0304", f"'{text}' cannot be the name of an operator", start, end)
            return False
        return True

    def _is_overload(self, text: str, start: int, end: int) -> bool:
        if len(text) > MAX_NAME:
            message = f"an overload name has at most {MAX_NAME} characters"
            self.report("E0309", message, start, end)
        elif not text:
            self.report("E0309", "no overload after '.'", start, end)
        elif not is_identifier(text):
            message = f"bad overload name '{shorten(text)}'"
            hint = "'::' follows a namespace, '.' an operator" if "." in text else None
            self.report("E0309", message, start, end, hint=hint)
        elif text == "default" or text.startswith("__"):
            message = f"PyTorch reserves the overload name '{shorten(text)}'"
            self.report("E0309", message, start, end)
        elif text in KEYWORDS:
            self._report_word(text, start + 1)
        else:
            return True
        return False

    def _is_name(self, name: str, start: int, code: str, what: str) -> bool:
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
            self.report("E0342", message, start, end)
        else:
            return True
        return False

    def _report_word(self, word: str, start: int) -> None:
        message = f"'{word}' is a keyword of PyTorch's schema parser"
        self.report("E0327", message, start, start + len(word), hint="choose another name")

    # Arguments

    def _positional_and_keyword(
        self, start: int, end: int
    ) -> tuple[list[Argument], list[Argument]] | None:
        """Parse the arguments before and after `*`."""
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
        """Report an argument without a default after one that has a default, unless it is a list."""
        if not isinstance(argument.type, ListType):
            message = f"'{argument.name}' has no default, but an argument before it has one"
            hint = "give it a default, or put it first, or after '*'"
            labels = [(*default, "has a default")]
            self.report("E0326", message, start, end, labels=labels, hint=hint)

    def _report_dots(self, start: int, what: str) -> None:
        message = f"a C++ kernel cannot have a variable number of {what} ('...')"
        self.report("E0325", message, start, start + len("..."))

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts between commas that are not inside parentheses, brackets or quotes."""
        if start >= end:
            return
        depth, begin, templates = 0, start, 0
        for at in skip_quoted(self._text, start, end):
            character = self._text[at]
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
            # '<' opens a list of types in C++. It is reported as such.
            templates += {"<": 1, ">": -1}.get(character, 0) if templates or character == "<" else 0
            if character == "," and depth <= 0 and templates <= 0:
                yield begin, at
                begin = at + (2 if self._text.startswith(", ", at) else 1)
        yield begin, end

    def _is_default(self, text: str, start: int) -> bool:
        end = start + len(text)
        if not text:
            self.report("E0311", "a default is missing after '='", start - 1, end)
        elif not text.isprintable():
            self.report("E0311", "a default cannot contain control characters", start, end)
        elif _is_unclosed(text):
            self.report("E0311", "the default is not closed", start, end)
        else:
            return True
        return False

    def _has_bad_blanks(self, declaration: str, default: str | None, start: int) -> bool:
        # The text is in its canonical spelling.
        return False

    # Returns

    def _returns(self, start: int, end: int) -> tuple[Return, ...] | None:
        text = self._text[start:end]
        if text == "()":
            return ()
        if self._report_foreign(start, end, is_return=True):
            return None
        if text.startswith("("):
            closing = _closing(self._text, start)
            if closing != end - 1:
                self._report_parenthesis(start, closing, end)
                return None
            start, end = start + 1, end - 1
        parsed = []
        for begin, stop in self.pieces(start, end):
            if begin > start and not text.startswith("("):
                message = "several returns need parentheses"
                self.report("E0301", message, start, end, hint=f"write '({shorten(text)})'")
                return None
            if self._text[begin:stop] == "...":
                self._report_dots(begin, "returns")
            else:
                parsed.append(self._return(begin, stop))
        valid = tuple(value for value in parsed if value is not None)
        if len(parsed) == len(valid) == 1 and isinstance(valid[0].type, TupleType):
            # PyTorch infers one return for each element of the tuple that a kernel returns.
            message = "PyTorch's registry takes no kernel that returns one tuple"
            hint = f"write '{text[1:-1]}' for several returns" if text.startswith("((") else None
            self.report("E0325", message, start, end, hint=hint)
        return None if self._failed or len(valid) < len(parsed) else valid

    def _report_parenthesis(self, start: int, closing: int, end: int) -> None:
        """Report returns whose closing parenthesis is missing, or is not the last character."""
        if closing < 0:
            self.report("E0301", "'(' is not closed", start, end)
            return
        message = "unexpected text after the ')' of the returns"
        hint = "a tuple is a single return: '((int, int)[])'"
        self.report("E0301", message, closing + 1, end, hint=hint)

    def _parse_return(self, text: str, start: int, end: int) -> Return | None:
        if not text.strip():
            self.report("E0310", "a return is missing here", start, end)
            return None
        space = text.rfind(" ", text.rfind(")") + 1)
        type_end = end if space < 0 else start + space
        annotated = self.annotated_type(start, type_end)
        name = None if space < 0 else text[space + 1 :]
        has_name = name is None or self._is_name(name, type_end + 1, "E0321", "return")
        if annotated is None or not has_name:
            return None
        return Return(name, *annotated)

    # Types

    def annotated_type(self, start: int, end: int) -> tuple[Type, Annotation | None] | None:
        if self._report_foreign(start, end):
            return None
        parsed = self._type_with_suffixes(start, end, 0)
        if parsed is None:
            return None
        type_, annotation, stop = parsed
        if stop < end:
            self._report_rest(start, stop, end)
            return None
        return type_, annotation

    def _has_types(self, schema: str) -> bool:
        return True

    def _report_rest(self, start: int, stop: int, end: int) -> None:
        """Report the characters `stop` to `end` after a type."""
        rest = self._text[stop:end]
        if rest.startswith(("(", "!")):
            before = self._text[start:stop]
            message = f"PyTorch's parser accepts no alias annotation after '{shorten(before)}'"
            hint = None
            if before.endswith("?"):
                hint = f"write '{shorten(before[:-1] + rest + '?')}'"
            self.report("E0329", message, stop, end, hint=hint)
            return
        message = f"'{shorten(self._text[start:end])}' is not a type"
        is_open = re.fullmatch(r"\[[0-9]*", rest) is not None
        hint = f"did you mean '{shorten(self._text[start:end])}]'?" if is_open else None
        self.report("E0307", message, start, end, hint=hint)

    def _type_with_suffixes(
        self, start: int, end: int, nesting: int
    ) -> tuple[Type, Annotation | None, int] | None:
        """Parse a type with its suffixes and annotations. The last element is where it ends."""
        base = self._base(start, end, nesting)
        if base is None:
            return None
        type_, at = base
        annotation: Annotation | None = None
        may_be_annotated = isinstance(type_, BaseType | DictType)
        depth = 0
        while at < end:
            if may_be_annotated and self._text[at] in "(!":
                parsed = self._annotation_at(at, end)
                if parsed is None:
                    return None
                outer, at = parsed
                annotation = _nest(outer, depth, annotation)
                may_be_annotated = False
                continue
            suffix = SUFFIX.match(self._text, at, end)
            if suffix is None:
                break
            depth += 1
            if depth > MAX_SUFFIXES:
                message = f"a type has at most {MAX_SUFFIXES} suffixes"
                self.report("E0323", message, suffix.start(), suffix.end())
                return None
            if not self._is_valid_suffix(suffix):
                return None
            type_, at = add_suffix(type_, suffix), suffix.end()
            may_be_annotated = isinstance(type_, ListType)
            if suffix[1]:
                # Further suffixes may follow only a list without a size.
                at, type_, annotation = self._after_size(at, end, type_, depth, annotation)
                break
        return type_, annotation, at

    def _after_size(
        self, at: int, end: int, type_: Type, depth: int, annotation: Annotation | None
    ) -> tuple[int, Type, Annotation | None]:
        """Parse an annotation and a `?` after `[3]`: PyTorch's parser accepts no more there."""
        if at < end and self._text[at] in "(!":
            parsed = self._annotation_at(at, end)
            if parsed is not None:
                outer, at = parsed
                annotation = _nest(outer, depth, annotation)
        if at < end and self._text[at] == "?":
            return at + 1, OptionalType(type_), annotation
        return at, type_, annotation

    def _annotation_at(self, start: int, end: int) -> tuple[Annotation, int] | None:
        """Parse the annotation that begins at `start`. The last element is where it ends."""
        if self._text[start] == "!":
            return Annotation((), True, ()), start + 1
        closing = _closing(self._text, start)
        if not start < closing < end:
            self.report("E0312", "'(' is not closed", start, end)
            return None
        inside = self._text[start + 1 : closing]
        match = _ANNOTATION.fullmatch(inside)
        if match is None or not KEYWORDS.isdisjoint(_WORD.findall(inside)):
            message = f"'{shorten(inside)}' is not an alias annotation"
            hint = "as in '(a!)', '(a)', '(a -> *)', or '!' for an alias set without a name"
            self.report("E0312", message, start + 1, closing, hint=hint)
            return None
        after = tuple(match[3].split("|")) if match[3] else ()
        return Annotation(tuple(match[1].split("|")), bool(match[2]), after), closing + 1

    def _base(self, start: int, end: int, nesting: int) -> tuple[Type, int] | None:
        """Parse a type without suffixes. The last element is where it ends."""
        if nesting > _MAX_NESTING:
            message = f"types are nested at most {_MAX_NESTING} levels deep"
            self.report("E0323", message, start, end)
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
            self.report("E0325", message, start, stop, hint=_NO_KERNEL[name])
            return None
        base = _BASE_TYPES.get(name)
        if base is None:
            self._report_type(name, start, at if name else end)
            return None
        return base, at

    def _report_type(self, name: str, start: int, end: int) -> None:
        text = self._text[start:end]
        hint, fix = meant(name, (*_BASE_TYPES, "Dict"))
        notes = () if hint or not name else (USUAL_TYPES,)
        message = f"unknown type '{shorten(text)}'" if text else "no type"
        self.report(
            "E0307",
            message,
            start,
            end,
            notes=notes,
            hint=hint if name else None,
            replacement=fix if name else None,
        )

    def _tuple(self, start: int, end: int, nesting: int) -> tuple[Type, int] | None:
        elements = self._elements(start, end, nesting)
        return None if elements is None else (TupleType(elements[0]), elements[1])

    def _dict(self, start: int, end: int, nesting: int) -> tuple[Type, int] | None:
        elements = self._elements(start, end, nesting)
        if elements is None:
            return None
        types, stop = elements
        if len(types) != 2:
            message = f"a Dict has a key and a value, this one has {len(types)} types"
            self.report("E0307", message, start, stop)
            return None
        return DictType(*types), stop

    def _elements(self, start: int, end: int, nesting: int) -> tuple[tuple[Type, ...], int] | None:
        """Parse the types between the parenthesis at `start` and its closing one, and where that ends."""
        closing = _closing(self._text, start)
        if not start < closing < end:
            self.report("E0307", "'(' is not closed", start, end)
            return None
        types = []
        for begin, stop in self.pieces(start + 1, closing):
            parsed = self._type_with_suffixes(begin, stop, nesting + 1)
            if parsed is None:
                return None
            type_, annotation, at = parsed
            if at < stop:
                self._report_rest(begin, at, stop)
                return None
            if annotation is not None:
                message = "PyTorch's parser drops an alias annotation inside another type"
                self.report("E0329", message, begin, stop)
                return None
            types.append(type_)
        return tuple(types), closing + 1


def _nest(outer: Annotation, depth: int, inner: Annotation | None) -> Annotation:
    """Return `outer`, at `depth` suffixes, around the annotation of the elements."""
    return Annotation(outer.alias_set, outer.is_write, outer.alias_set_after, depth, inner)


def _closing(text: str, opening: int) -> int:
    """Return the position of the `)` for the `(` at `opening`; -1 if there is none."""
    depth = 0
    for at in skip_quoted(text, opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return -1


def _is_unclosed(default: str) -> bool:
    """Return whether a quote or bracket of a default is not closed."""
    depth, last = 0, -1
    for at in skip_quoted(default, 0, len(default)):
        depth += {"[": 1, "]": -1}.get(default[at], 0)
        last = at
    quoted = default[last + 1 :]
    return depth != 0 or (bool(quoted) and (len(quoted) < 2 or quoted[-1] not in "\"'"))
