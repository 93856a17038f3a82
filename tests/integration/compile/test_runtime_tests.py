"""The runtime's own tests, configured and compiled as by a developer of the runtime, and run by CTest; and what its
folders link.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import numpy as np
import pytest

from support.build import (
    DEBUG,
    RUNTIME,
    RUNTIME_ABI,
    cache_folder,
    cmake_build,
    default_compiler,
    locked,
    run,
    runtime_library,
    tool,
)

# What a call and a kernel need. The parser of schemas is above them.
_LOWER = ("core", "device", "tensor", "dispatch", "structured", "iterator", "cpu")
_PARSER = {"cpp_signature", "function_schema", "library", "schema_conversion", "schema_parser"}


@pytest.mark.slow
def test_the_runtimes_own_tests_pass() -> None:
    folder = cache_folder() / "runtime-tests"
    options = (*DEBUG, "-DOPGEN_BUILD_TESTS=ON", "-DOPGEN_WERROR=ON")
    with locked(folder.name):
        cmake_build(RUNTIME, folder, *options)
        said = run([tool("ctest"), "--test-dir", folder, "--output-on-failure"])
    assert "100% tests passed" in said, said
    assert "unload_test" in said, said
    # The OpenBLAS of NumPy's wheel has 64-bit integers, and other names for its functions.
    blas = next((Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas*"), None)
    for named in [str(blas), "none"] if blas else ["none"]:
        run([folder / "tests" / "blas_test"], env={**os.environ, "OPGEN_BLAS_LIBRARY": named})


@pytest.mark.slow
def test_loops_run_on_openmps_threads() -> None:
    """Protects the option OPGEN_PARALLEL: the tests of parallel loops pass without the runtime's own pool."""
    folder = cache_folder() / "runtime-openmp"
    options = (*DEBUG, "-DOPGEN_BUILD_TESTS=ON", "-DOPGEN_WERROR=ON", "-DOPGEN_PARALLEL=OpenMP")
    with locked(folder.name):
        cmake_build(RUNTIME, folder, *options, target="parallel_test")
        names = (
            "every_index_once",
            "regions",
            "the_first_error_wins",
            "regions_in_several_threads",
        )
        for name in (*names, "reduce_in_order", "number_of_threads"):
            assert "1 tests, 0 failures" in run([folder / "tests" / "parallel_test", name])
    symbols = run(["nm", "-D", folder / "libopgen_runtime.so"])
    assert "GOMP_parallel" in symbols or "__kmpc_fork_call" in symbols


@pytest.mark.slow
def test_kernels_link_without_autograd_transforms_and_the_parser(tmp_path: Path) -> None:
    """Protects small libraries from an early folder that calls a later one: it would be an undefined symbol."""
    units = []
    for folder in _LOWER:
        sources = sorted((RUNTIME / "src" / folder).glob("*.cpp"))
        unit = tmp_path / f"{folder}.cpp"
        lines = [f'#include "{source}"\n' for source in sources if source.stem not in _PARSER]
        unit.write_text("".join(lines))
        units.append(unit)
    include = [f"-I{RUNTIME / name}" for name in ("include", "src")]
    command = [default_compiler().path, "-std=c++20", "-O0", "-fPIC", "-shared", *include, *units]
    run([*command, "-o", tmp_path / "lib.so", "-Wl,-z,defs", "-ldl", "-pthread"])


@pytest.mark.slow
@pytest.mark.skipif(platform.system() != "Linux", reason="ELF")
def test_thread_local_memory_is_small() -> None:
    """Protects programs that load the runtime late: libraries with the initial-exec model share few bytes then."""
    segments = run(["readelf", "-lW", runtime_library()])
    found = re.search(r"^ +TLS +(?:0x\w+ +){4}(0x\w+)", segments, re.MULTILINE)
    assert found and 0 < int(found[1], 16) <= 128, segments


@pytest.mark.slow
@pytest.mark.skipif(platform.system() != "Linux", reason="ELF")
def test_symbols_have_the_version_of_the_abi() -> None:
    """Protects a library from calls of another release's function that happens to have the same name."""
    said = run(["nm", "-D", "--defined-only", runtime_library()])
    names = [line.split()[-1] for line in said.splitlines()]
    assert len(names) > 100
    assert [name for name in names if not name.endswith(f"OPGEN_{RUNTIME_ABI}")] == []
