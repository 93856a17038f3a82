"""No reported problem is a mere consequence of another.

In a file whose entries refer to each other in every way, one mistake is made, and exactly one problem is reported, at
its place. The cases of tests/golden/errors cause no further problems when good entries are added.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.pipeline.checking import inspect
from support.error_cases import Case, schema_cases
from support.inputs import aten_inputs

CASES = [case for case in schema_cases() if "E02" <= case.code < "E08"]

# Every way in which an entry can depend on another.
ENTRIES = (
    # A structured group.
    "- func: qadd.Tensor(Tensor self, Tensor other) -> Tensor\n"
    "  structured_delegate: qadd.out\n  variants: function, method\n",
    "- func: qadd_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)\n"
    "  structured_delegate: qadd.out\n  variants: method\n",
    "- func: qadd.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  structured: True\n  structured_inherits: TensorIteratorBase\n"
    "  dispatch:\n    CPU: qadd_out\n",
    # An out variant with a functional one, and variants that are generated.
    "- func: qneg(Tensor self) -> Tensor\n  dispatch:\n    CPU: qneg\n",
    "- func: qneg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: qneg_out\n",
    "- func: qfill_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: qfill_\n"
    "  autogen: qfill, qfill.out\n",
    "- func: qcast(Tensor self, *, int n) -> Tensor\n  dispatch:\n    CPU: qcast\n"
    "  autogen: qcast.out\n",
    # A mutable operator with its functional variant.
    "- func: qrun(Tensor self, Tensor(a!) state) -> Tensor\n  dispatch:\n    CPU: qrun\n"
    "  autogen: qrun_functional, qrun.out\n",
    # A view with its copying operator and its in-place form.
    "- func: qview(Tensor(a) self, int n) -> Tensor(a)\n  dispatch:\n    CPU: qview\n",
    "- func: qview_copy(Tensor self, int n) -> Tensor\n  tags: view_copy\n"
    "  dispatch:\n    CompositeExplicitAutogradNonFunctional: qview_copy\n"
    "  autogen: qview_copy.out\n",
    "- func: qturn(Tensor(a) self) -> Tensor(a)\n",
    "- func: qturn_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view\n",
    # An inner loop.
    "- func: qloop(Tensor self, Tensor other) -> Tensor\n  structured_delegate: qloop.out\n",
    "- func: qloop.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  structured: True\n  structured_inherits: TensorIteratorBase\n"
    "  ufunc_inner_loop:\n    Generic: qloop (AllAndComplex)\n",
    # An entry that depends on no other.
    "- func: qalone(Tensor self) -> Tensor\n",
)

Break = Callable[[str], str]

# Changes that break any entry, and the code that is reported.
BREAKS: dict[str, tuple[str, Break]] = {
    "unknown type": ("E0307", lambda e: e.replace("(Tensor self", "(Gizmo self", 1)),
    "unknown type of an argument": ("E0307", lambda e: e.replace(") ->", ", Gizmo z) ->", 1)),
    "no arguments": ("E0301", lambda e: e.replace(e.partition("\n")[0], f"- func: {head(e)}", 1)),
    "bad overload": ("E0309", lambda e: e.replace("(", ".o-o(", 1) if "." not in head(e) else e),
    "unknown key": ("E0201", lambda e: f"{e}  gizmo: 1\n"),
    "wrong type": ("E0203", lambda e: f"{e}  device_check: [1]\n"),
    "unknown check": ("E0205", lambda e: f"{e}  device_check: Gizmo\n"),
    "key twice": ("E0103", lambda e: f"{e}  category_override: x\n  category_override: y\n"),
    "undefined alias": ("E0106", lambda e: f"{e}  category_override: *gizmo\n"),
    "foreign tag": ("E0109", lambda e: f"{e}  category_override: !gizmo x\n"),
    "no func": ("E0202", lambda e: e.replace("func: ", "category_override: ", 1)),
    "no mapping": ("E0105", lambda e: "- gizmo\n"),
    "bad name": ("E0304", lambda e: e.replace("- func: q", "- func: 1q", 1)),
    "name with out": (
        "E0305",
        lambda e: e.replace(head(e), f"{head(e).partition('.')[0]}_out", 1),
    ),
    "bad namespace": ("E0303", lambda e: e.replace("- func: ", "- func: 1::", 1)),
    "reserved name": ("E0342", lambda e: e.replace("- func: q", "- func: opgen_q", 1)),
    "white space": ("E0302", lambda e: e.replace("self", " self", 1)),
    "unknown key of dispatch": (
        "E0209",
        lambda e: (
            e.replace("dispatch:\n", "dispatch:\n    Gizmo: x\n")
            if "dispatch:" in e
            else f"{e}  dispatch:\n    Gizmo: x\n"
        ),
    ),
}


def head(entry: str) -> str:
    return entry.removeprefix("- func: ").partition("(")[0]


def codes(text: str, *more: Path) -> list[str]:
    diagnostics = Diagnostics()
    path = Path("mylib/f.yaml")  # not in the current folder, which may have a derivatives.yaml
    inspect(aten_inputs((path, *more), overlay={path: text.encode()}), diagnostics)
    return [item.code for item in diagnostics]


def test_the_file_itself_is_good() -> None:
    assert codes("\n".join(ENTRIES)) == []


@pytest.mark.parametrize("what", BREAKS)
@pytest.mark.parametrize("number", range(len(ENTRIES)), ids=lambda i: head(ENTRIES[i]))
def test_one_broken_entry_is_one_problem(number: int, what: str) -> None:
    code, broken = BREAKS[what]
    changed = broken(ENTRIES[number])
    if changed == ENTRIES[number]:
        pytest.skip("this change does not apply to this entry")
    entries = [*ENTRIES[:number], changed, *ENTRIES[number + 1 :]]
    assert set(codes("\n".join(entries))) == {code}


@pytest.mark.parametrize("what", BREAKS)
def test_a_problem_elsewhere_is_still_reported(what: str) -> None:
    """Entries that do not depend on the broken one are checked as if it were not there."""
    code, broken = BREAKS[what]
    changed = broken(ENTRIES[0])
    if changed == ENTRIES[0]:
        pytest.skip("this change does not apply to this entry")
    twice = "- func: qtwice(Tensor self) -> Tensor\n"
    python = "- func: qkey(Tensor self, int lambda) -> Tensor\n"
    names = "- func: qname(Tensor self, int dispatchKeySet) -> Tensor\n"
    found = codes("\n".join([changed, *ENTRIES[1:], twice, twice, python, names]))
    assert set(found) == {code, "E0401", "E0404", "E0709"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_gives_no_more_problems_when_good_entries_are_added(case: Case) -> None:
    # The good entries have views and tags, of which target torch-stable warns.
    target = case.read.target.removesuffix("-stable")
    good, bad = Path("mylib/good.yaml"), Path("mylib/bad.yaml")
    overlay = {good: "\n".join(ENTRIES).encode(), bad: case.content}

    def diagnostics_of(*files: Path) -> list[tuple[str, str]]:
        diagnostics = Diagnostics()
        inspect(aten_inputs(files, target=target, overlay=overlay), diagnostics)
        return [(item.code, item.message) for item in diagnostics]

    assert diagnostics_of(bad, good) == diagnostics_of(bad)
    assert sorted(diagnostics_of(good, bad)) == sorted(diagnostics_of(bad))


@pytest.mark.parametrize(
    "content",
    [
        b"- tag: core\n  desc: x\n- tag\n",
        b"- tag: core\n  desc: [\n",
        b"gizmo\n",
        b"- tag: core\n  desc: \xff\n",
    ],
)
def test_an_invalid_tag_file_makes_no_tag_unknown(content: bytes) -> None:
    diagnostics = Diagnostics()
    path, tags = Path("mylib/f.yaml"), Path("mylib/tags.yaml")
    text = "\n".join(ENTRIES).replace("tags: view_copy", "tags: [view_copy, gizmo]")
    overlay = {path: text.encode(), tags: content}
    inspect(aten_inputs((path,), tags=tags, overlay=overlay), diagnostics)
    assert {item.span.source.path for item in diagnostics if item.span} == {str(tags)}


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    """The other file delegates to an operator that this one may define."""
    functional = ENTRIES[0]
    assert codes(functional, tmp_path / "nothing.yaml") == ["E0905"]
    bad = tmp_path / "bad.yaml"
    bad.write_text("- func: [\n")
    assert codes(functional, bad) == ["E0102"]
    bad.write_text("a: b\n")
    assert codes(functional, bad) == ["E0104"]
