"""Analyze open documents in a second thread: after a pause in typing, and only their newest text."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct, field

from opgen.lsp.documents import Analysis, Document, Documents, analyze
from opgen.pipeline.inputs import Inputs

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
            result = await loop.run_in_executor(self._pool, _analyze, document.text, inputs, stale)
        except Exception:
            _LOG.exception("the analysis of %s failed", document.path)
            return None
        if stale.is_set() or result is None:
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


def _analyze(text: str, inputs: Inputs, stale: threading.Event) -> Analysis | None:
    if stale.is_set():
        return None
    return analyze(text, inputs, stale.is_set)
