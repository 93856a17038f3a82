"""`examples/privateuse1`: a device for PyTorch that behaves as its README says, and computes what the CPU computes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from support.build import (
    REPOSITORY,
    cache_folder,
    environment,
    one_torch_unit,
    run,
    tool,
)
from support.opgen_wheel import fresh_environment, opgen_packages
from support.pytorch import torch_folder
from support.torch_extension import strict_environment

EXAMPLE = REPOSITORY / "examples" / "privateuse1"
HERE = Path(__file__).parent / "privateuse1"


@pytest.fixture(scope="session")
def pocket() -> dict[str, str]:
    """The environment in which `import pocket` finds the example, built without optimisation."""
    torch_folder()
    tree = cache_folder() / "run" / "privateuse1"
    command = [tool("opgen"), "build", "--target", "torch", "--name", "pocket", "-o", tree]
    command += ["--backend-yaml", EXAMPLE / "backend.yaml", "--kernels", EXAMPLE / "src"]
    with one_torch_unit():
        run([*command, "--build-type", "None", "-j", "1"], env=strict_environment())
    library = tree / "cmake-build" / "libpocket.so"
    return {**os.environ, "POCKET_LIBRARY": str(library), "PYTHONPATH": str(EXAMPLE)}


def python(pocket: dict[str, str], *command: str | Path) -> str:
    """Return the output of a script in its own process: PyTorch accepts one name for the device per process."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env=pocket,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr[-8000:]}"
    return done.stdout


@pytest.mark.slow
def test_it_trains(pocket: dict[str, str]) -> None:
    """Protects the README: SGD and Adam reach the CPU's results, and a missing kernel is named in the error."""
    assert python(pocket, EXAMPLE / "main.py") == (EXAMPLE / "expected.txt").read_text()


@pytest.mark.slow
def test_it_is_a_device(pocket: dict[str, str]) -> None:
    """Protects the parts that PyTorch requires: memory, guards, copies, views, saving, printing."""
    python(pocket, HERE / "device.py")


@pytest.mark.slow
@pytest.mark.parametrize("first", ["torch", "pocket"])
def test_pytorch_loads_it_by_itself(pocket: dict[str, str], first: str, tmp_path: Path) -> None:
    """Protects the wheel's entry point `torch.backends`, with both orders of imports."""
    shutil.copytree(EXAMPLE / "pocket", tmp_path / "pocket", ignore=shutil.ignore_patterns("__*__"))
    info = tmp_path / "pocket-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pocket\nVersion: 0.1.0\n")
    entry = re.search(
        r'"torch.backends"\]\n(\w+) = "(.*)"', (EXAMPLE / "pyproject.toml").read_text()
    )
    assert entry
    (info / "entry_points.txt").write_text(f"[torch.backends]\n{entry[1]} = {entry[2]}\n")
    installed = {**pocket, "PYTHONPATH": str(tmp_path)}
    program = f"import {first}, torch; print((torch.ones(2, device='pocket') + 1).tolist())"
    assert python(installed, "-c", program) == "[2.0, 2.0]\n"
    off = {**installed, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    if first == "pocket":
        assert python(off, "-c", program) == "[2.0, 2.0]\n"
    else:
        shown = "import torch; print(torch._C._get_privateuse1_backend_name())"
        assert python(off, "-c", shown) == "privateuseone\n"


@pytest.mark.nightly
def test_its_wheel(tmp_path: Path) -> None:
    """Protects pyproject.toml and CMakeLists.txt: pip builds and installs it, and `import torch` finds the device."""
    torch_folder()
    _, wheel = opgen_packages()
    own = fresh_environment(tmp_path / "environment", wheel, "scikit-build-core>=1.1")
    project = shutil.copytree(EXAMPLE, tmp_path / "pocket")
    path = f"{own.parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**environment(), "PATH": path, "PYTHONPATH": "", "CXXFLAGS": "-O0"}
    variables["CMAKE_BUILD_PARALLEL_LEVEL"] = "1"
    install = [own, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "."]
    with one_torch_unit():
        run(install, cwd=project, env=variables)
    program = "import torch; print((torch.ones(2, device='pocket') + 1).tolist())"
    assert run([own, "-c", program], cwd=tmp_path, env=variables) == "[2.0, 2.0]\n"
    said = "import importlib.metadata as m; print(m.version('pocket'), *m.requires('pocket'))"
    release = ".".join(metadata.version("torch").split(".")[:2])
    assert run([own, "-c", said], env=variables) == f"0.1.0+torch{release} torch=={release}.*\n"


@pytest.mark.slow
def test_every_structured_operator(pocket: dict[str, str]) -> None:
    """Protects generated wrappers and the loops of opgen/device: 3,000 calls compared with the CPU."""
    python(pocket, HERE / "operators.py", EXAMPLE / "backend.yaml", "3000", "1")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_every_structured_operator_often(pocket: dict[str, str], seed: int) -> None:
    """As above, 25,000 calls for each of four seeds."""
    python(pocket, HERE / "operators.py", EXAMPLE / "backend.yaml", "25000", f"{100 + seed}")


@pytest.mark.slow
def test_the_readmes_figures_about_generated_code(pocket: dict[str, str]) -> None:
    """Protects the README's approximate figures about generated code."""
    tree = Path(pocket["POCKET_LIBRARY"]).parent.parent
    count = sum(map(code_lines, [*tree.glob("include/**/*.h"), *tree.glob("src/*.cpp")]))
    said = re.search(r"registrations in about (\d+) lines", (EXAMPLE / "README.md").read_text())
    assert said and abs(int(said[1]) - count) < 0.1 * count, count


def test_the_readmes_counts() -> None:
    """Protects the README's counts of lines and operators."""
    readme = (EXAMPLE / "README.md").read_text()
    for file, count in re.findall(r"^\| `([\w/.]+)` \| (\d+) \|", readme, re.MULTILINE):
        assert code_lines(EXAMPLE / file) == int(count), file
    listed = (EXAMPLE / "backend.yaml").read_text().split("supported:")[0]
    operators = len(re.findall(r"^- ", listed, re.MULTILINE))
    assert f"{operators} structured operators" in readme


def code_lines(file: Path) -> int:
    """Count lines that are neither comments nor blank."""
    lines = [line.strip() for line in file.read_text().splitlines()]
    return len([line for line in lines if line and not line.startswith(("//", "#"))])
