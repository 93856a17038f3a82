"""The exact text that is reported for bad files.

A case is a file `<code>_<what>.yaml` with a `.txt` next to it, which holds the exact text. The ending of its name
decides how opgen reads it: see support/error_cases.py. `OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/errors`, run twice,
writes the cases that are missing and all texts; review the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from opgen.autograd.codes import CODES as AUTOGRAD_CODES
from opgen.cpp import backend_check, check
from opgen.diagnostics import Code, Diagnostics, collect_codes, render_human
from opgen.lints import CODES as LINT_CODES
from opgen.parse import CODES
from opgen.parse.entries import codes_library
from opgen.parse.schema import codes as codes_schema
from opgen.parse.yaml import codes as codes_yaml
from opgen.pipeline.linting import Stage, inspect
from opgen.python.codes import CODES as PYTHON_CODES
from opgen.resolve import CODES as RESOLVE_CODES
from opgen.resolve import codes_groups
from opgen.targets import functionalization, stable, unsupported
from support.error_cases import report
from support.inputs import aten_inputs
from support.torch_extension import require_torch

HERE = Path(__file__).parent
CASES = sorted(HERE.glob("*.yaml"))
REFUSALS = (unsupported.E0753, unsupported.E0754, unsupported.E0755, unsupported.W0757)
ALL_CODES = collect_codes(
    CODES,
    RESOLVE_CODES,
    AUTOGRAD_CODES,
    backend_check.CODES,
    check.CODES,
    functionalization.CODES,
    REFUSALS,
    (unsupported.E0756, unsupported.E0758, unsupported.E0818, unsupported.E0819),
    [code for code in stable.CODES if code.example is not None],
    PYTHON_CODES,
    LINT_CODES,
)
UPDATE = os.environ.get("OPGEN_UPDATE_GOLDEN") == "1"


@pytest.fixture(autouse=True)
def no_formulas_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the folder of the repository, whose derivatives.yaml would belong to each case."""
    monkeypatch.chdir(HERE)


def _suffix(code: Code) -> str:
    """Return the ending of the name of a file that holds an example of `code`."""
    if code in LINT_CODES:
        return ".lint.yaml" if code.target is None else f".lint.{code.target}.yaml"
    if code in REFUSALS:
        return ".unsupported.torch.yaml"
    if code is unsupported.E0758:
        return ".unsupported.runtime.yaml"
    if code is unsupported.E0756:
        return ".beside.torch.yaml"
    if code is codes_schema.E0328:
        return ".bare.yaml"
    if code in (codes_library.E0250, codes_groups.E0512, codes_yaml.E0114):
        return ".strict.yaml"
    if code.file != "native_functions.yaml":
        return f".{code.file}" if code.target is None else f".{code.target}.{code.file}"
    return ".yaml" if code.target is None else f".{code.target}.yaml"


def codes_of(diagnostics: Diagnostics) -> list[str]:
    return [item.code for item in diagnostics]


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_text(case: Path) -> None:
    if case.name.startswith("W1243") and ".torch." in case.name:
        require_torch()  # The warning is given only if PyTorch's headers can be searched.
    diagnostics = report(Path(case.name), case.read_bytes())
    text = render_human(diagnostics)
    expected = case.parent / f"{case.name.removesuffix('.yaml')}.txt"
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert expected.exists(), "no expected text; OPGEN_UPDATE_GOLDEN=1 writes it"
    assert text == expected.read_text(encoding="utf-8")
    assert case.name.split("_")[0] in codes_of(diagnostics)


@pytest.mark.parametrize("code", ALL_CODES.values(), ids=str)
def test_every_code_has_a_case(code: Code) -> None:
    found = any(HERE.glob(f"{code}_*.yaml"))
    if UPDATE and not found:
        # The example of the code's record becomes the case; its text is written when the tests run
        # again.
        what = re.sub(r"[^a-z0-9]+", "_", code.title.lower()).strip("_")
        suffix = _suffix(code)
        content = code.example.failing.encode("utf-8", "surrogateescape")
        (HERE / f"{code}_{what}{suffix}").write_bytes(content)
    assert found, "no case; OPGEN_UPDATE_GOLDEN=1 makes one of the record's example"


@pytest.mark.parametrize("code", ALL_CODES.values(), ids=str)
def test_the_examples_of_a_record_are_true(code: Code) -> None:
    name = f"example{_suffix(code)}"
    failing = report(Path(name), code.example.failing.encode("utf-8", "surrogateescape"))
    fixed = report(Path(name), code.example.fixed.encode())
    assert codes_of(failing) == [code.code]
    assert code.code not in codes_of(fixed)


@pytest.mark.parametrize("code", [c for c in ALL_CODES.values() if c.of_torchgen], ids=str)
def test_rules_of_torchgen_hold_for_aten_alone(code: Code) -> None:
    """PyTorch's runtime accepts what these codes reject, so an operator of another namespace may do it."""
    text = "\n".join(
        line if "::" in line else line.replace("- func: ", "- func: custom::")
        for line in code.example.failing.split("\n")
    )
    assert code.code not in codes_of(
        report(Path(f"example{_suffix(code)}".replace(".strict", "")), text.encode())
    )


def test_every_text_has_its_case() -> None:
    stems = {case.name.removesuffix(".yaml") for case in CASES}
    assert {text.name.removesuffix(".txt") for text in HERE.glob("*.txt")} == stems


def test_files_reported_together_are_ordered_by_file_and_position() -> None:
    diagnostics = Diagnostics()
    contents = {
        Path("z.yaml"): b"- func: foo(Tensr self) -> Tensor\n  tags: x\n",
        Path("a.yaml"): b"- func: bar(Tensor self) -> Tensr\n",
    }
    inspect(aten_inputs(tuple(contents), overlay=contents), diagnostics, until=Stage.resolve)
    found = [(d.span.source.path, d.code) for d in diagnostics if d.span is not None]
    assert found == [("z.yaml", "E0307"), ("z.yaml", "E0208"), ("a.yaml", "E0307")]
