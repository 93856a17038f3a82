"""The keys of an entry into a draft: one handler for each key.

A handler turns the value of its key into a field of the draft, or reports what is wrong with it and
leaves the field at its default; the draft then knows that the key is bad.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Diagnostics, Edit, Span
from opgen.diagnostics.codes import Code
from opgen.model.cpp_identifier import MAX_NAME, RESERVED_PREFIX, is_cpp_name, is_identifier
from opgen.model.dispatch_key import (
    LIBRARY_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
    find_key,
    find_library_key,
)
from opgen.model.function_schema import Argument, FunctionSchema, OperatorName
from opgen.model.native_function import (
    DTYPE_CLASSES,
    DeviceCheckType,
    KernelSource,
    Precompute,
    ScalarType,
    UfuncInnerLoop,
    UfuncKey,
    Variant,
)
from opgen.model.profile import Profile
from opgen.model.schema_spelling import Spelling, spell
from opgen.model.tags import TagSet
from opgen.parse import codes_keys as codes
from opgen.parse import codes_library, codes_schema, codes_yaml, entry_edits
from opgen.parse.draft import DispatchRow, Draft, NodeSpans, comma_parts
from opgen.parse.fake_reader import find_fake_problem
from opgen.parse.file_header import FileHeader
from opgen.parse.library_reader import LibraryReader
from opgen.parse.names import meant, shorten
from opgen.parse.schema_parser import SchemaReader, check_namespace
from opgen.parse.text_reader import SchemaCache
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, describe

_MAX_KERNEL_NAMESPACES = 2
# What a row says where no kernel is called.
_FALLTHROUGH = "fallthrough"
_EXISTING = re.compile(r"(?:::[A-Za-z_]\w*)+(?:<[\w:, <>*]+>)?")
_DTYPES: Mapping[str, tuple[ScalarType, ...]] = {
    **{dtype.name: (dtype,) for dtype in ScalarType},
    **DTYPE_CLASSES,
}
# More names than any list of PyTorch has. With more, a thousand unknown ones would take long.
_MAX_KNOWN = 500
# Keys whose values no rule looks into.
_MAY_END_IN_A_LINE_END = frozenset(("category_override",))
_HINT_FOR_ATEN = {
    "aten": "kernels of a backend for PyTorch's own operators stand in a file of their own (--backend-yaml)"
}


@dataclass(frozen=True, slots=True)
class EntryContext:
    """What all entries of a file are read with. Rows for `ignore_keys` are dropped from dispatch tables.

    With `strict_torchgen` the rules of torchgen hold for every namespace, and opgen's extensions of the language are
    refused. `namespace` is that of operators without one. If only out variants can be structured, `no_outless` says where.
    """

    tags: TagSet
    ignore_keys: Collection[DispatchKey]
    diagnostics: Diagnostics
    cache: SchemaCache = field(default_factory=SchemaCache)
    strict_torchgen: bool = False
    namespace: str = "aten"
    header: FileHeader = field(default_factory=FileHeader)
    no_outless: str | None = None

    def profile(self, namespace: str) -> Profile:
        """The rules for operators of `namespace`."""
        is_atens = namespace == "aten" or self.strict_torchgen
        return Profile.torchgen if is_atens else Profile.library


class _Row(NamedTuple):
    """The value of a row of a dispatch table."""

    namespace: str | None
    name: str
    source: KernelSource


def read_keys(node: MappingNode, context: EntryContext) -> Draft:
    """What the keys of `node` say; what they say wrongly is reported."""
    reader = _EntryReader(node, context)
    reader.read()
    return reader.draft


class _EntryReader:
    """Reads the keys of one entry into `draft`."""

    __slots__ = ("_context", "_key", "draft")

    def __init__(self, node: MappingNode, context: EntryContext) -> None:
        self.draft = Draft(
            NodeSpans(node),
            context.tags.names,
            context.no_outless,
            context.strict_torchgen,
            context.header.include,
            context.header.fragment,
        )
        self._context = context
        self._key = ""

    def read(self) -> None:
        node = self.draft.spans.node
        if node.get("func") is None:
            self._error(codes.E0202, "this entry has no 'func'", node.span)
        # Which rules hold for the other keys, the operator's namespace says.
        for key, value in sorted(node.pairs, key=lambda pair: pair[0].value != "func"):
            self._key = key.value
            handler = _HANDLERS.get(key.value)
            if handler is not None:
                handler(self, value)
            elif key.kind != "str":
                self._error(codes_yaml.E0108, "a key must be a name", key.span)
            else:
                message = f"unknown key '{shorten(key.value)}'"
                known = [name for name in _HANDLERS if node.get(name) is None]
                self._unknown(codes.E0201, message, key.value, key.span, known)
        if self.draft.func is not None:
            self._add_implicit_tags(self.draft.func)

    def _error(
        self,
        code: Code,
        message: str,
        span: Span,
        *,
        labels: Iterable[tuple[Span, str]] = (),
        hint: str | None = None,
        fix: Edit | None = None,
    ) -> None:
        self.draft.bad.add(self._key)
        self._context.diagnostics.error(code, message, span, labels=labels, hint=hint, fix=fix)

    def _unknown(
        self, code: Code, message: str, word: str, span: Span, known: Iterable[str]
    ) -> None:
        """Report a `word` that is none of the `known` ones, with the one that is meant."""
        hint, near = meant(word, tuple(known)[:_MAX_KNOWN])
        fix = Edit(span, near) if near is not None and span.text == word else None
        self._error(code, message, span, hint=hint, fix=fix)

    # Values of the types that keys take

    def _wrong_type(self, node: Node, expected: str, what: str | None = None) -> None:
        name = f"'{self._key}'" if what is None else what
        message = f"{name} takes {expected}, but this is {describe(node)}"
        self._error(codes.E0203, message, node.span)

    def _is_text(self, node: Node, what: str | None = None) -> bool:
        if node.kind == "str":
            return True
        self._wrong_type(node, "a text", what)
        return False

    def _bool(self, node: Node) -> bool | None:
        if isinstance(node, ScalarNode) and node.kind == "bool":
            return node.is_true
        self._wrong_type(node, "true or false")
        return None

    def _text(self, node: Node, what: str | None = None) -> ScalarNode | None:
        """The text without the line end that literal and folded texts have, which is reported."""
        if not self._is_text(node, what) or not isinstance(node, ScalarNode):
            return None
        kept = node.value.rstrip("\n")
        if node.value == kept or self._key in _MAY_END_IN_A_LINE_END:
            return node
        message = "the line end after it is part of this text"
        hint, fix = "write '>-' or '|-'", entry_edits.strip_line_end(node)
        self._error(codes_schema.E0302, message, node.span, hint=hint, fix=fix)
        return node._replace(value=kept)

    def _optional_text(self, node: Node) -> ScalarNode | None:
        return None if node.kind == "null" else self._text(node)

    def _schema_reader(self, node: ScalarNode, offset: int = 0) -> SchemaReader:
        def locate(start: int, end: int) -> Span:
            return node.part(start + offset, end + offset)

        context = self._context
        return SchemaReader(node.value[offset:], context.diagnostics, locate, context.cache)

    def _library_reader(self, node: ScalarNode, spelling: Spelling, offset: int) -> LibraryReader:
        """Reads the schema that begins at `offset` of the canonical spelling of `node`."""

        def locate(start: int, end: int) -> Span:
            return node.part(*spelling.written(start + offset, end + offset))

        context = self._context
        text, cache = spelling.text[offset:], context.cache.library
        return LibraryReader(text, context.diagnostics, locate, cache, context.header.classes)

    def _operator_name(self, node: ScalarNode, start: int, end: int) -> OperatorName | None:
        text = node.value[start:end]
        if "::" in text:
            message = f"'{shorten(text)}' is written without a namespace"
            stop = start + text.rindex("::") + 2
            self._error(codes.E0206, message, node.part(start, stop))
            return None
        reader = self._schema_reader(node)
        name = reader.operator_name(start, end, allow_out=self.draft.profile is Profile.library)
        if name is None:
            self.draft.bad.add(self._key)
        return name

    # One handler for each key

    def _read_func(self, value: Node) -> None:
        if not self._is_text(value) or not isinstance(value, ScalarNode):
            return
        spelling = None
        if self._context.profile(_written_namespace(value.value, self._context.namespace)) is (
            Profile.library
        ):
            spelling = spell(value.value)
            if self._hides_by_comment(value, spelling):
                return
        node = value if spelling is not None else self._text(value)
        assert node is not None
        text = node.value if spelling is None else spelling.text
        namespace, colons, _ = text.partition("(")[0].rpartition("::")
        offset = len(namespace) + len(colons)
        self.draft.namespace = self._context.namespace
        if colons and not self._is_namespace(namespace, node, spelling):
            self.draft.bad.add("func")
        elif colons:
            self.draft.namespace = namespace
        self.draft.spans = NodeSpans(self.draft.spans.node, offset, spelling)
        if spelling is None:
            func = self._schema_reader(node, offset).schema()
        else:
            self.draft.profile = Profile.library
            func = self._library_reader(node, spelling, offset).schema()
        if "func" not in self.draft.bad:
            self.draft.func = func

    def _hides_by_comment(self, node: ScalarNode, spelling: Spelling) -> bool:
        """Report a comment in a folded text: it would hide all that follows it."""
        if not spelling.comments or node.style != ">":
            return False
        start = spelling.comments[0][0]
        message = "a '#' in a folded text makes a comment of all that follows"
        hint = "take the comment out of the text, or write '|-' for '>-'"
        self._error(codes_schema.E0324, message, node.part(start, start + 1), hint=hint)
        return True

    def _is_namespace(self, namespace: str, node: ScalarNode, spelling: Spelling | None) -> bool:
        if "::" in namespace.strip(":"):
            message = "an operator stands in one namespace at most"
            span = node.part(0, len(namespace))
            self._error(codes_schema.E0303, message, span)
            return False
        reader = (
            self._schema_reader(node)
            if spelling is None
            else self._library_reader(node, spelling, 0)
        )
        return check_namespace(reader, namespace, 0)

    def _read_variants(self, value: Node) -> None:
        node = self._text(value)
        if node is None:
            return
        found = set()
        start = 0
        for word in node.value.split(", "):
            if word in Variant.__members__:
                found.add(Variant[word])
            else:
                message = f"unknown variant '{shorten(word)}'"
                span = node.part(start, start + len(word))
                self._unknown(codes.E0204, message, word, span, Variant.__members__)
            start += len(word) + 2
        self.draft.variants = frozenset(found)

    def _read_device_check(self, value: Node) -> None:
        node = self._optional_text(value)
        if node is None:
            return
        if node.value in DeviceCheckType.__members__:
            self.draft.device_check = DeviceCheckType[node.value]
        else:
            message = f"unknown device check '{shorten(node.value)}'"
            known = DeviceCheckType.__members__
            self._unknown(codes.E0205, message, node.value, node.span, known)

    def _read_python_module(self, value: Node) -> None:
        node = self._optional_text(value)
        if node is None:
            return
        # torchgen takes an empty one, too, for the library's own module.
        if not node.value or _is_module_name(node.value):
            self.draft.python_module = node.value
        else:
            message = f"'{shorten(node.value)}' cannot be the name of a Python module"
            hint = "identifiers with dots between them, and no keyword of Python"
            self._error(codes.E0226, message, node.span, hint=hint)

    def _read_structured_delegate(self, value: Node) -> None:
        node = self._optional_text(value)
        if node is not None:
            name = self._operator_name(node, 0, len(node.value))
            self.draft.structured_delegate = name

    def _read_structured_inherits(self, value: Node) -> None:
        node = self._optional_text(value)
        if node is None:
            return
        if "::" in node.value:
            message = "the base class is written without a namespace"
            self._error(codes.E0206, message, node.span)
        elif not is_cpp_name(node.value):
            message = f"'{shorten(node.value)}' is not the name of a C++ class"
            if not node.value:
                message = "the name of the base class is empty"
            self._error(codes.E0207, message, node.span)
        else:
            self.draft.structured_inherits = node.value

    def _read_cpp_no_default_args(self, value: Node) -> None:
        if not isinstance(value, SequenceNode):
            self._wrong_type(value, "a list")
            return
        what = "an item of 'cpp_no_default_args'"
        items = [self._text(item, what) for item in value.items]
        self.draft.cpp_no_default_args = tuple(item.value for item in items if item is not None)

    def _read_tags(self, value: Node) -> None:
        if isinstance(value, SequenceNode):
            nodes = [self._text(item, "a tag") for item in value.items]
        elif value.kind == "str":
            nodes = [self._text(value)]
        else:
            self._wrong_type(value, "a text or a list of texts")
            return
        known = self._context.tags
        for node in nodes:
            if node is None:
                continue
            if node.value not in known and known.is_whole:
                message = f"unknown tag '{shorten(node.value)}'"
                self._unknown(codes.E0208, message, node.value, node.span, known.names)
            self.draft.tags += (node.value,)

    def _add_implicit_tags(self, func: FunctionSchema) -> None:
        """Tags that operators have by themselves, if the file of tags declares them."""
        implied = (
            ("pt2_compliant_tag", self.draft.namespace == "aten"),
            ("out", func.is_out_fn()),
            ("inplace", func.is_inplace),
        )
        known = self._context.tags
        self.draft.tags += tuple(tag for tag, holds in implied if holds and tag in known)

    def _read_autogen(self, value: Node) -> None:
        node = self._text(value)
        if node is None or not node.value:
            return
        start = 0
        for text in node.value.split(", "):
            name = self._operator_name(node, start, start + len(text))
            if name is not None:
                self.draft.autogen += (name,)
            start += len(text) + 2

    def _read_fake(self, value: Node) -> None:
        node = self._optional_text(value)
        func = self.draft.func
        if node is None or func is None:
            return
        if self._context.strict_torchgen or self.draft.profile is Profile.torchgen:
            message = "'fake' is a key of opgen's own, for operators of libraries"
            self._error(codes_library.E0250, message, value.span)
            return
        self.draft.fake = node.value.strip()
        problem = find_fake_problem(
            self.draft.fake, [argument.name for argument in func.arguments.flat_all]
        )
        if problem is not None:
            message = f"'{shorten(node.value)}' is not what '{func.name}' returns"
            self._error(codes_library.E0254, message, node.span, hint=problem)

    def _read_dispatch(self, value: Node) -> None:
        if value.kind == "null":
            return
        if not isinstance(value, MappingNode):
            self._wrong_type(value, "a mapping of dispatch keys to kernels")
            return
        self.draft.has_dispatch = True
        for key, kernel in value.pairs:
            if key.kind != "str":
                self._error(codes_yaml.E0108, "a dispatch key is a name", key.span)
                continue
            node = self._text(kernel, f"dispatch key '{shorten(key.value)}'")
            row = None if node is None else self._row(node)
            for start, end in comma_parts(key.value):
                self._add_row(key, start, end, row)

    def _row(self, node: ScalarNode) -> _Row | None:
        """What a row calls."""
        if self._context.strict_torchgen or self.draft.profile is Profile.torchgen:
            return self._kernel(node)
        if node.value == _FALLTHROUGH:
            return _Row(None, _FALLTHROUGH, KernelSource.fallthrough)
        if node.value.startswith("::"):
            return self._existing(node)
        return self._kernel(node)

    def _existing(self, node: ScalarNode) -> _Row | None:
        parts = node.value.partition("<")[0].split("::")[1:]
        if not _EXISTING.fullmatch(node.value) or not all(map(is_cpp_name, parts)):
            message = f"'{shorten(node.value)}' is not the name of a C++ function"
            self._error(codes_library.E0253, message, node.span)
            return None
        namespace, _, name = node.value.removeprefix("::").rpartition("::")
        if "<" in node.value:
            plain, less, arguments = node.value.removeprefix("::").partition("<")
            namespace, _, name = plain.rpartition("::")
            name += less + arguments
        return _Row(namespace or None, name, KernelSource.existing)

    def _kernel(self, node: ScalarNode) -> _Row | None:
        """A kernel that somebody is to write."""
        *namespaces, name = parts = node.value.split("::")
        bad = next((p for p in parts if not is_cpp_name(p)), None)
        if bad is not None:
            message = f"'{shorten(node.value)}' is not the name of a C++ function"
            if not node.value:
                message = "the kernel's name is empty"
            self._error(codes.E0211, message, node.span)
        elif len(namespaces) > _MAX_KERNEL_NAMESPACES:
            message = f"a kernel stands in {_MAX_KERNEL_NAMESPACES} namespaces at most"
            self._error(codes.E0211, message, node.span)
        elif namespaces[-1:] == ["native"]:
            written = "::".join((*namespaces[:-1], name))
            message = f"the namespace of '{shorten(node.value)}' is written without '::native'"
            fix = Edit(node.span, written) if node.span.text == node.value else None
            hint = f"write '{shorten(written)}'"
            self._error(codes.E0225, message, node.span, hint=hint, fix=fix)
        elif name.startswith(RESERVED_PREFIX):
            message = f"'{shorten(name)}': names that begin with '{RESERVED_PREFIX}' are reserved"
            self._error(codes_schema.E0342, message, node.span)
        else:
            return _Row("::".join(namespaces) or None, name, KernelSource.author)
        return None

    def _add_row(self, node: ScalarNode, start: int, end: int, kernel: _Row | None) -> None:
        name = node.value[start:end]
        is_library = self.draft.profile is Profile.library
        key = find_library_key(name) if is_library else find_key(name)
        supported = LIBRARY_DISPATCH_KEYS if is_library else SUPPORTED_DISPATCH_KEYS
        if key is None:
            message = f"unknown dispatch key '{shorten(name)}'" if name else "no dispatch key"
            taken = {row.key for row in self.draft.dispatch}
            known = [k.name for k in supported if k not in taken]
            self._unknown(codes.E0209, message, name, node.part(start, end), known)
            return
        draft = self.draft
        draft.dispatch_key_count += 1
        if key in self._context.ignore_keys:
            return
        if key not in supported:
            message = f"dispatch key '{name}' takes no kernels in a table"
            hint = None if is_library else _HINT_FOR_ATEN.get(self.draft.namespace)
            self._error(codes.E0210, message, node.part(start, end), hint=hint)
        elif any(row.key is key for row in draft.dispatch):
            message = f"dispatch key '{name}' has a kernel already"
            first = (draft.spans.dispatch_key(key), "the first")
            self._error(codes.E0218, message, node.part(start, end), labels=[first])
        elif kernel is not None:
            draft.dispatch.append(DispatchRow(key, kernel.name, kernel.namespace, kernel.source))

    def _read_ufunc_inner_loop(self, value: Node) -> None:
        if isinstance(value, MappingNode):
            for key, loop in value.pairs:
                ufunc_key = UfuncKey.__members__.get(key.value)
                node = self._text(loop, f"ufunc key '{shorten(key.value)}'")
                if ufunc_key is None:
                    message = f"unknown ufunc key '{shorten(key.value)}'"
                    known = [name for name in UfuncKey.__members__ if value.get(name) is None]
                    self._unknown(codes.E0220, message, key.value, key.span, known)
                elif node is not None:
                    self._add_loop(ufunc_key, node)
        elif value.kind == "str" and (only := self._text(value)) is not None:
            self._add_loop(UfuncKey.Generic, only)
        else:
            self._wrong_type(value, "a text or a mapping")

    def _add_loop(self, key: UfuncKey, node: ScalarNode) -> None:
        name, space, listed = node.value.partition(" ")
        well_formed = space and listed.startswith("(") and listed.endswith(")") and len(listed) > 1
        if not well_formed or not is_cpp_name(name):
            message = f"'{shorten(node.value)}' is not a name and element types in parentheses"
            self._error(codes.E0221, message, node.span)
            return
        dtypes: dict[ScalarType, None] = {}
        start = len(name) + 2
        for word in listed[1:-1].split(", "):
            if word in _DTYPES:
                dtypes.update(dict.fromkeys(_DTYPES[word]))
            else:
                message = f"unknown element type '{shorten(word)}'"
                span = node.part(start, start + len(word))
                self._unknown(codes.E0222, message, word, span, _DTYPES)
            start += len(word) + 2
        self.draft.ufunc_inner_loop += ((key, UfuncInnerLoop(name, tuple(dtypes), key)),)

    def _read_precomputed(self, value: Node) -> None:
        if value.kind == "null":
            return
        self.draft.has_precomputed = True
        if not isinstance(value, SequenceNode):
            self._wrong_type(value, "a list")
            return
        replace: dict[str, tuple[Argument, ...]] = {}
        add: tuple[Argument, ...] = ()
        for i, item in enumerate(value.items):
            node = self._text(item, "an item of 'precomputed'")
            if node is None:
                continue
            before, arrow, after = node.value.partition("->")
            if arrow:
                span = len(before.rstrip()), len(node.value) - len(after.lstrip())
                self._add_replacement(replace, span, node)
            elif i + 1 < len(value.items):
                message = "only the last line can have no ' -> '"
                self._error(codes.E0231, message, node.span)
            else:
                add = self._precomputed_arguments(node, 0)
        if "precomputed" not in self.draft.bad and value.items:
            self.draft.precomputed = Precompute(tuple(replace.items()), add)

    def _add_replacement(
        self, replace: dict[str, tuple[Argument, ...]], arrow: tuple[int, int], node: ScalarNode
    ) -> None:
        name, start = node.value[: arrow[0]], arrow[1]
        span = node.part(0, len(name))
        is_loose = node.value[slice(*arrow)] != " -> "
        if is_loose and name and start < len(node.value):
            self._schema_reader(node).report_arrow(*arrow)
            self.draft.bad.add(self._key)
        if not is_identifier(name):
            message = f"'{shorten(name)}' is not the name of an argument"
            if not name:
                message, span = "no argument stands before '->'", node.part(*arrow)
            self._error(codes.E0231, message, span)
        elif name in replace:
            self._error(codes.E0231, f"'{name}' is replaced already", span)
        elif "->" in node.value[start:]:
            self._error(codes.E0231, "a second '->'", node.part(start, len(node.value)))
        else:
            replace[name] = self._precomputed_arguments(node, start)

    def _precomputed_arguments(self, node: ScalarNode, start: int) -> tuple[Argument, ...]:
        reader = self._schema_reader(node)
        found = []
        stop = len(node.value)
        for begin, end in tuple(reader.pieces(start, stop)) or ((start, stop),):
            argument = reader.argument(begin, end)
            if argument is None:
                self.draft.bad.add(self._key)
            elif argument.name.upper() == argument.name:
                message = f"'{argument.name}' has no lower-case letter"
                self._error(codes.E0232, message, node.part(begin, end))
            else:
                found.append(argument)
        return tuple(found)


def _written_namespace(schema: str, otherwise: str) -> str:
    """The namespace that stands before the operator's name, or `otherwise`."""
    namespace, colons, _ = schema.partition("(")[0].rpartition("::")
    return namespace.strip() if colons else otherwise


def _is_module_name(text: str) -> bool:
    """Whether Python can import a module called `text`, and a file can have its name."""
    return len(text) <= MAX_NAME and all(
        is_identifier(part) and not keyword.iskeyword(part) for part in text.split(".")
    )


Handler = Callable[[_EntryReader, Node], None]


def _flag(name: str) -> Handler:
    def read(reader: _EntryReader, value: Node) -> None:
        flag = reader._bool(value)
        if flag is not None:
            setattr(reader.draft, name, flag)

    return read


def _any_text(name: str) -> Handler:
    def read(reader: _EntryReader, value: Node) -> None:
        node = reader._optional_text(value)
        setattr(reader.draft, name, None if node is None else node.value)

    return read


_HANDLERS: Mapping[str, Handler] = {
    "func": _EntryReader._read_func,
    "variants": _EntryReader._read_variants,
    "structured": _flag("structured"),
    "structured_delegate": _EntryReader._read_structured_delegate,
    "structured_inherits": _EntryReader._read_structured_inherits,
    "precomputed": _EntryReader._read_precomputed,
    "dispatch": _EntryReader._read_dispatch,
    "autogen": _EntryReader._read_autogen,
    "tags": _EntryReader._read_tags,
    "device_check": _EntryReader._read_device_check,
    "device_guard": _flag("device_guard"),
    "python_module": _EntryReader._read_python_module,
    "category_override": _any_text("category_override"),
    "cpp_no_default_args": _EntryReader._read_cpp_no_default_args,
    "use_const_ref_for_mutable_tensors": _flag("use_const_ref_for_mutable_tensors"),
    "manual_kernel_registration": _flag("manual_kernel_registration"),
    "manual_cpp_binding": _flag("manual_cpp_binding"),
    "ufunc_inner_loop": _EntryReader._read_ufunc_inner_loop,
    "fake": _EntryReader._read_fake,
}
