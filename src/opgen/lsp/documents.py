"""Open documents: their texts, what was found in them last, and the files beside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pygls.uris import from_fs_path, to_fs_path

from opgen import pipeline
from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Diagnostic, Diagnostics, Source
from opgen.lsp.outline import Outline, build_outline, is_schema
from opgen.lsp.settings import Settings
from opgen.model.registry import Registry
from opgen.pipeline import Inputs
from opgen.reading import read_source


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is wrong with a document's text, and the registry of what is not."""

    text: str
    inputs: Inputs
    diagnostics: tuple[Diagnostic, ...]
    registry: Registry
    is_whole: bool


def analyze(text: str, inputs: Inputs, is_stale: Callable[[], bool]) -> Analysis:
    """All that `opgen lint` would say of `inputs`, one of whose files has this text."""
    diagnostics = Diagnostics()
    registry = pipeline.survey(inputs, diagnostics, is_stale=is_stale)
    whole = not diagnostics.has_errors
    return Analysis(text, inputs, diagnostics.sorted(), registry, whole)


@dataclass(slots=True)
class Document:
    """An open document. `good` is the last analysis without errors, for what is asked while typing.

    `bare` is the namespace of names without one, where the text does not say it.
    """

    uri: str
    path: Path
    source: Source
    version: int | None = None
    analysis: Analysis | None = None
    good: Analysis | None = None
    bare: str = "aten"
    _outline: Outline | None = None

    @property
    def text(self) -> str:
        return self.source.text

    @property
    def outline(self) -> Outline:
        if self._outline is None:
            self._outline = build_outline(self.source, self.bare)
        return self._outline

    @property
    def known(self) -> Analysis | None:
        return self.good or self.analysis

    @property
    def is_analyzed(self) -> bool:
        return self.analysis is not None and self.analysis.text == self.text

    def replace_text(self, text: str, version: int | None) -> None:
        self.source, self.version, self._outline = Source(str(self.path), text), version, None

    def read_bare_names_in(self, namespace: str) -> None:
        self.bare, self._outline = namespace, None

    def accept(self, analysis: Analysis) -> None:
        self.analysis = analysis
        if analysis.is_whole:
            self.good = analysis


@dataclass(slots=True)
class Documents:
    """All open documents by URI, and how they are read."""

    root: Path | None = None
    settings: Settings = field(default_factory=Settings)
    _open: dict[str, Document] = field(default_factory=dict)
    _closed: dict[Path, tuple[tuple[int, int], Outline]] = field(default_factory=dict)

    def open(self, uri: str, text: str, version: int | None) -> Document:
        path = path_of(uri)
        bare = self.settings.bare_namespace
        document = Document(uri, path, Source(str(path), text), version, bare=bare)
        self._open[uri] = document
        return document

    def take_settings(self, settings: Settings) -> None:
        self.settings = settings
        self._closed.clear()
        for document in self._open.values():
            document.read_bare_names_in(settings.bare_namespace)

    def find(self, uri: str) -> Document | None:
        return self._open.get(uri)

    def close(self, uri: str) -> None:
        self._open.pop(uri, None)

    def schemas(self) -> tuple[Document, ...]:
        """The open documents that hold operators."""
        return tuple(document for document in self._open.values() if is_schema_file(document))

    def inputs(self, document: Document) -> Inputs:
        """How `document` is read, with the texts of all open documents in place of the files."""
        overlay = {
            other.path: other.text.encode("utf-8", "replace") for other in self._open.values()
        }
        return self.settings.inputs(document.path, self.root, overlay)

    def readers(self, path: Path) -> Iterator[Document]:
        """The open schema files whose analysis reads the file at `path`."""
        for document in self.schemas():
            if path in pipeline.input_files(self.inputs(document)):
                yield document

    def uri(self, path: str) -> str:
        """The URI of a path: for an open document the one that the client uses."""
        for document in self._open.values():
            if str(document.path) == path:
                return document.uri
        return from_fs_path(os.path.abspath(path)) or path

    def outlines(self, document: Document) -> list[Outline]:
        """The outlines of all files that are read with `document`, its own first."""
        paths = self.settings.inputs(document.path, self.root, {}).yaml
        others = [self._outline(path) for path in paths if path != document.path]
        return [document.outline, *(outline for outline in others if outline is not None)]

    def all_outlines(self) -> Iterable[Outline]:
        """Of all open schema files and those read with them, each file once."""
        found = {o.source.path: o for d in self.schemas() for o in self.outlines(d)}
        return found.values()

    def _outline(self, path: Path) -> Outline | None:
        for document in self._open.values():
            if document.path == path:
                return document.outline
        try:
            stat = os.stat(path)
        except OSError:
            return None
        stamp = stat.st_mtime_ns, stat.st_size
        known = self._closed.get(path)
        if known is None or known[0] != stamp:
            source = read_source(path, Diagnostics())
            if source is None:
                return None
            known = self._closed[path] = stamp, build_outline(source, self.settings.bare_namespace)
        return known[1]


def is_schema_file(document: Document) -> bool:
    """By its name, or because it looks so: editors send every YAML file."""
    name = document.path.name
    return name != "tags.yaml" and ("native_functions" in name or is_schema(document.text))


def path_of(uri: str) -> Path:
    """The file of a URI. One that was never saved has a path where nothing can be beside it."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path and "\0" not in path:
        return Path(path)
    name = "".join(c if c.isalnum() or c in "._-" else "_" for c in uri)
    return Path(os.devnull) / name
