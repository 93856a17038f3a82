"""`opgen build`: from YAML and kernels to a library, in one command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from cli_support import GOOD, Opgen
from click.testing import Result

from opgen.data import target_templates
from opgen.diagnostics import Diagnostics
from opgen.emit.kernels.stubs import known_definitions
from opgen.emit.tree import build_files
from opgen.pipeline.author_headers import includes_in
from opgen.pipeline.generating import checked_context
from opgen.pipeline.inputs import with_contents
from opgen.pipeline.kernel_sources import find_sources, report_kernels
from opgen.templating.render import Renderer
from support.build import DEBUG, REPOSITORY, environment, launcher, run, tool
from support.inputs import aten_inputs

KERNELS = """\
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

OPGEN_KERNEL(neg_cpu)(const Tensor& self) { return self; }
"""


def opgen_build(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = environment()
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    return subprocess.run(
        [tool("opgen"), "build", "good.yaml", "-o", "out", "--namespace", "aten", *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_folder_of_headers_that_is_not_there(tmp_path: Path) -> None:
    """It is reported before anything is written."""
    (tmp_path / "good.yaml").write_text(GOOD)
    done = opgen_build(tmp_path, "-I", "nowhere")
    assert done.returncode == 1 and "error[E0905]: nowhere is not a folder" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_python_folder_without_python_bindings(tmp_path: Path) -> None:
    """Protects users who forget `--python`: nothing is compiled without the author's files."""
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "own").mkdir()
    done = opgen_build(tmp_path, "--target", "torch", "--python-folder", "own")
    assert done.returncode == 2 and "--python-folder goes with --python" in done.stderr
    assert not (tmp_path / "out").exists()


RAMP = """\
- func: leaky::ramp(Tensor self, float slope) -> Tensor
  structured_delegate: ramp.out

- func: leaky::ramp.out(Tensor self, float slope, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: ramp_out_cpu
"""
IMPL = "OPGEN_IMPL_FUNC(ramp_out_cpu)(const Tensor&, double, const Tensor&) {}\n"


@pytest.fixture
def ramp(opgen: Opgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opgen:
    """Return `opgen build` in a folder with a library and its kernels; it ends after the warnings, before it
    compiles."""
    monkeypatch.chdir(tmp_path)
    for name in ("good.yaml", "bad.yaml"):
        Path(name).unlink()
    Path("leaky.yaml").write_text(RAMP)
    Path("kernels").mkdir()
    Path("kernels/ramp.cpp").write_text(IMPL)

    def build(*arguments: str) -> Result:
        result = opgen("build", "leaky.yaml", "--deny-warnings", *arguments)
        assert result.exit_code == 1 and not result.stdout
        return result

    return build


def test_a_kernel_folder_without_sources(ramp: Opgen) -> None:
    """Protects authors who name the wrong folder: nothing of theirs would be compiled."""
    Path("empty").mkdir()
    found = ramp("-o", "out", "--kernels", "empty").stderr
    assert "warning[W0918]: empty has no *.cpp, so every kernel is a stub\n" in found
    assert "= help: put your kernels into empty\n" in found
    Path("empty/ramp.cc").write_text("")
    other = ramp("-o", "out", "--kernels", "empty").stderr
    assert "= note: empty/ramp.cc is not compiled: it is not a *.cpp\n" in other
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "given", ["kernels", "kernels/tree/src", "kernels/tree/src/RegisterCPU.cpp"]
)
def test_generated_sources_among_the_kernels_are_left_out(
    opgen: Opgen, ramp: Opgen, given: str
) -> None:
    """Protects the link: every function of such a tree would be defined twice."""
    opgen("generate", "leaky.yaml", "-o", "kernels/tree")
    unity = Path("kernels/tree/cmake-build/Unity/unity_0_cxx.cpp")
    unity.parent.mkdir(parents=True)
    unity.write_text("")
    result = ramp("-o", "out", "--kernels", given)
    assert (
        "warning[W0919]: " in result.stderr and "kernels/tree, a tree that opgen" in result.stderr
    )
    sources = find_sources((Path(given),), (".cpp",), Path("out"), Diagnostics())
    assert [path.name for path in sources] == (["ramp.cpp"] if given == "kernels" else [])


def test_the_build_folder_may_be_in_the_folder_of_kernels(ramp: Opgen) -> None:
    """The first build and the second compile the same sources: the author's."""
    Path("kernels/out/cmake-build").mkdir(parents=True)
    Path("kernels/out/cmake-build/test.cpp").write_text("")
    found = Diagnostics()
    sources = find_sources((Path("kernels"),), (".cpp",), Path("kernels/out"), found)
    assert [path.name for path in sources] == ["ramp.cpp"]


MISTAKES = {
    "ramp_out_cp": (IMPL.replace("_cpu", "_cp"), "1:17", "did you mean 'ramp_out_cpu'?"),
    "ramp_out_cpu": (
        IMPL.replace("IMPL_FUNC", "KERNEL"),
        "1:14",
        "^^^^^^^^^^^^ write OPGEN_IMPL_FUNC(ramp_out_cpu)",
    ),
    "rampe": ("\nOPGEN_META_FUNC(rampe)(int) {}\n", "2:17", "did you mean 'ramp'?"),
    "unrelated": ("OPGEN_KERNEL(unrelated)(int) {}\n", "1:14", "this library has ramp_out_cpu"),
    "ramp_out_cpu, x": ("OPGEN_KERNEL2(ramp_out_cpu, x)(int) {}\n", "1:15", "OPGEN_IMPL_FUNC"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_kernel_that_no_entry_names(ramp: Opgen, name: str) -> None:
    """It is reported at the kernel before anything is compiled."""
    text, place, hint = MISTAKES[name]
    Path("kernels/ramp.cpp").write_text(text)
    found = ramp("-o", "out", "--kernels", "kernels").stderr
    assert found.count("warning[W0921]: ") == 1 and f"'{name}'" in found
    assert f"--> kernels/ramp.cpp:{place}\n" in found and hint in found
    if name != "unrelated":
        header = "ramp_meta.h" if name == "rampe" else "ramp_native.h"
        assert f"= note: <leaky/ops/{header}> declares it\n" in found


NATIVE, META = "#include <leaky/ops/ramp_native.h>\n", "#include <leaky/ops/ramp_meta.h>\n"
META_FUNC = "OPGEN_META_FUNC(ramp)(const Tensor&, double) {}\n"


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (IMPL, "ramp_native.h"),
        (META + IMPL, "ramp_native.h"),
        (META_FUNC + META_FUNC, "ramp_meta.h"),
        ("#include <opgen/kernel.h>\n#include <vector>\n" + IMPL, "ramp_native.h"),
        ('#include "empty.h"\n' + IMPL, "ramp_native.h"),
        (NATIVE + META_FUNC + IMPL, None),
        (META + META_FUNC, None),
        ("#include <leaky/NativeFunctions.h>\n" + META_FUNC + IMPL, None),
        ("#include <leaky/NativeMetaFunctions.h>\n" + META_FUNC, None),
        ('#include "own.h"\n' + IMPL, None),
        ('#include "deep/own.h"\n' + IMPL, None),
        ('#include "not_found.h"\n' + IMPL, None),
        ("#include <mine/not_found.h>\n" + IMPL, None),
        ("#include ALL_OF_THEM\n" + IMPL, None),
    ],
)
def test_a_header_that_is_not_included(ramp: Opgen, text: str, header: str | None) -> None:
    """It is named before anything is compiled, unless a header that opgen does not find may include it."""
    Path("kernels/deep").mkdir()
    Path("kernels/empty.h").write_text("#pragma once\n")
    Path("kernels/own.h").write_text(NATIVE)
    Path("kernels/deep/own.h").write_text('#include "own.h"\n#include "../own.h"\n')
    Path("kernels/ramp.cpp").write_text(text)
    Path("nothing").mkdir()
    found = ramp("-o", "out", "--kernels", "kernels", "--kernels", "nothing").stderr
    assert found.count("W0922]: ") == (header is not None)
    assert header is None or f"add '#include <leaky/ops/{header}>'" in found


def test_lint_looks_at_kernels(opgen: Opgen, ramp: Opgen) -> None:
    """`opgen lint --kernels` says the same as `opgen build`, which compiles, and nothing about conventions."""
    Path("kernels/ramp.cpp").write_text(IMPL.replace("_cpu", "_cp") + META_FUNC)
    found = opgen("lint", "leaky.yaml", "--kernels", "kernels")
    assert found.exit_code == 0 and found.stdout == "1 kernel source: 2 warnings in 1 file\n"
    assert found.stderr.count("warning[") == 2
    assert "warning[W0921]" in found.stderr and "warning[W0922]" in found.stderr
    Path("kernels/ramp.cpp").write_text(NATIVE + META_FUNC + IMPL)
    found = opgen("lint", "leaky.yaml", "--kernels", "kernels")
    assert found.stdout == "1 kernel source: no problems\n" and not found.stderr
    assert opgen("lint", "leaky.yaml", "--kernels", "kernels", "--fix").exit_code == 2
    nowhere = opgen("lint", "leaky.yaml", "--kernels", "kernels", "-I", "nowhere")
    assert nowhere.exit_code == 1 and "nowhere is not a folder" in nowhere.stderr


@pytest.mark.slow
def test_the_headers_that_include_a_declaration() -> None:
    """Protects W0922: the files of a tree include what `known_definitions` says that they include."""
    context = checked_context(
        with_contents(aten_inputs((REPOSITORY / "native_functions.yaml",))), Diagnostics()
    )
    assert context is not None
    texts = {file.path: file for file in build_files(context)}
    renderer = Renderer(*target_templates(context.target.plan.templates))
    rendered = renderer.render_all(
        [f for path, f in texts.items() if path.endswith(("_native.h", "_meta.h", "Functions.h"))]
    )
    included = {
        path.removeprefix("include/"): {each.name for each in includes_in(text)}
        for path, text in rendered.items()
    }

    def reach(header: str) -> set[str]:
        found, open_headers = {header}, [header]
        while open_headers:
            new = included.get(open_headers.pop(), set()) - found
            found |= new
            open_headers += new
        return found

    reached = {header: reach(header) for header in included}
    for definition in known_definitions(context):
        by_tree = {header for header, found in reached.items() if definition.header in found}
        assert by_tree == set(definition.headers), definition.text


@pytest.mark.parametrize(
    "text",
    [
        f"#if 0\n{IMPL.replace('_cpu', '_cp')}#endif\n",
        f"// {IMPL.replace('_cpu', '_cp')}",
        f"/*\n{IMPL.replace('_cpu', '_cp')}*/\n",
        f'auto text = R"(\n{IMPL.replace("_cpu", "_cp")})";\n',
        "#define MINE(name) \\\n  OPGEN_KERNEL(name)\n",
    ],
)
def test_what_no_compiler_sees_is_not_a_kernel(ramp: Opgen, text: str) -> None:
    """Protects authors from warnings about comments. The warning about the empty folder ends the run."""
    Path("kernels/ramp.cpp").write_text(text)
    Path("empty").mkdir()
    found = ramp("-o", "out", "--kernels", "kernels", "--kernels", "empty").stderr
    assert "W0918" in found and "W0921" not in found


@pytest.mark.slow
def test_every_definition_that_opgen_stub_prints_is_known(opgen: Opgen, tmp_path: Path) -> None:
    """Protects correct kernels of every kind from W0921: the skeletons of our own library."""
    yaml = REPOSITORY / "native_functions.yaml"
    skeletons = opgen("stub", str(yaml))
    assert skeletons.exit_code == 0, skeletons.stderr
    text = skeletons.stdout
    source = tmp_path / "all.cpp"
    source.write_text(text)
    found = Diagnostics()
    context = checked_context(with_contents(aten_inputs((yaml,))), found)
    assert context is not None
    sources = [source, *REPOSITORY.glob("kernels/**/*.cpp")]
    report_kernels(sources, [], context, aten_inputs((yaml,)), found)
    assert [item.message for item in found if item.code in ("W0921", "W0922")] == []
    kinds = set(re.findall(r"OPGEN_(?:PRECOMPUTE_)?[A-Z2]+(?:_FUNC2?)?(?=\()", text))
    assert {"OPGEN_IMPL_FUNC", "OPGEN_META_FUNC2", "OPGEN_KERNEL", "OPGEN_UFUNC"} <= kinds, kinds


def test_an_output_folder_with_the_authors_sources(opgen: Opgen, ramp: Opgen) -> None:
    """The warning comes once, before anything is written, and no file of the author is touched."""
    Path("src").mkdir()
    Path("src/mine.cpp").write_text("mine")
    warning = "warning[W0920]: . holds sources of your own: leaky.yaml, src/mine.cpp\n"
    assert warning in ramp("-o", ".").stderr
    assert not Path("include").exists()
    first = opgen("generate", "leaky.yaml", "-o", ".")
    assert first.exit_code == 0 and warning in first.stderr
    assert Path("src/mine.cpp").read_text() == "mine" and Path("leaky.yaml").read_text() == RAMP
    again = opgen("generate", "leaky.yaml", "-o", ".")
    assert (again.exit_code, again.stderr) == (0, "")
    listed = opgen("generate", "leaky.yaml", "-o", "kernels", "--list-outputs")
    assert "W0920" not in listed.stderr


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_programs_get_one_report(opgen: Opgen, ramp: Opgen, form: str) -> None:
    result = opgen("generate", "leaky.yaml", "-o", ".", "--format", form)
    assert "W0920" in result.stdout and "W0920" not in result.stderr
    assert "W0920" not in opgen("generate", "leaky.yaml", "-o", ".", "--format", form).stdout


def test_a_folder_with_other_files_causes_no_warning(opgen: Opgen, ramp: Opgen) -> None:
    """Notes next to the tree, and sources in folders that opgen does not write to, cause no warning."""
    Path("out/tests").mkdir(parents=True)
    Path("out/README.md").write_text("mine")
    Path("out/tests/a.cpp").write_text("mine")
    assert opgen("generate", "leaky.yaml", "-o", "out").stderr == ""


def assert_it_loads(library: Path) -> None:
    """Load it in another process: earlier tests in this one may have loaded operators of the same names."""
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", load, library], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_build_and_its_output(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)

    # Only the YAML: it builds and links, with stubs.
    bare = opgen_build(tmp_path)
    assert bare.returncode == 0, bare.stderr
    library = tmp_path / bare.stdout.split()[0]
    assert library.name == "libaten.so"
    assert_it_loads(library)
    assert bare.stdout.splitlines()[1:] == [
        "3 kernels are stubs, which a call reports as missing:",
        "  Meta add         good.yaml:1:9",
        "  CPU  add_out_cpu good.yaml:9:10",
        "  CPU  neg_cpu     good.yaml:13:10",
        "to see what to write: opgen stub good.yaml add neg --namespace aten",
    ]

    # A kernel with a wrong signature: the compiler's error names the author's file.
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "neg.cpp").write_text(KERNELS.replace("const Tensor& self", "double"))
    wrong = opgen_build(tmp_path, "--kernels", "kernels")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "kernels/neg.cpp:5" in wrong.stderr and "error:" in wrong.stderr

    # The correct kernel.
    (kernels / "neg.cpp").write_text(KERNELS)
    right = opgen_build(tmp_path, "--kernels", "kernels")
    assert right.returncode == 0, right.stderr
    assert_it_loads(library)
    assert "neg_cpu" not in right.stdout and "\n2 kernels are stubs, which" in right.stdout


@pytest.mark.slow
def test_an_existing_function_of_other_types(tmp_path: Path) -> None:
    """Protects values: an `int` for an `int64_t` loses digits. The author learns which row it is."""
    (tmp_path / "good.yaml").write_text(
        "- include: [own.h]\n\n"
        "- func: fine(int n) -> Tensor\n  dispatch:\n    CPU: ::own::fine\n\n"
        "- func: narrow(int n, float[2]? scales=None) -> Tensor\n  dispatch:\n    CPU: ::own::narrow\n"
    )
    (tmp_path / "own.h").write_text(
        "#pragma once\n#include <opgen/tensor.h>\nnamespace own {\nusing namespace opgen::types;\n"
        "Tensor fine(int64_t n);\nTensor narrow(int n, std::optional<ArrayRef<double>> scales);\n}\n"
    )
    done = opgen_build(tmp_path, "--namespace", "mine")
    assert done.returncode == 1
    assert done.stderr.count("\nerror: ") == 1, done.stderr
    assert "error: good.yaml:9:10: '::own::narrow' does not compile as its kernel\n" in done.stderr
    assert "an int is an int64_t, a float is a double" in done.stderr


@pytest.mark.slow
def test_a_wheel_works_outside_of_the_checkout(tmp_path: Path) -> None:
    wheels, fresh = tmp_path / "wheels", tmp_path / "fresh"
    before = run([sys.executable, "-m", "pip", "freeze"])
    run([sys.executable, "-m", "pip", "wheel", "-q", REPOSITORY, "--no-deps", "-w", wheels])
    (wheel,) = wheels.glob("opgen-*.whl")
    run([sys.executable, "-m", "venv", "--without-pip", fresh])
    # pip runs inside the new environment: with --prefix it would uninstall the opgen of this one.
    install = ["--python", fresh / "bin" / "python", "install", "-q", "--no-deps", wheel]
    run([sys.executable, "-m", "pip", *install])
    assert run([sys.executable, "-m", "pip", "freeze"]) == before, "this environment was changed"
    # opgen's dependencies come from this environment, whose own opgen comes second.
    (site,) = fresh.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(f"{Path(click.__file__).parents[1]}\n")
    opgen = fresh / "bin" / "opgen"

    variables = {k: v for k, v in environment().items() if k != "PYTHONPATH"}
    variables["PATH"] = f"{opgen.parent}{os.pathsep}{variables['PATH']}"
    project = tmp_path / "project"
    example = REPOSITORY / "examples" / "myadd"
    project.mkdir()
    for name in ("native_functions.yaml", "kernels/myadd.cpp", "main.cpp"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text((example / name).read_text())
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\n"
        "project(outside LANGUAGES CXX)\n"
        "find_package(opgen REQUIRED)\n"
        "opgen_add_operators(myops YAML native_functions.yaml KERNELS kernels/myadd.cpp)\n"
        "add_executable(program main.cpp)\n"
        "target_link_libraries(program PRIVATE myops)\n"
    )
    run([opgen, "generate", "native_functions.yaml", "-o", "tree"], cwd=project, env=variables)
    run([opgen, "check", "native_functions.yaml", "-o", "tree"], cwd=project, env=variables)
    folder = run([opgen, "--cmake-dir"], cwd=project, env=variables).strip()
    assert Path(folder).is_relative_to(fresh)

    command = [tool("cmake"), "-S", ".", "-B", "built", "-G", "Ninja", f"-Dopgen_DIR={folder}"]
    command += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", *DEBUG]
    command += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher()[0]}"] if launcher() else []
    run(command, cwd=project, env=variables)
    run([tool("cmake"), "--build", "built"], cwd=project, env=variables)
    printed = run([project / "built" / "program"])
    assert "myadd(a, row)" in printed and "2 x 3, no data" in printed
