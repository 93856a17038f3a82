"""Files of domains: what they say, and where their mistakes are."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.model.domains import Between, OneOf
from opgen.parse.files.domains import parse_domains

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from opgen.verify import domains

GOOD = """\
mylib::decibels:
  values:
    self: {between: [0.1, 10]}
    base: {one_of: [2, 2.5, true, null, [1, 2], e]}
    x: {away_from: [0, 1], by: 0.25}
  dtypes: [float32, float64]
  why: logarithms of positive numbers

mylib::lookup.out:
  shapes:
    table: [rows, 3]
  skip:
    vmap: a batching rule follows
  non_differentiable: [index]
  unspecified: true
"""

OPERATORS = {
    "mylib::decibels": ["self", "base", "x"],
    "mylib::lookup": ["table", "index"],
    "mylib::lookup.out": ["table", "index", "out"],
}


def test_what_a_file_says() -> None:
    diagnostics = Diagnostics()
    found = parse_domains(Source("domains.yaml", GOOD), diagnostics).domains
    assert not diagnostics
    decibels, lookup = found["mylib::decibels"], found["mylib::lookup.out"]
    values = decibels.arguments
    assert isinstance(values["self"], Between) and (values["self"].low, values["self"].high) == (
        *(0.1, 10),
    )
    assert isinstance(values["base"], OneOf)
    assert values["base"].choices == (2, 2.5, True, None, [1, 2], "e")
    assert isinstance(values["x"], Between) and (values["x"].points, values["x"].gap) == (
        *((0, 1), 0.25),
    )
    assert decibels.dtypes == ("float32", "float64")
    assert decibels.why == "logarithms of positive numbers"
    assert lookup.shapes == {"table": ("rows", 3)}
    assert lookup.skip == {"vmap": "a batching rule follows"}
    assert lookup.non_differentiable == ("index",) and lookup.unspecified


def first_error(text: str, tmp_path: Path) -> tuple[str, int, str]:
    """Return the code, the line and the hint of the first error, after all checks."""
    file = tmp_path / "domains.yaml"
    file.write_text(text)
    diagnostics = Diagnostics()
    parsed = domains.parse_all([file], diagnostics)
    domains.check_names(parsed, OPERATORS, diagnostics)
    error = next(iter(diagnostics), None)
    assert error is not None and error.span is not None, "no error, or none with a place"
    line = error.span.source.location(error.span.start).line
    return str(error.code), line, f"{error.message}; {error.hint}"


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("- mylib::decibels\n", "E0851", 1, "maps names of operators"),
        ("mylib::decibels: 3\n", "E0853", 1, "is a mapping"),
        ("mylib::decibels:\n  valus: {}\n", "E0852", 2, "did you mean 'values'?"),
        ("mylib::decibels:\n  values:\n    self: positive\n", "E0853", 3, "mapping"),
        (
            "mylib::lookup:\n  shapes:\n    index: [n]\n    table: [-5]\n",
            "E0853",
            4,
            "not negative: -5",
        ),
        (f"mylib::lookup:\n  shapes:\n    table: [n, {10**20}]\n", "E0853", 3, f"not {10**20}"),
        (
            f"mylib::lookup:\n  shapes:\n    table: [{'9' * 5000}]\n",
            "E0853",
            3,
            "a number or a letter",
        ),
        (
            "mylib::lookup:\n  shapes:\n    table: [1.5]\n",
            "E0853",
            3,
            "a number or a letter, not '1.5'",
        ),
        ("mylib::lookup:\n  shapes:\n    table: [65536, 65_536]\n", "E0853", 3, f"not {2**32}"),
        (
            "mylib::decibels:\n  values:\n    self: {between: [10, 0.1]}\n",
            *("E0854", 3, "no number is above 10.0 and below 0.1"),
        ),
        (
            "mylib::decibels:\n  values:\n    self: {between: [1]}\n",
            *("E0853", 3, "'between' takes two numbers"),
        ),
        ("mylib::decibels:\n  values:\n    slef: {one_of: [1]}\n", "E0855", 3, "'self'"),
        ("mylib::decibells:\n  why: x\n", "E0855", 1, "did you mean 'mylib::decibels'?"),
        ("mylib::lookup:\n  skip: {vmapp: x}\n", "E0855", 2, "did you mean 'vmap'?"),
        ("mylib::lookup:\n  dtypes: [float23]\n", "E0855", 2, "did you mean 'float32'?"),
        ("mylib::lookup:\n  non_differentiable: [indx]\n", "E0855", 2, "did you mean 'index'?"),
        ("mylib::lookup: {why: 'x\n", "E0102", 1, "not YAML"),
    ],
)
def test_mistakes_have_a_place_and_a_hint(
    text: str, code: str, line: int, words: str, tmp_path: Path
) -> None:
    found, where, message = first_error(text, tmp_path)
    assert (found, where) == (code, line) and words in message, message


def test_other_libraries_may_share_a_file() -> None:
    """Protects a file for two libraries: operators of a namespace that is not loaded are not mistakes."""
    diagnostics = Diagnostics()
    parsed = parse_domains(Source("domains.yaml", "otherlib::f: {why: x}\n"), diagnostics)
    domains.check_names([parsed], OPERATORS, diagnostics)
    assert not diagnostics


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n\nDOMAIN = {}\n", "domains.py: DOMAINS must be a dict"),
        ("DOMAINS = {'f': 3}\n", "domains.py: DOMAINS must be a dict"),
        ("x = 1\nraise KeyError('gone')\n", "domains.py:2: KeyError: 'gone'"),
        ("x = 1\ny = (\n", "domains.py:2: "),
    ],
)
def test_mistakes_in_python_have_a_place(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "domains.py"
    file.write_text(text)
    with pytest.raises(domains.DomainsError) as raised:
        domains.read_domains([file])
    assert message in str(raised.value)


def test_files_beside_schemas_are_found(tmp_path: Path) -> None:
    (tmp_path / "domains.yaml").write_text("mylib::f: {why: x}\n")
    (tmp_path / "domains.py").write_text(
        "from opgen.verify import Domain\nDOMAINS = {'mylib::g': Domain(why='y')}\n"
    )
    files = domains.beside([tmp_path / "a.yaml", tmp_path / "b.yaml"])
    assert [file.name for file in files] == ["domains.yaml", "domains.py"]
    assert sorted(domains.read_domains(files)) == ["mylib::f", "mylib::g"]


@pytest.mark.parametrize("sizes", [(-5,), (10**20,), ("n", 1 << 20, 1 << 20)])
def test_shapes_in_python_are_checked_where_they_are_written(
    sizes: tuple[int | str, ...], tmp_path: Path
) -> None:
    """Protects from a crash of the operator that the author of the shape caused."""
    file = tmp_path / "domains.py"
    file.write_text(
        "from opgen.verify import Domain\n"
        f"DOMAINS = {{'mylib::f': Domain(shapes={{'x': {sizes!r}}})}}\n"
    )
    with pytest.raises(domains.DomainsError, match=r"domains\.py:2: .*the shape of 'x': a "):
        domains.read_domains([file])
