"""Parse schemas as FunctionSchema values by recursive descent into ranges of the text.

`str(parse(s)) == s` for every accepted `s`: any other spelling of the same schema is an error. Equal arguments, types
and returns are parsed once and kept in a cache that the caller owns. Offsets become spans only for errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.diagnostics import Diagnostics, until_too_many
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.cpp_identifier import (
    C_FUNCTIONS,
    MAX_NAME,
    RESERVED_NAMESPACES,
    RESERVED_PREFIX,
    is_cpp_name,
    is_identifier,
    is_macro,
)
from opgen.model.function_schema import (
    AUGMENTED_ASSIGNMENT_NAMES,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
    Return,
    SelfArgument,
)
from opgen.model.types import BaseTy
from opgen.parse.schema.checks import check_schema
from opgen.parse.schema.keywords import KEYWORDS
from opgen.parse.schema.reader import Locate, SchemaCache
from opgen.parse.schema.roles import option_starts, split_options
from opgen.parse.schema.scanning import (
    default_problem,
    is_open,
    skip_quoted,
    stray_blanks,
    tight_comma_in_default,
)
from opgen.parse.schema.type_parser import TypeReader, is_base_type

# C++ functions with these names would hide types that signatures use.
TAKEN_NAMES = frozenset(
    (
        *(t.name for t in BaseTy if t.name[0].isupper() and t is not BaseTy.Any),
        *("int64_t", "ArrayRef", "IntArrayRef", "SymIntArrayRef", "OptionalArrayRef"),
        *("OptionalIntArrayRef", "OptionalSymIntArrayRef", "TensorList", "ITensorListRef"),
        *("DimnameList", "TensorOptions"),
    )
)
_ARROW = ") -> "
# The most parts that are joined again if a default contains `, `. Real ones need fewer.
_MAX_JOINED = 32

_OVERLOAD = re.compile(r"[A-Za-z0-9_]+")
# Characters that no schema has. One of them may be a mistyped space.
_MISTYPED_SPACE = re.compile(r"[$%&@~;:^/\\`-]")
_DUNDER = re.compile(r"__([^_]+)__")
# Messages for wrong white space, by the right white space.
_BLANK_MESSAGES = {
    "": "unexpected white space",
    " ": "expected a single space",
    ", ": "expected one space after the comma",
}


@until_too_many(lambda: None)
def parse_function_schema(
    text: str,
    diagnostics: Diagnostics,
    locate: Locate | None = None,
    cache: SchemaCache | None = None,
) -> FunctionSchema | None:
    """Parse a schema without a namespace. None if an error was reported.

    `locate` maps ranges of `text` to spans; by default, to spans of a source named `<schema>` that holds `text` alone.
    `cache` is shared by the schemas of a run. Source of the rules: torchgen's `FunctionSchema.parse`.
    """
    return SchemaReader(text, diagnostics, locate, cache).schema()


class SchemaReader(TypeReader):
    """Parses the parts of a schema; `schema()` parses all of it."""

    __slots__ = ()

    def schema(self) -> FunctionSchema | None:
        """Parse the whole text."""
        text = self._text
        start = len(text) - len(text.lstrip())
        end = max(start, len(text.rstrip()))
        frame = self._frame(start, end)
        if frame is None:
            return None
        opening, closing, returns_start = frame
        for begin, stop in ((0, start), (end, len(text))):
            if begin < stop:
                self.report("E0302", _BLANK_MESSAGES[""], begin, stop, replacement="")
        return self._assembled((start, opening), (opening + 1, closing), (returns_start, end))

    def _assembled(
        self, name_at: tuple[int, int], arguments_at: tuple[int, int], returns_at: tuple[int, int]
    ) -> FunctionSchema | None:
        """Parse the three parts, each a range, and build the schema."""
        name = self.operator_name(*name_at)
        arguments = self._argument_list(*arguments_at)
        returns = self._returns(*returns_at)
        if self._failed or name is None or arguments is None or returns is None:
            return None
        schema = FunctionSchema(name, arguments, returns)
        check_schema(schema, self)
        return None if self._failed else schema

    # The whole text

    def _frame(self, start: int, end: int) -> tuple[int, int, int] | None:
        """Find the parentheses of the argument list, and the start of the returns."""
        opening = self._text.find("(", start, end)
        if opening < 0:
            message = "a schema needs '(' after the operator's name"
            hint = "as in 'scale(Tensor self, float factor) -> Tensor'"
            self.report("E0301", message, start, end, hint=hint)
            return None
        closing = self._closing(opening, end)
        if closing >= 0:
            return opening, closing, closing + len(_ARROW)
        return self._loose_frame(start, opening, end)

    def _closing(self, opening: int, end: int) -> int:
        """Find the `)` of the argument list; -1 if no `)` is followed by an arrow."""
        text = self._text
        if text.find('"', opening, end) < 0 and text.find("'", opening, end) < 0:
            return text.rfind(_ARROW, opening, end)
        depth = 0
        for position in skip_quoted(text, opening, end):
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            if depth == 0 and text.startswith(_ARROW, position):
                return position
        return text.rfind(_ARROW, opening, end)

    def _loose_frame(self, start: int, opening: int, end: int) -> tuple[int, int, int] | None:
        """Find the same if the arrow does not have exactly one space on each side, which is an error."""
        arrow = self._text.rfind("->", opening, end)
        closing = len(self._text[:arrow].rstrip()) - 1
        if arrow < 0 or closing < opening or self._text[closing] != ")":
            message = "a schema ends with ') -> ' and what the operator returns"
            hint = "an operator that returns nothing has '-> ()'"
            self.report("E0301", message, start, end, hint=hint)
            return None
        returns_start = end - len(self._text[arrow + 2 : end].lstrip())
        if returns_start == end:
            hint = "write '()' if nothing is returned"
            self.report("E0301", "there is nothing after '->'", arrow, end, hint=hint)
            return None
        self.report_arrow(closing + 1, returns_start)
        return opening, closing, returns_start

    def report_arrow(self, start: int, end: int) -> None:
        """Report an arrow that does not have exactly one space on each side."""
        message = "expected one space on each side of '->'"
        self.report("E0302", message, start, end, replacement=" -> ")

    # Names

    def operator_name(
        self, start: int, end: int, *, allow_out: bool = False
    ) -> OperatorName | None:
        """Parse the name of an operator and its overload. `allow_out` is whether the name may end with `_out`."""
        text = self._text[start:end]
        base, dot, overload = text.partition(".")
        name = self._base_name(base, start, allow_out)
        if len(overload) > MAX_NAME:
            message = f"an overload name has at most {MAX_NAME} characters"
            self.report("E0309", message, start + len(base), end)
            return None
        if dot and not _OVERLOAD.fullmatch(overload):
            message = (
                f"bad overload name '{shorten(overload)}'" if overload else "no overload after '.'"
            )
            self.report("E0309", message, start + len(base), end)
            return None
        return None if name is None else OperatorName(name, overload)

    def _has_usable_name(self, text: str, start: int) -> bool:
        """Return whether files and generated code can have this name; report it if not."""
        end = start + len(text)
        if not is_identifier(text):
            message = f"bad operator name '{shorten(text)}'" if text else "no operator name"
            hint = _identifier_hint(text) if text else "write one before '('"
            self.report("E0304", message, start, end, hint=hint)
            return False
        if len(text) > MAX_NAME:
            message = f"an operator's name has at most {MAX_NAME} characters: it names files"
            self.report("E0304", message, start, end)
            return False
        if text.startswith(RESERVED_PREFIX):
            message = f"'{shorten(text)}': names that begin with '{RESERVED_PREFIX}' are reserved"
            self.report("E0342", message, start, end)
            return False
        return True

    def _base_name(self, text: str, start: int, allow_out: bool) -> BaseOperatorName | None:
        end = start + len(text)
        if not self._has_usable_name(text, start):
            return None
        if text in TAKEN_NAMES or is_macro(text):
            self.report("E0342", f"'{text}' is already a name in C++", start, end)
            return None
        if text.endswith("_out") and not allow_out:
            hint = f"did you mean '{shorten(text)[: -len('_out')]}.out'?"
            self.report("E0305", "an operator name cannot end in '_out'", start, end, hint=hint)
            return None
        dunder = _DUNDER.fullmatch(text)
        return self._dunder(dunder[1], start, end) if dunder else self._plain(text, start, end)

    def _dunder(self, base: str, start: int, end: int) -> BaseOperatorName | None:
        if not base.startswith("i"):
            return BaseOperatorName(base, inplace=False, dunder_method=True)
        if base[1:] in AUGMENTED_ASSIGNMENT_NAMES:
            return BaseOperatorName(base[1:], inplace=True, dunder_method=True)
        message = f"'__{shorten(base)}__' is not the name of an augmented assignment"
        candidates = [f"i{name}" for name in AUGMENTED_ASSIGNMENT_NAMES]
        self.report("E0306", message, start, end, hint=did_you_mean(base, candidates))
        return None

    def _plain(self, text: str, start: int, end: int) -> BaseOperatorName | None:
        inplace = text.endswith("_")
        base = text[:-1] if inplace else text
        functional = base.endswith("_functional")
        if functional and inplace:
            message = f"'{shorten(text)}' is marked as functional and as in-place"
            self.report("E0308", message, start, end)
            return None
        if functional:
            base = base[: -len("_functional")]
        if not base:
            message = f"'{text}' has no name besides its prefix or suffix"
            self.report("E0304", message, start, end)
            return None
        return BaseOperatorName(base, inplace, False, functional)

    # Arguments

    def _argument_list(self, start: int, end: int) -> Arguments | None:
        text = self._text[start:end]
        cached = self._cache.lists.get(text)
        if cached is None:
            cached = self._arguments(start, end)
            if cached is not None:
                self._cache.lists[text] = cached
        return cached

    def _arguments(self, start: int, end: int) -> Arguments | None:
        """Parse all arguments, then assign their roles. All errors of single arguments are reported."""
        positional: list[tuple[Argument, int]] = []
        keyword: list[tuple[Argument, int]] = []
        out: list[tuple[Argument, int]] = []
        target = positional
        for begin, stop in self.pieces(start, end):
            if stop == begin + 1 and self._text[begin] == "*":
                if target is not positional or stop == end:
                    self._report_star(begin, stop, again=target is not positional)
                elif target is positional:
                    target = keyword
                continue
            argument = self.argument(begin, stop)
            if argument is None:
                continue
            if target is keyword and argument.is_write:
                target = out
            elif target is out and not argument.is_write:
                message = f"'{argument.name}' comes after the out arguments, but is not written"
                self.report("E0316", message, begin, stop)
            target.append((argument, begin))
        options = option_starts([a for a, _ in keyword])
        if len(options) > 1:
            self._report_options(keyword, options[1:])
        else:
            self._check_names(positional + keyword + out)
        return None if self._failed else self._sorted(positional, keyword, out)

    def _report_star(self, start: int, end: int, again: bool) -> None:
        message = "a second '*'" if again else "no argument follows '*'"
        self.report("E0315", message, start, end)

    def _check_names(self, arguments: list[tuple[Argument, int]]) -> None:
        if len({a.name for a, _ in arguments}) == len(arguments):
            return
        first: dict[str, int] = {}
        for argument, start in arguments:
            begin = start + len(argument.type_text) + 1
            earlier = first.setdefault(argument.name, begin)
            if earlier != begin:
                size = len(argument.name)
                message = f"two arguments are named '{shorten(argument.name)}'"
                label = (earlier, earlier + size, "the first")
                self.report("E0319", message, begin, begin + size, labels=[label])

    def _sorted(
        self,
        positional: list[tuple[Argument, int]],
        keyword: list[tuple[Argument, int]],
        out: list[tuple[Argument, int]],
    ) -> Arguments | None:
        values = tuple(a for a, _ in positional)
        self_at = next((i for i, a in enumerate(values) if a.name == "self"), None)
        if self_at is not None:
            for argument, start in positional[:self_at]:
                if argument.is_write:
                    message = f"'{argument.name}' is written, but comes before self"
                    self.report("E0318", message, start, start + len(str(argument)))
        before, options, after = split_options([a for a, _ in keyword])
        if self._failed:
            return None
        return Arguments(
            pre_self_positional=values[:self_at] if self_at is not None else (),
            self_arg=None if self_at is None else SelfArgument(values[self_at]),
            post_self_positional=values[self_at + 1 :] if self_at is not None else values,
            pre_tensor_options_kwarg_only=before,
            tensor_options=options,
            post_tensor_options_kwarg_only=after,
            out=tuple(a for a, _ in out),
        )

    def _report_options(self, keyword: list[tuple[Argument, int]], starts: list[int]) -> None:
        for i in starts:
            last, start = keyword[i + 3]
            message = "dtype, layout, device and pin_memory appear a second time"
            self.report("E0317", message, keyword[i][1], start + len(str(last)))

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts between `, `.

        A part with an open quote, bracket or parenthesis is joined with the following parts up to where it closes, so
        that the error is reported once.
        """
        if start >= end:
            return
        position = start
        while True:
            cut = self._text.find(", ", position, end)
            stop = end if cut < 0 else cut
            if self._text[position:stop] not in self._cache.arguments:
                stop = self._closed(position, stop, end)
            yield position, stop
            if stop == end:
                return
            position = stop + 2

    def _closed(self, start: int, stop: int, end: int) -> int:
        longer = stop
        for _ in range(_MAX_JOINED):
            if not is_open(self._text[start:longer]):
                return longer
            if longer == end:
                return stop
            cut = self._text.find(", ", longer + 1, end)
            longer = end if cut < 0 else cut
        return stop

    def argument(self, start: int, end: int) -> Argument | None:
        """Parse one argument: type, name and default."""
        text = self._text[start:end]
        cached = self._cache.arguments.get(text)
        if cached is None:
            cached = self._parse_argument(text, start, end)
            if cached is not None:
                self._cache.arguments[text] = cached
        return cached

    def _parse_argument(self, text: str, start: int, end: int) -> Argument | None:
        if not text.strip():
            remedy = "write one, or remove the ','"
            self.report("E0310", "an argument is missing here", start, end, hint=remedy)
            return None
        declaration, equals, default = text.partition("=")
        words = declaration.split()
        if len(words) > 1 and self._has_bad_blanks(declaration, default if equals else None, start):
            return None
        space = declaration.rfind(" ")
        if len(words) < 2 or declaration.endswith(")"):
            message = f"'{shorten(declaration)}' is not a type and a name"
            hint = "a name is missing" if not equals else None
            mistyped = _MISTYPED_SPACE.search(declaration)
            if mistyped and is_base_type(declaration[: mistyped.start()]):
                spaced = f"{declaration[: mistyped.start()]} {declaration[mistyped.end() :]}"
                hint = f"did you mean '{shorten(spaced)}'?"
            if "(" in declaration and not declaration.startswith("Tensor"):
                hint = "write an argument as 'int dim'"
            self.report("E0310", message, start, start + len(declaration), hint=hint)
            return None
        name = declaration[space + 1 :]
        annotated = self.annotated_type(start, start + space)
        has_name = self._is_name(name, start + space + 1, "E0320", "argument")
        has_default = not equals or self._is_default(default, start + len(declaration) + 1)
        if annotated is None or not has_name or not has_default:
            return None
        type_, annotation = annotated
        return Argument(name, type_, default if equals else None, annotation)

    def _has_bad_blanks(self, declaration: str, default: str | None, start: int) -> bool:
        """Report missing or superfluous white space around and between the words."""
        strays = stray_blanks(declaration)
        if default is not None and default.strip():
            offset = len(declaration) + 1
            size = offset + len(default)
            comma = tight_comma_in_default(default)
            strays += [] if comma is None else [(offset + comma, offset + comma + 1, ", ")]
            strays += [(offset, size - len(default.lstrip()), "")]
            strays += [(offset + len(default.rstrip()), size, "")]
        strays = [(begin, end, blank) for begin, end, blank in strays if begin < end]
        for begin, end, blank in strays:
            message = _BLANK_MESSAGES[blank]
            self.report("E0302", message, start + begin, start + end, replacement=blank)
        return bool(strays)

    def _is_name(self, name: str, start: int, code: str, what: str) -> bool:
        if not is_identifier(name):
            message = f"bad {what} name '{shorten(name)}'"
            self.report(code, message, start, start + len(name))
            return False
        if name.startswith(RESERVED_PREFIX):
            message = f"'{shorten(name)}': names that begin with '{RESERVED_PREFIX}' are reserved"
            self.report("E0342", message, start, start + len(name))
            return False
        if is_macro(name):
            self.report("E0342", f"'{name}' is a macro of C++", start, start + len(name))
            return False
        return True

    def _is_default(self, text: str, start: int) -> bool:
        problem = default_problem(text)
        if problem is None:
            return True
        fixed = text.replace(", ", ",") if text.startswith("[") and text.endswith("]") else None
        hint = None if fixed is None or default_problem(fixed) else f"write '{shorten(fixed)}'"
        replacement = None if hint is None else fixed
        end = start + len(text)
        self.report("E0311", problem, start, end, hint=hint, replacement=replacement)
        return False

    # Returns

    def _returns(self, start: int, end: int) -> tuple[Return, ...] | None:
        text = self._text[start:end]
        if text == "()":
            return ()
        if text.startswith("(") and text.endswith(")"):
            return self._several(start + 1, end - 1)
        if self._report_foreign(start, end, is_return=True):
            return None
        if ", " in text:
            message = "several returns need parentheses"
            self.report("E0322", message, start, end, replacement=f"({text})")
            return None
        only = self._return(start, end)
        return None if only is None else (only,)

    def _several(self, start: int, end: int) -> tuple[Return, ...] | None:
        inner = self._text[start:end]
        pieces = inner.split(", ")
        if len(pieces) == 1 and "," not in inner:
            message = "a single return has no parentheses"
            self.report("E0322", message, start - 1, end + 1, replacement=inner.strip())
            return None
        parsed = []
        for piece in pieces:
            parsed.append(self._return(start, start + len(piece)))
            start += len(piece) + 2
        valid = tuple(value for value in parsed if value is not None)
        return valid if len(valid) == len(parsed) else None

    def _return(self, start: int, end: int) -> Return | None:
        text = self._text[start:end]
        cached = self._cache.returns.get(text)
        if cached is None:
            cached = self._parse_return(text, start, end)
            if cached is not None:
                self._cache.returns[text] = cached
        return cached

    def _parse_return(self, text: str, start: int, end: int) -> Return | None:
        if not text.strip():
            self.report("E0310", "a return is missing here", start, end)
            return None
        if self._has_bad_blanks(text, None, start):
            return None
        if " -> " in text and text[-1] in ")?]":
            message = "a return with '->' in its annotation needs a name"
            self.report("E0312", message, start, end)
            return None
        type_text, space, name = text.rpartition(" ")
        if not space:
            type_text = text
        annotated = self.annotated_type(start, start + len(type_text))
        has_name = not space or self._is_name(name, end - len(name), "E0321", "return")
        if annotated is None or not has_name:
            return None
        return Return(name if space else None, *annotated)


def _identifier_hint(text: str) -> str | None:
    """Return a hint for a name that has other characters than an identifier."""
    namespace, colon, name = text.partition(":")
    if colon and is_identifier(namespace) and is_identifier(name):
        return f"did you mean '{shorten(namespace)}::{shorten(name)}'?"
    words = re.sub(r"[-. ]", "_", text)
    return f"did you mean '{shorten(words)}'?" if words != text and is_identifier(words) else None


def check_namespace(reader: SchemaReader, namespace: str, start: int) -> bool:
    """Return whether operators may be in `namespace`, which is at `start` of the text; report it if not."""
    end = start + len(namespace)
    if len(namespace) > MAX_NAME:
        message = f"a namespace has at most {MAX_NAME} characters"
        reader.report("E0303", message, start, end)
        return False
    if not is_cpp_name(namespace):
        message = (
            f"bad namespace '{shorten(namespace)}'" if namespace else "no namespace before '::'"
        )
        stop = max(end, start + 2 if not namespace else end)
        reader.report("E0303", message, start, stop, hint=_identifier_hint(namespace))
        return False
    if namespace in RESERVED_NAMESPACES or namespace.startswith(RESERVED_PREFIX):
        reader.report("E0342", f"the namespace '{namespace}' is reserved", start, end)
        return False
    if namespace in C_FUNCTIONS:
        message = f"'{namespace}' is a function of the C library, so it cannot be a namespace"
        reader.report("E0342", message, start, end, hint="choose another name")
        return False
    if namespace in KEYWORDS:
        message = f"'{namespace}' is a keyword of PyTorch's schema parser"
        reader.report("E0327", message, start, end, hint="choose another name")
        return False
    return True
