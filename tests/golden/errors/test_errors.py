"""The exact text that is reported for bad files.

Each section of a page of this folder is a case: see support/error_cases.py. `OPGEN_UPDATE_GOLDEN=1 pytest
tests/golden/errors` writes the reports, also those that are missing; review the difference.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from opgen.compat import CODES as COMPAT_CODES
from opgen.diagnostics import Code, Diagnostics, render_human
from opgen.io.codes import CODES as FILE_CODES
from opgen.lints import CODES as LINT_CODES
from opgen.pipeline.codes import CODES
from opgen.pipeline.linting import Stage, inspect
from opgen.targets.unsupported import W1001
from support.error_cases import Case, Read, error_cases, report
from support.inputs import aten_inputs
from support.torch_extension import require_torch

CASES = error_cases()
# The tests of `opgen compat`, of projects and of writing files cause the others.
WITH_CASES = [
    code
    for code in CODES.values()
    if code.example is not None and code not in {*COMPAT_CODES, *FILE_CODES, W1001}
]


@pytest.fixture(autouse=True)
def no_formulas_of_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave the folder of the repository, whose derivatives.yaml would belong to each case."""
    monkeypatch.chdir(tmp_path)


def failing(code: Code) -> bytes:
    assert code.example is not None
    return code.example.failing.encode("utf-8", "surrogateescape")


def read_of(code: Code) -> Read:
    """Return how the example of `code` is read: as the case that has it, if there is one."""
    for case in CASES:
        if case.code == code.code and (case.content == failing(code) or case.code == "E0758"):
            return case.read
    words = {"linted"} if code in LINT_CODES else set()
    if code.file == "python.yaml":
        return Read("native_functions.yaml", frozenset({"--python"}))
    return Read(code.file, frozenset({*words, *([f"target {code.target}"] if code.target else [])}))


def codes_of(diagnostics: Diagnostics) -> list[str]:
    return [item.code for item in diagnostics]


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


def test_every_case_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(map(str, CASES)).items() if count > 1] == []


def test_every_code_has_a_case() -> None:
    assert {code.code for code in WITH_CASES} == {case.code for case in CASES}


@pytest.mark.parametrize("code", WITH_CASES, ids=str)
def test_the_examples_of_a_record_are_true(code: Code) -> None:
    assert code.example is not None
    assert set(codes_of(report(read_of(code), failing(code)))) == {code.code}
    assert code.code not in codes_of(report(read_of(code), code.example.fixed.encode()))


@pytest.mark.parametrize("code", [c for c in WITH_CASES if c.of_torchgen], ids=str)
def test_rules_of_torchgen_hold_for_aten_alone(code: Code) -> None:
    """PyTorch's runtime accepts what these codes reject, so an operator of another namespace may do it."""
    text = "\n".join(
        line if "::" in line else line.replace("- func: ", "- func: custom::")
        for line in failing(code).decode().split("\n")
    )
    read = Read(read_of(code).file, read_of(code).words - {"--strict-torchgen"})
    assert code.code not in codes_of(report(read, text.encode()))


def test_files_reported_together_are_ordered_by_file_and_position() -> None:
    diagnostics = Diagnostics()
    contents = {
        Path("z.yaml"): b"- func: foo(Tensr self) -> Tensor\n  tags: x\n",
        Path("a.yaml"): b"- func: bar(Tensor self) -> Tensr\n",
    }
    inspect(aten_inputs(tuple(contents), overlay=contents), diagnostics, until=Stage.resolve)
    found = [(d.span.source.path, d.code) for d in diagnostics if d.span is not None]
    assert found == [("z.yaml", "E0307"), ("z.yaml", "E0208"), ("a.yaml", "E0307")]
