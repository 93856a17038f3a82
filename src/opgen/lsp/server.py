"""The server: answers requests of the protocol by calls of the other modules."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from opgen import __version__
from opgen.diagnostics import Diagnostic, Source, Span
from opgen.lsp import completion, formulas, protocol
from opgen.lsp.completion import Suggestion, word_start
from opgen.lsp.documents import (
    Analysis,
    Analyzer,
    Document,
    Documents,
    is_schema_file,
    read_settings,
)
from opgen.lsp.formulas import describe_formula_word, find_formula_definitions, find_formula_word
from opgen.lsp.navigation import (
    KernelIndex,
    definitions_of,
    document_symbols,
    entries_of,
    find_functions,
    find_references,
    hover_text,
    workspace_symbols,
)
from opgen.lsp.outline import Kind, Word, find_word
from opgen.lsp.protocol import Positions, by_uri
from opgen.pipeline.kernel_sources import Definition

# Seconds that a request waits for the analysis of the current text, and between two checks for it.
_TIMEOUT = 10.0
_POLL_INTERVAL = 0.05

_AtPosition = types.HoverParams | types.DefinitionParams | types.ReferenceParams


class Server(LanguageServer):
    """A language server with its documents, and the diagnostics that it has published."""

    def __init__(self) -> None:
        # Clients send whole texts: pygls applies partial changes with line ends that the protocol does not have.
        super().__init__(
            "opgen", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.documents = Documents()
        self.analyzer = Analyzer(self.documents)
        self.kernels = KernelIndex()
        self._published: dict[str, dict[str, list[types.Diagnostic]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def positions(self) -> Positions:
        chosen = self.server_capabilities.position_encoding
        encodings = types.PositionEncodingKind
        return Positions(encodings(chosen) if chosen else encodings.Utf16)

    def location(self, span: Span) -> types.Location:
        return types.Location(self.uri_of(span.source), self.positions.range(span))

    def uri_of(self, source: Source) -> str:
        return self.documents.uri(source.path)

    def schedule(self, document: Document, *, at_once: bool = False) -> None:
        """Analyze `document`, and the open documents that read it, after a pause in typing."""
        delay = 0.0 if at_once else self.documents.settings.delay
        readers = tuple(self.documents.readers(document.path))
        if document not in readers and document.uri in self._published:
            # The document no longer has operators.
            self.analyzer.cancel(document.uri)
            self._publish(document.uri, {})
        for reader in readers:
            task = asyncio.get_running_loop().create_task(self._refresh(reader, delay))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def analysis(self, document: Document) -> Analysis | None:
        """Return the analysis of the current text; None if it takes too long."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _TIMEOUT
        if not document.is_analyzed:
            await self._refresh(document, 0)
        # Another request may have restarted the analysis. Its result is used, too.
        while not document.is_analyzed and loop.time() < end:
            await asyncio.sleep(_POLL_INTERVAL)
        return document.analysis if document.is_analyzed else None

    async def definitions(self) -> Sequence[Definition]:
        """Return the definitions of kernels in the sources of the workspace."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, self.kernels.definitions, self._source_roots())

    async def functions(self, name: str) -> list[Span]:
        """Return the definitions of an existing function in the sources of the workspace."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, find_functions, self._source_roots(), name)

    def _source_roots(self) -> list[Path]:
        root, named = self.documents.root, self.documents.settings.kernels
        if root is None:
            return []
        return [root / name for name in named] or [root]

    def is_of_formulas(self, document: Document, word: Word) -> bool:
        """Return whether a word has a meaning of its own in a file of formulas."""
        own = (Kind.formula, Kind.formula_key, Kind.header_key, Kind.dispatch_key)
        return self.documents.is_formulas(document) and word.kind in own

    def close(self, uri: str) -> None:
        self.analyzer.cancel(uri)
        self.documents.close(uri)
        self._publish(uri, {})
        self._published.pop(uri, None)

    async def _refresh(self, document: Document, delay: float) -> None:
        analysis = await self.analyzer.analyze(document, delay)
        # An edit in the meantime has started another analysis: its version has other problems.
        is_newest = document.is_analyzed and self.documents.find(document.uri) is document
        if analysis is not None and is_newest:
            grouped = by_uri(analysis.diagnostics, self.positions, self.uri_of, document.uri)
            self._publish(document.uri, grouped)

    def _publish(self, owner: str, diagnostics: dict[str, list[types.Diagnostic]]) -> None:
        """Publish the diagnostics of the analysis of `owner`, merged with those of other analyses, by document."""
        before = self._published.get(owner, {})
        self._published[owner] = diagnostics
        for uri in dict.fromkeys([owner, *before, *diagnostics]):
            items: list[types.Diagnostic] = []
            for own in self._published.values():
                items += [item for item in own.get(uri, ()) if item not in items]
            document = self.documents.find(uri)
            version = None if document is None else document.version
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, items, version)
            )


def create_server() -> Server:
    """Create a server with all its features."""
    server = Server()
    _add_synchronization(server)
    _add_settings(server)
    _add_hover_and_completion(server)
    _add_navigation(server)
    _add_edits(server)
    return server


def serve() -> None:
    """Serve a client over stdin and stdout until it sends `exit` or closes the connection."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = create_server()
    try:
        server.start_io()
    finally:
        server.analyzer.shutdown()


def _add_settings(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        folders = params.workspace_folders or []
        uri = folders[0].uri if folders else params.root_uri
        path = to_fs_path(uri) if uri else None
        server.documents.root = Path(path) if path else None
        server.documents.apply_settings(read_settings(params.initialization_options))

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await _request_settings(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if params.settings:
            _apply_settings(server, params.settings)
        else:
            await _request_settings(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        for document in server.documents.analyzed():
            server.schedule(document)


async def _request_settings(server: Server) -> None:
    """Request the client's section `opgen`, if the client supports that, and apply it."""
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    request = types.ConfigurationParams([types.ConfigurationItem(section="opgen")])
    sections = await server.workspace_configuration_async(request)
    if sections and sections[0]:
        _apply_settings(server, sections[0])


def _apply_settings(server: Server, section: object) -> None:
    server.documents.apply_settings(read_settings(section))
    for document in server.documents.analyzed():
        server.schedule(document)


def _add_synchronization(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        server.schedule(server.documents.open(item.uri, item.text, item.version), at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        document = server.documents.find(uri)
        text = server.workspace.get_text_document(uri).source
        if document is None:
            document = server.documents.open(uri, text, version)
        document.replace_text(text, version)
        server.schedule(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        document = server.documents.find(params.text_document.uri)
        if document is not None:
            server.schedule(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        document = server.documents.find(params.text_document.uri)
        server.close(params.text_document.uri)
        if document is not None:
            for reader in server.documents.readers(document.path):
                server.schedule(reader)


def _add_hover_and_completion(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        place = _word(server, params)
        if place is None:
            return None
        document, word = place
        if document.known is None:
            await server.analysis(document)
        describe = describe_formula_word if server.is_of_formulas(document, word) else hover_text
        text = describe(word, document.known)
        if text is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(content, server.positions.range(word.span))

    options = types.CompletionOptions(trigger_characters=[" ", "(", ".", "[", ",", "="])

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    async def complete(params: types.CompletionParams) -> types.CompletionList:
        document = server.documents.find(params.text_document.uri)
        if document is None:
            return types.CompletionList(False, [])
        offset = server.positions.offset(document.source, params.position)
        of_formulas = server.documents.is_formulas(document)
        if not (of_formulas or is_schema_file(document)):
            return types.CompletionList(False, [])
        known, definitions = document.known, await server.definitions()
        if of_formulas:
            known = known or await server.analysis(document)
        language = formulas if of_formulas else completion
        suggestions = completion.complete(
            server.documents.outlines(document),
            offset,
            known,
            language.new_items,
            language.in_entry,
            definitions,
            strict_torchgen=server.documents.settings.strict_torchgen,
        )
        location = document.source.location(offset)
        before = document.source.line_text(location.line)[: location.column - 1]
        typed = Span(document.source, offset - len(before) + word_start(before), offset)
        where = server.positions.range(typed)
        items = [_item(rank, one, where) for rank, one in enumerate(suggestions)]
        return types.CompletionList(False, items)


def _item(rank: int, suggestion: Suggestion, where: types.Range) -> types.CompletionItem:
    description = types.MarkupContent(types.MarkupKind.Markdown, suggestion.description)
    return types.CompletionItem(
        label=suggestion.label,
        kind=suggestion.icon,
        documentation=description if suggestion.description else None,
        sort_text=f"{rank:05}",
        text_edit=types.TextEdit(where, suggestion.insert or suggestion.label),
    )


def _add_navigation(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location]:
        place = _word(server, params)
        if place is None:
            return []
        document, word = place
        if word.is_existing:
            return [server.location(span) for span in await server.functions(word.text)]
        if server.documents.is_formulas(document):
            spans = await _definitions_of_formulas(server, document, word)
        else:
            outlines = server.documents.outlines(document)
            spans = definitions_of(word, outlines, await server.definitions())
            if word.kind is Kind.operator and word.key.name == "func":
                spans += _formulas_of(server, document, word)
        return [server.location(span) for span in spans]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location]:
        place = _word(server, params)
        if place is None:
            return []
        document, word = place
        spans = find_references(
            word,
            server.documents.outlines(document),
            await server.definitions(),
            with_declaration=params.context.include_declaration,
        )
        if word.kind is Kind.operator:
            spans += _formulas_of(server, document, word)
        return [server.location(span) for span in dict.fromkeys(spans)]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.documents.find(params.text_document.uri)
        if document is None:
            return []
        if not is_schema_file(document) and not server.documents.is_formulas(document):
            return []
        return document_symbols(document.outline, server.positions)

    @server.feature(types.WORKSPACE_SYMBOL)
    def all_symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return workspace_symbols(params.query, server.documents.all_outlines(), server.location)


def _word(server: Server, params: _AtPosition) -> tuple[Document, Word] | None:
    document = server.documents.find(params.text_document.uri)
    if document is None:
        return None
    offset = server.positions.offset(document.source, params.position)
    if server.documents.is_formulas(document):
        word = find_formula_word(document.outline, offset)
    else:
        word = find_word(document.outline, offset) if is_schema_file(document) else None
    return None if word is None else (document, word)


def _formulas_of(server: Server, document: Document, word: Word) -> list[Span]:
    """Return the names of an operator in files of formulas."""
    return entries_of(word, server.documents.formulas_of(document))


async def _definitions_of_formulas(server: Server, document: Document, word: Word) -> list[Span]:
    """Return the entry of an operator, the schema of an argument, or the C++ of a function."""
    known = document.known or await server.analysis(document)
    if word.kind is Kind.operator:
        return entries_of(word, server.documents.outlines(document)[1:])
    spans = [] if known is None else find_formula_definitions(word, known)
    if spans or word.kind is not Kind.formula:
        return spans
    return await server.functions(word.text)


def _add_edits(server: Server) -> None:
    options = types.CodeActionOptions([types.CodeActionKind.QuickFix, protocol.FIX_ALL])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.documents.find(params.text_document.uri)
        analysis = None if document is None else await server.analysis(document)
        if document is None or analysis is None:
            return []
        only = params.context.only
        actions = []
        if _wanted(only, types.CodeActionKind.QuickFix):
            actions += _quick_fixes(server, document, analysis, params.range)
        if only and _wanted(only, protocol.FIX_ALL):
            actions += await _fix_all(server, document, analysis)
        return actions

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        document = server.documents.find(params.text_document.uri)
        if document is None or not is_schema_file(document):
            return []
        return await _rewrite(server, document, protocol.formatted_text)


def _wanted(only: Sequence[types.CodeActionKind | str] | None, kind: str) -> bool:
    """Return whether a client that requests `only` these kinds, or all if there are none, requests `kind`."""
    names = [str(getattr(k, "value", k)) for k in only or ()]
    kind = str(getattr(kind, "value", kind))
    return not names or any(kind == name or kind.startswith(f"{name}.") for name in names)


def _quick_fixes(
    server: Server, document: Document, analysis: Analysis, where: types.Range
) -> list[types.CodeAction]:
    def touches(item: Diagnostic) -> bool:
        if item.span is None or server.uri_of(item.span.source) != document.uri:
            return False
        own = server.positions.range(item.span)
        return own.start <= where.end and where.start <= own.end

    fixable = [item for item in analysis.diagnostics if item.fix is not None]
    actions = [action for item in fixable if touches(item) for action in [_fix(server, item)]]
    if actions and len(fixable) > 1:
        new = protocol.once(document.source, fixable)
        edits = protocol.change(document.source, new, server.positions)
        kind = types.CodeActionKind.QuickFix
        actions.append(_action("Apply all certain fixes", kind, document.uri, edits))
    return actions


def _fix(server: Server, item: Diagnostic) -> types.CodeAction:
    assert item.fix is not None
    uri = server.uri_of(item.fix.span.source)
    edit = types.TextEdit(server.positions.range(item.fix.span), item.fix.replacement)
    action = _action(protocol.title(item.fix), types.CodeActionKind.QuickFix, uri, [edit])
    own = by_uri([item], server.positions, server.uri_of, uri)
    action.diagnostics = [one for group in own.values() for one in group]
    action.is_preferred = True
    return action


def _action(title: str, kind: str, uri: str, edits: list[types.TextEdit]) -> types.CodeAction:
    return types.CodeAction(title, kind=kind, edit=types.WorkspaceEdit(changes={uri: edits}))


async def _fix_all(
    server: Server, document: Document, analysis: Analysis
) -> list[types.CodeAction]:
    if not any(item.fix for item in analysis.diagnostics):
        return []
    edits = await _rewrite(server, document, protocol.fixed_text)
    action = _action("Apply all certain fixes", protocol.FIX_ALL, document.uri, edits)
    return [action] if edits else []


async def _rewrite(
    server: Server, document: Document, new_text: Callable[..., str]
) -> list[types.TextEdit]:
    """Return the edits that replace a document by the result of `new_text`; none if it changes in the meantime."""
    source, inputs = document.source, server.documents.inputs(document)
    loop = asyncio.get_running_loop()
    new = await loop.run_in_executor(None, new_text, document.path, source.text, inputs)
    if document.source is not source:
        return []
    return protocol.change(source, new, server.positions)
