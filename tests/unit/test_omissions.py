"""Find the kernels that are stubs by reading a linked library, which works for sources of any form."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from opgen.data import target_templates
from opgen.diagnostics import Diagnostics
from opgen.emit.common.context import Context
from opgen.emit.kernels.stubs import build_skeletons
from opgen.pipeline.building import (
    Kernels,
    describe_kernels,
    describe_omissions,
    find_skeletons,
    find_stubs,
    sections_of_functions,
)
from opgen.pipeline.generating import checked_context
from opgen.pipeline.inputs import Inputs, with_contents
from opgen.templating.render import Renderer
from support.build import default_compiler

YAML = """\
- func: leaky::one(Tensor self) -> Tensor
  dispatch:
    CPU: one_cpu

- func: leaky::two(Tensor self) -> Tensor
  dispatch:
    CPU: two_cpu

- func: leaky::two.int(Tensor self, int n) -> Tensor
  dispatch:
    CPU: two_cpu
"""

# A linker sees these as it sees the generated headers and stubs; only the type of tensors differs.
STUBS = """\
#define OPGEN_STUB __attribute__((weak, noinline, section("opgen_stubs")))
struct Tensor {};
namespace leaky::native {
struct opgen_one_cpu { static int one_cpu(const Tensor&); };
struct opgen_two_cpu { static int two_cpu(const Tensor&); static int two_cpu(const Tensor&, long); };
"""
BODIES = """\
OPGEN_STUB int opgen_one_cpu::one_cpu(const Tensor&) { return 0; }
OPGEN_STUB int opgen_two_cpu::two_cpu(const Tensor&) { return 0; }
OPGEN_STUB int opgen_two_cpu::two_cpu(const Tensor&, long) { return 0; }
}
"""
# A definition by a macro of the author, with another name of the namespace.
ONE = """\
#define MINE(name) int opgen_##name::name
namespace short_name = leaky;
MINE(one_cpu)(const Tensor&) { return 1; }
}
"""
TWO = "int opgen_two_cpu::two_cpu(const Tensor&, long) { return 1; }\n}\n"


def context_of(inputs: Inputs) -> Context:
    context = checked_context(with_contents(inputs), Diagnostics())
    assert context is not None
    return context


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    (tmp_path / "leaky.yaml").write_text(YAML)
    return Inputs(yaml=(tmp_path / "leaky.yaml",))


def link(folder: Path, *kernels: str, options: tuple[str, ...] = ()) -> Path:
    """Link the stubs with `kernels`, each a source."""
    sources = []
    for number, text in enumerate((BODIES, *kernels)):
        sources.append(folder / f"{number}.cpp")
        sources[-1].write_text(STUBS + text)
    library = folder / "libleaky.so"
    command = [
        default_compiler().path,
        "-shared",
        "-fPIC",
        "-O2",
        *options,
        "-o",
        library,
        *sources,
    ]
    subprocess.run(command, check=True)
    return library


@pytest.mark.parametrize("options", [(), ("-fvisibility=hidden",), ("-s",), ("-g",)], ids=str)
def test_stubs_are_found_in_a_linked_library(
    tmp_path: Path, inputs: Inputs, options: tuple[str, ...]
) -> None:
    """A definition may lie in another file, in a macro, or be an overload: the library contains it, or else its
    stub."""
    context = context_of(inputs)
    bare = find_stubs(context, link(tmp_path, options=options))
    assert [m.operator for m in bare.stubs] == ["leaky::one", "leaky::two", "leaky::two.int"]
    one = find_stubs(context, link(tmp_path, ONE, options=options))
    assert [m.operator for m in one.stubs] == ["leaky::two", "leaky::two.int"]
    two = find_stubs(context, link(tmp_path, ONE, TWO, options=options))
    assert two.stubs == () and [(m.name, n) for m, n in two.partly] == [("two_cpu", 1)]
    rest = TWO.replace(", long", "")
    done = find_stubs(context, link(tmp_path, ONE, TWO, rest, options=options))
    assert (done.stubs, done.partly, done.unknown) == ((), (), ())


def test_empty_bodies_count_as_stubs(tmp_path: Path, inputs: Inputs) -> None:
    """Protects an author who compiles what `opgen stub -o` wrote and fills in one of the kernels."""
    context = context_of(inputs)
    names = frozenset(f.full_name for f in context.registry.functions)
    renderer = Renderer(*target_templates(context.target.plan.templates))
    (text,) = renderer.render_all([build_skeletons(context, names)]).values()
    kernels = tmp_path / "kernels.cpp"
    kernels.write_text(text)
    found = find_skeletons(context, [kernels])
    assert [m.operator for m, _ in found] == ["leaky::one", "leaky::two", "leaky::two.int"]
    line = 1 + text[: text.index("leaky::one has no CPU kernel yet")].count("\n")
    lines = list(describe_kernels(Kernels(skeletons=found), context, inputs))
    assert lines[0] == "3 kernels are stubs, which a call reports as missing:"
    assert lines[1] == f"  CPU one_cpu {kernels}:{line}: its body is empty"
    assert len(lines) == 4
    filled = text.replace("throw ", "// throw ", 1).replace("// CPU of two(", "#if 0\n//", 1)
    kernels.write_text(f"{filled}#endif\n")
    assert find_skeletons(context, [kernels]) == ()


def test_stubs_of_a_stripped_library_are_unknown(tmp_path: Path, inputs: Inputs) -> None:
    """Protects authors from a wrong answer about a library without symbols."""
    library = link(tmp_path, ONE, options=("-fvisibility=hidden", "-s"))
    found = find_stubs(context_of(inputs), library)
    assert found.stubs == found.partly == () and len(found.unknown) == 3
    (line,) = describe_omissions(context_of(inputs), inputs, library, ())
    assert line == "whether 3 kernels are stubs is unknown: the library is stripped"


def test_a_file_that_is_no_library_gives_no_answer(tmp_path: Path, inputs: Inputs) -> None:
    library = tmp_path / "libleaky.so"
    for content in (b"\xcf\xfa\xed\xfe" + bytes(100), b"\x7fELF\x02\x01" + b"\xff" * 99):
        library.write_bytes(content)
        with pytest.raises(ValueError, match="file format not recognized"):
            sections_of_functions(library)
        (line,) = describe_omissions(context_of(inputs), inputs, library, ())
        assert line.startswith("which kernels are stubs is unknown: ")


def test_the_lines_that_an_author_reads(tmp_path: Path, inputs: Inputs) -> None:
    library = link(tmp_path, TWO)
    yaml = inputs.yaml[0]
    given = replace(inputs, shards=2, target="runtime", ignore_keys=("MPS",))
    assert list(describe_omissions(context_of(inputs), given, library, ("a.cu",))) == [
        "a.cu is left out: this PyTorch is built without CUDA",
        "2 kernels are stubs, which a call reports as missing:",
        f"  CPU one_cpu                      {yaml}:3:10",
        f"  CPU two_cpu (1 of its overloads) {yaml}:7:10",
        f"to see what to write: opgen stub {yaml} one two --ignore-keys MPS",
    ]


def test_rows_of_devices_that_pytorch_lacks(tmp_path: Path) -> None:
    """Protects the author's belief that the library has kernels for all devices in the YAML."""
    yaml = tmp_path / "leaky.yaml"
    rows = "    CPU: ::leaky::f\n    CUDA: ::leaky::f_cuda\n    MPS: ::mps::f\n    XPU: ::leaky::g<int>\n"
    yaml.write_text(f"- func: leaky::f(Tensor x) -> Tensor\n  dispatch:\n{rows}")
    inputs = Inputs(yaml=(yaml,), target="torch")
    there = "}\nnamespace leaky { int f() { return 1; } template <class T> int g(); template <> int g<int>() { return 2; } }"
    lines = list(describe_omissions(context_of(inputs), inputs, link(tmp_path, there), ("f.cu",)))
    assert lines == [
        "f.cu is left out: this PyTorch is built without CUDA",
        "1 row is left out for CUDA: this PyTorch is built without CUDA",
        "1 row is left out for MPS: this PyTorch is built without MPS",
    ]


def test_many_stubs_are_counted(tmp_path: Path) -> None:
    """A library of hundreds of operators does not fill the screen, and the command names none of them."""
    yaml = tmp_path / "leaky.yaml"
    yaml.write_text(
        "".join(
            f"- func: leaky::f{n}(Tensor self) -> Tensor\n  dispatch:\n    CPU: k{n}\n"
            for n in range(30)
        )
    )
    stubs = "".join(
        f"struct opgen_k{n} {{ static int k{n}(const Tensor&); }};\n"
        f"OPGEN_STUB int opgen_k{n}::k{n}(const Tensor&) {{ return 0; }}\n"
        for n in range(30)
    )
    inputs = Inputs(yaml=(yaml,))
    library = link(tmp_path, f"{stubs}}}\n")
    lines = list(describe_omissions(context_of(inputs), inputs, library, ()))
    assert len(lines) == 13 and lines[0].startswith("30 kernels are stubs")
    assert lines[-2:] == ["  and 20 more", f"to see what to write: opgen stub {yaml}"]


def test_operators_that_a_selection_leaves_out(tmp_path: Path, inputs: Inputs) -> None:
    (tmp_path / "few.yaml").write_text("operators:\n  leaky::one:\n    is_root_operator: true\n")
    given = replace(inputs, select=(tmp_path / "few.yaml",))
    lines = list(describe_omissions(context_of(given), given, link(tmp_path, ONE), ()))
    assert lines == ["--select leaves out 2 of 3 operators"]
