"""`opgen import` as a command: what it reads and writes, its exit codes, and that it overwrites nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Opgen

import opgen.importing.common.registrations
from opgen.importing import library

OPS = """\
#include <torch/library.h>

at::Tensor scale_cpu(const at::Tensor& x, double by) { return x * by; }

TORCH_LIBRARY(demo, m) { m.def("scale(Tensor x,float by)->Tensor"); }
TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &scale_cpu); }
"""
OTHER = 'TORCH_LIBRARY(other, m) { m.def("f(Tensor! x) -> ()", {at::Tag::core}); }\n'
EXTENSION = 'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("f() -> ()"); }\n'
YAML = """\
# Written by opgen import from existing registrations. Edit it from now on; `opgen lint` checks it.

- func: demo::scale(Tensor x, float by) -> Tensor
  dispatch:
    CPU: scale_cpu
"""


@pytest.fixture
def ops(opgen: Opgen) -> Path:
    """ops.cpp in the current folder of the test."""
    Path("csrc/deep").mkdir(parents=True)
    Path("csrc/deep/ops.cpp").write_text(OPS)
    Path("csrc/notes.txt").write_text(EXTENSION)
    return Path("csrc/deep/ops.cpp")


@pytest.mark.parametrize(
    "source", ["csrc/deep/ops.cpp", "csrc", "csrc/**/*.cpp", "csrc/deep/ops.c*", "./csrc/deep/"]
)
def test_files_folders_and_patterns(opgen: Opgen, ops: Path, source: str) -> None:
    result = opgen("import", source)
    assert (result.exit_code, result.stdout) == (0, YAML)
    assert result.stderr == "1 schema, 1 row of a kernel in 1 file\n"


def test_a_source_that_is_named_twice_is_read_once(opgen: Opgen, ops: Path) -> None:
    result = opgen("import", str(ops), str(ops))
    assert result.stderr == "1 schema, 1 row of a kernel in 1 file\n"


def test_opgen_accepts_the_written_file(opgen: Opgen, ops: Path) -> None:
    """Protects adoption: opgen accepts the written file unchanged."""
    assert opgen("import", str(ops), "-o", "ops.yaml").exit_code == 0
    result = opgen("lint", "ops.yaml", "--target", "torch")
    assert result.exit_code == 0, result.stderr


def test_a_file_that_is_there_is_kept(opgen: Opgen, ops: Path) -> None:
    Path("ops.yaml").write_text("mine\n")
    result = opgen("import", str(ops), "-o", "ops.yaml")
    assert result.exit_code == 1
    assert "error[E1162]: ops.yaml exists" in result.stderr
    assert Path("ops.yaml").read_text() == "mine\n"
    assert opgen("import", str(ops), "-o", "ops.yaml", "--force").exit_code == 0
    assert Path("ops.yaml").read_text() == YAML


def test_all_files_are_written_or_none(opgen: Opgen, ops: Path) -> None:
    """The header already exists, so the YAML is not written either."""
    Path("ops_kernels.h").write_text("mine\n")
    result = opgen("import", str(ops), "-o", "ops.yaml", "--kernels-as-they-are")
    assert result.exit_code == 1 and "ops_kernels.h exists" in result.stderr
    assert not Path("ops.yaml").exists()


def test_kernels_as_they_are(opgen: Opgen, ops: Path) -> None:
    result = opgen("import", str(ops), "-o", "out/ops.yaml", "--kernels-as-they-are")
    assert result.exit_code == 0, result.stderr
    text = Path("out/ops.yaml").read_text()
    assert "\n- include: [ops_kernels.h]\n" in text and "    CPU: ::scale_cpu\n" in text
    declaration = "at::Tensor scale_cpu(const at::Tensor& x, double by);\n"
    assert declaration in Path("out/ops_kernels.h").read_text()


def test_a_file_for_each_namespace(opgen: Opgen, ops: Path) -> None:
    Path("csrc/other.cpp").write_text(OTHER)
    assert opgen("import", "csrc", "-o", "out/").exit_code == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["demo.yaml", "other.yaml"]
    assert Path("out/demo.yaml").read_text() == YAML
    assert (
        "- func: other::f(Tensor! x) -> ()\n  tags: core\n  manual"
        in Path("out/other.yaml").read_text()
    )
    both = opgen("import", "csrc").stdout
    assert both.index("other::f") < both.index("demo::scale"), "files come before folders"


@pytest.mark.parametrize("given", [("-D", "TORCH_EXTENSION_NAME=_C"), ("--namespace", "_C")])
def test_a_namespace_that_the_build_gives(opgen: Opgen, given: tuple[str, str]) -> None:
    Path("ext.cpp").write_text(EXTENSION)
    result = opgen("import", "ext.cpp")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E1160]: the namespace is not known: TORCH_EXTENSION_NAME" in result.stderr
    assert "-D TORCH_EXTENSION_NAME=NAME, or --namespace NAME" in result.stderr
    assert "- func: _C::f() -> ()\n" in opgen("import", "ext.cpp", *given).stdout


def test_warnings(opgen: Opgen, ops: Path) -> None:
    ops.write_text(OPS.replace("&scale_cpu", "[](const at::Tensor& x, double by) { return x; }"))
    result = opgen("import", str(ops), "-o", "ops.yaml")
    assert result.exit_code == 0 and "warning[W1161]" in result.stderr
    assert "  # CPU: a lambda (ops.cpp, line 6)\n" in Path("ops.yaml").read_text()
    denied = opgen("import", str(ops), "-o", "denied.yaml", "--deny-warnings")
    assert denied.exit_code == 1 and not Path("denied.yaml").exists()


def test_warnings_of_one_cause_are_shown_three_times(opgen: Opgen) -> None:
    """Protects people from thousands of lines for one cause, and programs from losing any."""
    Path("csrc").mkdir()
    for name in ("a", "b"):
        lambdas = "".join(
            f'  m.def("{name}{n}(Tensor x) -> Tensor");\n'
            f'  m.impl("{name}{n}", torch::kCPU, [](at::Tensor x) {{ return x; }});\n'
            for n in range(5)
        )
        text = f"TORCH_LIBRARY_FRAGMENT(demo, m) {{\n{lambdas}}}\n"
        Path(f"csrc/{name}.cpp").write_text(text)
    said = opgen("import", "csrc", "-o", "ops.yaml").stderr
    assert said.count("warning[W1161]") == 3
    assert (
        "... and 7 more W1161 like these: csrc/a.cpp (2), csrc/b.cpp (5)\n  = help for all: "
        in said
    )
    table = said.splitlines()[-4:-1]
    assert [line.split() for line in table] == [
        ["file", "schemas", "rows", "left"],
        ["csrc/a.cpp", "5", "0", "5"],
        ["csrc/b.cpp", "5", "0", "5"],
    ]
    all_of_them = opgen("import", "csrc", "-o", "more.yaml", "--format", "json").stdout
    assert [json.loads(line)["code"] for line in all_of_them.splitlines()] == ["W1161"] * 10


def test_formats_of_diagnostics(opgen: Opgen, ops: Path) -> None:
    """stdout holds only diagnostics for programs if the YAML goes to a file."""
    ops.write_text(OPS.replace("&scale_cpu", "boxed<scale>()"))
    arguments = ("import", str(ops), "-o", "ops.yaml", "--force", "--format")
    rows = [json.loads(line) for line in opgen(*arguments, "json").stdout.splitlines()]
    assert [row["code"] for row in rows] == ["W1162"]
    assert rows[0]["span"]["path"] == "csrc/deep/ops.cpp" and rows[0]["span"]["line"] == 6
    assert opgen(*arguments, "github").stdout.startswith("::warning title=W1162,file=csrc/deep/")
    sarif = opgen(*arguments, "sarif")
    assert sarif.stderr == ""
    log = json.loads(sarif.stdout)
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["W1162"]


def test_yaml_on_stdout_is_not_mixed_with_warnings(opgen: Opgen, ops: Path) -> None:
    """Warnings go to stderr in every format; if the run fails, they go to stdout."""
    ops.write_text(OPS.replace("&scale_cpu", "boxed<scale>()"))
    result = opgen("import", str(ops), "--format", "json")
    assert result.stdout.startswith("# Written by opgen import") and result.exit_code == 0
    assert [json.loads(line)["code"] for line in result.stderr.splitlines()] == ["W1162"]
    denied = opgen("import", str(ops), "--format", "json", "--deny-warnings")
    assert denied.exit_code == 1 and "func" not in denied.stdout
    assert [json.loads(line)["code"] for line in denied.stdout.splitlines()] == ["W1162"]


def test_a_file_that_cannot_be_written_is_reported_in_the_format(opgen: Opgen, ops: Path) -> None:
    Path("file").write_text("")
    """One log has everything, including warnings about the sources."""
    ops.write_text(OPS.replace("&scale_cpu", "boxed<scale>()"))
    result = opgen("import", str(ops), "-o", "file/ops.yaml", "--format", "json")
    assert result.exit_code == 1
    codes = [json.loads(line)["code"] for line in result.stdout.splitlines()]
    assert sorted(codes) == ["E0904", "W1162"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("import",),
        ("import", "a.cpp", "--from-library", "b.so"),
        ("import", "a.cpp", "-D", "NAME"),
        ("import", "a.cpp", "-D", "1=2"),
        ("import", "a.cpp", "--kernels-as-they-are"),
        ("import", "a.cpp", "--kernels-as-they-are", "-o", "a_cpp.inc"),
        ("import", "--from-library", "b.so", "--kernels-as-they-are", "-o", "c.yaml"),
    ],
    ids=" ".join,
)
def test_wrong_usage(opgen: Opgen, arguments: tuple[str, ...]) -> None:
    result = opgen(*arguments)
    assert result.exit_code == 2 and result.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nothing.cpp",), "E0905"),
        (("*.nothing",), "E1164"),
        (("empty",), "E1164"),
        (("good.yaml",), "E1161"),
        (("csrc/deep/ops.cpp", "-o", "csrc"), "E1162"),
        (("csrc/deep/ops.cpp", "-o", "good.yaml/x.yaml"), "E0904"),
    ],
)
def test_impossible_requests(
    opgen: Opgen, ops: Path, arguments: tuple[str, ...], code: str
) -> None:
    Path("empty").mkdir()
    before = sorted(Path.cwd().rglob("*"))
    result = opgen("import", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[{code}]" in result.stderr
    assert sorted(Path.cwd().rglob("*")) == before


def test_files_that_are_not_read(opgen: Opgen, ops: Path) -> None:
    Path("csrc/bad.py").write_text("import torch.library\ndef scale(x:\n")
    Path("csrc/large.cpp").write_text("// " + "x" * 2_000_001)
    result = opgen("import", "csrc")
    assert (result.exit_code, result.stdout) == (0, YAML)
    assert "warning[W1175]: csrc/bad.py is not read" in result.stderr
    assert "warning[W1175]: 'csrc/large.cpp' has more than 2 MB" in result.stderr


def test_bytes_that_are_not_utf_8_are_allowed_in_a_comment(opgen: Opgen, ops: Path) -> None:
    ops.write_bytes(b"// na\xefve\xff\r\n" + OPS.replace("\n", "\r\n").encode("utf-8-sig"))
    assert opgen("import", str(ops)).stdout == YAML


def test_no_more_warnings_than_people_read(
    opgen: Opgen, ops: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opgen_problems, "MOST", 2)
    ops.write_text(OPS + "TORCH_LIBRARY_IMPL(demo, XPU, m) {" + 'm.impl("no", &f);' * 5 + "}")
    result = opgen("import", str(ops))
    found = re.findall(r"warning\[(\w+)\]", result.stderr)
    assert sorted(found) == ["W1166", "W1166", "W1180"]


opgen_problems = opgen.importing.common.registrations


# Libraries


def fake_torch(operators: str, folder: Path) -> None:
    """Write a module `torch` with prepared answers; the real one takes seconds to import, and may not be installed."""
    (folder / "torch.py").write_text(FAKE_TORCH.replace("WHAT_IS_SAID", operators))


FAKE_TORCH = """\
__version__ = "0"
_OPERATORS = WHAT_IS_SAID

class _C:
    loaded = False

    @staticmethod
    def _dispatch_get_all_op_names():
        return list(_OPERATORS) if _C.loaded else []

    @staticmethod
    def _get_schema(name, overload):
        text = _OPERATORS[name + ("." + overload if overload else "")][0]
        if text is None:
            raise RuntimeError("no schema")
        return text

    @staticmethod
    def parse_schema(text):
        return text.replace("Tensor!", "Tensor($0! -> )")

    @staticmethod
    def _dispatch_dump(name):
        return "name: x\\nschema: y\\n" + _OPERATORS[name][1]

    @staticmethod
    def _dispatch_pystub(name, overload):
        return ("demo.fakes", "") if name.startswith("demo::") else None


class _Overload:
    tags = ()


class _Any:
    def __getattr__(self, name):
        return _Overload() if name in ("default", "out") else _Any()


class ops(_Any):
    @staticmethod
    def load_library(path):
        print("loading", path)
        if "bad" in path:
            raise OSError("cannot load it")
        _C.loaded = True


ops = ops()
"""
SAID = """{
    "demo::f": ("demo::f(Tensor($0! -> ) x) -> ()",
                "CPU: registered at a.cpp:1 :: (Tensor _0) -> () [ boxed unboxed ]\\n"
                "AutocastCUDA: registered at a.py:1 :: (none) [ fallthrough boxed ]\\n"
                "Meta: registered at a.py:1 :: (none) [ boxed ]\\n"
                "CUDA (inactive): registered at a.cpp:1 :: (none) [ boxed ]\\n"
                "CompositeExplicitAutograd[alias]: words :: (none) [ boxed ]\\n"),
    "demo::g.out": ("demo::g.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", ""),
    "other::h": (None, "CPU: registered at a.cpp:1 :: (none) [ boxed ]\\n"),
}"""


def test_from_library(opgen: Opgen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_torch(SAID, tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = opgen("import", "--from-library", "lib.so", "--namespace", "demo")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.partition("\n\n")[2] == (
        "- fake_module: demo.fakes\n\n"
        "- func: demo::f(Tensor! x) -> ()\n  dispatch:\n"
        "    CPU: f_cpu\n    AutocastCUDA: fallthrough\n"
        "    CompositeExplicitAutograd: f_composite_explicit_autograd\n\n"
        "- func: demo::g.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  manual_kernel_registration: True\n"
    )
    assert "warning[W1164]: 'demo::f' has a kernel for Meta in Python" in result.stderr
    every = opgen("import", "--from-library", "lib.so")
    assert "warning[W1166]: 'other::h' has kernels, but no schema" in every.stderr


def test_a_schema_that_is_printed_differently(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_torch('{"demo::f": ("demo::f(Tensor! x) -> ()", "")}', tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = opgen("import", "--from-library", "lib.so")
    assert result.exit_code == 0 and "warning[W1178]: 'demo::f' is printed as" in result.stderr


def test_a_library_that_cannot_be_loaded(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_torch(SAID, tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = opgen("import", "--from-library", "bad.so")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E1163]: 'bad.so' cannot be loaded: OSError: cannot load it" in result.stderr
    missing = opgen("import", "--from-library", "no_such_module")
    assert "No module named 'no_such_module'" in missing.stderr


def test_a_library_that_does_not_answer(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "torch.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(library, "TIMEOUT", 1)
    result = opgen("import", "--from-library", "lib.so")
    assert result.exit_code == 1
    assert "error[E1163]: 'lib.so' did not finish loading within 1 seconds" in result.stderr


def test_opgen_itself_does_not_import_torch(ops: Path) -> None:
    program = (
        "import sys\nfrom opgen.cli.main import main\n"
        "try:\n    main(prog_name='opgen')\nexcept SystemExit:\n    pass\n"
        "print('torch' in sys.modules, 'tree_sitter' in sys.modules)\n"
    )
    command = [sys.executable, "-c", program, "import", str(ops)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False True"
