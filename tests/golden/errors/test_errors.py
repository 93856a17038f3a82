"""The exact text that is reported for bad files, and the page of each code.

Each section of docs/reference/diagnostics.md and of a page of this folder is a case: see support/error_cases.py.
`OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/errors` writes the reports, also those that are missing; review the
difference.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics, describe, known_codes
from opgen.diagnostics.rendering import render_human
from opgen.pipeline.checking import Stage, inspect
from support.build import REPOSITORY
from support.error_cases import PAGE, Case, Read, error_cases, report
from support.inputs import aten_inputs
from support.torch_extension import require_torch

CASES = error_cases()
EXAMPLES = [case for case in CASES if case.page == PAGE]


@pytest.fixture(autouse=True)
def no_formulas_of_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave the folder of the repository, whose derivatives.yaml would belong to each case."""
    monkeypatch.chdir(tmp_path)


def codes_of(diagnostics: Diagnostics) -> set[str]:
    return {item.code for item in diagnostics}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_text(case: Case) -> None:
    if case.code == "W1243" and case.read.target == "torch":
        require_torch()  # The warning is given only if PyTorch's headers can be searched.
    diagnostics = report(case.read, case.content)
    text = render_human(diagnostics)
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        case.update(text)
    else:
        assert text == case.report, "OPGEN_UPDATE_GOLDEN=1 writes what is reported"
    assert case.code in codes_of(diagnostics)
    if case in EXAMPLES:
        assert codes_of(diagnostics) == {case.code}
        example = describe(case.code).example
        assert example is not None
        assert case.code not in codes_of(report(case.read, example.fixed.encode()))


def test_every_case_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(map(str, CASES)).items() if count > 1] == []


@pytest.mark.parametrize(
    "case", [c for c in EXAMPLES if "namespace aten" in describe(c.code).scope], ids=str
)
def test_rules_of_torchgen_hold_for_aten_alone(case: Case) -> None:
    """PyTorch's runtime accepts what these codes reject, so an operator of another namespace may do it."""
    text = "\n".join(
        line if "::" in line else line.replace("- func: ", "- func: custom::")
        for line in case.content.decode().split("\n")
    )
    read = Read(case.read.file, case.read.words - {"--strict-torchgen"})
    assert case.code not in codes_of(report(read, text.encode()))


def test_the_page_describes_every_code_that_is_reported() -> None:
    """Protects from codes that `opgen explain` does not know, and from sections about nothing."""
    python = "".join(path.read_text("utf-8") for path in REPOSITORY.glob("src/opgen/**/*.py"))
    cmake = "".join(path.read_text("utf-8") for path in REPOSITORY.glob("runtime/cmake/*.cmake"))
    used = {*re.findall(r'"([EW]\d{4})"', python), *re.findall(r"\[([EW]\d{4})\]", cmake)}
    assert used == set(known_codes())
    headings = re.findall(r"^### (\w+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert headings == list(known_codes()), "two sections, or one that cannot be read"


def test_the_page_lists_its_subjects() -> None:
    page = PAGE.read_text("utf-8")
    listed = re.findall(r"^\* \[(.*)\]\(#.*\)$", page, re.MULTILINE)
    assert listed == re.findall(r"^## (.*)$", page, re.MULTILINE)


def test_files_reported_together_are_ordered_by_file_and_position() -> None:
    diagnostics = Diagnostics()
    contents = {
        Path("z.yaml"): b"- func: foo(Tensr self) -> Tensor\n  tags: x\n",
        Path("a.yaml"): b"- func: bar(Tensor self) -> Tensr\n",
    }
    inspect(aten_inputs(tuple(contents), overlay=contents), diagnostics, until=Stage.resolve)
    found = [(d.span.source.path, d.code) for d in diagnostics if d.span is not None]
    assert found == [("z.yaml", "E0307"), ("z.yaml", "E0208"), ("a.yaml", "E0307")]
