"""`opgen coverage`: the exact report, the page of HTML, and the forms of a list of operators."""

from __future__ import annotations

import json
import os
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cli_support import Opgen

from opgen.diagnostics import Source
from opgen.parse.operator_names import parse_operator_list

HERE = Path(__file__).parent / "coverage"
GIVEN = ("coverage", str(HERE / "backend.yaml"), str(HERE / "operators.yaml"))


class Page(HTMLParser):
    """What a page shows: each operator with its kind and its text, the widths of the bar, and the links."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.bar: dict[str, int] = {}
        self.links: list[str] = []
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        match tag:
            case "li":
                self._name = given["id"]
                self.operators[self._name] = given["class"]
                assert given["title"].startswith(f"{self._name}: ")
            case "span":
                self.bar[given["class"]] = int(given["style"].removeprefix("flex: "))
            case "a":
                self.links.append(given["href"].removeprefix("#"))

    def handle_endtag(self, tag: str) -> None:
        self._name = "" if tag == "li" else self._name

    def handle_data(self, data: str) -> None:
        if self._name:
            self.texts[self._name] = self.texts.get(self._name, "") + data


def is_as_written(name: str, text: str) -> None:
    path = HERE / name
    if os.environ.get("OPGEN_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), f"if this is intended: OPGEN_UPDATE_GOLDEN=1 ({name})"


def test_against_every_operator(opgen: Opgen) -> None:
    """Protects the verdict on each operator, and the rows of the page."""
    result = opgen(*GIVEN, "--against", "all", "--html", "page.html")
    assert (result.exit_code, result.stderr) == (0, "")
    is_as_written("all.txt", result.stdout)
    page = Page()
    page.feed(Path("page.html").read_text())
    assert len(page.operators) == 14 and page.bar == {
        "structured": 3,
        "kernel": 3,
        "made": 2,
        "composite": 3,
        "fallback": 0,
        "missing": 3,
    }
    assert page.operators == coverages(opgen, "all")


def test_the_kernel_that_runs_each(opgen: Opgen) -> None:
    """A variant is covered if the out kernel that it is made from exists; the others come from PyTorch or are missing."""
    kinds = coverages(opgen, "all")
    assert kinds == {
        **dict.fromkeys(("aten::add.Tensor", "aten::add_.Tensor", "aten::add.out"), "structured"),
        **dict.fromkeys(("aten::mul.out", "aten::view", "aten::abs.out"), "kernel"),
        **dict.fromkeys(("aten::mul", "aten::abs"), "made"),
        **dict.fromkeys(("aten::square", "aten::clone", "aten::clone.out"), "composite"),
        **dict.fromkeys(("aten::sub", "aten::sub.out"), "missing"),
        "aten::sum_of_squares_of_the_differences": "missing",
    }


def test_the_cpu_stands_in_for_a_backend(opgen: Opgen) -> None:
    text = (HERE / "backend.yaml").read_text()
    Path("backend.yaml").write_text(f"{text}cpu_fallback: true\n")
    kinds = coverages(opgen, "all", "backend.yaml")
    assert [name for name, kind in kinds.items() if kind == "fallback"] == [
        *("aten::sub", "aten::sub.out", "aten::sum_of_squares_of_the_differences"),
    ]
    assert "missing" not in kinds.values()


def test_gradients(opgen: Opgen) -> None:
    """Where the gradient of each operator comes from, and what it lacks, in every form of the report."""
    formulas = ("--derivatives", str(HERE / "formulas" / "derivatives.yaml"))
    result = opgen(*GIVEN, *formulas, "--against", "all", "--html", "page.html")
    assert (result.exit_code, result.stderr) == (0, "")
    is_as_written("gradients.txt", result.stdout)
    page = Page()
    page.feed(Path("page.html").read_text())
    assert page.links == ["aten::sub", "aten::sum_of_squares_of_the_differences"]
    assert all(link in page.operators for link in page.links)
    assert {name: text for name, text in page.texts.items() if "●" in text or "○" in text} == {
        **{name: f"{name} ●" for name in ("aten::add.Tensor", "aten::add_.Tensor")},
        **{name: f"{name} ●" for name in ("aten::clone", "aten::square")},
        "aten::abs": "aten::abs ○",
        "aten::mul": "aten::mul ○ aten::sub aten::sum_of_squares_of_the_differences",
    }
    rows = json.loads(opgen(*GIVEN, *formulas, "--against", "all", "--format", "json").stdout)
    found = {row["name"]: row.get("gradient") for row in rows["operators"]}
    assert found == {
        **dict.fromkeys(("aten::add.Tensor", "aten::add_.Tensor", "aten::clone"), "formula"),
        **dict.fromkeys(
            ("aten::add.out", "aten::mul.out", "aten::abs.out", "aten::clone.out"), "none"
        ),
        **dict.fromkeys(("aten::sub", "aten::sub.out"), None),
        "aten::mul": "lacking",
        "aten::view": "none",
        "aten::abs": "missing",
        "aten::square": "composite",
        "aten::sum_of_squares_of_the_differences": None,
    }
    (lacking,) = [row for row in rows["operators"] if "lacks" in row]
    assert lacking["lacks"] == ["aten::sub", "aten::sum_of_squares_of_the_differences"]


def test_an_autograd_kernel_of_the_backend(opgen: Opgen) -> None:
    text = (HERE / "backend.yaml").read_text()
    Path("backend.yaml").write_text(text.replace("- mul.out\n", "") + "autograd:\n- mul\n")
    formulas = ("--derivatives", str(HERE / "formulas" / "derivatives.yaml"))
    result = opgen(
        "coverage", "backend.yaml", *GIVEN[2:], *formulas, "--against", "all", "--format", "json"
    )
    found = {row["name"]: row.get("gradient") for row in json.loads(result.stdout)["operators"]}
    assert found["aten::mul"] == "own" and found["aten::add.Tensor"] == "lacking"


def test_against_core(opgen: Opgen) -> None:
    kinds = coverages(opgen, "core")
    assert len(kinds) == 7 and kinds["aten::abs.out"] == "kernel"


def test_against_a_graph(opgen: Opgen) -> None:
    """Calls are counted; an operator that the YAML lacks is reported and not counted."""
    result = opgen(*GIVEN, "--against", str(HERE / "graph.txt"))
    assert result.exit_code == 0
    assert "warning[W0915]: there is no operator 'vision::nms'" in result.stderr
    assert "graph.txt:6:11" in result.stderr
    is_as_written("graph.report.txt", result.stdout)
    assert opgen(*GIVEN, "--against", str(HERE / "graph.txt"), "--deny-warnings").exit_code == 1


LISTS = (
    ("aten::add.Tensor\n\n# none\nmul 3  # often\n", {"aten::add.Tensor": 1, "aten::mul": 3}),
    ("aten.add.Tensor\naten.mul.default 2\nadd.Tensor\n", {"aten::add.Tensor": 2, "aten::mul": 2}),
    ("%a = torch.ops.x.y.z(torch.ops.x.y.default)\nmul\n", {"x::y.z": 1, "x::y": 1}),
    ("", {}),
)


@pytest.mark.parametrize(("text", "expected"), LISTS, ids=["lines", "dotted", "graph", "empty"])
def test_lists(text: str, expected: dict[str, int]) -> None:
    found = parse_operator_list(Source("list.txt", text))
    assert {operator.name: operator.calls for operator in found} == expected
    for operator in found:
        assert (
            text[operator.span.start : operator.span.end].split(".")[-1]
            in operator.name + "default"
        )


def test_a_name_without_overload_means_all_of_them(opgen: Opgen) -> None:
    Path("list.txt").write_text("aten::add\n")
    assert coverages(opgen, "list.txt").keys() == {"aten::add.Tensor", "aten::add.out"}


def test_unreadable_input(opgen: Opgen) -> None:
    missing = opgen(*GIVEN, "--against", "nowhere.txt")
    assert missing.exit_code == 1 and "E0905" in missing.stderr and not missing.stdout
    Path("backend.yaml").write_text(
        (HERE / "backend.yaml").read_text().replace("mul.out", "mil.out")
    )
    unknown = opgen("coverage", "backend.yaml", *GIVEN[2:])
    assert unknown.exit_code == 1 and "E0808" in unknown.stderr
    unwritten = opgen(*GIVEN, "--html", "backend.yaml/page.html")
    assert unwritten.exit_code == 1 and "E0904" in unwritten.stderr


def test_a_target_without_operators_needs_a_yaml(opgen: Opgen) -> None:
    result = opgen("coverage", str(HERE / "backend.yaml"), "--target", "runtime")
    assert result.exit_code == 2 and "missing argument" in result.stderr


def coverages(opgen: Opgen, against: str, backend: str = GIVEN[1]) -> dict[str, str]:
    result = opgen("coverage", backend, *GIVEN[2:], "--against", against, "--format", "json")
    assert result.exit_code == 0, result.stderr
    values = json.loads(result.stdout)
    kinds = {row["name"]: row["coverage"] for row in values["operators"]}
    counts = {kind: count for kind, count in values["counts"].items() if count}
    assert counts == {kind: list(kinds.values()).count(kind) for kind in set(kinds.values())}
    return kinds
