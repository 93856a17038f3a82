"""Record a session with the language server for docs/guides/ci.md: `python tests/integration/lsp/record.py` writes it.

The real server is used, and its answers are shown.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lsp_session import Session

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "ci.md"
_BLOCK = re.compile(
    r"(<!-- recording -->\n````text\n).*?(````\n<!-- end of recording -->)", re.DOTALL
)

_TEXT = """\
- func: ramp(Tensr self, float slope) -> Tensor
  structured_delegate: ramp.out

- func: ramp.out(Tensor self, float slope, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: ramp_out_cpu
"""
_KERNELS = """\
OPGEN_META_FUNC(ramp)(const Tensor& self, double) { … }
OPGEN_IMPL_FUNC(ramp_out_cpu)(const Tensor&, double slope, const Tensor&) { … }
"""


def record() -> str:
    """Return the whole recording."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "ramp.cpp").write_text(_KERNELS, encoding="utf-8")
        session = Session(root, {"delay": 10})
        try:
            return "\n".join(_play(session)) + "\n"
        finally:
            session.end()


def put_into_page(page: str, recording: str) -> str:
    return _BLOCK.sub(lambda found: f"{found[1]}{recording}{found[2]}", page)


def _play(session: Session) -> Iterator[str]:
    uri = session.open("native_functions.yaml", _TEXT)
    yield "> open native_functions.yaml"
    yield from _numbered(_TEXT)
    yield from _problems(session, uri)
    yield "\n> quick fix at 1:14"
    problem = session.problems(uri)[0]
    action = session.actions(uri, problem.range)[0]
    assert action.edit is not None and action.edit.changes is not None
    yield f"  {action.title}"
    session.change(uri, session.applied(uri, action.edit.changes[uri]))
    yield from _problems(session, uri)
    yield "\n> hover on ramp.out at 2:24"
    yield from _indented(session.hover(uri, "structured_delegate: ramp|.out") or "")
    yield "\n> go to definition of ramp.out at 2:24"
    yield from _indented("\n".join(session.definitions(uri, "structured_delegate: ramp|.out")))
    yield "\n> go to definition of ramp_out_cpu at 8:10"
    yield from _indented("\n".join(session.definitions(uri, "CPU: ramp|_out_cpu")))
    yield "\n> type a new entry"
    added = "\n- func: ramp_(Tensor(a!) self, float slope) -> Tensor(a!)\n  structured_delegate: "
    session.change(uri, session.texts[uri] + added)
    yield from _indented(added.strip("\n"))
    yield "\n> complete at its end"
    yield from _indented(
        "\n".join(session.labels(uri, "slope) -> Tensor(a!)\n  structured_delegate: |"))
    )
    yield "\n> choose ramp.out"
    session.change(uri, session.texts[uri] + "ramp.out\n")
    yield from _problems(session, uri)


def _problems(session: Session, uri: str) -> Iterator[str]:
    found = session.problems(uri)
    yield "\n< problems" if found else "\n< no problems"
    for problem in found:
        start = problem.range.start
        message = problem.message.replace("\n", "; ")
        yield f"  {start.line + 1}:{start.character + 1} {problem.code} {message}"


def _numbered(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        yield f"  {number} {line}".rstrip()


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"  {line}".rstrip()


if __name__ == "__main__":
    PAGE.write_text(put_into_page(PAGE.read_text(encoding="utf-8"), record()), encoding="utf-8")
