"""`opgen schema derivatives` accepts what the parser accepts, and rejects what it rejects."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from opgen.diagnostics import Diagnostics, Source
from opgen.parse.files.derivatives import parse_derivatives
from opgen.pipeline import queries

ENTRY = "- name: f(Tensor self) -> Tensor\n"
FILES = [
    ENTRY + "  self: grad\n",
    ENTRY + "  self, other: non_differentiable\n  result: auto_linear\n",
    ENTRY + "  output_differentiability: [True, False]\n  self: grad\n",
    ENTRY + '  output_differentiability: ["self.is_floating_point()"]\n  self: grad\n',
    ENTRY
    + "  dispatch:\n    Default:\n      self: grad\n    AutogradCUDA:\n      self: 2 * grad\n",
    "- namespace: mylib\n  include: my_formulas.h\n" + ENTRY + "  self: grad\n",
    "- include: [a.h, <b.h>]\n",
    "[]\n",
    "a: b\n",
    "- 3\n",
    "- self: grad\n",
    ENTRY + "  self: 3\n",
    ENTRY + "  self: [grad]\n",
    ENTRY + "  self:\n",
    ENTRY + "  output_differentiability: True\n",
    ENTRY + "  output_differentiability: [[True]]\n",
    ENTRY + "  dispatch: grad\n",
    ENTRY + "  dispatch:\n    Default: grad\n",
    ENTRY + "  dispatch:\n    Default:\n      self: 3\n",
    ENTRY + "  self: grad\n  dispatch:\n    Default:\n      self: grad\n",
    "- namespace: 3\n",
    "- include: [3]\n",
    "- include: a>b\n",
    "- include: a.h\n  fragment: true\n",
]


def is_accepted(text: str, *, strict_torchgen: bool = False) -> bool:
    schema = queries.json_schema(
        "derivatives", None, Diagnostics(), strict_torchgen=strict_torchgen
    )
    return jsonschema.Draft7Validator(schema).is_valid(yaml.safe_load(text))


@pytest.mark.parametrize("text", FILES)
def test_it_accepts_what_the_parser_accepts(text: str) -> None:
    diagnostics = Diagnostics()
    parse_derivatives(Source("derivatives.yaml", text), diagnostics)
    assert is_accepted(text) == (not diagnostics.has_errors), diagnostics.sorted()


def test_torchgen_has_no_header_in_this_file() -> None:
    assert not is_accepted("- include: a.h\n", strict_torchgen=True)


def test_it_accepts_pytorchs_file(packaged_formulas: Path) -> None:
    assert is_accepted(packaged_formulas.read_text(encoding="utf-8"), strict_torchgen=True)


@pytest.fixture
def packaged_formulas() -> Path:
    torchgen = pytest.importorskip("torchgen")
    return Path(torchgen.__file__).parent / "packaged" / "autograd" / "derivatives.yaml"
