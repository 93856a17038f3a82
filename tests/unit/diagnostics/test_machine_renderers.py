"""The output formats for programs."""

from __future__ import annotations

import json

import jsonschema

from opgen import data
from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.diagnostics.rendering import render_github, render_json, render_sarif

SOURCE = Source("dir/f.yaml", "- a: 1\n- b: 2\n")


def sample() -> Diagnostics:
    diagnostics = Diagnostics()
    span = Span(SOURCE, 9, 10)
    diagnostics.error(
        "E0201",
        "unknown key 'b', 100%",
        span,
        labels=[(Span(SOURCE, 2, 3), "first")],
        notes=["a note"],
        hint="did you mean 'a'?",
        fix=Edit(span, "a"),
    )
    diagnostics.warning("W1001", "no place", None)
    return diagnostics


def test_json_is_one_object_a_line() -> None:
    nowhere, found = map(json.loads, render_json(sample()).splitlines())
    assert nowhere["span"] is None
    assert nowhere["severity"] == "warning"
    assert found["code"] == "E0201"
    assert found["span"] == {
        "path": "dir/f.yaml",
        "start": 9,
        "end": 10,
        "line": 2,
        "column": 3,
        "end_line": 2,
        "end_column": 4,
    }
    assert found["labels"][0]["text"] == "first"
    assert found["fix"]["replacement"] == "a"
    assert found["notes"] == ["a note"]
    assert found["hint"] == "did you mean 'a'?"


def test_github_commands_are_escaped() -> None:
    nowhere, found = render_github(sample()).splitlines()
    assert nowhere == "::warning title=W1001::no place"
    assert found == (
        "::error title=E0201,file=dir/f.yaml,line=2,col=3,endLine=2,endColumn=4"
        "::unknown key 'b', 100%25 (did you mean 'a'?)"
    )


def test_sarif_has_the_rules_that_were_broken() -> None:
    log = json.loads(render_sarif(sample()))
    assert log["version"] == "2.1.0"
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["E0201", "W1001"]
    nowhere, found = run["results"]
    assert "locations" not in nowhere
    assert found["level"] == "error"
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "dir/f.yaml"
    assert place["region"] == {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 4}
    assert found["relatedLocations"][0]["message"]["text"] == "first"


def test_json_follows_its_schema() -> None:
    """This is the schema that `opgen schema diagnostics` prints."""
    schema = json.loads(data.read_text("diagnostics.schema.json"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    lines = [json.loads(line) for line in render_json(sample()).splitlines()]
    assert len(lines) == 2
    for line in lines:
        validator.validate(line)
    for key, value in (("severity", "fatal"), ("span", {}), ("more", 1), ("code", "X1")):
        assert not validator.is_valid({**lines[1], key: value}), key


def test_github_commands_cannot_be_broken_out_of() -> None:
    """Line ends, percent signs and, in properties, colons and commas are escaped."""
    diagnostics = Diagnostics()
    source = Source("a,b:c%.yaml", "x\ny\n")
    diagnostics.error("E0201", "one\r\n::error::two, 5%", Span(source, 0, 3))
    assert render_github(diagnostics) == (
        "::error title=E0201,file=a%2Cb%3Ac%25.yaml,line=1,col=1,endLine=2"
        "::one%0D%0A::error::two, 5%25\n"
    )


def test_nothing_to_report() -> None:
    assert render_json([]) == ""
    assert render_github([]) == ""
    assert json.loads(render_sarif([]))["runs"][0]["results"] == []
