"""opgen's own wheel and sdist: complete, and usable without a checkout and without a network."""

from __future__ import annotations

import os
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import opgen
from support.build import REPOSITORY, environment, launcher, require_headers, run
from support.opgen_wheel import fresh_environment, opgen_packages
from support.python_package import run_python

pytestmark = pytest.mark.slow

# The packed folders, and where they lie in the wheel.
PACKED = {
    "src/opgen": "opgen",
    "templates": "opgen/templates",
    "runtime": "opgen/runtime",
    "docs": "opgen/docs",
}


def wanted() -> set[str]:
    files = set()
    for folder, place in PACKED.items():
        top = REPOSITORY / folder
        for path in top.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files.add(f"{place}/{path.relative_to(top).as_posix()}")
    return files


def test_the_wheel_is_as_small_as_the_page_says() -> None:
    """Protects who commits the wheel, as docs/start/install.md proposes."""
    assert "(less than three megabytes)" in (REPOSITORY / "docs/start/install.md").read_text()
    assert opgen_packages()[1].stat().st_size < 3_000_000


def test_the_wheel_has_every_file() -> None:
    """Protects against a template, a header, a page or `py.typed` that exists only in a checkout."""
    sdist, wheel = opgen_packages()
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
        (metadata,) = [name for name in packed.namelist() if name.endswith("/METADATA")]
        described = packed.read(metadata).decode()
    assert f"\nVersion: {opgen.__version__}\n" in described
    # The page of a package index has no other files: README.md's links lead to the repository.
    links = re.findall(r"\]\(([^)\s]+)\)", described)
    assert len(links) > 20 and all(link.startswith("https://") for link in links)
    compiled = {name for name in names if name.startswith("opgen/compiled_templates/")}
    assert names - compiled == wanted()
    templates = [name for name in names if name.startswith("opgen/templates/")]
    assert len(compiled) >= len(templates)
    assert {"opgen/py.typed", "opgen/__main__.py", "opgen/cmake/opgen_torchConfig.cmake"} <= names
    with tarfile.open(sdist) as packed_sources:
        top = f"opgen-{opgen.__version__}/"
        sources = {name.removeprefix(top) for name in packed_sources.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "src/opgen/py.typed",
        "templates/new/kernels.cpp.j2",
        "hatch_build.py",
    } <= sources


@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_it_is_installed_and_used_without_a_network(kind: str, tmp_path: Path) -> None:
    sdist, wheel = opgen_packages()
    package = sdist if kind == "sdist" else wheel
    options = ("--no-index", "--no-build-isolation")
    python = fresh_environment(tmp_path / "environment", package, options=options)
    clean = {**os.environ, "PYTHONPATH": ""}
    at = {"cwd": tmp_path, "env": clean}
    for command in (["-m", "opgen"], [str(python.parent / "opgen")]):
        start = [str(python), *command] if command[0] == "-m" else command
        assert run([*start, "--version"], **at).strip() == f"opgen, version {opgen.__version__}"
    run([python, "-m", "opgen", "new", "mylib", "--target", "torch"], **at)
    generate = ["generate", "mylib/native_functions.yaml", "-o", "tree", "--python"]
    for target in ("runtime", "torch"):
        run([python, "-m", "opgen", *generate, "--target", target], **at)
    # Templates are modules, compiled when the wheel was built: Jinja's compiler is not needed.
    busy = (
        "import jinja2; jinja2.Environment.compile = None; from opgen.cli.main import main; main()"
    )
    yaml = tmp_path / "mylib" / "native_functions.yaml"
    run([python, "-B", "-c", busy, "generate", yaml, "-o", "again", "--python"], **at)
    folder = run([python, "-m", "opgen", "--cmake-dir"], **at).strip()
    assert folder.startswith(str(tmp_path)) and (Path(folder) / "opgenConfig.cmake").exists()
    # A user who has only a wheel can read the documentation with it.
    page = run([python, "-m", "opgen", "docs", "lints"], **at)
    assert page.startswith("# Lints")
    assert run([python, "-m", "opgen", "docs", "--path", "lints"], **at).startswith(str(tmp_path))


def test_a_wheel_with_parts_saves_the_compilation_of_the_runtime(tmp_path: Path) -> None:
    """Protects the first minute of users of such a wheel: Ninja makes nothing of the runtime's sources."""
    require_headers()
    make = {**environment(), "PYTHONPATH": "", "PIP_NO_INDEX": "1", "OPGEN_WHEEL_PARTS": "1"}
    if launcher():
        make["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps"]
    run([*pip, "-w", tmp_path / "dist", REPOSITORY], env=make)
    (wheel,) = (tmp_path / "dist").iterdir()
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert re.fullmatch(rf"opgen-[\d.]+-{version}-{version}-linux_\w+\.whl", wheel.name)
    python = fresh_environment(tmp_path / "environment", wheel)
    example, tree = REPOSITORY / "examples" / "myadd", tmp_path / "myadd"
    build = [python.parent / "opgen", "build", example / "native_functions.yaml", "-o", tree]
    user = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "CCACHE_DISABLE": "1"}
    said = run([*build, "--kernels", example / "kernels", "--python"], env=user)
    assert said.count(f"comes from {tmp_path / 'environment'}") == 3, said
    log = (tree / "cmake-build" / ".ninja_log").read_text().splitlines()
    made = [line.split("\t")[3] for line in log if not line.startswith("#")]
    assert [name for name in made if name.endswith(".o")]
    assert [name for name in made if re.search("opgen_(core|runtime|layer|python)", name)] == []
    assert not (tmp_path / "home").exists(), "something is kept for the user"
    lines = "import myops; print(myops.myadd(myops.tensor([1.0]), myops.tensor([2.0])).tolist())"
    assert run_python(lines, tree / "cmake-build" / "python") == "[3.0]\n"
