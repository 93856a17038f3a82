"""docs/reference/schema.md lists the C++ types that kernels get, and the possible defaults: opgen agrees for both
targets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import opgen

_PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "schema.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading."""
    section = _PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
    return cells[2:]


def errors(schema: str, target: str, folder: Path) -> list[str]:
    file = folder / "one.yaml"
    entry = f"- func: >-\n    mylib::f{schema}\n  dispatch:\n    CPU: f_cpu\n"
    file.write_text(entry)
    found = opgen.lint(opgen.Inputs(file, target=target))
    return [d.message for d in found if d.severity is opgen.Severity.error]


def kernels(schemas: Sequence[str], target: str, folder: Path) -> Mapping[str, tuple[str, str]]:
    """Return the type that the kernel of each operator returns, and its parameters, without namespaces."""
    file = folder / "all.yaml"
    entries = (
        f"- func: >-\n    mylib::f{i}x{schema}\n  dispatch:\n    CPU: f{i}x_cpu\n"
        for i, schema in enumerate(schemas)
    )
    file.write_text("".join(entries))
    texts = opgen.generate(opgen.Inputs(file, target=target))
    found = {}
    for i, schema in enumerate(schemas):
        (header,) = (text for name, text in texts.items() if name.endswith(f"ops/f{i}x_native.h"))
        declared = re.search(rf"^ *static (.*) f{i}x_cpu\((.*)\);", header, re.MULTILINE)
        assert declared is not None, header
        returned, parameters = (
            re.sub(r"\b(?:at|c10)::|::(?=std)", "", part) for part in declared.groups()
        )
        found[schema] = returned, parameters.replace("c10::", "")
    return found


def spelled(cell: str) -> str:
    return cell.strip("`").replace("std::", "")


@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_types(target: str, tmp_path: Path) -> None:
    """Protects the table of types: it must change when the types of kernels change."""
    table = rows("Types")
    assert len(table) > 25
    wanted = {}
    for schema, argument, returned in table:
        type_ = schema.strip("`")
        wanted[f"({type_} x) -> ()"] = (None, f"{spelled(argument)} x")
        if returned:
            wanted[f"(Tensor x) -> {type_}"] = (spelled(returned), None)
    found = kernels(list(wanted), target, tmp_path)
    for schema, parts in wanted.items():
        for part, said in zip(found[schema], parts):
            assert said is None or part.replace("std::", "") == said, schema


@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_defaults(target: str, tmp_path: Path) -> None:
    """Protects the table of defaults, in both directions: what it lists is accepted, the counter-examples are not."""
    checked = 0
    for types, defaults in rows("Defaults"):
        named = re.findall(r"`([^`]+)`", types)
        values = re.findall(r"`([^`]+)`", defaults)
        if types == "any type with `?`":
            named = ["Tensor?", "int?", "str?", "Scalar?", "ScalarType?"]
        pairs = zip(named, values) if len(named) == len(values) else [(named[0], v) for v in values]
        for type_, value in pairs if named[0] != "Tensor?" else [(t, "None") for t in named]:
            assert errors(f"({type_} x={value}) -> ()", target, tmp_path) == [], (type_, value)
            checked += 1
    assert checked > 20
    for type_, value in (("int", "True"), ("int", "1.5"), ("int", "1 + 1"), ("float", "inf")):
        assert errors(f"({type_} x={value}) -> ()", target, tmp_path), (type_, value)


@pytest.mark.parametrize(
    "schema",
    [
        "(Tensor(a!) x) -> ()",
        "(Tensor! x) -> ()",
        "(Tensor(a) self) -> Tensor(a)",
        "(Tensor(a!) self) -> Tensor(a!)",
        "(Tensor(a -> *) self) -> Tensor(a)[]",
        "(Tensor(a!)[] x) -> ()",
        "(Tensor x) -> (Tensor, Tensor)",
        "(Tensor x) -> (Tensor low, Tensor high)",
        "(Tensor x) -> Tensor[]",
        "(Tensor(a!) x, Tensor(b!) y) -> ()",
    ],
)
def test_annotations_and_returns(schema: str, tmp_path: Path) -> None:
    """Protects the forms that the page lists."""
    for target in ("runtime", "torch"):
        assert errors(schema, target, tmp_path) == []
