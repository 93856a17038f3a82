"""Use each of 28 operators that are typical of projects in every way that PyTorch offers; the same for the libraries of
the other tests in this folder.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.aten_slice import native_functions, slice_of
from support.build import REPOSITORY, one_torch_unit, run, tool
from support.pytorch import packaged_native_functions, torch_folder
from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

HERE = Path(__file__).parent
EVERYDAY = HERE / "torch_everyday"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    tree = tmp_path_factory.mktemp("everyday") / "tree"
    return build_extension(EVERYDAY / "native_functions.yaml", EVERYDAY / "kernels", tree)


@pytest.fixture(scope="module")
def twin(library: Path) -> Path:
    """The same operators, registered by hand."""
    made = library.parent / "libby_hand.so"
    compile_with(library, EVERYDAY / "by_hand.cpp", made, "-shared", "-fPIC")
    return made


def compile_with(library: Path, source: Path, made: Path, *options: str) -> None:
    """Compile a file that uses the C++ of a generated library."""
    torch, tree = torch_folder(), library.parents[1]
    includes = [tree / "include", REPOSITORY / "runtime" / "torch" / "include"]
    theirs = [torch / "include", torch / "include/torch/csrc/api/include"]
    command: list[str | Path] = [tool("g++"), "-std=c++20", "-O0", *options, source, "-o", made]
    command += [f"-I{folder}" for folder in includes] + [f"-isystem{folder}" for folder in theirs]
    command += [library, f"-L{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10", "-ldl"]
    command += [f"-Wl,-rpath,{folder}" for folder in (library.parent, torch / "lib")]
    with one_torch_unit():
        run(command)


@pytest.mark.nightly
def test_without_a_compiler(library: Path) -> None:
    """Values, opcheck, fake tensors, torch.compile, torch.export and threads: nothing fails."""
    columns = ("value", "opcheck", "fake", "aot_eager", "export", "threads")
    said = run_script(EVERYDAY / "sweep.py", library, "--columns", *columns)
    assert "0 fail as by hand, 0 fail\n" in said


@pytest.mark.nightly
def test_everything(
    library: Path, twin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same through functorch, inductor and AOTInductor, in Python and from C++: a failure must be the same when
    the operator is registered by hand.
    """
    keep_no_graphs(monkeypatch)
    said = run_script(EVERYDAY / "sweep.py", library, twin, "--all", "--keep", tmp_path)
    print(said)
    program = tmp_path / "from_cpp"
    compile_with(library, EVERYDAY / "from_cpp.cpp", program)
    command = [program, library, tmp_path / "program.pt2", tmp_path / "calls.pt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "results are those of Python" in done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("namespace", ["both", "symb", "forms", "slice"])
def test_other_libraries(namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every operator and variant of the other tests with inductor and AOTInductor."""
    require_torch()
    keep_no_graphs(monkeypatch)
    print(run_script(EVERYDAY / "others.py", namespace, other_library(namespace, tmp_path)))


def other_library(namespace: str, folder: Path) -> Path:
    """Build the library of another test in the same way as that test, and return its path."""
    yaml, kernels = folder / "operators.yaml", folder / "kernels"
    if namespace == "both":
        yaml, kernels = HERE / "torch_target/operators.yaml", HERE / "torch_target"
    elif namespace == "symb":
        yaml, kernels = HERE / "symbolic/operators.yaml", HERE / "symbolic"
    elif namespace == "forms":
        yaml, kernels = HERE / "torch_library/forms.yaml", HERE / "torch_library/forms.cpp"
    else:
        sources = ("basic.cpp", "reductions.cpp", "shapes.cpp")
        yaml.write_text(slice_of(native_functions(packaged_native_functions()), sources))
        kernels = HERE / "torch_aten/few.cpp"
    return build_extension(yaml, kernels, folder / "tree")
