"""Analyses of open documents in a thread beside the server: after a pause, and only the newest text."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

from opgen.dataclasses import dataclass, field
from opgen.lsp.documents import Analysis, Document, Documents, analyze
from opgen.pipeline import Inputs

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Analyst:
    """One thread: two analyses at once would take as long as one after the other."""

    documents: Documents
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="analysis")
    )
    _running: dict[str, threading.Event] = field(default_factory=dict)

    async def analyze(self, document: Document, delay: float) -> Analysis | None:
        """The analysis of the text that `document` has after `delay` seconds without another call.

        None if there was another one in the meantime, or if opgen failed, which is logged. An
        analysis that runs already is told that nobody waits for it.
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
            found = await loop.run_in_executor(self._pool, _analyze, document.text, inputs, stale)
        except Exception:
            _LOG.exception("the analysis of %s failed", document.path)
            return None
        if stale.is_set() or found is None:
            return None
        document.accept(found)
        return found

    def cancel(self, uri: str) -> None:
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
