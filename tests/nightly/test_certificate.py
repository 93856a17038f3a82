"""The libraries of tests/nightly/certificate: each defect is there, and `opgen verify` does not blame correct operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightly.certificate.__main__ import TARGETS, build, findings, shown, shown_by, table, verify

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("certificate")
    for target in TARGETS:
        build(target, found)
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_each_defect_is_there(target: str, folder: Path) -> None:
    problems = {defect.op: shown(target, folder, defect) for defect in table()[target]}
    assert not {op: problem for op, problem in problems.items() if problem}


@pytest.mark.parametrize("target", TARGETS)
def test_correct_operators_have_no_findings(target: str, folder: Path) -> None:
    texts = findings([verify(target, folder, 0, ["--quick"])]).texts
    assert not {name: found for name, found in texts.items() if name.startswith("ok_")}


@pytest.mark.parametrize("target", TARGETS)
def test_programs_show_their_findings(target: str, folder: Path, tmp_path: Path) -> None:
    verify(target, folder, 0, ["--quick", "--programs", str(tmp_path)])
    problems = {}
    programs = sorted(tmp_path.glob("*.py"))
    for program in programs:
        code, text = shown_by(program)
        if code != 1 or "in a call with" not in text:
            problems[program.stem] = f"exit code {code}: {text}"
    # What earlier calls have left in a process is not there, and a race is lost sometimes only.
    assert programs and len(problems) <= len(programs) // 20, problems
