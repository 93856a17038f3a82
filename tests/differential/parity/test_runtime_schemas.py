"""The runtime's schema parser accepts what PyTorch's accepts, with the same result."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtime_parser import Parsed, RuntimeParser, comparable, parse_with_torch

from support.build import runtime_library
from support.library_schemas import FORMS
from support.pytorch import torch_folder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parser() -> RuntimeParser:
    torch_folder()
    return RuntimeParser(runtime_library())


LINES = [
    "f(\n  Tensor! out,\n\n  Tensor input) -> ()",
    "f(Tensor x) -> (\nTensor,\n  int\n)",
    "\n\n f(Tensor x) -> Tensor\n  \n",
    "f(Tensor x, # the input\n  int n) -> Tensor  # and the output",
    "f(Tensor x) \\\n-> Tensor",
    "f(int[] x=[1,\n 2], str s='a\\\nb') -> ()",
    "f(int\rx, int\fy, int\vz) -> ()",
]

REFUSED = """
f
f(Tensor x)
f(Tensor x) ->
f(Tensor x) -> (
f(Tensor x) -> Tensor x y
f(Tensor x) - > Tensor
f(Tensor x) -> Tensor;
f(Tensor x,) -> ()
f(,Tensor x) -> ()
f(Tensor x y) -> ()
f(Tensor) -> ()
f(x) -> ()
f(Tensr x) -> ()
f(Tensor x) -> (Tensor, int,)
f(Tensor x) -> (Tensor, int)[]
f(Tensor x) -> int=3
f(Tensor?! x) -> ()
f(Tensor[]?! x) -> ()
f(Tensor(a)! x) -> ()
f(Tensor!! x) -> ()
f(Tensor(a!!) x) -> ()
f(Tensor(a)(b) x) -> ()
f(Tensor?(a) x) -> ()
f((Tensor, int)! x) -> ()
f(Tensor() x) -> ()
f(Tensor(!) x) -> ()
f(Tensor(1) x) -> ()
f(Tensor(a.b) x) -> ()
f(Tensor(a|) x) -> ()
f(Tensor(a -> ) x) -> ()
f(Tensor( -> a) x) -> ()
f(Tensor(a -> b!) x) -> ()
f(Tensor(*|a) x) -> ()
f(int[3][] x) -> ()
f(int[-1] x) -> ()
f(int[n] x) -> ()
f((int[3], int) x) -> ()
f((Tensor,) x) -> ()
f(Dict(str) x) -> ()
f(Dict(int[], int) x) -> ()
f(Dict x) -> ()
f(int x=1, int y) -> ()
f(int x=1, int[] y, int z) -> ()
f(int x=1, int[]? y) -> ()
f(int x=) -> ()
f(int x=abc) -> ()
f(int x=+1) -> ()
f(int x=--1) -> ()
f(int x=1 2) -> ()
f(int x=1_000) -> ()
f(int x=9223372036854775808) -> ()
f(float x=1e400) -> ()
f(float x=inf) -> ()
f(float x=-inf) -> ()
f(float x=nan) -> ()
f(float x=1.5f) -> ()
f(bool x=true) -> ()
f(str x=abc) -> ()
f(str x='abc) -> ()
f(str x="\\q") -> ()
f(str x="\\x41") -> ()
f(Tensor x=1) -> ()
f(int[] x=1) -> ()
f(int[] x=None) -> ()
f(int[] x=[1,]) -> ()
f(int[] x=[1.5]) -> ()
f(int[] x=[True]) -> ()
f(int[] x=[None]) -> ()
f(int[2] x=None) -> ()
f(int[2] x=1.5) -> ()
f(bool[] x=[1]) -> ()
f(ScalarType x=torch.float) -> ()
f(Device x="nowhere") -> ()
f.() -> ()
f.a.b() -> ()
a::() -> ()
::f() -> ()
a:b() -> ()
1f() -> ()
f-x() -> ()
f$() -> ()
f()\\n -> ()
""".strip().splitlines()

# Schemas that PyTorch accepts and our parser does not: the message, an example, the reason.
HERE_REFUSED = (
    ("has no counterpart", "f(Quantizer x) -> Future(Tensor)", "the runtime has no such values"),
    (
        r"'\.\.\.' stands for any",
        "f(...) -> ...",
        "no C++ function takes or returns any number of values",
    ),
    ("only tensors can", "f(int!? x) -> ()", "no operator writes to a number"),
    ("a list size|expected '\\]'", "f(int[0] x, int[1.5] y) -> ()", "sizes are numbers from 1 up"),
    ("bad number", "f(int x=0x10) -> ()", "PyTorch reads a 0"),
)
# Schemas that our parser accepts and PyTorch's does not: a pattern, an example, the reason. Files that opgen accepts
# under torchgen's rules may contain such schemas.
TORCH_REFUSED = (
    (
        r"\b(and|or|not|for|while|if|else|elif|in|is|break|continue|return|global|import|with|as|pass"
        r"|class|def|raise|assert|del|True|False|None)\b",
        "f(Tensor not, int class) -> ()",
        "any word may be a name",
    ),
    (r"\w\s*\.\s*(default|__)", "f.default() -> ()", "any word may name an overload"),
    (r"::.*::.*\(", "a::b::f() -> ()", "namespaces may be nested"),
    (
        r"\b(DimVector|GraphModule|__torch__)\b",
        "f(DimVector x, __torch__.torch.classes.no.One y) -> ()",
        "types that PyTorch does not have, or does not know",
    ),
    (
        r"=\s*(Sum|preserve_format|channels_last|sparse_)",
        "f(MemoryFormat x=preserve_format) -> ()",
        "names that PyTorch's own file uses",
    ),
    (
        r"([)!?\]]|Tensor|str|Scalar|Device|Any)\s*\[[\s\d]*\]\s*(!|\([^)]*\))?\s*\w+\s*=\s*\[",
        "f(str[] x=['a'], Tensor[] y=[]) -> ()",
        "lists of any type",
    ),
    (r"\?\s*\w+\s*=\s*\[", "f(int[]? x=[1]) -> ()", "lists that may be None"),
    (
        r"(Storage|Stream|QScheme|Any|SymBool|NoneType|GraphModule|\))\s*\w+\s*=",
        "f(Any x=None, SymBool y=True) -> ()",
        "defaults of any type",
    ),
    (r"Device\s*\w+\s*=\s*[a-z]", "f(Device x=cpu) -> ()", "devices without quotes"),
    (
        r"complex\s*(\[\d*\])?\s*\w+\s*=\s*\[?\s*-?\s*[.\d]",
        "f(complex x=1) -> ()",
        "real numbers as complex defaults",
    ),
    (
        r"(Scalar|Device|Any|\?)\s*\[\d+\]\s*\w+\s*=|\[\d+\]\s*\w+\s*=\s*['\"A-Za-z]",
        "f(int[2] x=Mean) -> ()",
        "one name for a whole list",
    ),
)


def _known(table: tuple[tuple[str, str, str], ...], text: str) -> bool:
    return any(re.search(pattern, text) for pattern, _, _ in table)


# Defaults for which our parser's result differs, and is better: `complex x=1.5`, of which PyTorch drops a digit, and
# `float? x=1`, `float x=long` and `int[2]? x=1`, which stay ints in PyTorch.
OTHER_DEFAULTS = r"complex|float\s*\??\s*\w+\s*=\s*[a-zM]|\?\s*\w+\s*=\s*-?\s*[.\d]"


def _difference(parser: RuntimeParser, schema: str) -> str:
    """Return how the two differ; an empty string if they agree."""
    ours, theirs = parser.parse(schema), parse_with_torch(schema)
    match ours, theirs:
        case Parsed(), Parsed() if ours.text != theirs.text:
            return f"{ours.text}\n{theirs.text}"
        case Parsed(), Parsed() if ours != theirs and not re.search(OTHER_DEFAULTS, schema):
            return f"{ours.defaults}\n{theirs.defaults}"
        case str(), Parsed() if not _known(HERE_REFUSED, ours):
            return f"refused here: {ours}"
        case Parsed(), str() if not _known(TORCH_REFUSED, schema):
            return f"refused by PyTorch: {theirs.splitlines()[0]}"
    return ""


@pytest.mark.parametrize("schema", [*FORMS, *LINES])
def test_both_accept_it(parser: RuntimeParser, schema: str) -> None:
    ours, theirs = parser.parse(schema), parse_with_torch(schema)
    assert isinstance(theirs, Parsed), theirs
    assert ours == theirs


@pytest.mark.parametrize("schema", REFUSED)
def test_both_reject_it(parser: RuntimeParser, schema: str) -> None:
    schema = schema.replace("\\n ", "\n ")
    ours = parser.parse(schema)
    assert isinstance(parse_with_torch(schema), str)
    assert isinstance(ours, str)
    assert re.match(r"schema '(.|\n)*', character \d+: .+", ours), ours


def test_printed_schemas_are_read_again(parser: RuntimeParser) -> None:
    """Protects schemas that libraries exchange as the runtime prints them."""
    for schema in [*FORMS, *LINES]:
        once = parser.printed(schema)
        assert parser.printed(once) == once
        assert parser.parse(once) == parser.parse(schema)


@pytest.mark.parametrize("example", [example for _, example, _ in HERE_REFUSED])
def test_rejected_only_here(parser: RuntimeParser, example: str) -> None:
    assert isinstance(parse_with_torch(example), Parsed)
    said = parser.parse(example)
    assert isinstance(said, str)
    assert _known(HERE_REFUSED, said), said


@pytest.mark.parametrize("example", [example for _, example, _ in TORCH_REFUSED])
def test_rejected_only_by_pytorch(parser: RuntimeParser, example: str) -> None:
    assert isinstance(parser.parse(example), Parsed)
    assert isinstance(parse_with_torch(example), str)


@pytest.mark.parametrize(
    "argument, ours, theirs",
    [
        ("complex x=1.5", 1.5 + 0j, 1j),
        ("float? x=1", 1.0, 1),
        ("float x=long", 4.0, 4),
        ("int[2]? x=1", [1, 1], 1),
    ],
)
def test_other_defaults(parser: RuntimeParser, argument: str, ours: object, theirs: object) -> None:
    assert re.search(OTHER_DEFAULTS, argument)
    for parse, value in ((parser.parse, ours), (parse_with_torch, theirs)):
        parsed = parse(f"f({argument}) -> ()")
        assert isinstance(parsed, Parsed)
        assert parsed.defaults == (comparable(value),)


# Random schemas.

blanks = st.sampled_from(["", " ", "  ", "\t", "\n", " # c\n"])
labels = st.sampled_from(["a", "b", "a1", "out", "self", "*"])
sets = st.lists(labels.filter(lambda label: label != "*"), min_size=1, max_size=3).map("|".join)
annotations = st.one_of(
    st.just(""),
    st.just("!"),
    st.builds("({}{}{})".format, sets, st.sampled_from(["", "!"]), st.sampled_from(["", " -> *"])),
    st.builds("(* -> {})".format, sets),
)
names = st.sampled_from(["x", "y", "Q", "x1", "_x", "new", "lambda", "float_", "dtype", "out"])
plain = st.sampled_from(
    ["int", "float", "bool", "str", "Scalar", "SymInt", "Device", "ScalarType", "complex", "Any"]
)
marks = st.lists(st.sampled_from(["?", "[]"]), max_size=3).map("".join)
# PyTorch prints annotations of nested lists in wrong places.
few_marks = st.sampled_from(["", "?", "[]", "[]?", "?[]"])
tensors = st.builds("Tensor{}{}".format, annotations, few_marks)
tensor_lists = st.builds("Tensor{}[]{}{}".format, annotations, annotations, st.sampled_from("? "))
base_types = st.one_of(tensors, tensor_lists, st.builds("{}{}".format, plain, marks))
# PyTorch prints a SymInt or a ScalarType in a tuple as an int.
members = st.one_of(
    tensors, st.builds("{}{}".format, st.sampled_from(["int", "str", "bool"]), marks)
)
types = st.recursive(
    members,
    lambda inner: st.one_of(
        st.builds("({}){}".format, st.lists(inner, max_size=3).map(", ".join), marks),
        st.builds("Dict(str, {}){}{}".format, inner, annotations, few_marks),
    ),
    max_leaves=4,
)
types = st.one_of(base_types, types)
values = st.sampled_from(
    [
        "None",
        "True",
        "1",
        "-1",
        "1.5",
        ".5e-3",
        "'a'",
        '"b c"',
        "[]",
        "[1, 2]",
        "long",
        "2j",
        "[True]",
    ]
)
arguments = st.one_of(
    st.builds("{} {}".format, types, names),
    st.builds("{} {}={}".format, base_types, names, values),
    st.builds("{}[2] {}={}".format, plain, names, values),
    st.just("*"),
)


@st.composite
def schemas(draw: st.DrawFn) -> str:
    """Make a schema that is often valid, with white space of every kind."""
    given_arguments = ", ".join(draw(st.lists(arguments, max_size=5)))
    results = draw(st.lists(st.builds("{} {}".format, types, names | st.just("")), max_size=3))
    returns = results[0] if len(results) == 1 and draw(st.booleans()) else f"({', '.join(results)})"
    text = f"{draw(names)}({given_arguments}) -> {returns}"
    if draw(st.booleans()):
        text = re.sub(r"(?<=[(,])|(?=[),])", lambda _: draw(blanks), text)
    return text


RELAXED = settings(
    max_examples=1500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@RELAXED
@given(schema=schemas())
def test_random_schemas(parser: RuntimeParser, schema: str) -> None:
    assert _difference(parser, schema) == ""


@RELAXED
@given(
    schema=st.sampled_from([*FORMS, *LINES]),
    place=st.floats(0, 1),
    length=st.integers(0, 3),
    put=st.sampled_from(
        [
            "",
            " ",
            "(",
            ")",
            "[",
            "]",
            "!",
            "?",
            "|",
            "*",
            "->",
            ",",
            "=",
            "a",
            "1",
            "\n",
            ":",
            ".",
            "'",
        ]
    ),
)
def test_typos_of_every_kind(
    parser: RuntimeParser, schema: str, place: float, length: int, put: str
) -> None:
    """Remove or replace a few characters: both parsers accept the result, or both reject it."""
    at = int(place * len(schema))
    assert _difference(parser, schema[:at] + put + schema[at + length :]) == ""
