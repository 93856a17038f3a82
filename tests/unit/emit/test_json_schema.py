"""`opgen schema` accepts what the parser accepts, and rejects every single value that the parser rejects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from opgen.diagnostics import Diagnostics, Source
from opgen.emit.reports.json_schema import build_json_schema
from opgen.model.dispatch_key import LIBRARY_DISPATCH_KEYS
from opgen.parse.entries.keys import (
    CLASS,
    HEADER,
    HEADER_KEYS,
    KEYS,
    describe_dispatch_key,
    described,
)
from opgen.parse.files.native_functions import builtin_tags
from opgen.pipeline import queries
from support.entries import parse_native_functions
from support.pytorch import packaged_native_functions
from support.releases import RELEASES, write_files

ROOT = Path(__file__).parents[3]
FUNC = "- func: foo(Tensor self) -> Tensor\n"
VARIED = ROOT / "tests/support/library_forms.yaml"

# A value of each YAML type, and values for which single keys have rules.
VALUES = (
    *(
        "true",
        "no",
        "3",
        "1.5",
        "null",
        "x",
        "''",
        "[]",
        "[x]",
        "[1]",
        "[a b, c d]",
        "{}",
        "{a: b}",
    ),
    *(
        "function",
        "function, method",
        "function,method",
        "methods",
        "NoCheck",
        "ExactSame",
        "nocheck",
    ),
    *(
        "foo.out",
        "foo.out, foo_",
        "foo.out,foo_",
        "at::foo.out",
        "1foo",
        "TensorIteratorBase",
        "a-b",
        "ordered",
        "conservative",
        "order",
    ),
    *("core", "[core, pointwise]", "[cor]", "cor", "[core, 1]"),
    *("{CPU: foo}", "{'CPU, CUDA': foo}", "{'CPU,CUDA': foo}", "{CPO: foo}", "{'CPU, CPO': foo}"),
    *(
        "{CPU: 1}",
        "{CPU: at::foo}",
        "{CPU: a::b::c::d}",
        "{CPU: 'a b'}",
        "{Dense: foo}",
        "{CPU: null}",
    ),
    *(
        "add (Float)",
        "add (All, Bool)",
        "add (Flot)",
        "add",
        "{Generic: add (All)}",
        "{Gen: a (All)}",
    ),
    *("{Generic: 1}", "foo(Tensor self) -> Tensor", "foo(Tensor self)", "2026-01-01"),
    # Keys that only libraries have.
    *(
        "{Autograd: foo}",
        "{'CPU, AutocastCUDA': foo}",
        "{PrivateUse1: foo}",
        "{Autograd: fall through}",
    ),
    *("{CPU: '::a::b::c::foo'}", "{CPU: '::foo<at::Tensor, 2>'}", "{CPU: '::a b'}", "{CPU: '::'}"),
    *("{BackendSelect: fallthrough}", "{Quantized: foo}", "' foo ( Tensor x )->Tensor '"),
    *("'foo(Tensor x)->'", "'foo(Tensor! x) -> ()'", "'(Tensor x) -> ()'"),
)

# Keys of the header of a file.
HEAD_VALUES = (
    *("null", "3", "custom", "a::b", "a-b", "''", "[]", "[custom]", "{}"),
    *("kernels.h", "<a/b.h>", "[a.h, <b.h>]", "[a.h, 3]", "'a\"b'", "'<a'", "[[a.h]]"),
    *(
        "{a.C: 3}",
        "{C: {type: C, header: c.h}}",
        "{a.C: {type: C, header: c.h}}",
        "{a.C: {type: C}}",
    ),
    "{a.C: {type: '::a::C', header: <c.h>, define: a::define}}",
    "{a.C: {type: C, header: c.h, defines: d}}",
    "{a.C: {type: 'C D', header: c.h}}",
    "{a.C: {type: 'a::C<int, b::D*>', header: c.h}}",
    "{a.C: {type: C, header: c.h, define: null}}",
)

# The parser's codes about one value by itself. All others are rules between keys.
OF_A_VALUE = {
    *("E0201", "E0203", "E0204", "E0205", "E0206", "E0207", "E0208", "E0209", "E0210", "E0211"),
    *("E0220", "E0221", "E0222", "E0252", "E0253", "E0258", "E0260", "E0301", "E0304"),
}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft7Validator:
    schema = build_json_schema(builtin_tags())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@pytest.fixture(scope="module")
def strict() -> jsonschema.Draft7Validator:
    schema = build_json_schema(builtin_tags(), strict_torchgen=True)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def reported(text: str, namespace: str = "aten") -> set[str]:
    diagnostics = Diagnostics()
    source = Source("f.yaml", text)
    parse_native_functions([source], builtin_tags(), (), diagnostics, namespace=namespace)
    return {item.code for item in diagnostics}


def check(
    validator: jsonschema.Draft7Validator, namespace: str, func: str, keys: tuple[str, ...]
) -> None:
    """Compare both for every value above, so that the table of keys and the parser cannot diverge."""
    for key in keys:
        taken = 0
        for value in VALUES:
            text = f"- func: {value}\n" if key == "func" else f"{func}  {key}: {value}\n"
            codes = reported(text, namespace) & (OF_A_VALUE | {"E0302"})
            valid = validator.is_valid(yaml.safe_load(text))
            assert valid == (not codes), f"{key}: {value}: {codes or 'accepted by the parser'}"
            taken += valid
        assert 0 < taken < len(VALUES)


@pytest.mark.slow
def test_each_key_accepts_the_values_that_the_parser_accepts(
    validator: jsonschema.Draft7Validator, strict: jsonschema.Draft7Validator
) -> None:
    """Check each key once, for operators of aten or for those of libraries."""
    check(strict, "aten", FUNC, tuple(KEYS)[::2])
    check(validator, "custom", FUNC, tuple(KEYS)[1::2])


@pytest.mark.slow
def test_every_key_accepts_the_values_that_the_parser_accepts(
    validator: jsonschema.Draft7Validator, strict: jsonschema.Draft7Validator
) -> None:
    """Check operators of aten and those of libraries."""
    check(strict, "aten", FUNC, tuple(KEYS))
    others = tuple(key for key in KEYS if key != "func")
    check(validator, "custom", FUNC.replace("foo", "aten::foo"), others)
    check(validator, "custom", FUNC, tuple(KEYS))


@pytest.mark.parametrize("key", HEADER_KEYS)
def test_the_head_accepts_the_values_that_the_parser_accepts(
    validator: jsonschema.Draft7Validator, key: str
) -> None:
    for value in HEAD_VALUES:
        text = f"- {key}: {value}\n{FUNC}"
        codes = reported(text, "custom") & (OF_A_VALUE | {"E0303"})
        valid = validator.is_valid(yaml.safe_load(text))
        assert valid == (not codes), f"{key}: {value}: {codes or 'accepted by the parser'}"


def test_the_head_is_the_first_item(
    validator: jsonschema.Draft7Validator, strict: jsonschema.Draft7Validator
) -> None:
    for text, code in (
        (f"- namespace: custom\n{FUNC}", None),
        (f"{FUNC}- namespace: custom\n", "E0251"),
        (f"- namespace: custom\n- include: a.h\n{FUNC}", "E0251"),
        (f"- namespace: custom\n  func: 3\n{FUNC}", "E0201"),
        (f"- namespace: custom\n  variants: method\n{FUNC}", "E0252"),
        (f"- namspace: custom\n{FUNC}", "E0252"),
    ):
        assert (code is None) == validator.is_valid(yaml.safe_load(text)), text
        assert code is None or code in reported(text, "custom")
        assert not strict.is_valid(yaml.safe_load(text))


def test_there_is_no_other_key(validator: jsonschema.Draft7Validator) -> None:
    """The parser reports a key as unknown exactly if the schema has no key of that name."""
    for key in (*KEYS, "variant", "Func", "__line__"):
        text = f"- {key}: x\n"
        assert ("E0201" in reported(text)) == (key not in KEYS), key
    assert not validator.is_valid(yaml.safe_load(FUNC + "  variant: method\n"))
    for text in ("- variants: method\n", "func: x\n", "- x\n"):
        assert not validator.is_valid(yaml.safe_load(text))


@pytest.mark.slow
def test_our_own_files_are_valid(validator: jsonschema.Draft7Validator) -> None:
    """The schema for libraries includes PyTorch's language; VARIED has every form that libraries add."""
    schema = queries.json_schema("native_functions", ROOT / "tags.yaml", Diagnostics())
    own = jsonschema.Draft7Validator(schema)
    tags = jsonschema.Draft7Validator(queries.json_schema("tags", None, Diagnostics()))
    own.validate(yaml.safe_load((ROOT / "native_functions.yaml").read_text(encoding="utf-8")))
    tags.validate(yaml.safe_load((ROOT / "tags.yaml").read_text(encoding="utf-8")))
    assert not tags.is_valid([{"tag": "a"}])
    cases = sorted((ROOT / "tests/golden/trees").glob("*/input.yaml"))
    assert cases
    for case in (VARIED, *cases):
        validator.validate(yaml.safe_load(case.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_the_installed_torchs_file_is_valid() -> None:
    check_validity(packaged_native_functions())


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_files_of_older_releases_are_valid(tmp_path: Path, release: str) -> None:
    check_validity(write_files(release, tmp_path) / "native_functions.yaml")


def check_validity(path: Path) -> None:
    """Check a file against both forms of the schema, with the tags.yaml next to it."""
    entries: Any = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    assert isinstance(entries, list)
    for strict in (False, True):
        schema = queries.json_schema(
            "native_functions", path.with_name("tags.yaml"), Diagnostics(), strict_torchgen=strict
        )
        errors = list(jsonschema.Draft7Validator(schema).iter_errors(entries))
        assert not errors, f"{path}: {errors[0].json_path} {errors[0].message}"


def test_everything_has_a_description(strict: jsonschema.Draft7Validator) -> None:
    """Editors show them on hover: keys, dispatch keys, tags."""
    keys = strict.schema["items"]["properties"]
    assert all(key["description"].endswith(".") for key in keys.values())
    assert all(
        text.endswith(".") for text in (*described(HEADER).values(), *described(CLASS).values())
    )
    texts = {describe_dispatch_key(key) for key in LIBRARY_DISPATCH_KEYS}
    assert len(texts) == len(LIBRARY_DISPATCH_KEYS)
    tags = keys["tags"]["anyOf"][0]
    assert len(tags["enum"]) == len(tags["enumDescriptions"])
    assert json.dumps(strict.schema)
