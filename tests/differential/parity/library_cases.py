"""Read the tables about operators of libraries in docs/reference/torchgen-differences.md: cases, and what is reported
for them.

In a cell, spans of code are schemas of namespace `my`, each followed by the keys of its entry; `;` begins another
file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from differences_table import codes_in, read_rows

from opgen.diagnostics import Diagnostics
from opgen.pipeline.checking import inspect
from opgen.pipeline.inputs import Inputs

_SPAN = re.compile(r"`([^`]+)`")
# Not in the current folder, which may have a derivatives.yaml.
_FILE = Path("mylib/case.yaml")
# Cases that do not fit into a cell, by a phrase of their row.
_WRITTEN_OUT = {
    "types with more than 8 suffixes, or nested more than 8 levels deep": (
        f"- func: my::f(int{'[]' * 9} x) -> Tensor\n",
        f"- func: my::f({'(int, ' * 10}int{')' * 10} x) -> Tensor\n",
    ),
    "control characters in a default": ("- func: \"my::f(str x='\\t') -> Tensor\"\n",),
    "names of more than 200 characters": tuple(
        f"- func: {func.replace('N', 'n' * 201)}\n"
        for func in (
            "my::N(Tensor x) -> Tensor",
            "my::f.N(Tensor x) -> Tensor",
            "my::f(Tensor N) -> Tensor",
            "my::f(Tensor x) -> Tensor N",
            "N::f(Tensor x) -> Tensor",
        )
    ),
    "a comment in a folded string": (
        "- func: >-\n    my::f(Tensor x, # both\n    int n) -> Tensor\n",
    ),
    "merge keys (`<<`), which torchgen's loader rejects": (
        "- &f\n  func: my::f(Tensor x) -> Tensor\n  tags: core\n"
        "- <<: *f\n  func: my::g(Tensor x) -> Tensor\n",
    ),
    "the header of a file: `namespace`, `include`, `classes`; the keys `fake` and `doc`": (
        "- namespace: my\n- func: f(Tensor x) -> Tensor\n",
        "- include: f.h\n- func: my::f(Tensor x) -> Tensor\n",
        "- classes: {my.C: {type: my::C, header: c.h}}\n- func: my::f(Tensor x) -> Tensor\n",
        "- func: my::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: f_cpu\n  fake: torch.empty_like(x)\n",
        "- func: my::f(Tensor x) -> Tensor\n  doc: Copy x.\n",
    ),
}


@dataclass(frozen=True)
class Case:
    """A file, its schemas, and what the page says about it. `name` is that of its row, for people."""

    name: str
    text: str
    schemas: tuple[str, ...]
    codes: frozenset[str]
    torch_takes: bool = True


def rule_rows() -> list[list[str]]:
    """Return the cells of each row: numbers, torchgen's rule, case, PyTorch, opgen."""
    return read_rows("Rules of torchgen in libraries")


def rule_cases() -> list[Case]:
    return [
        case
        for numbers, rule, cell, pytorch, ours in rule_rows()
        for case in _cases(f"{numbers} {rule}", rule, cell, _first_codes(ours), pytorch)
    ]


def refusal_cases() -> list[Case]:
    return [
        case
        for code, what, cell, _ in read_rows("Schemas that only PyTorch's parser accepts")
        for case in _cases(f"{code} {what}", what, cell, codes_in(code), "accepts")
    ]


def strict_cases() -> list[Case]:
    return [
        case
        for code, what, cell in read_rows("Under --strict-torchgen")
        for case in _cases(f"{code} {what}", what, cell, codes_in(code), "accepts")
    ]


def reported(
    text: str, targets: Sequence[str] = ("torch",), *, strict: bool = False
) -> frozenset[str]:
    """Return the codes that `opgen lint` reports for a file, for each target."""
    diagnostics = Diagnostics()
    for target in targets:
        overlay = {_FILE: text.encode()}
        inputs = Inputs((_FILE,), target=target, strict_torchgen=strict, overlay=overlay)
        inspect(inputs, diagnostics, unsupported=True)
    # The cases are about schemas and rows; most have no information for tracing.
    return frozenset(str(d.code) for d in diagnostics) - {"W1030"}


def refused(schema: str) -> frozenset[str]:
    """Return the codes of the errors in a schema that has a kernel for every backend."""
    func = json.dumps(schema, ensure_ascii=False)
    codes = reported(f"- func: {func}\n  dispatch:\n    CompositeExplicitAutograd: kernel\n")
    return frozenset(code for code in codes if code.startswith("E"))


def _first_codes(cell: str) -> frozenset[str]:
    """Return the codes at the beginning of the cell; those after a comma or `;` are about other cases."""
    return codes_in(re.split(r"[,;]", cell)[0])


def _cases(name: str, key: str, cell: str, codes: frozenset[str], pytorch: str) -> list[Case]:
    takes = pytorch.startswith(("accepts", "reads"))
    assert takes or pytorch.startswith("rejects"), pytorch
    if cell == "–":
        return [Case(name, text, _schemas_of(text), codes, takes) for text in _WRITTEN_OUT[key]]
    return [
        Case(name, *_file(_SPAN.findall(part)), codes, takes)
        for part in re.split(r"(?<=`);\s", cell)
    ]


def _file(spans: list[str]) -> tuple[str, tuple[str, ...]]:
    text, schemas = "", []
    for span in spans:
        if "->" in span:
            schema = span if re.match(r"\w+::", span) else f"my::{span}"
            schemas.append(schema)
            text += f"- func: {json.dumps(schema)}\n"
        else:
            text += f"  {span}\n"
    return text, tuple(schemas)


def _schemas_of(text: str) -> tuple[str, ...]:
    if "\n    my::" in text or "\\t" in text or "namespace:" in text:
        return ()
    return tuple(re.findall(r"func: (.*)", text))
