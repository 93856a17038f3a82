"""Any text of documentation arrives unchanged in Python, and harms no generated file."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opgen.emit.common.base import cpp_string, documentation_comment
from opgen.parse.entries.comments import clean, find_bad_character
from opgen.python.layout import docstring, with_docstring, without_docstrings
from support.build import compilers
from support.inputs import aten_inputs
from support.trees import make_tree

PIECES = st.sampled_from(
    ['"', '"""', "'", "\\", "*/", "/*", "//", "??/", "??", "{# x #}", "{{ file }}", "%s", "\n", "\n\n", "    ", " ", "#",
     "R\"(", ")\"", "\\N{DASH}", "\\u202e", "\u202e", "\u2066", "\u2028", "\ufeff", "\U0001f600", "ü", "def f(): ...",
     "_Tensor", "x" * 120, "word", ": ", "- func: ", "@_overload", "\t", "\\x02"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=60))


def _cleaned(text: str) -> str:
    return clean(text.split("\n"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_a_docstring_is_the_text(text: str) -> None:
    """Protects stubs, and _signatures.py of target torch."""
    if find_bad_character(text) is not None:
        return
    text = _cleaned(text)
    for indent in (0, 4):
        source = f"class C:\n{docstring(text, indent=4)}" if indent else docstring(text, indent=0)
        module = ast.parse(source)
        owner = module.body[0] if indent else module
        assert isinstance(owner, ast.ClassDef | ast.Module)
        assert (ast.get_docstring(owner) or "") == text
    declared = with_docstring("def f() -> _Tensor: ...", text)
    assert without_docstrings(declared).strip() == "def f() -> _Tensor:"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_a_comment_of_cpp_stays_a_comment(text: str) -> None:
    """Protects headers: every line is a comment, and none continues on the next."""
    if find_bad_character(text) is not None:
        return
    comment = documentation_comment(_cleaned(text), indent=2)
    for line in comment.split("\n")[1:]:
        assert line.startswith("  ///") and not line.endswith(("\\", "??/"))


@pytest.mark.slow
def test_any_text_compiles(tmp_path: Path) -> None:
    """Protects the claim that documentation may be any text: compilers warn about nothing, and the literal equals the
    text."""
    texts: list[str] = []

    @settings(max_examples=400, deadline=None, database=None)
    @given(TEXTS)
    def collect(text: str) -> None:
        if find_bad_character(text) is None and _cleaned(text):
            texts.append(_cleaned(text))

    collect()
    functions = "\n".join(
        f'{documentation_comment(text)}\nconst char* const text_{i} = "{cpp_string(text)}";'
        for i, text in enumerate(texts)
    )
    shown = "\n".join(f"  show(text_{i});" for i in range(len(texts)))
    source = tmp_path / "texts.cpp"
    source.write_text(
        "#include <cstdio>\nstatic void show(const char* text) { std::puts(text); std::putchar(1); }\n"
        f"{functions}\nint main() {{\n{shown}\n}}\n"
    )
    for compiler in compilers():
        program = tmp_path / "texts"
        command = [
            compiler.path,
            "-std=c++20",
            "-Wall",
            "-Wextra",
            "-Werror",
            source,
            "-o",
            program,
        ]
        subprocess.run(list(map(str, command)), check=True)
        output = subprocess.run([str(program)], check=True, capture_output=True).stdout.decode()
        assert [
            one.removeprefix("\n").removesuffix("\n") for one in output.split("\1")[:-1]
        ] == texts


def _escaped(text: str) -> str:
    """Return the contents of a quoted string of YAML."""
    return "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}"
        for c in text
    )


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(TEXTS, min_size=3, max_size=3))
def test_the_files_of_a_library_have_the_texts(texts: list[str]) -> None:
    """Protects the way from the YAML to each generated file, for both targets."""
    if any(find_bad_character(text) is not None or not _cleaned(text) for text in texts):
        return
    if any(re.search("[\ud800-\udfff\ufffe\uffff]", text) for text in texts):
        return
    entries = (
        f"- func: lib::f.o{i}(Tensor{'[]' * (i == 1)} self, {'int i' if i == 2 else 'Tensor x'}) -> Tensor\n"
        f'  variants: function\n  doc: "{_escaped(text)}"\n  dispatch:\n    CPU: f_cpu_{i}\n'
        for i, text in enumerate(texts)
    )
    with_texts = "\n".join(entries).encode()
    path = Path("texts/any.yaml")
    for target in ("runtime", "torch"):
        inputs = aten_inputs((path,), target=target, overlay={path: with_texts}, name="lib")
        files = make_tree(inputs, python=True).files
        stub = ast.parse(files["python/lib/__init__.pyi"])
        found = {
            ast.get_docstring(node) for node in ast.walk(stub) if isinstance(node, ast.FunctionDef)
        }
        assert found >= {_cleaned(text) for text in texts}
        if target == "torch":
            signatures = ast.parse(files["python/lib/_signatures.py"])
            docs = [ast.get_docstring(n) for n in signatures.body if isinstance(n, ast.FunctionDef)]
            for text in texts:
                assert any(
                    doc is not None and doc.endswith(f"\n\n{_cleaned(text)}") for doc in docs
                )


def test_cleaning_twice_changes_nothing() -> None:
    text = _cleaned("  a\n\n    b\t\n   \n")
    assert text == _cleaned(text) == "a\n\n  b"
