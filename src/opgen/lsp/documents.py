"""Open documents: their texts, their analyses, and the files that are read with them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from pygls.uris import from_fs_path, to_fs_path

from opgen.diagnostics import Diagnostic, Diagnostics, Source
from opgen.lsp.outline import Outline, build_outline, is_schema
from opgen.model.derivatives import DERIVATIVES_YAML
from opgen.model.profile import ATEN
from opgen.model.registry import Registry
from opgen.pipeline import checking
from opgen.pipeline.inputs import OPTIONS, Form, Inputs, derivatives_paths, input_files
from opgen.pipeline.loading import read_source
from opgen.pipeline.project import find_project
from opgen.targets import TARGETS

# Options that only a project has, that generate a tree, or that read the sources of a backend.
_NOT_OF_EDITORS = ("torch", "impl_path", "name", "shards", "python", "frameworks")


class Settings(Struct, frozen=True):
    """The client's section `opgen`. `docs/guides/ci.md` describes each setting.

    The files of `yaml` are read together; any other schema file is read alone. Paths are relative to the workspace
    folder. `delay` is in seconds. `options` are those of a run, by the names that `pipeline.inputs` lists.
    """

    yaml: tuple[str | Path, ...] = ()
    kernels: tuple[str, ...] = ()
    delay: float = 0.3
    options: dict[str, Any] = {}
    # The file of the project's settings, if it has some.
    project: Path | None = None

    @property
    def strict_torchgen(self) -> bool:
        return bool(self.options.get("strict_torchgen"))

    @property
    def default_namespace(self) -> str:
        """The namespace of operators written without one, in files whose header does not set it."""
        return ATEN if self.strict_torchgen else self.options.get("namespace") or ATEN

    def together(self, root: Path | None) -> tuple[Path, ...]:
        """Return the schema files that are read together."""
        return tuple(_absolute(root, name) for name in self.yaml)

    def for_file(self, path: Path) -> Settings:
        """Return the settings for a file, with those of its project where the client has none."""
        project = find_project(path.parent, Diagnostics())
        if project is None:
            return self
        values = project.values if path.name == DERIVATIVES_YAML else project.values_for((path,))
        own = {name: value for name, value in values.items() if name in OPTIONS} | self.options
        return replace(
            self, yaml=self.yaml or values.get("yaml", ()), options=own, project=project.file
        )

    def inputs(self, document: Path, root: Path | None, overlay: Mapping[Path, bytes]) -> Inputs:
        """Return the inputs for the schema file `document`. `overlay` replaces the contents of files."""
        together = self.together(root)
        options = dict(self.options)
        for name, value in options.items():
            if OPTIONS[name].form is Form.path:
                options[name] = _absolute(root, value)
            elif OPTIONS[name].form is Form.paths:
                options[name] = tuple(_absolute(root, one) for one in value)
        yaml = together if document in together else (document,)
        return Inputs(yaml=yaml, project=self.project, overlay=overlay, **options)


def read_settings(value: object) -> Settings:
    """Read settings from JSON. Values of the wrong type are ignored."""
    own = value.get("opgen", value) if isinstance(value, Mapping) else None
    if not isinstance(own, Mapping):
        return Settings()
    delay = own.get("delay")
    values: dict[str, Any] = {}
    for name in (name for name in OPTIONS if name not in _NOT_OF_EDITORS):
        key = re.sub(r"_(\w)", lambda match: match[1].upper(), name)
        match OPTIONS[name].form:
            case Form.paths | Form.names:
                values[name] = _strings(own.get(key))
            case Form.flag:
                values[name] = own.get(key) is True
            case _:
                values[name] = next(iter(_strings([own.get(key)])), None)
    if values["target"] not in TARGETS:
        values["target"] = None
    options = {name: value for name, value in values.items() if value}
    yaml, kernels = _strings(own.get("yaml")), _strings(own.get("kernels"))
    settings = Settings(yaml, kernels, options=options)
    if isinstance(delay, (int, float)):
        settings = replace(settings, delay=min(max(delay, 0), 10_000) / 1000)
    return settings


def _strings(value: object) -> tuple[str, ...]:
    """Return the texts of a list."""
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(item for item in value if isinstance(item, str) and item and "\0" not in item)


def _absolute(root: Path | None, name: str | Path) -> Path:
    return Path(name) if root is None else root / name


class Analysis(Struct, frozen=True):
    """The diagnostics of a document's text, and the registry of its valid operators.

    `is_whole` is whether there are no errors.
    """

    text: str
    inputs: Inputs
    diagnostics: tuple[Diagnostic, ...]
    registry: Registry
    is_whole: bool


def analyze(text: str, inputs: Inputs, is_stale: Callable[[], bool]) -> Analysis:
    """Return the diagnostics of `opgen lint` for `inputs`, one of whose files has this text.

    `is_stale` is called during the analysis, which stops when it returns True.
    """
    diagnostics = Diagnostics()
    registry = checking.inspect(inputs, diagnostics, is_stale=is_stale)
    whole = not diagnostics.has_errors
    if inputs.project is not None:
        find_project(inputs.project.parent, diagnostics)
    return Analysis(text, inputs, diagnostics.sorted(), registry, whole)


class Document(Struct):
    """An open document. `good` is the last analysis without errors, which requests use during typing.

    `default_namespace` is that of names without one, if the file's header does not set it.
    """

    uri: str
    path: Path
    source: Source
    version: int | None = None
    analysis: Analysis | None = None
    good: Analysis | None = None
    default_namespace: str = ATEN
    _outline: Outline | None = None

    @property
    def text(self) -> str:
        return self.source.text

    @property
    def outline(self) -> Outline:
        if self._outline is None:
            self._outline = build_outline(self.source, self.default_namespace)
        return self._outline

    @property
    def known(self) -> Analysis | None:
        return self.good or self.analysis

    @property
    def is_analyzed(self) -> bool:
        return self.analysis is not None and self.analysis.text == self.text

    def replace_text(self, text: str, version: int | None) -> None:
        self.source, self.version, self._outline = Source(str(self.path), text), version, None

    def set_default_namespace(self, namespace: str) -> None:
        self.default_namespace, self._outline = namespace, None

    def accept(self, analysis: Analysis) -> None:
        self.analysis = analysis
        if analysis.is_whole:
            self.good = analysis


class Documents(Struct):
    """All open documents by URI, with the workspace's folder and settings."""

    root: Path | None = None
    settings: Settings = field(default_factory=Settings)
    _open: dict[str, Document] = field(default_factory=dict)
    _closed: dict[Path, tuple[tuple[int, int], Outline]] = field(default_factory=dict)

    def open(self, uri: str, text: str, version: int | None) -> Document:
        path = path_of(uri)
        namespace = self.settings.for_file(path).default_namespace
        source = Source(str(path), text)
        document = Document(uri, path, source, version, default_namespace=namespace)
        self._open[uri] = document
        return document

    def apply_settings(self, settings: Settings) -> None:
        self.settings = settings
        self._closed.clear()
        for document in self._open.values():
            own = settings.for_file(document.path)
            document.set_default_namespace(own.default_namespace)

    def find(self, uri: str) -> Document | None:
        return self._open.get(uri)

    def close(self, uri: str) -> None:
        self._open.pop(uri, None)

    def analyzed(self) -> tuple[Document, ...]:
        """Return the open documents that are analyzed: those with operators, and those with their formulas."""
        documents = self._open.values()
        return tuple(d for d in documents if is_schema_file(d) or self.is_formulas(d))

    def is_formulas(self, document: Document) -> bool:
        """Return whether a document is a file of formulas, by its name or by the settings."""
        named = (self.root or Path()) / document.path
        settings = self.settings.for_file(document.path)
        named_so = settings.options.get("derivatives", ())
        given = {(self.root or Path()) / name for name in named_so}
        return document.path.name == DERIVATIVES_YAML or named in given

    def inputs(self, document: Document) -> Inputs:
        """Return the inputs for `document`. The texts of open documents replace the contents of their files.

        A file of formulas is read with the schema files of the settings, or with those in its folder.
        """
        overlay = {
            other.path: other.text.encode("utf-8", "replace") for other in self._open.values()
        }
        settings = self.settings.for_file(document.path)
        inputs = settings.inputs(document.path, self.root, overlay)
        if not self.is_formulas(document):
            return inputs
        together = settings.together(self.root) or self._schemas_beside(document.path)
        return replace(inputs, yaml=together)

    def _schemas_beside(self, path: Path) -> tuple[Path, ...]:
        """Return the schema files in the folder of a file."""
        found = set()
        with contextlib.suppress(OSError):
            found = set(path.parent.glob("*.yaml"))
        found.update(d.path for d in self._open.values() if d.path.parent == path.parent)
        return tuple(sorted(p for p in found if p != path and self._has_operators(p)))

    def _has_operators(self, path: Path) -> bool:
        document = next((d for d in self._open.values() if d.path == path), None)
        if document is not None:
            return is_schema_file(document)
        outline = self._outline(path)
        return outline is not None and is_schema(outline.source.text)

    def readers(self, path: Path) -> Iterator[Document]:
        """Yield the open documents whose analysis reads the file at `path`."""
        for document in self.analyzed():
            inputs = self.inputs(document)
            if inputs.yaml and path in input_files(inputs):
                yield document

    def uri(self, path: str) -> str:
        """Return the URI of a path. For an open document, it is the client's."""
        for document in self._open.values():
            if str(document.path) == path:
                return document.uri
        return from_fs_path(os.path.abspath(path)) or path

    def outlines(self, document: Document) -> list[Outline]:
        """Return the outlines of all files that are read with `document`, its own first."""
        others = [
            self._outline(path) for path in self.inputs(document).yaml if path != document.path
        ]
        return [document.outline, *(outline for outline in others if outline is not None)]

    def formulas_of(self, document: Document) -> list[Outline]:
        """Return the outlines of the files of formulas that are read with a schema file."""
        found = [self._outline(path) for path in derivatives_paths(self.inputs(document))]
        return [outline for outline in found if outline is not None]

    def all_outlines(self) -> Iterable[Outline]:
        """Return the outlines of all open schema files, and of those read with them, each file once."""
        schemas = filter(is_schema_file, self._open.values())
        by_path = {o.source.path: o for d in schemas for o in self.outlines(d)}
        return by_path.values()

    def _outline(self, path: Path) -> Outline | None:
        for document in self._open.values():
            if document.path == path:
                return document.outline
        try:
            stat = os.stat(path)
        except OSError:
            return None
        stamp = stat.st_mtime_ns, stat.st_size
        cached = self._closed.get(path)
        if cached is None or cached[0] != stamp:
            source = read_source(path, Diagnostics())
            if source is None:
                return None
            outline = build_outline(source, self.settings.for_file(path).default_namespace)
            cached = self._closed[path] = stamp, outline
        return cached[1]


def is_schema_file(document: Document) -> bool:
    """Return whether a document is a schema file, by its name or its text: editors send all YAML files."""
    name = document.path.name
    return name not in ("tags.yaml", DERIVATIVES_YAML) and (
        "native_functions" in name or is_schema(document.text)
    )


def path_of(uri: str) -> Path:
    """Return the path of a URI. A document that was never saved has one in a folder that cannot contain files."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path and "\0" not in path:
        return Path(path)
    name = "".join(c if c.isalnum() or c in "._-" else "_" for c in uri)
    return Path(os.devnull) / name


_LOG = logging.getLogger(__name__)


class Analyzer(Struct):
    """Runs analyses in one thread. Because of the interpreter lock, two threads would not be faster."""

    documents: Documents
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="analysis")
    )
    _running: dict[str, threading.Event] = field(default_factory=dict)

    async def analyze(self, document: Document, delay: float) -> Analysis | None:
        """Analyze `document` after `delay` seconds, unless there is another call for it before that.

        None if there was another call in the meantime, or if opgen failed, which is logged. A running analysis of the
        document is cancelled.
        """
        stale = threading.Event()
        self.cancel(document.uri)
        self._running[document.uri] = stale
        await asyncio.sleep(delay)
        if stale.is_set():
            return None
        inputs = self.documents.inputs(document)
        loop = asyncio.get_running_loop()
        try:
            result = await loop.run_in_executor(
                self._pool, analyze, document.text, inputs, stale.is_set
            )
        except Exception:
            _LOG.exception("the analysis of %s failed", document.path)
            return None
        if stale.is_set():
            return None
        document.accept(result)
        return result

    def cancel(self, uri: str) -> None:
        """Cancel the analysis of a document, if there is one."""
        last = self._running.pop(uri, None)
        if last is not None:
            last.set()

    def shutdown(self) -> None:
        for stale in self._running.values():
            stale.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
