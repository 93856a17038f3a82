"""A session of random typing: for all texts, positions and ranges, each request gets a response."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from lsp_session import Session, Start
from lsprotocol import types

ENTRIES = (
    "- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  structured: True\n  dispatch:\n    CPU: add_out_cpu\n",
    "- func: add(Tensor self, Tensor other) -> Tensor\n  structured_delegate: add.out\n",
    "- tags: [core,\n    pointwise]\n  # é😀\n  func: neg(Tensr self)  -> Tensor\n  variants: method\n",
    "- func: >-\n    abs_(Tensor(a!) self) -> Tensor(a!)\n  autogen: abs, abs.out\n",
    "- &e {func: 'fill(Tensor self, Scalar x=1) -> Tensor', vairants: function}\n- *e\n",
)
PIECES = (
    *("\n", "\r", "\r\n", "\t", " ", "'", '"', "[", "{", "# ", ": ", "- ", "&a ", "*a", "<<: *e"),
    *("|\n", ">\n", "é", "😀", "\ud800", "\udc00", "\u2028", "\x85", "\0", "\ufeff", "  tags: "),
    *("dispatch:\n", "CPO", "Tensor(", "-> ", "x" * 5_000, "😀" * 5_000, "foo(Tensor a, " * 300),
)
NAMES = ("native_functions.yaml", "tags.yaml", "b.yaml", "c d%41é.yaml")
FAR = 2**31 - 1


def typed(text: str, chance: random.Random) -> str:
    """Return the text after a few key strokes: something added or removed, or a different text."""
    if not text or chance.random() < 0.1:
        text = "".join(chance.choices(ENTRIES, k=chance.randint(0, 5)))
        return text.replace("\n", chance.choice(("\n", "\n", "\r\n", "\r")))
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(PIECES) + text[at + chance.choice((0, 0, 0, 1, 7)) :]
    return text[-50_000:]


def place(chance: random.Random) -> types.Position:
    """Return a position: in most cases in the text or close to it, sometimes at the ends of the range of numbers."""
    line, character = chance.randrange(30), chance.randrange(90)
    if chance.random() < 0.2:
        line = chance.choice((0, line, FAR))
        character = chance.choice((0, character, FAR))
    return types.Position(line, character)


def ask(session: Session, uri: str, chance: random.Random) -> None:
    """Send one request of any kind. An internal error of the server raises an exception here."""
    document = types.TextDocumentIdentifier(uri if chance.random() < 0.95 else "file:///none")
    at, where = place(chance), types.Range(place(chance), place(chance))
    client, context = session.client, types.ReferenceContext(True)
    only: list[types.CodeActionKind | str] = [types.CodeActionKind.SourceFixAll]
    actions = types.CodeActionContext([], chance.choice((None, only)))
    options = types.FormattingOptions(2, True)
    requests: tuple[Callable[[], object], ...] = (
        lambda: client.text_document_hover_async(types.HoverParams(document, at)),
        lambda: client.text_document_completion_async(types.CompletionParams(document, at)),
        lambda: client.text_document_definition_async(types.DefinitionParams(document, at)),
        lambda: client.text_document_references_async(types.ReferenceParams(context, document, at)),
        lambda: client.text_document_document_symbol_async(types.DocumentSymbolParams(document)),
        lambda: client.text_document_code_action_async(
            types.CodeActionParams(document, where, actions)
        ),
        lambda: client.text_document_formatting_async(
            types.DocumentFormattingParams(document, options)
        ),
        lambda: client.workspace_symbol_async(
            types.WorkspaceSymbolParams(chance.choice(("", "a", "(")))
        ),
    )
    session.run(chance.choice(requests)())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("encoding", "edits"),
    [
        ("utf-16", 80),
        ("utf-8", 30),
        pytest.param("utf-16", 3_000, marks=pytest.mark.slow),
        pytest.param("utf-32", 3_000, marks=pytest.mark.nightly),
    ],
)
def test_any_typing_is_answered(start: Start, encoding: str, edits: int) -> None:
    """No internal error, no exit of the server, and a correct answer at the end."""
    chance = random.Random(f"{encoding} {edits}")
    session = start({"delay": 5}, [encoding])
    texts: dict[str, str] = {}
    for _ in range(edits):
        name = chance.choice(NAMES)
        uri = session.uri(name)
        new = typed(texts.get(name, ""), chance)
        if name not in texts:
            session.open(name, new)
        elif chance.random() < 0.03:
            session.close(uri)
            del texts[name]
            continue
        else:
            session.change(uri, new)
        texts[name] = new
        for _ in range(chance.randint(0, 3)):
            ask(session, uri, chance)
    uri = session.open("last/native_functions.yaml", "- func: neg(Tensr self) -> Tensor\n")
    assert [problem.code for problem in session.problems(uri)] == ["E0307"]
