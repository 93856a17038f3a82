"""Determine the namespace of operators that are written without one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from opgen.diagnostics.suggestions import shorten
from opgen.model.cpp_identifier import is_library_name
from opgen.model.profile import ATEN
from opgen.parse.entries.draft import EntryContext
from opgen.parse.entries.header import SchemaFile
from opgen.parse.files.other_kinds import report_other_kind
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode

# All of PyTorch's own files since release 1.0 have this schema, and identify themselves by it.
_SCHEMA_OF_PYTORCH = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def default_namespaces(
    files: Sequence[SchemaFile], default: str | None, context: EntryContext
) -> list[str | None]:
    """Return for each file the namespace of operators written without one.

    That is the namespace of the file's header, else `default`. It is `aten` with `strict_torchgen`, and without a
    `default` if one of the files is PyTorch's own. Otherwise the missing namespace is reported, once per file. None for
    a file of another kind, which is reported instead.
    """
    bare = [list(_schemas_without_namespace(file.entries)) for file in files]
    if context.strict_torchgen or (
        default is None
        and any(node.value == _SCHEMA_OF_PYTORCH for nodes in bare for node in nodes)
    ):
        default = ATEN
    guess: str | None = None
    namespaces: list[str | None] = []
    for file, nodes in zip(files, bare):
        namespace = file.header.namespace or default
        if namespace is None and nodes and not _is_written_below(file):
            if report_other_kind(nodes[0].source, context.diagnostics):
                namespaces.append(None)
                continue
            guess = guess or _guess(nodes[0])
            _report(nodes, guess, context)
        namespaces.append(namespace or guess or ATEN)
    return namespaces


def _is_written_below(file: SchemaFile) -> bool:
    """Return whether an entry or a later item sets the namespace, which is reported at that place."""
    return any(
        isinstance(node, MappingNode) and node.get("namespace") is not None
        for node in (file.root.items if file.root is not None else ())
    )


def _report(bare: Sequence[ScalarNode], guess: str, context: EntryContext) -> None:
    first = bare[0]
    name = shorten(first.value.partition("(")[0].strip())
    others = len(bare) - 1
    besides = f", and {others} more in this file" if others else ""
    message = f"'{name}'{besides} {'have' if others else 'has'} no namespace"
    notes = [
        f"or begin the file with '- namespace: {guess}', or pass --namespace {guess}",
        "PyTorch's own operators are in 'aten': pass --namespace aten for a file with them",
    ]
    dotted = _namespace_before_dot(bare)
    if dotted is None:
        hint = f"write '{guess}::{shorten(first.value)}'"
    else:
        hint = f"'::' follows a namespace: write '{shorten(name.replace(f'{dotted}.', f'{dotted}::', 1))}'"
        notes = []
    span = first.part(0, len(first.value.partition("(")[0]))
    context.diagnostics.error("E0328", message, span, hint=hint, notes=notes)


def _namespace_before_dot(bare: Sequence[ScalarNode]) -> str | None:
    """Return the namespace if names are written like `mylib.f` and `mylib.f.out`; None if a dot is before an overload."""
    names = [node.value.partition("(")[0].strip().split(".") for node in bare]
    found = next((parts[0] for parts in names if len(parts) == 3), None)
    return found if found is not None and names[0][0] == found and len(names[0]) > 1 else None


def _schemas_without_namespace(entries: Iterable[Node]) -> Iterator[ScalarNode]:
    for node in entries:
        func = node.get("func") if isinstance(node, MappingNode) else None
        if isinstance(func, ScalarNode) and "::" not in func.value.partition("(")[0]:
            yield func


def _guess(node: ScalarNode) -> str:
    """Suggest a namespace: the name of the file if that is possible, else `mylib`."""
    stem = PurePath(node.source.path).stem
    return stem if is_library_name(stem) and stem != "native_functions" else "mylib"
