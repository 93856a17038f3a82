"""Mistakes of a kernel author's first day (support/first_day.py) get good messages.

A good message is the only one, points to the mistake, and names the cause and the remedy. A fix is offered only if it
is certain.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen import data
from opgen.diagnostics import Diagnostic, Diagnostics
from opgen.pipeline.checking import inspect
from opgen.pipeline.inputs import Inputs
from support.first_day import MISTAKES, Mistake

_TAGS = Path("opgen/data/tags.yaml")
each_mistake = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)


def answers(text: str) -> list[Diagnostic]:
    """Return all problems of a file with this text, including those that lints report."""
    # Not in the current folder, which may have a derivatives.yaml.
    path, diagnostics = Path("mylib/ops.yaml"), Diagnostics()
    tags = data.read_text("tags.yaml").encode()
    inspect(Inputs((path,), tags=_TAGS, overlay={path: text.encode(), _TAGS: tags}), diagnostics)
    return list(diagnostics)


@each_mistake
def test_the_message_names_the_cause_the_place_and_the_remedy(mistake: Mistake) -> None:
    """Protects the author from a second problem that is a consequence, and from a message without a remedy."""
    (answer,) = answers(mistake.source)
    assert answer.span is not None
    assert mistake.says in answer.message
    assert (answer.span.start, answer.span.end) == mistake.place, answer.span.text
    assert mistake.remedy in "\n".join([answer.message, answer.hint or "", *answer.notes])


@each_mistake
def test_only_what_is_certain_is_fixed(mistake: Mistake) -> None:
    """Protects files from a `--fix` that guesses."""
    fixes = [
        (item.fix.span.text, item.fix.replacement) for item in answers(mistake.source) if item.fix
    ]
    start, end = mistake.place
    expected = [] if mistake.fix is None else [(mistake.source[start:end], mistake.fix)]
    assert fixes == expected


@each_mistake
def test_a_fixed_file_has_no_problem(mistake: Mistake) -> None:
    """Protects the author from a fix that leads to the next error."""
    if mistake.fix is None:
        pytest.skip("nothing is certain")
    start, end = mistake.place
    assert [
        i.message for i in answers(mistake.source[:start] + mistake.fix + mistake.source[end:])
    ] == []


def test_a_dot_after_a_namespace() -> None:
    """Protects the author who writes `mylib.f` in a file without a header from a hint that adds a second namespace."""
    table = "  dispatch:\n    CPU: f_cpu\n    Meta: f_meta\n"
    first, second = answers(
        f"- func: mylib.f(Tensor self) -> Tensor\n{table}"
        f"- func: mylib.f.flag(Tensor self, bool b) -> Tensor\n{table.replace('f_', 'g_')}"
    )
    assert first.code == "E0328" and first.hint == "'::' follows a namespace: write 'mylib::f'"
    assert second.code == "E0309" and second.hint == "'::' follows a namespace, '.' an operator"
    # Here, the dot is before an overload.
    alone, *_ = answers(f"- func: f.flag(Tensor self, bool b) -> Tensor\n{table}")
    assert alone.hint is not None and alone.hint.startswith("write 'ops::f.flag(")
