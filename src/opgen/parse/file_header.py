"""The first item of a schema file into what holds for the whole file: opgen's own extension of the language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Diagnostics
from opgen.model.cpp_identifier import is_cpp_name
from opgen.model.types import CppClass
from opgen.parse import codes_library as codes
from opgen.parse.names import shorten
from opgen.parse.schema_parser import SchemaReader, check_namespace
from opgen.parse.value_reader import ValueReader
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode

KEYS = ("namespace", "include", "fragment", "classes")
_CLASS_KEYS = ("type", "header", "define")
# As it stands between `<>` or quotes in C++.
_HEADER = re.compile(r"<[^<>\"\n]+>|[^<>\"\n]+")
_CLASS = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_QUALIFIED = re.compile(r"(::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*(<[\w:, <>*]+>)?")


@dataclass(frozen=True, slots=True)
class FileHeader:
    """What all entries of a file have in common.

    `namespace` is that of operators without one; `include` are headers of existing kernels, as they stand behind
    `#include`; a `fragment` shares its namespaces with other libraries; `classes` are the C++ classes of custom classes, by
    TorchScript's name (`ns.C`).
    """

    namespace: str | None = None
    include: tuple[str, ...] = ()
    fragment: bool = False
    classes: Mapping[str, CppClass] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A list of entries, and what its head says of all of them."""

    root: SequenceNode | None = None
    header: FileHeader = field(default_factory=FileHeader)
    entries: tuple[Node, ...] = ()


def split_header(
    root: SequenceNode, diagnostics: Diagnostics, *, strict_torchgen: bool
) -> SchemaFile:
    """What the head of a file says, if it has one, and the entries. What is wrong with a head is reported."""
    header, entries = FileHeader(), []
    for index, node in enumerate(root.items):
        if not _is_header(node):
            entries.append(node)
        elif strict_torchgen:
            key = node.pairs[0][0]
            message = f"'{shorten(key.value)}' is a key of opgen's own"
            hint = (
                "write the namespace before each operator's name" if _has_namespace(node) else None
            )
            diagnostics.error(codes.E0250, message, key.span, hint=hint)
        elif index > 0:
            message = "this stands once, as the first item of the file"
            diagnostics.error(codes.E0251, message, node.span)
        else:
            header = _read(node, diagnostics)
    return SchemaFile(root, header, tuple(entries))


def _is_header(node: Node) -> TypeGuard[MappingNode]:
    """Whether an item of the list has a key of a file's head, and no `func`."""
    if not isinstance(node, MappingNode) or node.get("func") is not None:
        return False
    return any(node.get(key) is not None for key in KEYS)


def _has_namespace(node: MappingNode) -> bool:
    return node.get("namespace") is not None


def _read(node: MappingNode, diagnostics: Diagnostics) -> FileHeader:
    reader = ValueReader(node, codes.E0252, diagnostics)
    reader.check_keys(KEYS, codes.E0252)
    namespace = _namespace(reader)
    fragment = reader.flag("fragment", False)
    return FileHeader(namespace, tuple(_includes(reader)), fragment, dict(_classes(reader)))


def _namespace(reader: ValueReader) -> str | None:
    node = reader.node.get("namespace")
    if reader.name("namespace") is None or not isinstance(node, ScalarNode):
        return None
    text = SchemaReader(node.value, reader.diagnostics, node.part)
    return node.value if check_namespace(text, node.value, 0) else None


def _includes(reader: ValueReader) -> Iterator[str]:
    node = reader.node.get("include")
    if node is None:
        return
    items = node.items if isinstance(node, SequenceNode) else (node,)
    for item in items:
        text = reader.text(item, "'include' takes a header or a list of headers", "str")
        if text is None:
            continue
        if not _HEADER.fullmatch(text.text):
            reader.diagnostics.error(codes.E0252, f"'{shorten(text.text)}' is no header", text.span)
            continue
        yield text.text if text.text.startswith("<") else f'"{text.text}"'


def _classes(reader: ValueReader) -> Iterator[tuple[str, CppClass]]:
    node = reader.mapping("classes")
    if node is None:
        return
    for key, value in node.pairs:
        if not _CLASS.fullmatch(key.value):
            message = f"'{shorten(key.value)}' is no class of TorchScript"
            hint = "its namespace and its name, as in 'custom.Bar'"
            reader.diagnostics.error(codes.E0252, message, key.span, hint=hint)
        elif not isinstance(value, MappingNode):
            reader.refuse(value, f"the class '{shorten(key.value)}' takes a mapping")
        else:
            found = _class(ValueReader(value, codes.E0252, reader.diagnostics))
            if found is not None:
                yield key.value, found


def _class(reader: ValueReader) -> CppClass | None:
    reader.check_keys(_CLASS_KEYS, codes.E0252)
    names = {key: reader.name(key) for key in _CLASS_KEYS}
    for key in ("type", "header"):
        if names[key] is None:
            reader.diagnostics.error(codes.E0252, f"a class needs '{key}'", reader.node.span)
    for key in ("type", "define"):
        name = names[key]
        if name is not None and not _is_qualified(name.text):
            message = f"'{shorten(name.text)}' is not the name of anything in C++"
            reader.diagnostics.error(codes.E0252, message, name.span)
            return None
    cpp, header, define = names["type"], names["header"], names["define"]
    if cpp is None or header is None:
        return None
    if not _HEADER.fullmatch(header.text):
        message = f"'{shorten(header.text)}' is no header"
        reader.diagnostics.error(codes.E0252, message, header.span)
        return None
    quoted = header.text if header.text.startswith("<") else f'"{header.text}"'
    return CppClass(cpp.text, quoted, None if define is None else define.text)


def _is_qualified(text: str) -> bool:
    if not _QUALIFIED.fullmatch(text):
        return False
    return all(is_cpp_name(part) for part in text.partition("<")[0].split("::") if part)
