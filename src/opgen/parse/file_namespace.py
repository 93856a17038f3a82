"""The namespace of operators that are written without one, by what is known of their file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from opgen.diagnostics import Diagnostics, Source
from opgen.model.cpp_identifier import is_library_name
from opgen.parse import codes_schema as codes
from opgen.parse.file_header import SchemaFile
from opgen.parse.key_readers import EntryContext
from opgen.parse.names import shorten
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode

_ATEN = "aten"
# PyTorch's own files define this operator, all of them since release 1.0.
_PYTORCHS = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def is_of_pytorchs_file(text: str) -> bool:
    """Whether the text of a schema file has the entry by which PyTorch's own are known, with no head before it."""
    return text.find(f"\n- func: {_PYTORCHS}\n") >= 0


def bare_namespaces(
    files: Sequence[SchemaFile], given: str | None, context: EntryContext
) -> list[str | None]:
    """The namespace of bare names in each file. Where there is none, report it, once for the file.

    None of a file that is of another kind, which is reported instead.
    It is what the file says, else what was `given`; `aten` by torchgen's rules, and if one of the files is PyTorch's own.
    """
    bare = [list(_bare(file.entries)) for file in files]
    if context.strict_torchgen or (
        given is None and any(node.value == _PYTORCHS for nodes in bare for node in nodes)
    ):
        given = _ATEN
    guess: str | None = None
    found: list[str | None] = []
    for file, nodes in zip(files, bare):
        known = file.header.namespace or given
        if known is None and nodes:
            if is_of_other_kind(file.root, nodes[0].source, context.diagnostics):
                found.append(None)
                continue
            guess = guess or _guess(nodes[0])
            _report(nodes, guess, context)
        found.append(known or guess or _ATEN)
    return found


def is_of_other_kind(root: Node | None, source: Source, diagnostics: Diagnostics) -> bool:
    """Whether a file with errors is written for another program, which is then all that is reported of it."""
    # Loaded for files with errors alone.
    from opgen.parse.neighbours import report_neighbour  # noqa: PLC0415

    return report_neighbour(root, source, diagnostics, backend=False)


def _report(bare: Sequence[ScalarNode], guess: str, context: EntryContext) -> None:
    first = bare[0]
    name = shorten(first.value.partition("(")[0].strip())
    others = len(bare) - 1
    besides = (
        f", nor {'has' if others == 1 else 'have'} {others} more of this file" if others else ""
    )
    message = f"'{name}' has no namespace{besides}"
    notes = [
        f"or begin the file with '- namespace: {guess}', or say --namespace {guess}",
        "PyTorch's own operators are in 'aten': say --namespace aten for a file of them",
    ]
    hint = f"write '{guess}::{shorten(first.value)}'"
    span = first.part(0, len(first.value.partition("(")[0]))
    context.diagnostics.error(codes.E0328, message, span, hint=hint, notes=notes)


def _bare(entries: Iterable[Node]) -> Iterator[ScalarNode]:
    """The schemas without a namespace."""
    for node in entries:
        func = node.get("func") if isinstance(node, MappingNode) else None
        if isinstance(func, ScalarNode) and "::" not in func.value.partition("(")[0]:
            yield func


def _guess(node: ScalarNode) -> str:
    """A name that the namespace may have: that of the file, if it can be one."""
    stem = PurePath(node.source.path).stem
    return stem if is_library_name(stem) and stem != "native_functions" else "mylib"
