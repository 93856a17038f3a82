"""Files of other kinds: one diagnostic however many entries they have. A native_functions.yaml with mistakes does not
get it.

The text for each kind is in tests/golden/errors/E01.md (E0113).
"""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.parse.files.backend import parse_backend
from opgen.parse.files.native_functions import builtin_tags, parse_entries
from support.error_cases import Case, error_case, error_cases

CASES = [case for case in error_cases() if case.code == "E0113"]
# A library file of ordinary size, and entries with keys of other kinds of files.
ORDINARY = "".join(f"- func: mine::good{i}(Tensor self) -> Tensor\n" for i in range(30))
STRANGE = {
    "kernels": "- func: mine::a(Tensor self) -> Tensor\n  kernels: [{arg_meta: null, kernel_name: a}]\n",
    "op": "- op: a.out\n  dispatch: {CPU: a}\n",
    "inherits": "- func: a\n  inherits: b\n  type_constraint: []\n",
    "formula": "- name: mine::a(Tensor self) -> Tensor\n  self: grad\n",
    "tag": "- tag: a\n  desc: b\n",
    "bare name": "- func: a\n  dispatch: {PrivateUse1: a}\n",
    "old key": "- func: mine::a(Tensor self) -> Tensor\n  use_c10_dispatcher: full\n",
    "old dispatch key": "- func: mine::a(Tensor self) -> Tensor\n  dispatch: {Math: a}\n",
    "old type": "- func: mine::a(Tensor self, IntList dim) -> Tensor\n",
    "no mapping": "- a\n- b\n",
}
# Small files in which every entry has the same mistake.
MISTAKES = {
    "name for func": "- name: mine::a(Tensor self) -> Tensor\n  dispatch: {CPU: a}\n"
    "- name: mine::b(Tensor self) -> Tensor\n  dispatch: {CPU: b}\n",
    "op for func": "- op: mine::a(Tensor self) -> Tensor\n  dispatch: {CPU: a}\n",
    "kernels for dispatch": "- func: mine::a(Tensor self) -> Tensor\n  kernels: {CPU: a}\n",
    "a list of kernels": "- func: mine::a(Tensor self) -> Tensor\n  kernels: [a, b]\n",
    "names alone": "- func: a\n- func: b\n- func: c\n",
    "one name alone": "- func: a\n  dispatch: {PrivateUse1: a}\n",
    "one old word": "- func: mine::a(Tensor self) -> Tensor\n  use_c10_dispatcher: full\n",
    "types of C++": "- func: mine::a(Tensor self, int64_t n) -> Tensor\n"
    "- func: mine::b(Tensor self, TensorList n) -> Tensor\n",
    "a gone operator": "- func: symeig(Tensr self) -> Tensor\n",
    "a mapping": "func: mine::a(Tensor self) -> Tensor\n",
    "sections": "mine:\n- func: a(Tensor self) -> Tensor\n",
    "not closed": "- func: mine::a(Tensor self) -> Tensor\n  use_c10_dispatcher: 'full\n",
}
HEAD = "backend: XLA\ncpp_namespace: mine\n"
BACKEND_MISTAKES = {
    "one entry": f"{HEAD}supported:\n- add.Tensor\n- func: neg\n",
    "an unknown key": f"{HEAD}supported: [neg]\ncustom: [mine]\n",
    "a list": "- neg\n- add.Tensor\n",
    "a misspelt key": f"{HEAD}suported: [neg]\n",
    "no head": "supported: [neg]\n",
    "not closed": f"{HEAD}supported: [neg\n",
    "empty": "",
}


def _codes(text: str, *, backend: bool) -> list[str]:
    diagnostics = Diagnostics()
    source = Source("f.yaml", text)
    if backend:
        parse_backend(source, diagnostics)
    else:
        parse_entries([source], builtin_tags(), (), diagnostics)
    return [item.code for item in diagnostics]


def _many(text: str) -> str:
    """Return the file with the items of each list repeated 700 times: with two items, that exceeds the limit of
    errors.
    """
    return re.sub(r"(?:^(?:- | ).*\n)+", lambda items: items.group() * 700, text, flags=re.M)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_diagnostic_for_thousands_of_entries(case: Case) -> None:
    """Protects against a thousand errors, after which opgen stops reporting."""
    text = _many(case.content.decode().replace("\n\n", "\n"))
    assert text.count("\n") > 700 or case.what == "backend file"
    assert _codes(text, backend=case.read.file == "backend.yaml") == ["E0113"]


@pytest.mark.parametrize("what", STRANGE)
def test_an_entry_of_another_kind_is_an_entry_with_a_mistake(what: str) -> None:
    """Protects a library's own files: the report is about the place of the mistake."""
    for text in (ORDINARY + STRANGE[what], STRANGE[what] + ORDINARY):
        codes = _codes(text, backend=False)
        assert codes and "E0113" not in codes, codes


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_made_everywhere(what: str) -> None:
    codes = _codes(MISTAKES[what], backend=False)
    assert codes and "E0113" not in codes, codes


@pytest.mark.parametrize("what", BACKEND_MISTAKES)
def test_a_mistake_in_a_backend_file(what: str) -> None:
    codes = _codes(BACKEND_MISTAKES[what], backend=True)
    assert codes and "E0113" not in codes, codes


def test_other_files_keep_their_problems() -> None:
    diagnostics = Diagnostics()
    other = error_case("E0113 executorch by name").content.decode()
    texts = (
        "- func: mine::a(Tensr self) -> Tensor\n",
        other,
        "- func: mine::b(Tensr self) -> Tensor\n",
    )
    sources = [Source(f"{i}.yaml", text) for i, text in enumerate(texts)]
    parsed = parse_entries(sources, builtin_tags(), (), diagnostics)
    found = [(item.span.source.path, item.code) for item in diagnostics if item.span is not None]
    assert found == [("0.yaml", "E0307"), ("1.yaml", "E0113"), ("2.yaml", "E0307")]
    assert parsed.invalid.unknown and diagnostics.error_count == 3
