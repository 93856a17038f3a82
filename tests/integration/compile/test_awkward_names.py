"""Names that look like C++: each is rejected, or a library of them compiles without a warning.

They include keywords, macros of the standard's headers and of gnu++, functions of C, types of the runtime, and names
that generated code uses itself.
"""

from __future__ import annotations

import keyword
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.model.cpp_words import CPP_KEYWORDS, CPP_MACROS, is_macro
from opgen.parse.files.native_functions import builtin_tags
from support.build import Compiler, compilers
from support.entries import parse_native_functions
from support.trees import generate, sources

MACROS = (
    *("NULL", "assert", "errno", "EOF", "INFINITY", "NAN", "HUGE_VAL", "stdin", "stdout", "stderr"),
    *("offsetof", "va_arg", "setjmp", "RAND_MAX", "INT_MAX", "SIZE_MAX", "BUFSIZ", "SEEK_SET"),
    *("unix", "linux", "i386", "NDEBUG", "__FILE__", "__LINE__", "__func__", "__linux__"),
    *("__cplusplus", "__GNUC__", "_GNU_SOURCE", "alloca", "sa_handler", "sigmask"),
)
TYPES = ("Tensor", "Scalar", "SymInt", "int64_t", "ArrayRef", "IntArrayRef", "TensorList")
WORDS = (
    *("major", "minor", "isnan", "signbit", "I", "TRUE", "final", "override", "import", "module"),
    *("std", "at", "native", "meta", "cpu", "optional", "string", "size_t", "malloc", "main"),
    *("abort", "memcpy", "sin", "y0", "index", "time", "signal", "read", "stat", "remove", "call"),
    *("redispatch", "schema", "name", "op", "self", "other", "out", "ops", "_ops", "types", "slot"),
    *("detail", "impl", "Functions", "TensorBody", "move", "swap", "begin", "data", "vector"),
    *("tuple", "nullopt", "kernel", "Library", "DispatchKey", "TensorIterator", "MetaBase"),
    *("Functional", "c10", "torch", "boxed", "types", "Half", "lib", "NoneType", "_C"),
)

# True and false would be the same file on file systems that ignore case.
TAKEN = sorted({*WORDS, *CPP_KEYWORDS} - {"true", "and_eq"})

ENTRY = """\
- func: {0}(Tensor self, Tensor? t, Tensor[] l, int i, int[] il, int[]? oil, SymInt s, Scalar c, \
ScalarType? st, str n, bool[3] b, *, int[2] k=0, str m='x', float z=1.0) -> (Tensor, int)
  variants: function, method
  dispatch:
    CPU: {1}_cpu
- func: {0}.{0}(Tensor self, int {1}, float other) -> Tensor
  structured_delegate: {0}.{0}_out
  variants: function, method
- func: {0}.{0}_out(Tensor self, int {1}, float other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: {1}_out_cpu
"""


@pytest.mark.parametrize("place", ["- func: {}(Tensor x) -> Tensor", "- func: f(int {}) -> Tensor"])
@pytest.mark.parametrize("name", MACROS)
def test_macros_are_rejected(name: str, place: str) -> None:
    assert is_macro(name)
    diagnostics = Diagnostics()
    parse_native_functions([Source("m", place.format(name))], builtin_tags(), (), diagnostics)
    assert "E0342" in [item.code for item in diagnostics]


@pytest.mark.parametrize("name", TYPES)
def test_types_are_rejected_as_operators(name: str) -> None:
    diagnostics = Diagnostics()
    text = f"- func: {name}(Tensor x) -> Tensor\n"
    parse_native_functions([Source("t", text)], builtin_tags(), (), diagnostics)
    assert [item.code for item in diagnostics] == ["E0342"]


def test_no_macro_is_a_keyword() -> None:
    """The tables lead to different results: a keyword gets an underscore, a macro is rejected."""
    assert not CPP_KEYWORDS & CPP_MACROS


@pytest.mark.slow
@pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)
def test_a_library_of_awkward_names_compiles(tmp_path: Path, compiler: Compiler) -> None:
    """Operators, overloads, arguments and methods of all of these names, in one library."""
    (tmp_path / "f.yaml").write_text("".join(ENTRY.format(n, argument(n)) for n in TAKEN))
    tree = generate(tmp_path / "f.yaml", tmp_path / "tree")
    said = compiler.check([tree / "include"], *sources(tree))
    assert not said, said


def argument(name: str) -> str:
    """Return the name of a kernel and an argument: another one if the entry has that name already."""
    taken = {"self", "other", "out", *CPP_KEYWORDS, *keyword.kwlist}
    return f"{name}_" if name in taken else name
