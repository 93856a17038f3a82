"""A language client that talks to a real `opgen lsp` over its stdin and stdout."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

_T = TypeVar("_T")
_PATIENCE = 60

TAGS = """\
- tag: core
  desc: |
    A core operator.
- tag: pointwise
  desc: Each element for itself.
"""


def _in_aten(settings: Any) -> Any:
    """Return settings under which names without a namespace are in `aten`, as in most tests."""
    if settings is None or not isinstance(settings, dict):
        return {"namespace": "aten"} if settings is None else settings
    if isinstance(settings.get("opgen"), dict):
        return {**settings, "opgen": _in_aten(settings["opgen"])}
    return {"namespace": "aten", **settings}


class Session:
    """A client with its own server in the folder `root`. In texts, `|` marks the cursor."""

    def __init__(
        self,
        root: Path,
        options: Any = None,
        encodings: list[str] | None = None,
        configuration: Any = None,
    ) -> None:
        options, configuration = _in_aten(options), configuration and _in_aten(configuration)
        self.root = root
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("tests", "1")
        self.diagnostics: dict[str, types.PublishDiagnosticsParams] = {}
        self.published = 0
        self.texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = params
            self.published += 1
            self._news.set()

        @self.client.feature(types.WORKSPACE_CONFIGURATION)
        def configured(params: types.ConfigurationParams) -> list[Any]:
            return [configuration for item in params.items if item.section == "opgen"]

        workspace = types.WorkspaceClientCapabilities(configuration=configuration is not None)
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        uri = from_fs_path(str(root)) or ""
        command = [sys.executable, "-c", "from opgen.cli.main import main; main()", "lsp"]
        self.run(self.client.start_io(*command))
        self.capabilities = self.run(
            self.client.initialize_async(
                types.InitializeParams(
                    capabilities=types.ClientCapabilities(workspace, general=general),
                    root_uri=uri,
                    workspace_folders=[types.WorkspaceFolder(uri, "root")],
                    initialization_options=options,
                )
            )
        ).capabilities
        self.client.initialized(types.InitializedParams())

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self.loop.run_until_complete(asyncio.wait_for(work, _PATIENCE))

    def uri(self, name: str) -> str:
        return from_fs_path(str(self.root / name)) or ""

    def open(self, name: str, text: str) -> str:
        return self.open_uri(self.uri(name), text)

    def open_uri(self, uri: str, text: str) -> str:
        self.texts[uri] = text
        item = types.TextDocumentItem(uri, "yaml", self._next_version(uri), text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def _next_version(self, uri: str) -> int:
        """Return a version number that no text had before, so that reports about older texts are not taken for newer
        ones.
        """
        self._versions[uri] = self._versions.get(uri, 0) + 1
        return self._versions[uri]

    def change(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self._next_version(uri), uri=uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def configure(self, settings: Any) -> None:
        changed = types.DidChangeConfigurationParams(_in_aten(settings))
        self.client.workspace_did_change_configuration(changed)

    def close(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def wait(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds` is true of what the server has published."""

        async def until() -> None:
            while not holds():
                self._news.clear()
                await self._news.wait()

        self.run(until())

    def problems(self, uri: str) -> list[types.Diagnostic]:
        """Return the problems of the newest text of a document."""

        def is_newest() -> bool:
            found = self.diagnostics.get(uri)
            return found is not None and found.version == self._versions[uri]

        self.wait(is_newest)
        return list(self.diagnostics[uri].diagnostics)

    def at(self, uri: str, marked: str) -> types.Position:
        """Return the position of the `|` in `marked`; its other characters occur in the text."""
        before, after = marked.split("|")
        offset = self.texts[uri].index(before + after) + len(before)
        lines = self.texts[uri][:offset].split("\n")
        return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)

    def hover(self, uri: str, marked: str) -> str | None:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), self.at(uri, marked))
        found = self.run(self.client.text_document_hover_async(params))
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def complete(self, uri: str, marked: str) -> list[types.CompletionItem]:
        """Return suggestions, in the order in which an editor shows them."""
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), self.at(uri, marked))
        found = self.run(self.client.text_document_completion_async(params))
        assert isinstance(found, types.CompletionList)
        return sorted(found.items, key=lambda item: item.sort_text or item.label)

    def labels(self, uri: str, marked: str) -> list[str]:
        return [item.label for item in self.complete(uri, marked)]

    def definitions(self, uri: str, marked: str) -> list[str]:
        params = types.DefinitionParams(types.TextDocumentIdentifier(uri), self.at(uri, marked))
        return self.places(self.run(self.client.text_document_definition_async(params)))

    def references(self, uri: str, marked: str) -> list[str]:
        params = types.ReferenceParams(
            types.ReferenceContext(True), types.TextDocumentIdentifier(uri), self.at(uri, marked)
        )
        return self.places(self.run(self.client.text_document_references_async(params)))

    def document_symbols(self, uri: str) -> list[types.DocumentSymbol]:
        params = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        found = self.run(self.client.text_document_document_symbol_async(params))
        return [one for one in found or () if isinstance(one, types.DocumentSymbol)]

    def workspace_symbols(self, query: str) -> list[str]:
        params = types.WorkspaceSymbolParams(query)
        return [one.name for one in self.run(self.client.workspace_symbol_async(params)) or ()]

    def places(self, found: Any) -> list[str]:
        """Return locations as `file:line:column`, counted from 1."""
        return [
            f"{one.uri.rsplit('/', 1)[-1]}:{one.range.start.line + 1}:{one.range.start.character + 1}"
            for one in found or ()
        ]

    def actions(
        self, uri: str, where: types.Range, only: list[types.CodeActionKind | str] | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)
        found = self.run(self.client.text_document_code_action_async(params))
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    def format(self, uri: str) -> str:
        options = types.FormattingOptions(2, True)
        params = types.DocumentFormattingParams(types.TextDocumentIdentifier(uri), options)
        return self.applied(uri, self.run(self.client.text_document_formatting_async(params)) or ())

    def applied(self, uri: str, edits: Any) -> str:
        """Apply the edits of a response, which counts UTF-16 units, and return the text."""
        text = self.texts[uri]
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character))[
            ::-1
        ]:
            start, end = self._offset(text, edit.range.start), self._offset(text, edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
        return text

    def _offset(self, text: str, position: types.Position) -> int:
        lines = text.split("\n")
        line = lines[position.line].encode("utf-16-le")[: 2 * position.character]
        return sum(len(own) + 1 for own in lines[: position.line]) + len(line.decode("utf-16-le"))

    def end(self) -> int | None:
        """Shut the server down and return its exit code."""

        async def leave() -> int | None:
            await self.client.shutdown_async(None)
            self.client.exit(None)
            server = self.client._server
            assert server is not None
            code = await asyncio.wait_for(server.wait(), _PATIENCE)
            await self.client.stop()
            return code

        code = self.run(leave())
        self.loop.close()
        return code


Start = Callable[..., Session]
