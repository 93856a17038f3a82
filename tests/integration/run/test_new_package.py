"""A new package goes from `opgen new` to passing tests by the steps of its own CI job, with the wheel of opgen alone.

Its environment has opgen and scikit-build-core; large packages (PyTorch, pytest, CMake) come from the tests'
environment. The folders stay the same from run to run, so that ccache finds the objects again.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from support.build import (
    DEBUG,
    cache_folder,
    environment,
    launcher,
    locked,
    project_definitions,
    require_headers,
    run,
)
from support.opgen_wheel import fresh_environment, opgen_packages
from support.pytorch import packaged_native_functions

pytestmark = pytest.mark.slow


def test_of_target_runtime() -> None:
    require_headers()
    folder = made("runtime", *project_definitions()[2:])
    assert {"mylib", "opgen_core", "opgen_runtime", "opgen_python"} == libraries(folder)
    typed(folder, "mylib.mix(mylib.tensor([1.0]), mylib.tensor([1.0]))", "mylib.Tensor")


def test_of_target_torch() -> None:
    packaged_native_functions()  # skips without torch
    folder = made("torch")
    assert {"mylib"} == libraries(folder), "libtorch is found at run time"
    the_wheel_says_which_torch_it_is_for(folder)
    call = "mylib.mix(torch.ones(1), torch.ones(1), 0.5)"
    typed(folder, f"{call}, mylib.running_sum(torch.ones(1))", "torch._tensor.Tensor")
    reason = "import torch; torch.__version__ = '2.99.0'; import mylib"
    refused = subprocess.run(
        [python_of(folder), "-c", reason], capture_output=True, text=True, check=False
    )
    assert "mylib was built for torch 2.13.0, but torch 2.99.0 is installed" in refused.stderr


def test_of_target_torch_stable() -> None:
    """Protects the wheel for many releases: it names the oldest torch, and needs none of its C++ symbols."""
    packaged_native_functions()
    folder = made("torch-stable")
    assert {"mylib"} == libraries(folder)
    call = "mylib.mix(torch.ones(1), torch.ones(1), 0.5)"
    typed(folder, f"{call}, mylib.running_sum(torch.ones(1))", "torch._tensor.Tensor")
    said = "import importlib.metadata as m; print(m.version('mylib'), m.requires('mylib')[0])"
    assert run([python_of(folder), "-c", said]) == "0.1.0 torch>=2.10\n"
    old = "import torch; torch.__version__ = '2.9.1'; import mylib"
    refused = subprocess.run(
        [python_of(folder), "-c", old], capture_output=True, text=True, check=False
    )
    assert "mylib works with torch 2.10 and newer, and torch 2.9.1 is installed" in refused.stderr
    unstable = folder / "mylib/kernels/mylib.cpp"
    unstable.write_text(unstable.read_text() + UNSTABLE)
    step = ["sh", "-ec", "pip install --no-build-isolation ."]
    done = subprocess.run(
        step,
        cwd=folder / "mylib",
        env=variables_of(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "error[E1308]" in done.stdout + done.stderr
    assert "at::get_num_threads()" in done.stdout + done.stderr


# A kernel that calls a C++ function of PyTorch.
UNSTABLE = """
namespace at {
int get_num_threads();
}
__attribute__((visibility("default"))) int threads() { return at::get_num_threads(); }
"""


def the_wheel_says_which_torch_it_is_for(folder: Path) -> None:
    """Check the wheel that the step of its workflow makes: version, file name and dependencies name the torch, and it
    is for every Python."""
    text = (folder / "mylib/.github/workflows/wheels.yml").read_text()
    assert re.findall(r'torch: \["2\.\d+"', text)
    (step,) = (
        s["run"] for s in yaml.safe_load(text)["jobs"]["build"]["steps"] if s.get("name") == "build"
    )
    run(["sh", "-ec", step], cwd=folder / "mylib", env=variables_of(folder))
    (wheel,) = (folder / "mylib/dist").glob("*.whl")
    release = ".".join(metadata.version("torch").split(".")[:2])
    assert wheel.name.startswith(f"mylib-0.1.0+torch{release}-py3-none-")
    said = "import importlib.metadata as m; print(m.version('mylib'), m.requires('mylib')[0])"
    found = run([python_of(folder), "-c", said])
    assert found == f"0.1.0+torch{release} torch=={release}.*\n"


def variables_of(folder: Path, *definitions: str) -> dict[str, str]:
    """Return the environment in which the steps of the package's jobs run."""
    variables = {
        **environment(),
        "PATH": f"{python_of(folder).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": "",
        "CCACHE_NOHASHDIR": "1",
        "CMAKE_ARGS": shlex.join([*DEBUG, *definitions]),
        "CMAKE_BUILD_PARALLEL_LEVEL": "1",
    }
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    return variables


def made(target: str, *definitions: str) -> Path:
    """Return the folder of a new package after all steps of its CI job, except the one that installs requirements."""
    folder = cache_folder() / f"new-{target}"
    with locked(folder.name):
        shutil.rmtree(folder, ignore_errors=True)
        _, wheel = opgen_packages()
        python = fresh_environment(folder / "environment", wheel, "scikit-build-core>=1.1")
        project = folder / "mylib"
        variables = variables_of(folder, *definitions)
        opgen = [python, "-m", "opgen"]
        run([*opgen, "new", "mylib", "--target", target, "-o", project], env=variables)
        add_an_operator(project, [*opgen, "stub", "--target", target], variables)
        job = yaml.safe_load((project / ".github/workflows/ci.yml").read_text())["jobs"]["test"]
        steps = [step["run"] for step in job["steps"] if "run" in step]
        assert [step.split()[0] for step in steps] == ["pip", "opgen", "opgen", "pip", "python"]
        for step in steps[1:]:
            said = run(["sh", "-ec", step], cwd=project, env=variables)
        assert " passed" in said or "[100%]" in said, said
    return folder


def add_an_operator(project: Path, stub: list[str | Path], variables: dict[str, str]) -> None:
    """Add an operator by the steps of the package's README, with its kernel in a file of its own."""
    with open(project / "native_functions.yaml", "a") as file:
        file.write(
            "\n- func: mylib::like(Tensor self) -> Tensor\n"
            "  dispatch:\n    CompositeExplicitAutograd: like\n  autogen: like.out\n"
        )
    run([*stub, "like", "-o", "kernels/like.cpp"], cwd=project, env=variables)
    kernel = project / "kernels/like.cpp"
    text, count = re.subn(
        r"^  (throw|OPGEN_CHECK).*?;$",
        "  return opgen::clone(self);",
        kernel.read_text(),
        flags=re.M | re.S,
    )
    assert count == 1
    kernel.write_text(text)
    on_torch = "torch" in stub or "torch-stable" in stub
    tensor = "torch.ones(2, 3)" if on_torch else "mylib.tensor([[1.0, 2.0]])"
    (project / "tests/test_like.py").write_text(
        f"import mylib{', torch' if on_torch else ''}\n\n\n"
        f"def test_like() -> None:\n    assert mylib.like({tensor}).dim() == 2\n"
    )


def python_of(folder: Path) -> Path:
    return folder / "environment" / "bin" / "python"


def libraries(folder: Path) -> set[str]:
    """Return the shared libraries of the installed package, except the extension module."""
    where = run([python_of(folder), "-c", "import mylib; print(mylib.__path__[0])"]).strip()
    assert "environment" in where
    assert {"__init__.pyi", "py.typed"} <= {path.name for path in Path(where).iterdir()}
    return {path.name.removeprefix("lib").split(".")[0] for path in Path(where).glob("lib*.so*")}


def typed(folder: Path, call: str, expected: str) -> None:
    """Check that mypy knows what `call` returns, and that a string is not a tensor."""
    user = folder / "user.py"
    imported = "import torch\n" if "torch." in call else ""
    user.write_text(f"import mylib\n{imported}\nreveal_type(({call},)[0])\nmylib.mix('x', 'y')\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python_of(folder)]
    done = subprocess.run([*command, user], cwd=folder, capture_output=True, text=True, check=False)
    assert f'Revealed type is "{expected}"' in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("error:") >= 1 and "user.py:" in done.stdout
