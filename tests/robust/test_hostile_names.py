"""No string in a file can change the generated C++, CMake or paths, compared with a harmless name.

Strings of quotes, comment marks, line ends, braces, `../`, `$( )` and the like are put into every place of an entry
and of the other files. Either they are rejected, or every generated file has token for token the same shape as with a
harmless string: a name for a name, a literal for a literal; for both targets, with shards, and for Python.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from opgen.autograd.python_formulas import Names, NotPython, as_python
from opgen.diagnostics import Diagnostics
from opgen.io.manifest import is_safe_path
from opgen.model.cpp_words import is_identifier
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs
from support.inputs import aten_inputs

ENTRIES = """\
- func: {namespace}::{op}.{overload}({type} self, {annotated} {argument}, *, str text={text}, int number={number}) -> Tensor {result}
  variants: {variants}
  python_module: {module}
  category_override: {category}
  device_check: {check}
  tags: [{tag}]
  cpp_no_default_args: [{plain}]
  dispatch:
    {key}: {kernel_namespace}::{kernel}
  autogen: {generated}
- func: lib::sum(Tensor self, int dim) -> Tensor
  structured_delegate: {delegate}
- func: lib::sum.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: {inherits}
  precomputed:
  - {old} -> int {new}, int more
  dispatch:
    CPU: sum_out
- func: lib::plus(Tensor self, Tensor other) -> Tensor
  structured_delegate: plus.out
- func: lib::plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  ufunc_inner_loop:
    Generic: {loop} ({dtypes})
"""
# The harmless string at each place.
HARMLESS: Mapping[str, str] = {
    "namespace": "lib",
    "op": "op",
    "overload": "over",
    "type": "Tensor",
    "annotated": "Tensor(a)",
    "argument": "other",
    "text": "'text'",
    "number": "1",
    "result": "result",
    "variants": "function",
    "module": "nn",
    "category": "factory",
    "check": "NoCheck",
    "tag": "core",
    "plain": "text",
    "key": "CPU",
    "kernel_namespace": "at",
    "kernel": "op_cpu",
    "generated": "op.over_out",
    "delegate": "sum.out",
    "inherits": "Base",
    "old": "dim",
    "new": "dim",
    "loop": "plus",
    "dtypes": "All",
}
BACKEND = {
    "backend": "XLA",
    "cpp_namespace": "torch_xla",
    "class_name": "Functions",
    "supported": "op.over",
}
# The other files, as JSON, which is valid YAML: places by path.
OTHERS: Mapping[str, str] = {
    **{f"backend:{key}": value for key, value in BACKEND.items()},
    "select:tag": "op_cpu",
    "select:dtype": "float",
    "select:operator": "lib::nothing",
    "tags:name": "core",
    "tags:desc": "A sentence.",
    "extends:name": "aten",
    "extends:operator": "aten::neg",
    "name": "lib",
}
PLACES = {**HARMLESS, **OTHERS}
FRAGMENTS = (
    *('"', "'", "\\", "\n", "\r", "\t", "*/", "/*", "//", "??/", "\\\n", ";", "{", "}", "(", ")"),
    *("[", "]", "<", ">", "$", "${x}", "$(x)", "`x`", "%", "#include", "\n#define x y\n", "../"),
    *("/etc/x", "C:\\x", "::", ":", ".", "..", ",", ", ", " ", "=", "|", "&", "->", "!", "?", "*"),
    *('R"(', "u8", "class", "int", "NULL", "{{ x }}", "{% x %}", "a", "b", "_", "1", "é", "\x00"),
    *("\x7f", "\x85", "\u2028", "\u202e", "\ud800", "😀", "con", "abort()", '"; abort(); "'),
)
hostile_strings = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map("".join)

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/            # comments
    |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'  # literals
    |[A-Za-z_][A-Za-z0-9_]*           # names
    |[0-9][A-Za-z0-9_.']*             # numbers
    |\s+|.""",
    re.VERBOSE | re.DOTALL,
)


def shape(path: str, text: str) -> list[str]:
    """Return the tokens of a file without comments, with all names equal and all literals and numbers equal."""
    if path.endswith((".txt", ".py", ".pyi")):
        text = re.sub(r"#[^\n]*", "", text)
        # A stub leaves out the value of a default that contains quotes.
        text = text.replace("= ...", '= "x"')
    elif not path.endswith((".h", ".cpp")):
        return []
    tokens = []
    # Like a compiler: a line that ends in a backslash continues in the next.
    for token in _TOKEN.findall(text.replace("\\\n", "")):
        if token.isspace() or token.startswith(("//", "/*")):
            continue
        kind = "name" if is_identifier(token) else "literal" if len(token) > 1 else token
        # Adjacent string literals are one: a long one is split at its blanks.
        if kind == "literal" and tokens and tokens[-1] == "literal":
            continue
        tokens.append("number" if token[0].isdigit() else kind)
    return tokens


@dataclass(frozen=True)
class Attempt:
    """One generated tree: its errors, or its files by path with all names equal, and their shapes."""

    errors: tuple[str, ...]
    shapes: tuple[tuple[str, tuple[str, ...]], ...]


# The forms of generated code: target, number of shards, and whether there are Python bindings.
FORMS: Mapping[str, tuple[str, int, bool]] = {
    "runtime": ("runtime", 1, False),
    "python": ("runtime", 3, True),
    "torch": ("torch", 2, False),
    "torch, python": ("torch", 1, True),
}
# Operators with inner loops, operators of another library, and a backend together with own operators: target torch
# supports none of them.
NOT_FOR_TORCH = ("loop", "dtypes", "extends:", "backend:")


def forms(place: str) -> tuple[str, ...]:
    return tuple(
        form for form in FORMS if form[:5] != "torch" or not place.startswith(NOT_FOR_TORCH)
    )


def attempt(place: str, value: str, form: str) -> Attempt:
    """Generate with `value` at `place` and harmless strings everywhere else."""
    target, shards, python = FORMS[form]
    with tempfile.TemporaryDirectory() as folder:
        inputs = replace(_written(place, value, Path(folder), target), target=target)
        diagnostics = Diagnostics()
        tree = build_tree(replace(inputs, shards=shards, python=python), diagnostics)
    if tree is None:
        errors = tuple(item.code for item in diagnostics)
        assert errors, "no tree, and no reason"
        return Attempt(errors, ())
    for path in tree.files:
        assert is_safe_path(path) and re.fullmatch(r"[A-Za-z0-9_./]+", path), path
        if path.endswith((".py", ".pyi")):
            compile(tree.files[path], path, "exec")
    shapes = (
        (re.sub(r"[A-Za-z0-9_]+", "name", path), tuple(shape(path, text)))
        for path, text in tree.files.items()
    )
    return Attempt((), tuple(sorted(shapes)))


def _written(place: str, value: str, folder: Path, target: str) -> Inputs:
    texts = {**HARMLESS, **({place: value} if place in HARMLESS else {})}
    entries_text = ENTRIES if target == "runtime" else ENTRIES.partition("- func: lib::plus(")[0]
    lines = [_filled(line, texts) for line in entries_text.splitlines()]
    entries = folder / "entries.yaml"
    entries.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    inputs = aten_inputs((entries,), name="lib")
    others = {**OTHERS, **({place: value} if place in OTHERS else {})}
    kind = place.partition(":")[0]
    if kind == "name":
        return replace(inputs, name=value)
    if place in HARMLESS:
        return inputs
    path = folder / f"{kind}.yaml"
    path.write_text(json.dumps(_other(kind, others)))
    field = {"backend": "backend_yaml", "select": "select", "tags": "tags", "extends": "extends"}
    changed: dict[str, Any] = {field[kind]: (path,) if kind == "select" else path}
    return replace(inputs, **changed)


def _filled(line: str, texts: Mapping[str, str]) -> str:
    """Fill in a line of ENTRIES, and quote the value as its content requires."""
    if "{" not in line:
        return line
    opening, colon, value = line.partition(": ")
    if not colon:
        opening, colon, value = line.partition("- ")
    if value.startswith("["):
        return f"{opening}{colon}[{json.dumps(value[1:-1].format(**texts))}]"
    key = opening.format(**texts)
    if key != opening:
        indent = len(key) - len(key.lstrip())
        key = " " * indent + json.dumps(opening.strip().format(**texts))
    return f"{key}{colon}{json.dumps(value.format(**texts)) if value else ''}"


def _other(kind: str, texts: Mapping[str, str]) -> object:
    match kind:
        case "backend":
            return {key: texts[f"backend:{key}"] for key in BACKEND} | {
                "supported": [texts["backend:supported"]]
            }
        case "select":
            return {
                "operators": {texts["select:operator"]: {}},
                "kernel_metadata": {texts["select:tag"]: [texts["select:dtype"]]},
            }
        case "tags":
            names = {texts["tags:name"], "core", "pointwise"}
            return [{"tag": name, "desc": texts["tags:desc"]} for name in sorted(names)]
        case _:
            return {
                "name": texts["extends:name"],
                "tensor": "",
                "operators": {texts["extends:operator"]: {}},
                "files": {},
            }


@functools.cache
def harmless(place: str, form: str) -> Attempt:
    return attempt(place, PLACES[place], form)


@pytest.mark.parametrize("place", PLACES)
def test_harmless_strings_are_accepted(place: str) -> None:
    """Protects the other tests, which would otherwise pass without testing anything."""
    for form in forms(place):
        assert harmless(place, form).errors == (), form
        assert len(harmless(place, form).shapes) > 15


def check(place: str, value: str) -> None:
    if is_identifier(value) or (place, value) in OTHER_MEANINGS:
        return
    if place in ("argument", "result") and value.lstrip()[:1] in MARKS:
        return
    # Each string is tried in one of the forms.
    choice = forms(place)
    form = choice[zlib.crc32(repr((place, value)).encode()) % len(choice)]
    found = attempt(place, value, form)
    if not found.errors:
        assert found.shapes == harmless(place, form).shapes, f"{form}, {place}: {value!r}"


# Strings that are valid at their place, with another meaning than the harmless one.
OTHER_MEANINGS = {("number", "-1"), ("generated", ""), ("kernel_namespace", "")}
# Strings that continue the type before them, after a blank that PyTorch's parser skips.
MARKS = ("?", "!", "[", "(")
# At these places any string is accepted, because strings there only reach `opgen dump`. Each takes the time of a whole
# tree.
FREE = {"category", "select:tag", "select:dtype", "select:operator", "tags:desc"}

HOSTILE = (
    *(
        '"',
        '"; abort(); "',
        'x"; abort(); //',
        "*/ abort(); /*",
        "x\n#define x y",
        "x\\\ny",
        "x??/",
    ),
    *(
        "../x",
        "../../etc/passwd",
        "/etc/passwd",
        "x/../../y",
        "C:\\x",
        "x\\..\\y",
        "x;y",
        "$(touch x)",
    ),
    *(
        "${x}",
        "`touch x`",
        "x y",
        "x,y",
        "x::y::z::w",
        "{{ file }}",
        "{% raw %}",
        "x\x00y",
        "x\u202ey",
    ),
    *(
        "'a';abort();'b'",
        '"a";abort();"b"',
        "'a\\",
        "'\\q'",
        '"\\x41F"',
        "010",
        "0x10",
        "1;abort()",
    ),
    *(
        "'*/'",
        "'//'",
        "'a\"b'",
        "'a\\\\'",
        '"a\'b"',
        "[1]",
        "1e5",
        "-1",
        "class",
        "public",
        "and",
        "",
    ),
)


@pytest.mark.parametrize("place", PLACES)
def test_known_tricks_do_nothing(place: str) -> None:
    """Each trick at some of the places, and at each place some of the tricks."""
    step = 8 if place in FREE else 4
    for value in HOSTILE[list(PLACES).index(place) % step :: step]:
        check(place, value)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_all_known_tricks_do_nothing(place: str) -> None:
    for value in HOSTILE:
        check(place, value)


@pytest.mark.slow
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
@given(st.sampled_from(sorted(PLACES)), hostile_strings)
@example("text", '"a";abort();"b"')
@example("tags:name", '"}, {"')
@example("extends:name", "x\n)\nexecute_process(COMMAND touch x")
@example("name", "../x")
def test_random_tricks_do_nothing(place: str, value: str) -> None:
    check(place, value)


@pytest.mark.nightly
@settings(
    max_examples=4000, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
@given(st.sampled_from(sorted(PLACES)), hostile_strings)
def test_many_random_tricks_do_nothing(place: str, value: str) -> None:
    check(place, value)


def test_strings_of_formulas_keep_their_characters(tmp_path: Path) -> None:
    """Formulas in Python: a line end in a string of C++, however it is written, is no line end of the source."""
    texts = sorted({*HOSTILE, *FRAGMENTS} - {"\ud800", "😀"})
    escaped = [json.dumps(text, ensure_ascii=False).replace("\\u0000", "\\0") for text in texts]
    entries = [
        f"- func: lib::op{i}(Tensor self) -> Tensor\n  dispatch: {{CPU: op{i}}}\n"
        for i in range(len(texts))
    ]
    formulas = [
        f"- name: lib::op{i}(Tensor self) -> Tensor\n  self: {json.dumps(f'not_implemented({text})')}\n"
        for i, text in enumerate(escaped)
    ]
    yaml, derivatives = tmp_path / "ops.yaml", tmp_path / "derivatives.yaml"
    yaml.write_text("".join(entries))
    derivatives.write_text("".join(formulas))
    diagnostics = Diagnostics()
    inputs = Inputs((yaml,), derivatives=(derivatives,), target="torch-stable", python=True)
    tree = build_tree(inputs, diagnostics)
    assert tree is not None, [item.message for item in diagnostics]
    (path,) = [path for path in tree.files if path.endswith("_formulas.py")]
    read = {n.value for n in ast.walk(ast.parse(tree.files[path])) if isinstance(n, ast.Constant)}
    assert read.issuperset(texts)


_PARTS = (
    "grad",
    "self",
    "n",
    "1",
    "07",
    "08",
    "2.5",
    '"a',
    "a\\",
    '"',
    "'",
    "(",
    ")",
    "{",
    "}",
    "[",
)
_PARTS += (
    "]",
    ",",
    "+",
    "-",
    "<",
    ">",
    "?",
    ":",
    "::",
    ".",
    "neg",
    "std::get",
    "/*",
    "*/",
    "//",
    "\n",
)


@given(formula=st.lists(st.sampled_from(_PARTS), max_size=12).map("".join))
@settings(max_examples=60, deadline=None)
def test_any_formula_is_refused_or_is_python(formula: str) -> None:
    names = Names("lib", {name: name for name in ("grad", "self", "n")}, frozenset(), frozenset())
    with suppress(NotPython):
        compile(as_python(formula, names).text, "formula", "eval")
