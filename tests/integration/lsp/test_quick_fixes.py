"""Quick fixes, all fixes at once and formatting: the same as in `opgen lint --fix` and `opgen format`."""

from __future__ import annotations

import pytest
from lsp_session import Session, Start
from lsprotocol import types

BAD = """\
- func: neg(Tensr self) -> Tensor  # 𝔘 stays
  dispatch:
    CPU: neg_cpu

- func: abs(Tensor self) -> Tensor
  variant: function
  dispatch:
    CPO: abs_cpu
"""
FIXED = BAD.replace("Tensr", "Tensor").replace("variant:", "variants:").replace("CPO", "CPU")


def test_a_quick_fix(session: Session) -> None:
    """The fix of the problem at the cursor does not change the others."""
    uri = session.open("fix.yaml", BAD)
    problem = next(p for p in session.problems(uri) if p.code == "E0307")
    action = session.actions(uri, problem.range)[0]
    assert (action.title, action.kind) == ("Replace 'Tensr' by 'Tensor'", "quickfix")
    assert list(action.diagnostics or ()) == [problem] and action.is_preferred
    assert action.edit is not None and action.edit.changes is not None
    text = session.applied(uri, action.edit.changes[uri])
    assert text == BAD.replace("Tensr", "Tensor")
    session.change(uri, text)
    assert "E0307" not in [p.code for p in session.problems(uri)]


def test_all_quick_fixes(session: Session) -> None:
    """Applying all fixes is offered next to the fix of one problem, and gives the same result as saving does."""
    uri = session.open("all.yaml", BAD)
    problem = session.problems(uri)[0]
    every = session.actions(uri, problem.range)[-1]
    assert every.title == "Apply all certain fixes"
    assert every.edit is not None and every.edit.changes is not None
    assert session.applied(uri, every.edit.changes[uri]) == FIXED


def test_fixes_on_saving(session: Session) -> None:
    """Editors request `source.fixAll` when a file is saved."""
    uri = session.open("save.yaml", BAD)
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    (action,) = session.actions(uri, nowhere, [types.CodeActionKind.SourceFixAll])
    assert action.kind == "source.fixAll.opgen"
    assert action.edit is not None and action.edit.changes is not None
    assert session.applied(uri, action.edit.changes[uri]) == FIXED


def test_no_fix_where_nothing_is_wrong(session: Session) -> None:
    uri = session.open("fine.yaml", FIXED)
    assert session.problems(uri) == []
    everything = types.Range(types.Position(0, 0), types.Position(9, 0))
    assert session.actions(uri, everything) == []
    assert session.actions(uri, everything, [types.CodeActionKind.SourceFixAll]) == []


def test_formatting(session: Session) -> None:
    """Keys in the usual order and single spaces; a text with errors is not changed."""
    late = "- func: neg(Tensor self)  ->  Tensor\r\n  tags: core\r\n  variants: method\r\n"
    uri = session.open("format.yaml", late)
    assert session.format(uri) == (
        "- func: neg(Tensor self) -> Tensor\r\n  variants: method\r\n  tags: core\r\n"
    )
    session.change(uri, late.replace("Tensor self", "Tensr self"))
    assert session.format(uri) == session.texts[uri]


@pytest.mark.slow
def test_no_text_is_lost_that_utf8_cannot_encode(start: Start) -> None:
    """A lone surrogate cannot be written; no edit that would change it is offered."""
    session = start()
    text = BAD + "# \ud800\n"
    uri = session.open("lone.yaml", text)
    session.problems(uri)
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    assert session.actions(uri, nowhere, [types.CodeActionKind.SourceFixAll]) == []
    assert session.format(uri) == text


def test_a_misspelt_key(session: Session) -> None:
    """The quick fix changes only letters of the key, also in quotes and with CRLF."""
    text = "- func: neg(Tensor self) -> Tensor\r\n  'vairants': method  # 𝔘\r\n"
    uri = session.open("key.yaml", text)
    (problem,) = session.problems(uri)
    assert problem.code == "E0201"
    (action,) = session.actions(uri, problem.range)
    assert action.title == "Replace 'vairants' by 'variants'"
    assert action.edit is not None and action.edit.changes is not None
    fixed = session.applied(uri, action.edit.changes[uri])
    assert fixed == text.replace("vairants", "variants")
    session.change(uri, fixed)
    assert session.problems(uri) == []
