"""gdb with runtime/gdb/opgen_gdb.py: printers, breakpoints by the kernel's name, the way from a call to the kernel.

Skipped where gdb is not installed; .ci/prepare installs it for CI.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.build import (
    INCLUDE,
    RUNTIME,
    core_library,
    default_compiler,
    environment,
    launcher,
    run,
)
from support.trees import generate, sources

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "gdb"
SCRIPT = RUNTIME / "gdb" / "opgen_gdb.py"
MAIN = (HERE / "main.cpp").read_text().splitlines()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `gdb/main.cpp`, with debug information."""
    if shutil.which("gdb") is None:
        if os.environ.get("OPGEN_REQUIRE_GDB") == "1":
            pytest.fail("OPGEN_REQUIRE_GDB=1, and gdb is not installed")
        pytest.skip("gdb is not installed: its printers cannot be tested")
    folder = tmp_path_factory.mktemp("gdb")
    tree = generate(HERE / "input.yaml", folder / "tree")
    command = [*launcher(), default_compiler().path, "-std=c++20", "-g", "-O0"]
    command += [f"-I{INCLUDE}", f"-I{tree / 'include'}"]
    objects = []
    for source in (*sources(tree), HERE / "main.cpp"):
        objects.append(folder / f"{source.stem}.o")
        run([*command, "-c", source, "-o", objects[-1]], env=environment())
    library = core_library()
    built = folder / "program"
    run([default_compiler().path, *objects, "-o", built, library, f"-Wl,-rpath,{library.parent}"])
    return built


def gdb(program: Path, *commands: str) -> str:
    """Return the output of gdb after `commands`."""
    given = [part for command in commands for part in ("-ex", command)]
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", "-x", str(SCRIPT), *given, str(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if "Operation not permitted" in done.stderr or "ptrace" in done.stderr:
        pytest.skip(f"gdb may not trace a process here: {done.stderr[-300:]}")
    return done.stdout + done.stderr


def line(text: str) -> str:
    """Return the place of the source line with `text`, such as `main.cpp:30`."""
    return f"main.cpp:{next(i for i, line in enumerate(MAIN, 1) if text in line)}"


def test_a_breakpoint_at_the_name_of_the_kernel_shows_tensors_and_keys(program: Path) -> None:
    said = gdb(
        program,
        "break shift_cpu",
        "run",
        *["next"] * 3,
        *("print self", "print key", "print keys", "print undefined"),
        "print *$tensor_data(self)@6",
        "print $tensor_data(undefined)",
    )
    assert "opgen_shift_cpu::shift_cpu (self=Tensor Float [2, 3] on CPU" in said
    keys = "{CPU, ADInplaceOrView, AutogradCPU}"
    shown = f"Tensor Float [2, 3] on CPU = {{strides = [3, 1], storage_offset = 0, keys = {keys}, data = 0x"
    assert shown in said, said
    assert "$2 = AutogradCPU\n" in said
    assert f"$3 = {keys}\n" in said
    assert "$4 = undefined Tensor\n" in said
    assert "$5 = {0, 1, 2, 3, 4, 5}\n" in said
    assert "the tensor is undefined" in said
    assert "Python Exception" not in said and "Traceback" not in said, said


ELEMENTS = {
    "grid": ("Float [2, 3] on CPU", "[[0, 1, 2], [3, 4, 5]]"),
    "transposed": ("Float [3, 2] on CPU", "[[0, 3], [1, 4], [2, 5]]"),
    "half": ("Half [2] on CPU", "[0.0999756, 0.0999756]"),
    "bfloat": ("BFloat16 [2] on CPU", "[0.100098, 0.100098]"),
    "flags": ("Bool [2] on CPU", "[true, true]"),
    "complex": ("ComplexFloat [1] on CPU", "[1.5-2i]"),
    "number": ("Long [] on CPU", "-7"),
    "none": ("Float [0, 3] on CPU", "[]"),
    "large": (
        "Long [100, 2] on CPU",
        "[[1, 1], [1, 1], [1, 1], ..., [1, 1], [1, 1], [1, 1]]",
    ),
}


def test_elements_of_tensors(program: Path) -> None:
    """Protects `print` of a tensor: dtype, sizes and elements, for all kinds of elements and strides."""
    names = [*ELEMENTS, "meta"]
    stop = f"break {line('return scaled.numel()')}"
    said = gdb(program, stop, "run", *(f"print {name}" for name in names))
    assert "Python Exception" not in said and "Traceback" not in said, said
    for number, name in enumerate(names, 1):
        (shown,) = re.findall(rf"^\${number} = (.*)$", said, re.MULTILINE)
        if name == "meta":
            assert shown.startswith("Tensor Float [2] on Meta") and "elements" not in shown
        else:
            head, elements = ELEMENTS[name]
            assert shown.startswith(f"Tensor {head} = "), shown
            assert shown.endswith(f", elements = {elements}}}"), shown


def test_breakpoints_of_structured_kernels(program: Path) -> None:
    said = gdb(
        program,
        "break structured_scale::meta",
        "break structured_scale_out_cpu::impl",
        *("run", "backtrace 1", "continue", "backtrace 1"),
    )
    assert re.search(r"^#0 .*structured_scale::meta .*main\.cpp", said, re.MULTILINE), said
    assert re.search(r"^#0 .*structured_scale_out_cpu::impl .*main\.cpp", said, re.MULTILINE), said


def test_step_kernel_goes_from_a_call_into_the_kernel(program: Path) -> None:
    said = gdb(program, f"break {line('mylib::shift(')}", "run", "step-kernel")
    frames = re.findall(r"^#0 .*|^\w+::.* at .*", said, re.MULTILINE)
    assert len(frames) == 1 and "opgen_shift_cpu::shift_cpu" in frames[0], said
    said = gdb(program, f"break {line('mylib::scale(')}", "run", "step-kernel")
    assert "structured_scale::meta (this=" in said, said


def test_step_does_not_enter_small_functions_of_tensors(program: Path) -> None:
    said = gdb(program, f"break {line('return scaled.numel()')}", "run", "step")
    assert "tensor.h" not in said, said
    assert "*/opgen/tensor/*.h" in gdb(program, "info skip")


def test_a_file_that_is_loaded_twice_adds_its_rules_once(program: Path) -> None:
    said = gdb(program, f"source {SCRIPT}", "info skip")
    assert said.count("*/opgen/core/*.h") == 1, said
