"""Parse the header of a schema file: its first item, which sets defaults for all entries. An opgen extension."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import did_you_mean, only_near, shorten
from opgen.model.backend import WrittenName
from opgen.model.cpp_words import is_cpp_name, is_module_name
from opgen.model.types import CppClass
from opgen.parse.entries.keys import CLASS_KEYS, HEADER_KEYS
from opgen.parse.schema.text import SchemaText, is_namespace
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from opgen.parse.yaml.values import ValueReader

# The keys of the header of a file of derivatives.
DERIVATIVES_KEYS = ("namespace", "include")
# A placeholder for the namespace of a file whose own has an error.
_IN_PLACE = "mylib"
# The name of a header as in C++: with `<>`, or the text between quotes.
_HEADER = re.compile(r"<[^<>\"\n]+>|[^<>\"\n]+")
_CLASS = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_QUALIFIED = re.compile(r"(::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*(<[\w:, <>*]+>)?")


class FileHeader(Struct, frozen=True):
    """The defaults of all entries of a file.

    `namespace` is that of operators written without one, or a placeholder if it has an error, which was reported.
    `include` lists headers of existing kernels, as written after `#include`. A `fragment` shares its namespaces with other libraries.
    `fake_module` is the Python module that registers the fake kernels. `classes` maps TorchScript names of custom classes
    (`ns.C`) to their C++ classes.
    """

    namespace: str | None = None
    include: tuple[str, ...] = ()
    fragment: bool = False
    fake_module: str | None = None
    classes: Mapping[str, CppClass] = field(default_factory=dict)


class SchemaFile(Struct, frozen=True):
    """A file as YAML: its list of items, None if it cannot be read, its header and its entries.

    `error_offsets` are those of errors in its YAML.
    """

    root: SequenceNode | None = None
    header: FileHeader = field(default_factory=FileHeader)
    entries: tuple[Node, ...] = ()
    error_offsets: tuple[int, ...] = ()


def split_header(
    root: SequenceNode,
    diagnostics: Diagnostics,
    *,
    strict_torchgen: bool,
    of_formulas: bool = False,
) -> SchemaFile:
    """Separate the header of a file, if it has one, from the entries. Errors in the header are reported.

    With `strict_torchgen`, a header is an error. `of_formulas` is whether the file is one of formulas.
    """
    header, entries = FileHeader(), []
    for index, node in enumerate(root.items):
        if not _is_header(node, of_formulas):
            entries.append(node)
        elif strict_torchgen:
            key = node.pairs[0][0]
            message = f"'{shorten(key.value)}' is an opgen extension"
            hint = None
            if not of_formulas and node.get("namespace") is not None:
                hint = "write the namespace before each operator's name"
            diagnostics.error("E0250", message, key.span, hint=hint)
        elif index > 0:
            message = "only the first item of the file can be a header"
            diagnostics.error("E0251", message, node.span)
        else:
            code, keys = ("E1203", DERIVATIVES_KEYS) if of_formulas else ("E0252", HEADER_KEYS)
            reader = ValueReader(node, code, diagnostics)
            reader.check_keys(keys, code)
            namespace = _namespace(reader)
            fragment = not of_formulas and reader.flag("fragment", False)
            includes = tuple(read_includes(reader))
            module = None if of_formulas else _fake_module(reader)
            classes = {} if of_formulas else dict(_classes(reader))
            header = FileHeader(namespace, includes, fragment, module, classes)
    return SchemaFile(root, header, tuple(entries))


def _is_header(node: Node, of_formulas: bool) -> TypeGuard[MappingNode]:
    """Return whether an item has a key of a header, perhaps a misspelt one, and no `func`, or `name` of formulas."""
    name, keys = ("name", DERIVATIVES_KEYS) if of_formulas else ("func", HEADER_KEYS)
    if not isinstance(node, MappingNode) or node.get(name) is not None:
        return False
    if any(node.get(key) is not None for key in keys):
        return True
    return len(node.pairs) == 1 and only_near(node.pairs[0][0].value, keys) is not None


def _namespace(reader: ValueReader) -> str | None:
    """Return the namespace, or a placeholder if it has an error, which was reported."""
    node = reader.node.get("namespace")
    if node is None:
        is_misspelt = any(did_you_mean(key.value, ("namespace",)) for key, _ in reader.node.pairs)
        return _IN_PLACE if is_misspelt else None
    if reader.name("namespace") is None or not isinstance(node, ScalarNode):
        return _IN_PLACE
    text = SchemaText(node.value, reader.diagnostics, node.part)
    return node.value if is_namespace(text, node.value, 0) else _IN_PLACE


def read_includes(reader: ValueReader) -> Iterator[str]:
    """Yield the headers that `include` names, as written after `#include`."""
    node = reader.node.get("include")
    if node is None:
        return
    items = node.items if isinstance(node, SequenceNode) else (node,)
    for item in items:
        name = reader.scalar(item, "'include' takes a header or a list of headers", "str")
        if name is not None and _is_header_name(name, reader):
            yield _quoted(name.text)


def _is_header_name(name: WrittenName, reader: ValueReader) -> bool:
    if _HEADER.fullmatch(name.text):
        return True
    message = f"'{shorten(name.text)}' is not the name of a header"
    reader.diagnostics.error(reader.wrong_type, message, name.span)
    return False


def _fake_module(reader: ValueReader) -> str | None:
    name = reader.name("fake_module")
    if name is None or is_module_name(name.text):
        return None if name is None else name.text
    message = f"'{shorten(name.text)}' cannot be the name of a Python module"
    hint = "write identifiers with dots between them, but no keyword of Python"
    reader.diagnostics.error("E0252", message, name.span, hint=hint)
    return None


def _quoted(header: str) -> str:
    """Return the name of a header as written after `#include`."""
    return header if header.startswith("<") else f'"{header}"'


def _classes(reader: ValueReader) -> Iterator[tuple[str, CppClass]]:
    for key, value in reader.pairs("classes"):
        if not _CLASS.fullmatch(key.value):
            message = f"'{shorten(key.value)}' is not the name of a TorchScript class"
            hint = "write its namespace and its name, as in 'custom.Bar'"
            reader.diagnostics.error("E0252", message, key.span, hint=hint)
        elif not isinstance(value, MappingNode):
            reader.report_type(value, f"the class '{shorten(key.value)}' takes a mapping")
        else:
            cpp_class = _class(ValueReader(value, "E0252", reader.diagnostics))
            if cpp_class is not None:
                yield key.value, cpp_class


def _class(reader: ValueReader) -> CppClass | None:
    reader.check_keys(CLASS_KEYS, "E0252")
    names = {key: reader.name(key) for key in CLASS_KEYS}
    for key in ("type", "header"):
        if names[key] is None:
            reader.diagnostics.error("E0252", f"a class needs '{key}'", reader.node.span)
    for key in ("type", "define"):
        name = names[key]
        parts = [] if name is None else name.text.partition("<")[0].split("::")
        is_qualified = name is not None and _QUALIFIED.fullmatch(name.text) is not None
        if name is not None and not (is_qualified and all(map(is_cpp_name, filter(None, parts)))):
            message = f"'{shorten(name.text)}' is not a qualified C++ name"
            reader.diagnostics.error("E0252", message, name.span)
            return None
    cpp, header, define = names["type"], names["header"], names["define"]
    if cpp is None or header is None or not _is_header_name(header, reader):
        return None
    return CppClass(cpp.text, _quoted(header.text), None if define is None else define.text)
