"""Generated files are the same everywhere, so compiler caches of other folders and compilers on other machines can be
used.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from support.build import INCLUDE, cmake_build, project_definitions, run, run_program, tool
from support.compile_server import compile_server

HERE = Path(__file__).parent / "libraries"
MESON = Path(__file__).parent / "meson"


def need(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


@pytest.mark.slow
def test_a_second_folder_takes_every_object_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects reproducible builds: the objects of one build folder depend on no path, time or setting of another."""
    need("ccache")
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CCACHE_BASEDIR", str(tmp_path))
    # Without debug information, which contains the path of the folder.
    plain = ["-DCMAKE_BUILD_TYPE=Plain", "-DCMAKE_CXX_FLAGS_PLAIN=-O0"]
    definitions = [*project_definitions(), *plain]
    results = []
    for folder in ("one", "the other"):
        log = tmp_path / f"{folder}.log"
        monkeypatch.setenv("CCACHE_STATSLOG", str(log))
        shutil.copytree(HERE, tmp_path / folder / "project")
        cmake_build(tmp_path / folder / "project", tmp_path / folder / "built", *definitions)
        results.append(Counter(line for line in log.read_text().splitlines() if line[0] != "#"))
    first, second = results
    # Two libraries, each as one source and a kernel, and two programs.
    assert first["cache_miss"] == 6
    hits = second["direct_cache_hit"] + second["preprocessed_cache_hit"]
    assert hits == 6 and not second["cache_miss"], second
    assert run_program(tmp_path / "the other" / "built" / "program") == (0, "6 12\n", "")


@pytest.mark.nightly
def test_two_servers_compile_from_preprocessed_sources_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects builds on many machines: the servers get one preprocessed text at a time, have no access to the tree,
    and all compile.
    """
    distcc = need("distcc")
    shutil.copytree(HERE, tmp_path / "project")
    # If the test runs as root, the servers run as another user, who cannot read the sources.
    tmp_path.chmod(0o700)
    definitions = [*project_definitions(), "-DOPGEN_UNITY_BYTES=0", "-DCMAKE_BUILD_TYPE=Debug"]
    built = tmp_path / "built"
    with compile_server() as one, compile_server() as two:
        monkeypatch.setenv("DISTCC_HOSTS", f"{one[0]}/1 {two[0]}/1")
        monkeypatch.setenv("DISTCC_FALLBACK", "0")
        monkeypatch.setenv("DISTCC_DIR", str(tmp_path / "distcc"))
        (tmp_path / "distcc").mkdir()
        configure = [tool("cmake"), "-S", tmp_path / "project", "-B", built, "-G", "Ninja"]
        launcher = f"-DCMAKE_CXX_COMPILER_LAUNCHER={distcc}"
        run([*configure, f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", launcher, *definitions])
        run([tool("cmake"), "--build", built, "-j", "2"])
        compiled = [read().count("COMPILE_OK") for _, read in (one, two)]
    assert sum(compiled) == sum(1 for _ in built.rglob("*.o")) and all(compiled), compiled
    assert run_program(built / "program") == (0, "6 12\n", "")


@pytest.mark.nightly
def test_meson_builds_a_library_and_follows_its_yaml(tmp_path: Path) -> None:
    """Protects the snippet of docs/guides/builds.md, which is this meson.build."""
    definitions = dict(d[2:].split("=", 1) for d in project_definitions())
    source, built = tmp_path / "a project", tmp_path / "built"
    shutil.copytree(MESON, source)
    environment = {**os.environ, "PATH": f"{Path(tool('opgen')).parent}:{os.environ['PATH']}"}
    where = Path(definitions["RUNTIME_LIBRARY"]).parent
    given = [f"-Druntime_include={INCLUDE}", f"-Druntime_lib={where}"]
    run([tool("meson"), "setup", built, source, *given], env=environment)
    ninja = [tool("ninja"), "-C", built]
    assert "libmine.so" in run(ninja, env=environment)
    assert "no work to do" in run(ninja, env=environment)
    yaml = source / "native_functions.yaml"
    entry = "\n- func: mine::more(Tensor self) -> Tensor\n  dispatch:\n    SparseCPU: more_sparse\n"
    yaml.write_text(yaml.read_text() + entry)
    said = run(ninja, env=environment)
    assert "RegisterSparseCPU.cpp" in said and "RegisterCPU.cpp" not in said
    assert "WARNING" not in said
    assert "no work to do" in run(ninja, env=environment)
