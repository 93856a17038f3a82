"""Read the registrations of C++ sources: blocks of TORCH_LIBRARY and similar macros, with their contents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from heapq import merge
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.diagnostics.suggestions import shorten
from opgen.importing.common.registrations import (
    CATCH_ALL,
    CLASSES,
    Definition,
    Implementation,
    Kernel,
    Problems,
    Reading,
    Registration,
    find_name,
)
from opgen.importing.cpp.constants import (
    Call,
    Constants,
    KernelReader,
    canonical_key,
    read_brackets,
    read_chain,
)
from opgen.importing.cpp.functions import Functions
from opgen.importing.cpp.grammar import Node
from opgen.importing.cpp.macros import (
    DEF,
    FRAGMENT,
    IMPL,
    Library,
    is_library_macro,
    split_arguments,
)
from opgen.importing.cpp.text import CppText, Directive, Includes, Scope, read_cpp
from opgen.model.cpp_words import is_module_name
from opgen.model.native_function import AliasAnalysisKind

# The most registrations in a file. PyTorch's longest file has 3,300.
_MOST_CALLS = 20_000
# The most nested calls of functions that register.
_MAX_DEPTH = 5
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
# A definition or a kernel of anything, and a function or macro whose body is about to begin, with its last argument.
_REGISTRATION = re.compile(r"\b(\w+)\s*(?:\.|->)\s*(?:def|impl)\s*\(")
_BEGINS = re.compile(r"\b([A-Z_][A-Z0-9_]*)\s*\((?:[^(){};]*\W)?(\w+)\s*\)\s*$")
_NOT_PYTORCHS = re.compile(r"PYBIND|NB_MODULE|BOOST_")
_PYBIND11 = re.compile(r"\bPYBIND11_MODULE\s*\(")
_PYBIND11_ARGUMENT = re.compile(
    r"\s*(?:\w+::)*arg\s*\(\s*\"(\w+)\"\s*\)\s*(?:\.noconvert\(\)\s*)?(?:=\s*(.+?)\s*)?", re.DOTALL
)
_NUMBER = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)[fFlLuU]*")
_DEFAULTS = {"true": "True", "false": "False", "py::none()": "None"}
_HELPER = re.compile(
    r"\b(\w+)\s*\(\s*(?:[^(){};]*,\s*)?(?:(?:\w+\s*::\s*)*)(?:Stable)?Library\s*&\s*(\w+)\s*(?=[,)])"
)
_PASSED_TO = re.compile(r"\b(\w+)\s*\(\s*(?:[^(){};]*,\s*)?$")
_ALIAS_ANALYSIS = re.compile(r"\bAliasAnalysisKind\s*::\s*(\w+)")
_OLDER = re.compile(
    r"\bRegisterOperators\b(?!\s*::)\s*(?:\w+\s*)?(\()?|\bMAKE_TORCH_LIBRARY(?:_IMPL)?\b"
)
# A call of a macro that may have a schema as its argument.
_STATEMENT = re.compile(r"(?<![\w.>:])([A-Z][A-Z0-9_]{2,})\s*\(")
_LIKE_SCHEMA = re.compile(r"\w\s*\(.*\)\s*->", re.DOTALL)
_OPENING = re.compile(r"\s*\(")
# The most characters of a macro with its arguments before a block.
_MOST_HEAD = 400
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# Names that are macros: no dispatch key has this form.
_MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
# Methods of a library that register nothing.
_IGNORED = frozenset({"reset", "_resolve"})


class Block(Struct, frozen=True):
    """A block of a library: its namespace, its key if it has one, and the name of the library's variable.

    `start` is after the opening brace, `end` at the closing one. `head` is the macro that opens it, up to its brace, and
    `kind` that of the library.
    """

    text: CppText
    namespace: str
    key: str | None
    variable: str
    start: int
    end: int
    conditions: tuple[str, ...] = ()
    head: Span | None = None
    kind: str = ""


# A call, None for a macro, and what it registers.
Registered = tuple[Call | None, Sequence[Registration]]


class Statement(Struct, frozen=True):
    """A statement that registers, without its semicolon: a chain of calls, or the use of a macro.

    `is_older` says that it is one of `torch::RegisterOperators`.
    """

    text: CppText
    start: int
    end: int
    registered: Sequence[Registered]
    is_older: bool = False


class _Helper(Struct, frozen=True):
    """A function that takes a library, `void register_more(torch::Library& m) { ... }`."""

    name: str
    text: CppText
    variable: str
    span: Span
    start: int
    end: int


class _Use(Struct, frozen=True):
    """A use of a macro, with its arguments, if it has any."""

    name: str
    start: int
    end: int


class CppReader:
    """Reads files in order, and adds their registrations to `reading`.

    `namespace` replaces namespaces that only the build knows.
    """

    def __init__(
        self,
        texts: Sequence[CppText],
        constants: Constants,
        namespace: str | None,
        reading: Reading,
    ) -> None:
        self.reading = reading
        # All blocks and statements of the sources, but those in expansions of macros.
        self.opened: list[Block] = []
        self.statements: list[Statement] = []
        # The kinds of the libraries that define operators of a namespace.
        self._kinds: dict[str, set[str]] = {}
        self._texts = texts
        self._own = frozenset(texts)
        self._macros = constants.macros
        self._constants = constants
        self.functions = Functions(texts, constants.grammar)
        self._kernels = KernelReader(constants, self.functions)
        self._namespace = namespace
        self._opening = self._macros.opening()
        self._hiding = self._macros.registering()
        self._calling = self._macros.calling() if self._hiding else frozenset()
        self._includes = Includes(texts)
        self._helpers = [helper for text in texts for helper in _helpers(text)]
        self._called: set[int] = set()
        # The uses of macros whose expansions are read, and the parts of the files that are read.
        self._expanded: set[tuple[CppText, int]] = set()
        self._read: dict[CppText, list[tuple[int, int]]] = {}
        self._calls_left = 0
        # What `set_python_module` says of the operators that the rest of a block defines.
        self._fake_module: str | None = None

    def read(self, text: CppText) -> None:
        """Read the blocks of a file, in order."""
        self._calls_left = _MOST_CALLS
        for block in self._blocks(text):
            self._body(block, 0)
            self._fake_module = None
        for use in self._macro_uses(text, 0, len(text.masked)):
            self._read_macro(text, use, None, 0)
        self._older(text)
        self._hidden(text)

    def finish(self) -> None:
        """Report functions that register, but that no source calls with a library."""
        for helper in self._helpers:
            if id(helper) in self._called:
                continue
            calls = rf"\b{re.escape(helper.variable)}\s*(?:\.|->)\s*(?:def|impl)\s*\("
            if re.compile(calls).search(helper.text.masked, helper.start, helper.end):
                message = f"no given source calls '{helper.name}' with a library"
                hint = "also pass the source that does"
                self.reading.problems.warn("W1160", message, helper.span, hint=hint)
        for text in self._texts:
            self._unread(text)

    def read_pybind11(self) -> None:
        """Read the functions of PYBIND11_MODULE blocks as operators with inferred schemas; others are not read."""
        for text in self._texts:
            for head in _PYBIND11.finditer(text.masked):
                body = _body(text, head.end() - 1)
                if body is None or text.is_dead(head.start()):
                    continue
                closing, start, end = body
                span = text.span(head.start(), closing + 1)
                written = split_arguments(text.code[head.end() : closing])
                namespace = self._namespace_of(text, written[0], span)
                if namespace is not None and len(written) > 1:
                    self.reading.problems.warn(
                        "W1182",
                        f"the functions of the pybind11 module '{namespace}' are read as operators",
                        span,
                        hint=f"call them as torch.ops.{namespace}.f",
                    )
                    self._functions_of(Block(text, namespace, None, written[1], start, end))

    def _functions_of(self, block: Block) -> None:
        """Read `m.def("f", &f, "what it does", py::arg("x"), py::arg("n") = 3)`."""
        for use, calls, _ in self._chains(block):
            if not calls:
                message = f"this use of the pybind11 module '{block.variable}' is not read"
                self.reading.problems.warn("W1160", message, block.text.span(*use.span()))
            for call in calls:
                if call.method == "def" and len(call.arguments) > 1:
                    self._function_of(block, call)
                elif call.method not in ("doc", "def_submodule", "attr"):
                    message = f"'{call.method}' of a pybind11 module is not read"
                    self.reading.problems.warn("W1160", message, call.span)

    def _chains(self, block: Block) -> Iterator[tuple[re.Match[str], tuple[Call, ...], int]]:
        """Yield each use of a block's variable, the calls on it, and where they end."""
        text, done = block.text, block.start
        variable = re.compile(rf"(?<![\w.:]){re.escape(block.variable)}\b")
        for use in variable.finditer(text.masked, block.start, block.end):
            if use.start() >= done and not text.is_dead(use.start()):
                grammar = self._constants.grammar
                calls, done = read_chain(text, use.start(), use.end(), block.end, grammar)
                yield use, calls, done

    def _function_of(self, block: Block, call: Call) -> None:
        name, function, *rest = call.arguments
        named = [(_PYBIND11_ARGUMENT.fullmatch(one.code), one) for one in rest]
        arguments = []
        for match, one in named:
            if match is not None:
                default = _default(match[2])
                arguments.append(match[1] + default)
                if match[2] and not default:
                    message = f"the default of '{match[1]}' is not a constant of a schema"
                    self.reading.problems.warn("W1165", message, one.span)
        written, kernel = self._constants.find_string(name) or "", self._kernels.read(function)
        self._define(block, call, written, kernel, (), tuple(arguments))

    def fragments(self) -> frozenset[str]:
        """Return the namespaces whose operators are defined in fragments alone: other libraries may have more of them."""
        return frozenset(
            n for n, kinds in self._kinds.items() if FRAGMENT in kinds and DEF not in kinds
        )

    def _add_statement(self, statement: Statement) -> None:
        if any(made for _, made in statement.registered) and statement.text in self._own:
            self.statements.append(statement)

    # Blocks

    def _blocks(self, text: CppText) -> Iterator[Block]:
        for name in _NAME.finditer(text.masked):
            if name[0] not in self._opening and not is_library_macro(name[0]):
                continue
            use = self._use(text, name[0], name.start())
            if text.is_dead(name.start()) or use is None:
                continue
            library = self._macros.find_library(text.code[use.start : use.end], text, use.start)
            brace = _next_brace(text, use.end)
            if library is None or brace is None:
                span = text.span(use.start, name.end())
                self.reading.problems.warn("W1160", f"no library begins after '{name[0]}'", span)
                continue
            block = self._block(text, library, use.start, use.end, brace)
            if block is not None:
                yield block

    def _block(
        self, text: CppText, library: Library, start: int, end: int, brace: int
    ) -> Block | None:
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
        block = Block(
            text, namespace, key, library.variable, brace + 1, body_end, (), span, library.kind
        )
        self._kinds.setdefault(namespace, set()).add(library.kind)
        if text in self._own and scope_end is not None:
            self.opened.append(block)
        return block

    def _namespace_of(self, text: CppText, code: str, span: Span) -> str | None:
        """Return the namespace that `code` expands to; None if only the build knows it, or it is not a name."""
        expanded = self._macros.expand(code, text)
        if expanded.unknown and self._namespace is not None:
            known = dict.fromkeys(expanded.unknown, self._namespace)
            macros = replace(self._macros, command_line={**self._macros.command_line, **known})
            expanded = macros.expand(code, text)
        if expanded.unknown:
            for name in expanded.unknown:
                self.reading.unknown_namespaces.setdefault(name, []).append(span)
            return None
        if _IDENTIFIER.fullmatch(expanded.text):
            return expanded.text
        self.reading.problems.warn("W1160", f"'{code}' is not a namespace", span)
        return None

    def _report_key(self, key: str, span: Span) -> None:
        message = f"the dispatch key '{key}' is not known"
        hint = f"-D {key}=KEY" if _IDENTIFIER.fullmatch(key) else None
        self.reading.problems.warn("W1177", message, span, hint=hint)

    # Contents of a block

    def _body(self, block: Block, depth: int) -> None:
        """Read the uses of the library's variable, macros and included files, in their order."""
        text, start, end = block.text, block.start, block.end
        self._read.setdefault(text, []).append((start, end))
        uses = (
            (use.start(), partial(self._read_use, block, depth, use, calls, stop))
            for use, calls, stop in self._chains(block)
        )
        macros = (
            (use.start, partial(self._read_macro, text, use, block, depth))
            for use in self._macro_uses(text, start, end)
        )
        included = (
            (directive.start, partial(self._read_included, block, depth, directive))
            for directive in text.directives
            if directive.word == "include" and start <= directive.start < end
        )
        for place, read in merge(uses, macros, included, key=itemgetter(0)):
            if self._calls_left <= 0:
                message = f"more than {_MOST_CALLS} registrations are not read"
                self.reading.problems.warn("W1175", message, text.span(place, place + 1))
                return
            read()
        if depth == 0:
            self._unknown_macros(block)

    def _read_use(
        self, block: Block, depth: int, use: re.Match[str], calls: tuple[Call, ...], end: int
    ) -> None:
        self._calls_left -= max(1, len(calls))
        if not calls:
            self._other_use(block, use.start(), use.end(), depth)
        registered = self._chain(block, calls)
        self._add_statement(Statement(block.text, use.start(), end, registered))

    def _read_macro(self, text: CppText, use: _Use, block: Block | None, depth: int) -> None:
        known = len(self.reading.registrations)
        self._expand(text, use, block, depth)
        made = self.reading.registrations[known:]
        self._add_statement(Statement(text, use.start, use.end, [(None, made)]))

    def _read_included(self, block: Block, depth: int, directive: Directive) -> None:
        named = self._includes.named(block.text, directive)
        if not named and not block.text.is_dead(directive.start):
            message = "a library's block includes a file that is not given"
            span = block.text.span(directive.start, directive.end)
            self.reading.problems.warn("W1160", message, span, hint="also pass that file")
        for included in named:
            self._body(replace(block, text=included, start=0, end=len(included.masked)), depth + 1)

    # Macros around registrations

    def _use(self, text: CppText, name: str, start: int) -> _Use | None:
        """Return the use of a macro at `start`; None if it has parameters, and no arguments follow."""
        end = start + len(name)
        defines = self._macros.definitions(name, text, start)
        opening = _OPENING.match(text.masked, end)
        if opening is not None and any(d.parameters is None for d in defines):
            # A macro without parameters may be another name of one with parameters.
            library = self._macros.find_library(name, text, start)
            opening = opening if library is None and name in self._opening else None
        elif defines and all(d.parameters is None for d in defines):
            return _Use(name, start, end)
        if opening is None:
            return _Use(name, start, end) if any(d.parameters is None for d in defines) else None
        closing = text.find_closing(opening.end() - 1)
        return None if closing is None else _Use(name, start, closing + 1)

    def _macro_uses(self, text: CppText, start: int, end: int) -> Iterator[_Use]:
        """Yield the uses of the sources' macros that register, and that are not read yet."""
        done = start
        for name in _NAME.finditer(text.masked, start, end) if self._hiding else ():
            is_calling = name[0] in self._calling and name[0] not in self._hiding
            if name.start() < done or not (is_calling or name[0] in self._hiding):
                continue
            if (text, name.start()) in self._expanded or text.is_dead(name.start()):
                continue
            use = self._use(text, name[0], name.start())
            if use is None:
                continue
            words = _NAME.findall(text.masked, name.end(), use.end) if is_calling else ()
            if is_calling and self._hiding.isdisjoint(words):
                continue
            done = use.end
            yield use

    def _expand(self, text: CppText, use: _Use, block: Block | None, depth: int) -> bool:
        """Read what a macro expands to, in `block` or outside of all. Return whether it is understood and read."""
        code = text.written(use.start, use.end)
        body = self._macros.preprocess(code, text, use.start)
        if body is None or body == code or depth >= _MAX_DEPTH:
            return False
        expanded = read_cpp(Source(text.source.path, f"{body};"))
        reading, made = self.reading, Reading(Problems(Diagnostics()))
        self.reading = made
        conditions = text.conditions(use.start)
        if block is None:
            for inner in self._blocks(expanded):
                inner = replace(inner, conditions=_merged(conditions, inner.conditions))
                self._body(inner, depth + 1)
            self._older(expanded)
        else:
            conditions = _merged(block.conditions, conditions)
            end = len(expanded.masked)
            inside = replace(block, text=expanded, start=0, end=end, conditions=conditions)
            self._body(inside, depth + 1)
        self.reading = reading
        if made.problems.count or not made.registrations or made.unknown_namespaces or made.classes:
            return False
        self._expanded.add((text, use.start))
        span = text.span(use.start, use.end)
        for registration in made.registrations:
            if not isinstance(registration, Definition):
                kernel = replace(registration.kernel, span=span)
                registration = replace(registration, kernel=kernel)
            elif registration.inferred_from is not None:
                kernel = replace(registration.inferred_from, span=span)
                registration = replace(registration, inferred_from=kernel)
            reading.registrations.append(replace(registration, span=span))
        return True

    def _chain(self, block: Block, calls: Sequence[Call]) -> list[Registered]:
        """Read the calls on a library. Return them, each with what it registers."""
        registered: list[Registered] = []
        is_class = False
        for call in calls:
            known = len(self.reading.registrations)
            if not is_class:
                merged = _merged(block.conditions, call.conditions)
                self._call(block, replace(call, conditions=merged))
            registered.append((call, self.reading.registrations[known:]))
            # The calls after it define methods of the class.
            is_class = is_class or call.method == "class_"
        return registered

    def _call(self, block: Block, call: Call) -> None:
        match call.method:
            case "def":
                self._def(block, call)
            case "impl":
                self._impl(block, call)
            case "fallback":
                key = block.key or "all keys"
                message = f"a fallback for {key} belongs to no operator"
                self.reading.problems.warn("W1163", message, call.span)
            case "set_python_module" | "impl_abstract_pystub":
                self._python_module(call)
            case "class_":
                self._class(block, call)
            case _ if call.method not in _IGNORED:
                message = f"'{call.method}' is not understood"
                self.reading.problems.warn("W1160", message, call.span)

    def _def(self, block: Block, call: Call, *, is_older: bool = False) -> None:
        if not call.arguments:
            return
        first, *rest = call.arguments
        name_or_schema = self._constants.find_string(first)
        if name_or_schema is None:
            # A macro may stand for several arguments.
            use = _Use("", call.span.start, call.span.end)
            is_macro = block.text.masked[call.span.start] != "." and self._constants.expand(first)
            if not is_macro or not self._expand(block.text, use, block, 1):
                self._report_string(first, "schema")
            return
        tags, kernel = self._tags_and_kernel(rest)
        self._define(block, call, name_or_schema, kernel, tags, is_older=is_older)

    def _define(
        self,
        block: Block,
        call: Call,
        written: str,
        kernel: Kernel | None,
        tags: tuple[str, ...] = (),
        arguments: tuple[str, ...] = (),
        *,
        is_older: bool = False,
    ) -> None:
        made = Definition(
            block.namespace,
            "",
            call.arguments[0].span,
            call.conditions,
            tags,
            arguments=arguments,
            alias_analysis=self._alias_analysis(call),
            fake_module=self._fake_module,
        )
        row = None if kernel is None else self._row(block, "", "", kernel, call)
        self.reading.define(written, made, row, is_older=is_older)

    def _alias_analysis(self, call: Call) -> AliasAnalysisKind | None:
        """Return the kind that an argument names, as in `torch::schema("f() -> ()", AliasAnalysisKind::CONSERVATIVE)`."""
        for argument in call.arguments:
            match = _ALIAS_ANALYSIS.search(argument.code)
            kind = None if match is None else self.reading.analysis(match[1], argument.span)
            if kind is not None:
                return kind
        return None

    def _tags_and_kernel(self, arguments: Sequence[Node]) -> tuple[tuple[str, ...], Kernel | None]:
        tags: tuple[str, ...] = ()
        kernel: Kernel | None = None
        for argument in arguments:
            listed = self._constants.find_tags(argument)
            if listed is not None:
                tags = listed
            elif "_RegisterOrVerify" not in argument.code:
                kernel = self._kernels.read(argument)
        return tags, kernel

    def _impl(self, block: Block, call: Call) -> None:
        if not 2 <= len(call.arguments) <= 4:
            self.reading.problems.warn("W1160", "impl takes a name and a kernel", call.span)
            return
        first = call.arguments[0]
        written = self._constants.find_string(first)
        name = None if written is None else find_name(written)
        if name is None:
            self._report_string(first, "name")
            return
        rest = [a for a in call.arguments[1:] if "_RegisterOrVerify" not in a.code]
        kernel = self._kernels.read(rest[-1])
        if len(rest) == 2:
            key = self._constants.find_key(rest[0])
            if key is None:
                self._report_key(rest[0].code, rest[0].span)
                return
            kernel = replace(kernel, key=key)
        namespace = self.reading.own_namespace(block.namespace, name[0], first.span)
        self.reading.registrations.append(self._row(block, namespace, name[1], kernel, call))

    def _row(
        self, block: Block, namespace: str, name: str, kernel: Kernel, call: Call
    ) -> Implementation:
        key = kernel.key or block.key or CATCH_ALL
        return Implementation(namespace, name, key, kernel, call.span, call.conditions)

    def _class(self, block: Block, call: Call) -> None:
        name = self._constants.find_string(call.arguments[0]) if call.arguments else None
        if name is not None:
            last = call.template.rpartition("::")[2].strip()
            self.reading.classes[last] = f"{CLASSES}.{block.namespace}.{name}"
        message = f"an entry cannot define the custom class '{call.template}'"
        self.reading.problems.warn("W1176", message, call.span)

    def _python_module(self, call: Call) -> None:
        module = self._constants.find_string(call.arguments[0]) if call.arguments else None
        self._fake_module = module if module is not None and is_module_name(module) else None
        if self._fake_module is None:
            what = (
                "known only at run time"
                if module is None
                else f"'{shorten(module)}', which none is"
            )
            message = f"the Python module with the fake kernels is {what}"
            self.reading.problems.warn("W1176", message, call.span)
        elif len(call.arguments) > 1:
            message = f"an entry has no place for what '{call.method}' says beside the module"
            self.reading.problems.warn("W1176", message, call.arguments[1].span)

    def _report_string(self, argument: Node, what: str) -> None:
        self.reading.problems.warn("W1160", f"the {what} is known only at run time", argument.span)

    # Registrations in functions and macros

    def _other_use(self, block: Block, start: int, end: int, depth: int) -> None:
        """Read a use of the variable that is not a call of its methods: it may be passed to a function that registers."""
        text = block.text
        passed_to = _PASSED_TO.search(text.masked, max(block.start, start - 200), start)
        if passed_to is not None and passed_to[1] in self._hiding:
            return
        named = [h for h in self._helpers if passed_to is not None and h.name == passed_to[1]]
        helpers = [h for h in named if h.text is text] or named
        if not helpers or depth >= _MAX_DEPTH:
            message = f"this use of '{block.variable}' is not understood"
            begin = start if passed_to is None else passed_to.start()
            self.reading.problems.warn("W1160", message, text.span(begin, end))
            return
        for helper in helpers:
            self._called.add(id(helper))
            conditions = _merged(block.conditions, text.conditions(start))
            inner = replace(block, text=helper.text, start=helper.start, end=helper.end)
            inner = replace(inner, variable=helper.variable, conditions=conditions)
            self._body(inner, depth + 1)

    def _hidden(self, text: CppText) -> None:
        """Report uses of the sources' own macros that register, and whose expansions are not understood."""
        for use in self._macro_uses(text, 0, len(text.masked)):
            code = text.code[use.start : use.end]
            if not self._macros.may_register(use.name, code, text, use.start, self._hiding):
                continue
            define = self._macros.definitions(use.name, text, use.start)[0]
            place = define.text.span(define.offset, define.offset + 1)
            message = f"the macro '{use.name}' hides a registration"
            hint = "replace it by its expansion"
            span = text.span(use.start, use.end)
            labels = [(place, "it is defined here")]
            self.reading.problems.warn("W1160", message, span, hint=hint, labels=labels)

    def _unread(self, text: CppText) -> None:
        """Report blocks of macros that are not known to open a library, and that register something."""
        read = self._read.get(text, [])
        reported: Scope | None = None
        for call in _REGISTRATION.finditer(text.masked):
            scope = text.scope(call.start())
            chain = () if scope is None else scope.chain()
            outer = next((one for one in chain if one.kind == "other"), None)
            is_read = any(start <= call.start() < end for start, end in read)
            if outer is None or is_read or outer is reported or text.is_dead(call.start()):
                continue
            head = _BEGINS.search(text.masked, max(0, outer.start - _MOST_HEAD), outer.start)
            if head is None or head[2] != call[1] or _NOT_PYTORCHS.search(head[1]):
                continue
            if head[1] in self._opening or is_library_macro(head[1]):
                continue
            reported = outer
            message = f"the block after '{head[1]}' registers, and is not read"
            hint = "open it with a macro of PyTorch"
            self.reading.problems.warn("W1160", message, text.span(*head.span(1)), hint=hint)

    # Registrations of older releases

    def _older(self, text: CppText) -> None:
        """Read `torch::RegisterOperators().op("ns::name", &f)` and `torch::RegisterOperators("ns::name", &f)`."""
        for match in _OLDER.finditer(text.masked):
            if text.is_dead(match.start()):
                continue
            closing = None if match[1] is None else text.find_closing(match.end() - 1)
            if closing is None:
                message = f"'{match[0].strip()}' is not read"
                hint = "register with TORCH_LIBRARY"
                self.reading.problems.warn("W1160", message, text.span(*match.span()), hint=hint)
                continue
            block = Block(text, "", None, "", match.start(), len(text.masked))
            grammar = self._constants.grammar
            first = read_brackets(text, match.start(), match.end() - 1, closing, grammar)
            calls, end = read_chain(text, match.start(), closing + 1, block.end, grammar)
            registered: list[Registered] = []
            for call in (first, *calls):
                if call.arguments and call.method in ("", "op"):
                    known = len(self.reading.registrations)
                    self._def(block, call, is_older=True)
                    registered.append((call, self.reading.registrations[known:]))
            for one in (one for _, made in registered for one in made):
                self._kinds.setdefault(one.namespace, set()).add(FRAGMENT)
            start = max(text.masked.rfind(mark, 0, match.start()) for mark in ";{}") + 1
            start += len(text.masked[start:]) - len(text.masked[start:].lstrip())
            last = max(end, closing + 1)
            self._add_statement(Statement(text, start, last, registered, is_older=True))

    def _unknown_macros(self, block: Block) -> None:
        """Report macros that no source defines, and whose arguments look like a schema."""
        text = block.text
        for call in _STATEMENT.finditer(text.masked, block.start, block.end):
            closing = text.find_closing(call.end() - 1)
            if closing is None or call[1] in self._hiding or text.is_dead(call.start()):
                continue
            before = text.masked[max(block.start - 1, call.start() - 200) : call.start()].rstrip()
            inside = text.code[call.end() : closing]
            if before[-1:] in "{};)" and '"' in inside and _LIKE_SCHEMA.search(inside):
                message = f"no source defines the macro '{call[1]}'"
                hint = "replace it by its expansion"
                span = text.span(call.start(), closing + 1)
                self.reading.problems.warn("W1160", message, span, hint=hint)


def _default(code: str | None) -> str:
    """Return the default of an argument in a schema, `=3`; "" if there is none, or it is not known."""
    code = (code or "").strip()
    number = _NUMBER.fullmatch(code)
    if number is not None:
        return f"={number[1]}"
    value = "None" if code.endswith("nullopt") else _DEFAULTS.get(code)
    return "" if value is None else f"={value}"


def find_classes(texts: Iterable[CppText]) -> dict[str, str]:
    """Return the schema names of the custom classes of `torch::class_<C>("ns", "Name")`, by unqualified C++ name."""
    classes: dict[str, str] = {}
    for text in texts:
        for match in _CLASS.finditer(text.masked):
            closing = text.find_closing(match.end() - 1)
            arguments = split_arguments(text.code[match.end() : closing or match.end()])
            names = [a[1:-1] for a in arguments[:2] if a[:1] == a[-1:] == '"']
            if len(names) == 2:
                last = match[1].rpartition("::")[2].strip()
                classes[last] = f"{CLASSES}.{names[0]}.{names[1]}"
    return classes


_CLASS = re.compile(r"\bclass_\s*<\s*([\w:]+)\s*>\s*\w*\s*\(")


def _helpers(text: CppText) -> Iterator[_Helper]:
    for match in _HELPER.finditer(text.masked):
        body = _body(text, text.masked.find("(", match.end(1)))
        if body is not None and not text.is_dead(body[1] - 1):
            span = text.span(match.start(1), match.end(1))
            yield _Helper(match[1], text, match[2], span, *body[1:])


def _body(text: CppText, opening: int) -> tuple[int, int, int] | None:
    """Return where the bracket at `opening` closes, and the range of the body in braces after it; None without one."""
    closing = text.find_closing(opening)
    brace = None if closing is None else _next_brace(text, closing + 1)
    end = None if brace is None else text.find_closing(brace)
    return None if closing is None or brace is None or end is None else (closing, brace + 1, end)


def _next_brace(text: CppText, offset: int) -> int | None:
    """Return the offset of the brace that follows, after white space only; None if there is none."""
    brace = re.compile(r"\s*\{").match(text.masked, offset)
    return None if brace is None else brace.end() - 1


def _merged(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
