"""Read the registrations of C++ sources: the blocks of TORCH_LIBRARY and its kin, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from opgen.dataclasses import dataclass, field, replace
from opgen.diagnostics import Span
from opgen.importing import codes
from opgen.importing.cpp_calls import Argument, Call, read_brackets, read_chain
from opgen.importing.cpp_constants import Constants, canonical_key
from opgen.importing.cpp_kernels import KernelReader, RegisteredKernel
from opgen.importing.cpp_macros import IMPL, Library, is_library_macro, split_arguments
from opgen.importing.cpp_text import CppText
from opgen.importing.problems import Problems
from opgen.importing.registrations import (
    CATCH_ALL,
    CLASSES,
    Definition,
    Implementation,
    NameAlone,
    Reading,
)
from opgen.importing.schema_text import find_name, find_schema

# Of a file. PyTorch's longest has 3,300.
_MOST_CALLS = 20_000
# Functions that call functions that register.
_DEEPEST = 5
_MACRO_CALL = re.compile(r"\b(\w+)\s*\(")
_HELPER = re.compile(
    r"\b(\w+)\s*\(\s*(?:[^(){};]*,\s*)?(?:(?:\w+\s*::\s*)*)(?:Stable)?Library\s*&\s*(\w+)\s*(?=[,)])"
)
_GIVEN_TO = re.compile(r"\b(\w+)\s*\(\s*(?:[^(){};]*,\s*)?$")
_OLDER = re.compile(
    r"\bRegisterOperators\b(?!\s*::)\s*(?:\w+\s*)?(\()?|\bMAKE_TORCH_LIBRARY(?:_IMPL)?\b"
)
# A macro that nobody defines here, with a schema in its brackets.
_STATEMENT = re.compile(r"(?<![\w.>:])([A-Z][A-Z0-9_]{2,})\s*\(")
_LIKE_SCHEMA = re.compile(r"\w\s*\(.*\)\s*->", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# No dispatch key is called so.
_MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
# What else a library can be asked, and says nothing of operators.
_SILENT = frozenset({"reset", "_resolve"})


@dataclass(frozen=True, slots=True)
class _Block:
    """The library whose variable registrations are called on: its namespace, and its key if it has one."""

    namespace: str
    key: str | None
    variable: str
    start: int
    end: int
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Helper:
    """A function that takes a library, `void register_more(torch::Library& m) { ... }`."""

    name: str
    text: CppText = field(repr=False)
    variable: str
    span: Span
    start: int
    end: int


class CppReader:
    """Reads files one after the other into `reading`. A library without a namespace of its own has `namespace`."""

    def __init__(
        self,
        texts: Sequence[CppText],
        constants: Constants,
        namespace: str | None,
        reading: Reading,
        problems: Problems,
    ) -> None:
        self.reading = reading
        self._macros = constants.macros
        self._constants = constants
        self._kernels = KernelReader(constants)
        self._namespace = namespace
        self._problems = problems
        self._opening = self._macros.opening()
        self._hiding = self._macros.registering()
        self._helpers = [helper for text in texts for helper in _helpers(text)]
        self._called: set[int] = set()
        self._calls_left = 0

    def read(self, text: CppText) -> None:
        """Read the blocks of one file, in order."""
        self._calls_left = _MOST_CALLS
        for block in self._blocks(text):
            self._body(text, block, 0)
        self._older(text)
        self._hidden(text)

    def finish(self) -> None:
        """Report the functions that register for a library, and that no library calls."""
        for helper in self._helpers:
            if id(helper) not in self._called and _registers(helper):
                message = f"no given source calls '{helper.name}' with a library"
                hint = "pass the source that does, too"
                self._problems.warn(codes.NOT_UNDERSTOOD, message, helper.span, hint=hint)

    # Blocks

    def _blocks(self, text: CppText) -> Iterator[_Block]:
        for found in _MACRO_CALL.finditer(text.masked):
            if found[1] not in self._opening and not is_library_macro(found[1]):
                continue
            if text.is_dead(found.start()):
                continue
            opening = found.end() - 1
            closing = text.find_closing(opening)
            library = None
            if closing is not None:
                arguments = split_arguments(text.code[opening + 1 : closing])
                library = self._macros.find_library(found[1], arguments, text)
            brace = None if closing is None else _next_brace(text, closing + 1)
            if closing is None or library is None or brace is None:
                span = text.span(found.start(), found.end() - 1)
                self._problems.warn(
                    codes.NOT_UNDERSTOOD, f"no library begins after '{found[1]}'", span
                )
                continue
            block = self._block(text, library, found.start(), closing + 1, brace)
            if block is not None:
                yield block

    def _block(
        self, text: CppText, library: Library, start: int, end: int, brace: int
    ) -> _Block | None:
        span = text.span(start, end)
        namespace = self._namespace_of(text, library.namespace, span)
        key = None
        if library.kind == IMPL:
            expanded = self._macros.expand(library.key, text)
            is_key = _IDENTIFIER.fullmatch(expanded.text) and not _MACRO.fullmatch(expanded.text)
            if expanded.unknown or not is_key:
                self._report_key(expanded.text, span)
                return None
            key = canonical_key(expanded.text)
        if namespace is None or not _IDENTIFIER.fullmatch(library.variable):
            return None
        scope_end = text.find_closing(brace)
        body_end = len(text.masked) if scope_end is None else scope_end
        return _Block(namespace, key, library.variable, brace + 1, body_end)

    def _namespace_of(self, text: CppText, words: str, span: Span) -> str | None:
        """The namespace; None if only the build knows it, or it is none."""
        expanded = self._macros.expand(words, text)
        if expanded.unknown and self._namespace is not None:
            given = {**self._macros.given, **dict.fromkeys(expanded.unknown, self._namespace)}
            expanded = replace(self._macros, given=given).expand(words, text)
        if expanded.unknown:
            for name in expanded.unknown:
                self.reading.unknown_namespaces.setdefault(name, []).append(span)
            return None
        if _IDENTIFIER.fullmatch(expanded.text):
            return expanded.text
        message = f"'{words}' is not a namespace"
        self._problems.warn(codes.NOT_UNDERSTOOD, message, span)
        return None

    def _report_key(self, words: str, span: Span) -> None:
        message = f"the dispatch key '{words}' is not known"
        hint = f"-D {words}=KEY" if _IDENTIFIER.fullmatch(words) else None
        self._problems.warn(codes.UNKNOWN_KEY, message, span, hint=hint)

    # What stands in a block

    def _body(self, text: CppText, block: _Block, depth: int) -> None:
        done = block.start
        variable = re.compile(rf"(?<![\w.:]){re.escape(block.variable)}\b")
        for found in variable.finditer(text.masked, block.start, block.end):
            if found.start() < done or text.is_dead(found.start()):
                continue
            if self._calls_left <= 0:
                self._report_too_many(text, found.start())
                return
            calls, done = read_chain(
                text, found.start(), found.end(), block.end, self._constants.grammar
            )
            self._calls_left -= max(1, len(calls))
            if not calls:
                self._other_use(text, block, found.start(), found.end(), depth)
            self._chain(text, block, calls)
        if depth == 0:
            self._unknown_macros(text, block)

    def _chain(self, text: CppText, block: _Block, calls: Iterable[Call]) -> None:
        for call in calls:
            call = replace(call, conditions=_merged(block.conditions, call.conditions))
            match call.method:
                case "def":
                    self._def(text, block, call)
                case "impl":
                    self._impl(text, block, call)
                case "fallback":
                    key = block.key or "all keys"
                    message = f"a fallback for {key} belongs to no operator"
                    self._problems.warn(codes.FALLBACK, message, call.span)
                case "set_python_module" | "impl_abstract_pystub":
                    self._python_module(call)
                case "class_":
                    self._class(block, call)
                    # What follows are the methods of the class.
                    return
                case _ if call.method not in _SILENT:
                    message = f"what '{call.method}' registers is not known"
                    self._problems.warn(codes.NOT_UNDERSTOOD, message, call.span)

    def _def(self, text: CppText, block: _Block, call: Call) -> None:
        if not call.arguments:
            return
        first, *rest = call.arguments
        words = self._constants.find_text(first)
        if words is None:
            self._report_text(first, "schema")
            return
        tags, kernel = self._tags_and_kernel(rest)
        if "AliasAnalysisKind" in first.code:
            message = "an entry cannot hold an alias analysis"
            self._problems.warn(codes.LEFT_OUT, message, first.span)
        schema = find_schema(words)
        if schema is not None:
            namespace = self._own_namespace(block, schema.namespace, first.span)
            self.reading.registrations.append(
                Definition(namespace, str(schema), first.span, call.conditions, tags)
            )
            if kernel is not None:
                self._row(block, namespace, schema.name, kernel, call)
            return
        self._name_alone(block, call, words, kernel, tags)

    def _name_alone(
        self,
        block: _Block,
        call: Call,
        words: str,
        kernel: RegisteredKernel | None,
        tags: tuple[str, ...],
    ) -> None:
        name = find_name(words)
        if name is None or kernel is None:
            message = "this is not a schema"
            hint = "name(arguments) -> returns"
            self._problems.warn(codes.NO_SUCH_SCHEMA, message, call.arguments[0].span, hint=hint)
            return
        span = call.arguments[0].span
        namespace = self._own_namespace(block, name[0], span)
        key = kernel.key or block.key or CATCH_ALL
        self.reading.registrations.append(
            NameAlone(namespace, name[1], key, kernel.kernel, span, call.conditions, tags)
        )

    def _tags_and_kernel(
        self, arguments: Sequence[Argument]
    ) -> tuple[tuple[str, ...], RegisteredKernel | None]:
        tags: tuple[str, ...] = ()
        kernel: RegisteredKernel | None = None
        for argument in arguments:
            found = self._constants.find_tags(argument)
            if found is not None:
                tags = found
            elif "_RegisterOrVerify" not in argument.code:
                kernel = self._kernels.read(argument)
        return tags, kernel

    def _impl(self, text: CppText, block: _Block, call: Call) -> None:
        if not 2 <= len(call.arguments) <= 4:
            message = "impl takes a name and a kernel"
            self._problems.warn(codes.NOT_UNDERSTOOD, message, call.span)
            return
        first = call.arguments[0]
        words = self._constants.find_text(first)
        name = None if words is None else find_name(words)
        if name is None:
            self._report_text(first, "name")
            return
        rest = [a for a in call.arguments[1:] if "_RegisterOrVerify" not in a.code]
        kernel = self._kernels.read(rest[-1])
        if len(rest) == 2:
            key = self._constants.find_key(rest[0])
            if key is None:
                self._report_key(" ".join(rest[0].code.split()), rest[0].span)
                return
            kernel = replace(kernel, key=key)
        namespace = self._own_namespace(block, name[0], first.span)
        self._row(block, namespace, name[1], kernel, call)

    def _row(
        self, block: _Block, namespace: str, name: str, kernel: RegisteredKernel, call: Call
    ) -> None:
        key = kernel.key or block.key or CATCH_ALL
        self.reading.registrations.append(
            Implementation(namespace, name, key, kernel.kernel, call.span, call.conditions)
        )

    def _own_namespace(self, block: _Block, written: str, span: Span) -> str:
        if not written or written == block.namespace or block.namespace in ("_", ""):
            return written or block.namespace
        message = f"'{written}' is not the library's namespace, '{block.namespace}'"
        self._problems.warn(codes.OTHER_NAMESPACE, message, span)
        return written

    def _class(self, block: _Block, call: Call) -> None:
        name = self._constants.find_text(call.arguments[0]) if call.arguments else None
        if name is not None:
            last = call.template.rpartition("::")[2].strip()
            self.reading.classes[last] = f"{CLASSES}.{block.namespace}.{name}"
        message = f"an entry cannot hold the custom class '{call.template}'"
        self._problems.warn(codes.LEFT_OUT, message, call.span)

    def _python_module(self, call: Call) -> None:
        module = self._constants.find_text(call.arguments[0]) if call.arguments else None
        where = "a Python module" if module is None else f"Python module '{module}'"
        message = f"{where} has the fake kernels of this library"
        self._problems.warn(codes.LEFT_OUT, message, call.span)

    def _report_text(self, argument: Argument, what: str) -> None:
        message = f"the {what} is known only at run time"
        self._problems.warn(codes.NOT_UNDERSTOOD, message, argument.span)

    def _report_too_many(self, text: CppText, offset: int) -> None:
        message = f"more than {_MOST_CALLS} registrations are not read"
        self._problems.warn(codes.NOT_READ, message, text.span(offset, offset + 1))

    # What hides registrations

    def _other_use(self, text: CppText, block: _Block, start: int, end: int, depth: int) -> None:
        """The variable is not called: it may be given to a function that registers."""
        given = _GIVEN_TO.search(text.masked, max(block.start, start - 200), start)
        if given is not None and given[1] in self._hiding:
            return
        named = [h for h in self._helpers if given is not None and h.name == given[1]]
        helpers = [h for h in named if h.text is text] or named
        if not helpers or depth >= _DEEPEST:
            message = f"what this registers with '{block.variable}' is not known"
            begin = start if given is None else given.start()
            self._problems.warn(codes.NOT_UNDERSTOOD, message, text.span(begin, end))
            return
        for helper in helpers:
            self._called.add(id(helper))
            conditions = _merged(block.conditions, text.conditions(start))
            inner = _Block(
                block.namespace, block.key, helper.variable, helper.start, helper.end, conditions
            )
            self._body(helper.text, inner, depth + 1)

    def _hidden(self, text: CppText) -> None:
        """Report the sources' own macros that register."""
        if not self._hiding:
            return
        names = "|".join(map(re.escape, sorted(self._hiding)))
        for found in re.finditer(rf"\b({names})\s*\(", text.masked):
            if text.is_dead(found.start()):
                continue
            define = self._macros.named(found[1], text)[0]
            place = define.text.span(define.offset, define.offset + 1)
            message = f"macro '{found[1]}' hides a registration"
            hint = "write out what it expands to"
            closing = text.find_closing(found.end() - 1)
            span = text.span(found.start(), found.end() if closing is None else closing + 1)
            labels = [(place, "it is defined here")]
            self._problems.warn(codes.NOT_UNDERSTOOD, message, span, hint=hint, labels=labels)

    # The registration of older releases

    def _older(self, text: CppText) -> None:
        """`torch::RegisterOperators().op("ns::name", &f)`, also with the operator in the first brackets."""
        for found in _OLDER.finditer(text.masked):
            if text.is_dead(found.start()):
                continue
            closing = None if found[1] is None else text.find_closing(found.end() - 1)
            if closing is None:
                message = f"'{found[0].strip()}' is not read"
                hint = "register with TORCH_LIBRARY"
                span = text.span(*found.span())
                self._problems.warn(codes.NOT_UNDERSTOOD, message, span, hint=hint)
                continue
            block = _Block("", None, "", found.start(), len(text.masked))
            grammar = self._constants.grammar
            first = read_brackets(text, found.start(), found.end() - 1, closing, grammar)
            calls, _ = read_chain(text, found.start(), closing + 1, block.end, grammar)
            for call in (first, *calls):
                if call.arguments and call.method in ("", "op"):
                    self._def(text, block, call)

    def _unknown_macros(self, text: CppText, block: _Block) -> None:
        """Report macros that are defined elsewhere, and are given something like a schema."""
        for found in _STATEMENT.finditer(text.masked, block.start, block.end):
            closing = text.find_closing(found.end() - 1)
            if closing is None or found[1] in self._hiding or text.is_dead(found.start()):
                continue
            before = text.masked[max(block.start - 1, found.start() - 200) : found.start()].rstrip()
            inside = text.code[found.end() : closing]
            if before[-1:] in "{};)" and '"' in inside and _LIKE_SCHEMA.search(inside):
                message = f"macro '{found[1]}' is defined in none of the sources"
                hint = "write out what it expands to"
                span = text.span(found.start(), closing + 1)
                self._problems.warn(codes.NOT_UNDERSTOOD, message, span, hint=hint)


def find_classes(texts: Iterable[CppText]) -> dict[str, str]:
    """The schema's name of each custom class, by its name in C++: what torch::class_<C>("ns", "Name") says."""
    found: dict[str, str] = {}
    for text in texts:
        for match in _CLASS.finditer(text.masked):
            arguments = [a.strip() for a in split_arguments(_inside(text, match.end() - 1))]
            names = [a[1:-1] for a in arguments[:2] if a[:1] == a[-1:] == '"']
            if len(names) == 2:
                last = match[1].rpartition("::")[2].strip()
                found[last] = f"{CLASSES}.{names[0]}.{names[1]}"
    return found


_CLASS = re.compile(r"\bclass_\s*<\s*([\w:]+)\s*>\s*\w*\s*\(")


def _inside(text: CppText, opening: int) -> str:
    closing = text.find_closing(opening)
    return "" if closing is None else text.code[opening + 1 : closing]


def _helpers(text: CppText) -> Iterator[_Helper]:
    for found in _HELPER.finditer(text.masked):
        opening = text.masked.find("(", found.end(1))
        closing = text.find_closing(opening)
        brace = None if closing is None else _next_brace(text, closing + 1)
        end = None if brace is None else text.find_closing(brace)
        if brace is not None and end is not None and not text.is_dead(brace):
            span = text.span(found.start(1), found.end(1))
            yield _Helper(found[1], text, found[2], span, brace + 1, end)


def _registers(helper: _Helper) -> bool:
    calls = rf"\b{re.escape(helper.variable)}\s*(?:\.|->)\s*(?:def|impl)\s*\("
    return re.compile(calls).search(helper.text.masked, helper.start, helper.end) is not None


def _next_brace(text: CppText, offset: int) -> int | None:
    """The brace that follows, with nothing but blanks before it."""
    found = re.compile(r"\s*\{").match(text.masked, offset)
    return None if found is None else found.end() - 1


def _merged(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
