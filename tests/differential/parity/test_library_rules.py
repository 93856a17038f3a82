"""docs/reference/torchgen-differences.md states the rules for operators of libraries: each of its cases is linted, and
parsed by PyTorch.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from differences_table import codes_in, read_table
from library_cases import (
    Case,
    refusal_cases,
    refused,
    reported,
    rule_cases,
    rule_rows,
    strict_cases,
)

from opgen.diagnostics import describe
from support.error_cases import PAGE, schema_cases
from support.library_schemas import FORMS
from support.torch_extension import require_torch

BOTH = ("torch", "runtime")
RULES, REFUSALS, STRICT = rule_cases(), refusal_cases(), strict_cases()


def _ids(cases: list[Case]) -> list[str]:
    return [f"{case.name.split()[0].strip(',')}-{i}" for i, case in enumerate(cases)]


@pytest.mark.parametrize("case", [*RULES, *REFUSALS], ids=_ids([*RULES, *REFUSALS]))
def test_opgen(case: Case) -> None:
    found = reported(case.text)
    # A row with several codes has a case for each.
    if len(case.codes) > 1:
        assert found and found <= case.codes, case.text
    else:
        assert found == case.codes, case.text


@pytest.mark.parametrize("case", STRICT, ids=_ids(STRICT))
def test_strict_torchgen(case: Case) -> None:
    """Files without library features: what is rejected under --strict-torchgen is accepted without it."""
    # Operators without a namespace are in aten, which target torch does not accept.
    found = reported(case.text, BOTH, strict=True) - {"E0753"}
    assert found and found <= case.codes, case.text
    assert not {code for code in reported(case.text) if code.startswith("E")} - {"E0241"}


@pytest.mark.parametrize(
    "case", [*RULES, *REFUSALS, *STRICT], ids=_ids([*RULES, *REFUSALS, *STRICT])
)
def test_pytorch(case: Case) -> None:
    for schema in case.schemas:
        said = _refusal_by_torch(schema)
        assert (said is None) == case.torch_takes, said


def test_each_code_of_a_row_has_a_case() -> None:
    for cases, strict in ((RULES, False), (REFUSALS, False), (STRICT, True)):
        rows = defaultdict[tuple[str, frozenset[str]], set[str]](set)
        for case in cases:
            rows[case.name, case.codes] |= reported(
                case.text, BOTH if strict else BOTH[:1], strict=strict
            )
        assert all(codes <= found for (_, codes), found in rows.items())


def test_every_number_that_differs_for_libraries_is_listed() -> None:
    """A number whose codes are all reported only under torchgen's rules is in the table of rules."""
    listed = {n for numbers, *_ in rule_rows() for n in numbers.split(", ")}
    verdicts = read_table().numbers
    assert listed <= verdicts.keys()
    alone = {
        number
        for number, verdict in verdicts.items()
        if re.match(r"[EW]\d{4}", verdict)
        and all(
            "namespace aten" in describe(code).scope
            for code in re.findall(r"^E\d{4}|(?<=, )E\d{4}", verdict)
        )
    }
    assert alone - listed == set()


@pytest.mark.slow
def test_a_number_that_is_not_listed_holds_for_libraries() -> None:
    """The example of a code is rejected in a library, too."""
    listed = {n for numbers, *_ in rule_rows() for n in numbers.split(", ")}
    listed |= {"V082"}  # test_both_reject; the example of the code is V074
    holds: dict[str, bool] = {}
    verdicts = read_table().numbers
    codes = {n: codes_in(verdict) for n, verdict in verdicts.items() if verdict[:1] in "EW"}
    for case in schema_cases():
        numbers = {number for number in codes.keys() - listed if case.code in codes[number]}
        if case.page != PAGE or not numbers or "--python" in case.read.words:
            continue
        text = re.sub(r"^(- func: )(?!.*::.*\()", r"\1my::", case.content.decode(), flags=re.M)
        found = case.code in reported(text, BOTH)
        holds |= {number: found or holds.get(number, False) for number in numbers}
    assert [number for number, found in holds.items() if not found] == []


def test_strict_torchgen_rejects_the_cases_of_the_rules() -> None:
    """The first table lists these cases; torchgen accepts only those of A34, without checking them."""
    taken = [
        case.text
        for case in RULES
        if not case.name.startswith("A34")
        and not any(code.startswith("E") for code in reported(case.text, BOTH, strict=True))
    ]
    assert taken == []


def test_schemas_that_only_opgen_accepts() -> None:
    for schema in (
        "my::f(Tensor x)\n  -> Tensor",
        "my::f(Tensor x) -> # one\nTensor",
        "my::f(Tensor\xa0x) -> Tensor",
        "my::f(Device x='nowhere') -> Tensor",
    ):
        assert not refused(schema)
        assert _refusal_by_torch(schema) is not None


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("my::f(int x=) -> ()", "E0311"),  # V082
        ("my::f(float x=1 E5) -> ()", "E0703"),
        ("my::f(int[] x=[1 2]) -> ()", "E0703"),
        ("my::f(int[2]?? x) -> ()", "E0307"),
        ("my::f(str[] x=['a']) -> ()", "E0703"),
        ("my::f(Tensor[] x=[]) -> ()", "E0703"),
        ("my::f(SymBool x=True) -> ()", "E0703"),
        ("my::f() -> (int, int)[]", "E0301"),
        ("my::f() -> int, int", "E0301"),
        ("in::f() -> int", "E0327"),
        ("my::f(Tensor(None) x) -> ()", "E0312"),
    ],
)
def test_both_reject(schema: str, code: str) -> None:
    """Protects libraries from an exception while they are loaded."""
    assert refused(schema) == {code}
    assert _refusal_by_torch(schema) is not None


# Words that replace others in schemas, so that most results are nearly valid.
_PIECES = (
    *(
        "Tensor",
        "int",
        "float",
        "str",
        "bool",
        "Scalar",
        "complex",
        "Device",
        "Dict(str, Tensor)",
        "(int, int)",
    ),
    *(
        "?",
        "[]",
        "[2]",
        "[0]",
        "!",
        "(a!)",
        "(a)",
        "(a -> *)",
        "(a|b)",
        "*",
        ",",
        "(",
        ")",
        "->",
        "()",
        "...",
    ),
    *(
        "=1",
        "=None",
        "=True",
        "='a'",
        "=[1]",
        "=[]",
        "=1.5",
        "=-1",
        "=float",
        "=1e5",
        "=1j",
        "='cpu'",
        "=[1.0]",
    ),
    *(
        "x",
        "self",
        "out",
        "None",
        "Any",
        "Future(int)",
        "Generator?",
        "t",
        "in",
        "is",
        "new",
        ".",
        "::",
        "|",
        "'",
    ),
)
_PIECE = re.compile(r"\s+|[A-Za-z_]\w*|\d+\.?\d*|->|\"[^\"]*\"|'[^']*'|.")


def _changed_forms(count: int) -> Iterator[str]:
    draw = random.Random("opgen")
    for _ in range(count):
        pieces = _PIECE.findall(draw.choice(FORMS))
        for _ in range(draw.choice((1, 1, 1, 2))):
            at = draw.randrange(len(pieces))
            pieces[at : at + draw.randrange(2)] = draw.choice(((), (draw.choice(_PIECES),)))
        text = "".join(pieces)
        yield text if "::" in text.partition("(")[0] else f"my::{text}"


@pytest.mark.parametrize(
    "count",
    [
        400,
        pytest.param(2_000, marks=pytest.mark.slow),
        pytest.param(12_000, marks=pytest.mark.nightly),
    ],
)
def test_changed_forms(count: int) -> None:
    """opgen accepts exactly what PyTorch's parser accepts, apart from the exceptions on the page."""
    listed = {code for case in REFUSALS for code in case.codes}
    wrong = []
    for schema in _changed_forms(count):
        ours, theirs = refused(schema), _refusal_by_torch(schema)
        if theirs is None and not ours <= listed:
            wrong.append(f"{schema}: {sorted(ours)}")
        elif theirs is not None and not ours and "Expected one of cpu, cuda" not in theirs:
            wrong.append(f"{schema}: PyTorch says {theirs.splitlines()[0]}")
    assert not wrong, "\n".join(wrong)


_VALUES = (
    *(
        "None",
        "True",
        "0",
        "-1",
        "+1",
        "1.5",
        "1e5",
        "01",
        "1j",
        "-1j",
        "nan",
        "'a'",
        '"a"',
        "'cpu'",
        "'cuda:1'",
    ),
    *(
        "'cuda:'",
        "cpu",
        "[]",
        "[1]",
        "[1, 2]",
        "[1.5]",
        "[True]",
        "[None]",
        "['a']",
        "[1,]",
        "[+1]",
        "[half]",
    ),
    *("[1j]", "Mean", "long", "float", "strided", "contiguous_format", "hello", "6", "1 2", ""),
)
_BASES = (
    *(
        "Tensor",
        "int",
        "float",
        "bool",
        "str",
        "Scalar",
        "complex",
        "SymInt",
        "SymBool",
        "Device",
        "Layout",
    ),
    *("DeviceIndex", "MemoryFormat", "ScalarType", "Generator", "Storage", "Any", "(int, int)"),
)


# PyTorch looks up the device while it parses; opgen does not know all names.
_DEVICES = ["my::f(Device x='a') -> ()", 'my::f(Device x="a") -> ()']


@pytest.mark.parametrize(
    "step",
    [pytest.param(5, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.nightly)],
)
def test_defaults(step: int) -> None:
    """A default that opgen accepts is accepted by PyTorch's parser: for every type, in every form."""
    schemas = [
        f"my::f({base}{marks} x={value}) -> ()"
        for base in _BASES
        for marks in ("", "?", "[]", "[2]", "[]?", "[2]?", "?[]", "?[2]")
        for value in _VALUES
    ]
    taken = [schema for schema in schemas[::step] if not refused(schema)]
    assert len(taken) > 200 / step
    wrong = [schema for schema in taken if _refusal_by_torch(schema) is not None]
    assert wrong == [schema for schema in _DEVICES if schema in taken]


def _refusal_by_torch(schema: str) -> str | None:
    require_torch()
    from torch._C import parse_schema  # noqa: PLC0415

    try:
        parse_schema(schema)
    except Exception as error:
        return str(error) or type(error).__name__
    return None
