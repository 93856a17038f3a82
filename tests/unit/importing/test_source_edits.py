"""`opgen import --edit`: the sources lose what the YAML registers, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opgen.cli.main import main

KERNELS = """\
#include <torch/library.h>

at::Tensor f(const at::Tensor& x);
at::Tensor g(const at::Tensor& x);
"""


def adopt(folder: Path, text: str) -> Result:
    (folder / "ops.cpp").write_bytes(text.encode())
    where = ["-o", str(folder / "made.yaml")]
    command = ["import", str(folder / "ops.cpp"), "--kernels-as-they-are", "--edit", *where]
    return CliRunner().invoke(main, command)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Blocks of which nothing is left go, with what leads to nothing else.
        (
            """
TORCH_LIBRARY(demo, m) {
  m.set_python_module("demo.fakes", "//demo");
  // The operators.
  m.def("f(Tensor x) -> Tensor", &f).def("g(Tensor x) -> Tensor");
#ifdef MORE
  m.impl("g", torch::kCPU, &g);
#endif
}

int other;
""",
            """
int other;
""",
        ),
        # What stays registers beside the generated library: its block is a fragment.
        (
            """
TORCH_LIBRARY(demo, m) {
  m.def("f(Tensor x) -> Tensor");
  m.class_<Box>("Box").def("f", &Box::f);
}
TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("f", &f);
  m.impl("f", torch::kMeta, [](const at::Tensor& x) { return x; });
}
""",
            """
TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.class_<Box>("Box").def("f", &Box::f);
}
TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("f", torch::kMeta, [](const at::Tensor& x) { return x; });
}
""",
        ),
        # The YAML has the schema, the lambda stays.
        (
            """
TORCH_LIBRARY(demo, m) {
  m.def("f(Tensor x) -> Tensor", [](const at::Tensor& x) { return f(x); })
      .def("g(Tensor x) -> Tensor", &g);
}
""",
            """
TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.impl("demo::f", [](const at::Tensor& x) { return f(x); });
}
""",
        ),
        # Statements of other statements leave their semicolons.
        (
            """
TORCH_LIBRARY_FRAGMENT(demo, m) {
  if (is_wide()) m.def("f(Tensor x) -> Tensor");
  m.def("g(Tensor x) -> Tensor");
}
""",
            """
TORCH_LIBRARY_FRAGMENT(demo, m) {
  if (is_wide()) ;
}
""",
        ),
        # Macros, helpers and the older registry.
        (
            """
#define OP(name) m.def(#name "(Tensor x) -> Tensor", &name)
void more(torch::Library& m) {
  OP(f);
}
TORCH_LIBRARY(demo, m) {
  more(m);
  OP(g);
}
static auto registry =
    torch::RegisterOperators().op("demo::h", &f).op("demo::i", &g);
""",
            """
#define OP(name) m.def(#name "(Tensor x) -> Tensor", &name)
void more(torch::Library& m) {
}
TORCH_LIBRARY_FRAGMENT(demo, m) {
  more(m);
}
""",
        ),
        # What a function registers stays if one of its libraries needs it.
        (
            """
void more(torch::Library& m) {
  m.def("f(Tensor x) -> Tensor");
  m.def("g(Tensor x) -> Tensor");
}
TORCH_LIBRARY(demo, m) { more(m); }
TORCH_LIBRARY(other, m) {
  more(m);
#ifdef WIDE
  m.impl("f", torch::kCPU, &f);
#else
  m.impl("f", torch::kCPU, &g);
#endif
}
""",
            """
void more(torch::Library& m) {
  m.def("f(Tensor x) -> Tensor");
}
TORCH_LIBRARY_FRAGMENT(demo, m) { more(m); }
TORCH_LIBRARY_FRAGMENT(other, m) {
  more(m);
#ifdef WIDE
  m.impl("f", torch::kCPU, &f);
#else
  m.impl("f", torch::kCPU, &g);
#endif
}
""",
        ),
        # Comments go with the block that they stand above, but not from the text before it.
        (
            """
int a;  // of `a`
// The operators,
/* as PyTorch
   knows them. */
TORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor"); }

// Of all that follow.

TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); }
#if WIDE  // Not here
// What is there by another name.
static auto more = torch::RegisterOperators("demo::g(Tensor x) -> Tensor", &g);
#endif
/* Two

parts. */ int b; /* one
of them */
TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("h(Tensor x) -> Tensor"); }
""",
            """
int a;  // of `a`

// Of all that follow.

#if WIDE  // Not here
#endif
/* Two

parts. */ int b; /* one
of them */
""",
        ),
        # Blocks of others.
        (
            """
TORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("relu", &f); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }
""",
            """
TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("relu", &f); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }
""",
        ),
    ],
)
def test_only_what_the_yaml_has_goes(before: str, after: str, tmp_path: Path) -> None:
    result = adopt(tmp_path, KERNELS + before)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "ops.cpp").read_text() == KERNELS + after
    removed = [line[1:] for line in result.stdout.splitlines() if line[0] == "-"]
    assert removed[0].startswith("-- ") and set(removed[1:]) <= set(before.splitlines())


def test_snippets_are_included_where_their_functions_are(tmp_path: Path) -> None:
    """At the end of the file, or of the `#if` around the functions; nobody is asked to do it."""
    registration = 'TORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor", &h); }\n'
    hidden = "static at::Tensor h(at::Tensor x) { return x; }\n"
    for before, after in (
        (f"{hidden}{registration}", f'{hidden}\n#include "ops_cpp.inc"\n'),
        (
            f"#ifdef MORE\r\n{hidden}#endif\n{registration}",
            f'#ifdef MORE\r\n{hidden}\n#include "ops_cpp.inc"\n#endif\n',
        ),
    ):
        result = adopt(tmp_path, before)
        assert result.exit_code == 0 and "W1171" not in result.output
        assert (tmp_path / "ops.cpp").read_bytes().decode() == after
        (tmp_path / "made.yaml").unlink()
        (tmp_path / "made_kernels.h").unlink()
        (tmp_path / "ops_cpp.inc").unlink()


def test_what_cannot_be_edited_stays_as_a_whole(tmp_path: Path) -> None:
    """A half of a registration would define the operator a second time."""
    kept = """
TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("f", &f);
#ifdef WIDE
  m.impl("g", &f);
#else
  m.impl("g", &g);
#endif
}
"""
    macro = 'm.def("f(Tensor x) -> Tensor"); m.impl("f", [](const at::Tensor& x) { return x; })'
    define = f"\n#define OP {macro}\n"
    block = f'{define}TORCH_LIBRARY(demo, m) {{\n  OP;\n  m.def("g(Tensor x) -> Tensor");\n}}\n'
    result = adopt(tmp_path, f"{block}{kept}")
    assert "only a part of its registration" in result.stderr and result.stdout == ""
    assert (tmp_path / "ops.cpp").read_text() == f"{block}{kept}"
    assert "\n- func" not in (tmp_path / "made.yaml").read_text()


def test_the_comment_that_begins_a_file_stays(tmp_path: Path) -> None:
    """Protects what says whose the file is."""
    owner = "// Copyright: ours.\n// All rights are, too.\n"
    result = adopt(tmp_path, f'{owner}TORCH_LIBRARY(demo, m) {{ m.def("f() -> ()"); }}\n')
    assert result.exit_code == 0, result.output
    assert (tmp_path / "ops.cpp").read_text() == owner


def test_what_python_defines_stays(tmp_path: Path) -> None:
    define = 'import torch\nlib = torch.library.Library("demo", "DEF")\nlib.define("f() -> ()")\n'
    (tmp_path / "ops.py").write_text(define)
    (tmp_path / "ops.cpp").write_text('TORCH_LIBRARY(demo, m) { m.def("g() -> ()"); }\n')
    command = ["import", str(tmp_path), "--kernels-as-they-are", "--edit"]
    result = CliRunner().invoke(main, [*command, "-o", str(tmp_path / "made.yaml")])
    assert "'demo::f' is left out: Python defines it" in result.stderr
    assert "\n- func: demo::g() -> ()" in (tmp_path / "made.yaml").read_text()
    assert (tmp_path / "ops.cpp").read_text() == ""


def test_edits_need_kernels_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "ops.cpp").write_text(KERNELS)
    result = CliRunner().invoke(main, ["import", str(tmp_path / "ops.cpp"), "--edit"])
    assert result.exit_code == 2 and "--edit needs --kernels-as-they-are" in result.stderr
