"""Parsing and printing are inverse, and no text makes the parser fail."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opgen.diagnostics import Diagnostics, Source
from opgen.diagnostics.rendering import render_human, render_json
from opgen.model.function_schema import FunctionSchema
from opgen.parse.files.native_functions import builtin_tags, parse_tags
from opgen.parse.schema.grammar import SchemaCache, parse_function_schema
from opgen.parse.yaml.nodes import decode_source
from support.entries import parse_native_functions

TAGS = builtin_tags()

# Generated schemas

base_types = st.sampled_from(
    (
        *("Tensor", "int", "float", "bool", "str", "Scalar", "SymInt", "Device", "Generator"),
        *("Dimname", "__torch__.torch.classes.quantized.Packed"),
    )
)
marks = st.lists(st.sampled_from(["?", "[]", "[3]", "[12]"]), max_size=3).map("".join)
plain_types = st.builds("{}{}".format, base_types, marks)
letters = st.sampled_from("abcdefgh")
read_annotations = st.one_of(
    letters,
    st.builds("{} -> *".format, letters),
    st.builds("{}|{}".format, letters, letters),
    st.builds("{} -> {}|{}".format, letters, letters, letters),
)
read_types = st.builds("Tensor({}){}".format, read_annotations, st.sampled_from(["", "?", "[]"]))
words = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
defaults = st.sampled_from(
    [
        "",
        "=None",
        "=True",
        "=-1",
        "=1e-05",
        "=[]",
        "=[0,1]",
        "='a b'",
        '="\\"\'"',
        "=contiguous_format",
    ]
)

positionals = st.builds("{} {}{}".format, st.one_of(plain_types, read_types), words, defaults)
keywords = st.builds("{} {}{}".format, plain_types, words, defaults)


@st.composite
def functional_schemas(draw: st.DrawFn) -> str:
    names = draw(st.lists(words, unique=True, max_size=8))
    split = draw(st.integers(0, len(names)))
    arguments = [
        f"{draw(st.one_of(plain_types, read_types))} {name}{draw(defaults)}"
        for name in names[:split]
    ]
    if names[split:]:
        arguments.append("*")
        arguments += [f"{draw(plain_types)} {name}{draw(defaults)}" for name in names[split:]]
    returns = draw(st.lists(st.tuples(plain_types, st.none() | words), max_size=4))
    listed = ", ".join(t if name is None else f"{t} {name}" for t, name in returns)
    name = draw(st.from_regex(r"[a-z][a-z0-9]{0,8}(\.[A-Za-z0-9_]{1,8})?", fullmatch=True))
    return f"{name}({', '.join(arguments)}) -> {listed if len(returns) == 1 else f'({listed})'}"


@st.composite
def writing_schemas(draw: st.DrawFn) -> str:
    """Draw the schema of an in-place or out variant."""
    outs = draw(st.integers(0, 3))
    rest = ", ".join(f"{draw(plain_types)} x{i}" for i in range(draw(st.integers(0, 3))))
    rest = f", {rest}" if rest else ""
    if not outs:
        return f"foo_(Tensor(a!) self{rest}) -> Tensor(a!)"
    written = [f"Tensor({'abc'[i]}!)" for i in range(outs)]
    listed = ", ".join(f"{t} out{i}" for i, t in enumerate(written))
    returns = written[0] if outs == 1 else f"({', '.join(written)})"
    return f"foo.out(Tensor self{rest}, *, {listed}) -> {returns}"


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(functional_schemas(), writing_schemas()))
def test_printing_a_parsed_schema_gives_its_text(text: str) -> None:
    diagnostics = Diagnostics()
    schema = parse_function_schema(text, diagnostics)
    assert list(diagnostics) == []
    assert str(schema) == text


@given(st.one_of(functional_schemas(), writing_schemas()), st.data())
def test_accepted_schemas_are_printed_unchanged(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    new = data.draw(
        st.sampled_from(["", " ", ",", ", ", "(", ")", "*", "=", "?", "a", "[2]", "->", "."])
    )
    changed = text[:at] + new + text[at + cut :]
    diagnostics = Diagnostics()
    schema = parse_function_schema(changed, diagnostics)
    assert (schema is None) == diagnostics.has_errors
    if schema is not None:
        assert str(schema) == changed
        assert_signature_is_a_schema(schema)


def assert_signature_is_a_schema(schema: FunctionSchema) -> None:
    """Check that the signature can be written and read again, except for a default on an argument that is no longer
    keyword-only.
    """
    signature = schema.signature()
    assert signature.signature() == signature
    assert signature.kind().name == "functional"


# Anything

fragments = st.sampled_from(
    (
        *("- func: ", "foo(Tensor self) -> Tensor", "\n", "  ", "dispatch:", "CPU: k", "tags: "),
        *("[", "]", "{", "}", "&a ", "*a", "<<: ", "!!str ", '"', "'", "|\n", ">\n", "# ", ": "),
        *(", ", "? ", "\t", "structured: True", "precomputed:", "- dim -> int dim", "autogen: "),
        *("ufunc_inner_loop: ", "\r\n", "---\n", "int[99999999999999999999] x", "é", "\x00"),
        *("\u2028", "\ufeff", "😀", "%YAML 1.1\n"),
    )
)
texts = st.lists(st.one_of(fragments, st.text(max_size=3)), max_size=30).map("".join)


@given(st.one_of(st.binary(max_size=200), texts.map(lambda t: t.encode("utf-8", "ignore"))))
def test_any_bytes_give_functions_or_diagnostics(content: bytes) -> None:
    diagnostics = Diagnostics()
    source = decode_source("any.yaml", content, diagnostics)
    functions = parse_native_functions([source], TAGS, (), diagnostics)
    parse_tags(source, diagnostics)
    for item in diagnostics:
        assert item.span is not None
        assert 0 <= item.span.start <= item.span.end <= len(source.text)
    render_human(diagnostics)
    render_json(diagnostics)
    for f in functions:
        assert f.spans.schema(0, 0).source is source


@given(st.text(max_size=60))
def test_any_text_gives_a_schema_or_diagnostics(text: str) -> None:
    diagnostics = Diagnostics()
    schema = parse_function_schema(text, diagnostics)
    assert (schema is None) == diagnostics.has_errors
    if schema is not None:
        assert str(schema) == text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "- " * 50_000,
        "{a: " * 50_000,
        "- func: foo(" + "Tensor(" * 10_000 + ") -> Tensor\n",
        "- func: foo(int" + "?" * 100_000 + " x) -> Tensor\n",
        "- func: foo(int" + "[" * 100_000 + "]" * 100_000 + " x) -> Tensor\n",
        "- func: foo(int[" + "9" * 100_000 + "] x) -> Tensor\n",
        "- func: foo(" + ", " * 10_000 + ") -> Tensor\n",
        "- func: " + "foo" * 100_000 + "\n",
        "- func: foo(str x=" + "[" * 20_000 + ", 1" * 1_000 + ") -> Tensor\n",
        "- " + "&a [" * 5_000,
        "\ud800",
    ],
    ids=range(12),
)
def test_extreme_texts_give_diagnostics(text: str) -> None:
    diagnostics = Diagnostics()
    parse_native_functions([Source("extreme.yaml", text)], TAGS, (), diagnostics)
    assert diagnostics.has_errors
    assert len(render_human(diagnostics)) < 20_000_000


# PyTorch's own files


def pytorch_files() -> Path | None:
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "packaged" / "ATen" / "native"


@pytest.mark.skipif(pytorch_files() is None, reason="torch is not installed")
def test_all_schemas_of_pytorch_are_printed_as_they_are_written() -> None:
    folder = pytorch_files()
    assert folder is not None
    diagnostics = Diagnostics()
    tags = parse_tags(
        decode_source("t", (folder / "tags.yaml").read_bytes(), diagnostics), diagnostics
    )
    source = decode_source("f", (folder / "native_functions.yaml").read_bytes(), diagnostics)
    functions = parse_native_functions([source], tags, (), diagnostics)
    assert list(diagnostics) == []
    assert len(functions) == 2584
    cache = SchemaCache()
    for f in functions:
        text = f.spans.schema(0, len(str(f.func))).text
        assert str(f.func) == text
        assert str(parse_function_schema(text, diagnostics, cache=cache)) == text
