"""The reports of `opgen verify`: every format contains every finding, and nothing that was not tested is a success."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from opgen.cli.verify import _FORMATS
from opgen.verify import reports
from opgen.verify.api import Report
from opgen.verify.reports import progress_line, render_html, render_terminal
from opgen.verify.runner.messages import (
    EXCLUDED,
    FAILED,
    NOT_APPLICABLE,
    NOT_TESTED,
    PASSED,
    OperatorReport,
    Request,
    Shown,
    Verdict,
)
from opgen.verify.runner.session import Verification

SHOWN = Shown("reads <byte> 4 & more", 'x=float32[2], mode="a"', "print(1 < 2)\n")


def verification(tmp_path: Path) -> Verification:
    yaml = tmp_path / "mylib.yaml"
    yaml.write_text("\n- func: mylib::f(Tensor x) -> Tensor\n")
    broken = OperatorReport(
        "mylib::f",
        "mylib::f",
        [
            Verdict("read-beyond", FAILED, 3, findings=(SHOWN,)),
            Verdict("strided-inputs", PASSED, 12),
            Verdict("gil", NOT_TESTED, reason="no size can grow"),
            Verdict("vmap", EXCLUDED, reason="a batching rule follows"),
            Verdict("out-agrees", NOT_APPLICABLE, reason="it has no out="),
        ],
        file=str(yaml),
        line=2,
    )
    good = OperatorReport("mylib::g", "mylib::g", [Verdict("read-beyond", PASSED, 12)])
    return Verification(Request(seed=7), [broken, good], 2.0, False, 2)


def test_the_terminal(tmp_path: Path) -> None:
    text = render_terminal(verification(tmp_path))
    assert "mylib::f: V0113 read-beyond\n  reads <byte> 4 & more\n" in text
    assert "opgen explain V0113" in text
    assert "1 operator, gil: no size can grow" in text
    assert "2 operators, 4 verdicts in 2 s: 1 violated in 1 operator, 2 hold, 1 not tested" in text
    assert "1 excluded by the author" in text and "--seed 7" in text
    assert "Memory of new tensors was not watched" in text
    assert "\x1b" not in text and "\x1b" in render_terminal(verification(tmp_path), color=True)
    lines = [progress_line(report) for report in verification(tmp_path).operators]
    assert lines == ["mylib::f: read-beyond", "mylib::g: 1 hold"]


def test_json(tmp_path: Path) -> None:
    found = json.loads(reports.render_json(verification(tmp_path)))
    assert found["version"] == 1 and found["seed"] == 7
    assert found["counts"] == {
        "failed": 1,
        "passed": 2,
        "not tested": 1,
        "excluded": 1,
        "not applicable": 1,
    }
    (shown,) = found["operators"][0]["verdicts"][0]["findings"]
    assert shown["message"] == SHOWN.message and shown["program"] == SHOWN.program


def test_junit(tmp_path: Path) -> None:
    root = ElementTree.fromstring(reports.render_junit(verification(tmp_path)))
    broken, good = root.findall("testsuite")
    assert (broken.get("tests"), broken.get("failures"), broken.get("skipped")) == ("4", "1", "2")
    assert (good.get("tests"), good.get("failures")) == ("1", "0")
    failure = broken.find("testcase[@name='read-beyond']/failure")
    assert failure is not None and failure.get("message") == SHOWN.message
    assert broken.find("testcase[@name='gil']/skipped") is not None


def test_sarif_and_github(tmp_path: Path) -> None:
    """Protects annotations of pull requests: each is at the line of its entry."""
    log = json.loads(_FORMATS["sarif"](verification(tmp_path)))
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "V0113"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == 2
    (line,) = _FORMATS["github"](verification(tmp_path)).splitlines()
    assert line.startswith("::error ") and "line=2" in line and "V0113" in line


class Cells(HTMLParser):
    """Collects the classes of the cells of a table, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.classes: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "meta":
            return
        self.open.append(tag)
        if tag == "td" and dict(attrs).get("class"):
            self.classes.append(str(dict(attrs)["class"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html(tmp_path: Path) -> None:
    text = render_html(verification(tmp_path))
    page = Cells()
    page.feed(text)
    assert not page.open
    # Properties in their order, one row for each operator; the second was asked for one property only.
    rows = [["violated", "held", "untested", "excluded", "none"], ["held", *4 * ["none"]]]
    assert sorted(page.classes) == sorted(rows[0] + rows[1])
    assert "reads &lt;byte&gt; 4 &amp; more" in text and "print(1 &lt; 2)" in text


def test_when_a_report_is_ok(tmp_path: Path) -> None:
    """Protects a test from passing although nothing was tested."""
    found = verification(tmp_path)
    assert not Report(found).ok
    found.operators = found.operators[1:]
    assert Report(found).ok
    found.operators = [OperatorReport("mylib::g", "mylib::g", [Verdict("gil", NOT_TESTED)])]
    assert not Report(found).ok
    found.operators = []
    assert not Report(found).ok


def test_what_is_certified() -> None:
    """Protects from a certificate of an operator of which hardly anything was called."""
    verdicts = [Verdict("read-beyond", PASSED, 12)]
    enough = {"accepted calls": 50, "with several elements": 20, "strided": 4, "dtypes": 1}
    scalars = {**enough, "with several elements": 0}
    good = OperatorReport("mylib::f", verdicts=verdicts, reached=enough)
    few = OperatorReport("mylib::g", verdicts=verdicts, reached=scalars)
    factory = OperatorReport("mylib::h", verdicts=verdicts, reached=scalars, takes_tensors=False)
    text = render_terminal(Verification(Request(), [good, few, factory], 2.0, True, 1))
    assert "mylib::g: 0 with several elements, of at least 20 (50 accepted calls" in text
    assert "certified: 2 of 3 operators" in text
    assert "mylib::f" not in text and "mylib::h" not in text
    some = render_terminal(Verification(Request(properties=("gil",)), [few], 2.0, True, 1))
    assert "certified" not in some


def test_how_sure_a_clean_answer_about_threads_is() -> None:
    """Protects from a certificate that does not say which races it can have missed."""
    report = OperatorReport("mylib::f", reached={"in two threads at the same time": 240})
    assert "240 in two threads at the same time (a race in 1 of 80 shows)" in progress_line(report)


def test_one_read_beyond_memory_is_one_finding() -> None:
    """Protects a reader from twenty findings with one cause: it comes first, and what follows from it is named."""
    names = ("strided-inputs", "read-beyond", "repeatable", "meta-shape")
    verdicts = [Verdict(name, FAILED, 1, findings=(SHOWN,)) for name in names]
    text = reports.render_findings(OperatorReport("mylib::f", verdicts=verdicts))
    assert text.startswith("mylib::f: V0113 read-beyond") and "mylib::f: V0130 meta-shape" in text
    assert text.count("opgen explain") == 2
    assert (
        "also violated, perhaps because of read-beyond: V0120 strided-inputs, V0151 repeatable"
        in text
    )
