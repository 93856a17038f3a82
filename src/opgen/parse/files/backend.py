"""Parse a backend YAML (`--backend-yaml`) as a BackendFile: its values and their positions."""

from __future__ import annotations

from contextlib import suppress

from opgen.diagnostics import Diagnostics, Source, TooManyErrors, until_too_many
from opgen.diagnostics.suggestions import shorten
from opgen.model.backend import BackendFile, StructuredRoute, WrittenName
from opgen.model.cpp_words import MAX_NAME, is_cpp_name
from opgen.parse.yaml.nodes import MappingNode, Node, compose
from opgen.parse.yaml.values import ValueReader, report_other_kind

_LAZY_KEYS = ("full_codegen", "ir_gen", "non_native")
_KEYS = (
    *("backend", "cpp_namespace", "class_name", "supported", "autograd", "symint"),
    *("use_out_as_primary", "device_guard", "out_as_primary", "cpu_fallback"),
    *(route.value for route in StructuredRoute),
    *_LAZY_KEYS,
)
_MAX_NAMESPACES = 2


@until_too_many(lambda: None)
def parse_backend(source: Source, diagnostics: Diagnostics) -> BackendFile | None:
    """Parse a backend file. None if its backend or namespace is missing or invalid."""
    before, errors_before = len(diagnostics), diagnostics.error_count
    root = compose(source, diagnostics)
    backend_file = None
    # A file of another kind may have more errors than are reported.
    with suppress(TooManyErrors):
        backend_file = _parse_root(root, source, diagnostics, before)
    has_errors = diagnostics.error_count > errors_before
    if has_errors and report_other_kind(source, diagnostics, backend=True):
        return None
    return backend_file


def _parse_root(
    root: Node | None, source: Source, diagnostics: Diagnostics, before: int
) -> BackendFile | None:
    if not isinstance(root, MappingNode):
        if len(diagnostics) == before:
            span = source.start if root is None else root.span
            hint = "it begins with 'backend:'"
            diagnostics.error("E0801", "a backend file is one mapping", span, hint=hint)
        return None
    reader = ValueReader(root, "E0804", diagnostics)
    reader.check_keys(_KEYS, "E0802")
    for key in _LAZY_KEYS:
        node = reader.node.key_node(key)
        if node is not None:
            effect = "acts as 'supported'" if key == "full_codegen" else "does nothing"
            message = f"'{key}' is for lazy backends: here it {effect}"
            reader.diagnostics.warning("W1801", message, node.span)
    return _read(reader)


def _read(reader: ValueReader) -> BackendFile | None:
    backend, namespace = _required(reader, "backend"), _required(reader, "cpp_namespace")
    class_name = reader.name("class_name")
    _check_cpp_name(reader, "cpp_namespace", namespace, _MAX_NAMESPACES)
    _check_cpp_name(reader, "class_name", class_name, 1)
    supported = reader.names("supported", null=True) + reader.names("full_codegen", null=False)
    autograd, symint = reader.names("autograd", null=True), reader.names("symint", null=True)
    use_out = reader.flag("use_out_as_primary", False)
    device_guard = reader.flag("device_guard", False)
    structured = tuple(
        (route, name) for route in StructuredRoute for name in reader.names(route.value, null=True)
    )
    outs, fallback = reader.names("out_as_primary", null=True), reader.flag("cpu_fallback", False)
    if backend is None or namespace is None:
        return None
    return BackendFile(
        backend,
        namespace,
        class_name,
        supported,
        autograd,
        symint,
        use_out,
        device_guard,
        structured,
        outs,
        fallback,
    )


def _required(reader: ValueReader, key: str) -> WrittenName | None:
    value = reader.node.get(key)
    if value is not None and value.kind != "null":
        return reader.name(key)
    message = f"a backend file needs a value for '{key}'"
    reader.diagnostics.error("E0803", message, reader.node.span if value is None else value.span)
    return None


def _check_cpp_name(reader: ValueReader, key: str, name: WrittenName | None, most: int) -> None:
    if name is None:
        return
    parts = name.text.split("::")
    if any(not is_cpp_name(p) or len(p) > MAX_NAME for p in parts):
        what = "namespace" if most > 1 else "class"
        message = f"'{shorten(name.text)}' is not the name of a C++ {what}"
        reader.diagnostics.error("E0805", message, name.span)
    elif len(parts) > most:
        message = f"'{key}' takes {'two names' if most > 1 else 'one name'} at most"
        reader.diagnostics.error("E0805", message, name.span)
