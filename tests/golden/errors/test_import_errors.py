"""The exact text that `opgen import` reports for sources.

A case is a file `importing/<code>_<what>.cpp` (or `.cu`, `.py`) with a `.txt` next to it, which holds the exact text;
cases of the codes in AS_THEY_ARE are read with --kernels-as-they-are. `OPGEN_UPDATE_GOLDEN=1 pytest
tests/golden/errors`, run twice, writes missing cases from the examples in the codes' records, and all texts; review
the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from opgen.diagnostics import Code, Diagnostics, render_human
from opgen.importing.common import codes
from opgen.pipeline.importing import Imports, collect_entries

HERE = Path(__file__).parent / "importing"
CASES = sorted(path for path in HERE.iterdir() if path.suffix != ".txt")
AS_THEY_ARE = {"W1171", "W1172", "W1173", "W1174"}
# No source text causes the others: tests/integration/cli/test_import.py tests them.
WITH_EXAMPLES = [code for code in codes.CODES if code.example is not None]
UPDATE = os.environ.get("OPGEN_UPDATE_GOLDEN") == "1"


def report(code: str, name: str, content: bytes, folder: Path) -> Diagnostics:
    """Return all problems that are reported for one source, called `name`."""
    (folder / name).write_bytes(content)
    before = Path.cwd()
    os.chdir(folder)
    try:
        diagnostics = Diagnostics()
        imports = Imports((name,), kernels_as_they_are=code in AS_THEY_ARE, output="ops.yaml")
        collect_entries(imports, diagnostics)
        return diagnostics
    finally:
        os.chdir(before)


def codes_of(diagnostics: Diagnostics) -> list[str]:
    return [item.code for item in diagnostics]


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_text(case: Path, tmp_path: Path) -> None:
    code = case.name.split("_")[0]
    diagnostics = report(code, f"ops{case.suffix}", case.read_bytes(), tmp_path)
    text = render_human(diagnostics)
    expected = case.with_suffix(".txt")
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert expected.exists(), "no expected text; OPGEN_UPDATE_GOLDEN=1 writes it"
    assert text == expected.read_text(encoding="utf-8")
    assert code in codes_of(diagnostics)


@pytest.mark.parametrize("code", WITH_EXAMPLES, ids=str)
def test_every_code_has_a_case(code: Code) -> None:
    found = any(HERE.glob(f"{code}_*.txt"))
    if UPDATE and not found:
        # The example of the code's record becomes the case; its text is written when the tests run
        # again.
        what = re.sub(r"[^a-z0-9]+", "_", code.title.lower()).strip("_")
        (HERE / f"{code}_{what}{Path(code.file).suffix}").write_text(code.example.failing)
    assert found, "no case; OPGEN_UPDATE_GOLDEN=1 makes one of the record's example"


@pytest.mark.parametrize("code", WITH_EXAMPLES, ids=str)
def test_the_examples_of_a_record_are_true(code: Code, tmp_path: Path) -> None:
    failing = report(str(code), code.file, code.example.failing.encode(), tmp_path)
    fixed = report(str(code), code.file, code.example.fixed.encode(), tmp_path)
    assert set(codes_of(failing)) == {code.code}
    assert code.code not in codes_of(fixed)


def test_every_text_has_its_case() -> None:
    stems = {case.with_suffix(".txt") for case in CASES}
    assert set(HERE.glob("*.txt")) == stems
