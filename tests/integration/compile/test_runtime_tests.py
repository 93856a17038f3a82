"""The runtime's own tests, configured and compiled as by a developer of the runtime, and run by CTest; and what its
folders link.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from support.build import (
    DEBUG,
    REPOSITORY,
    RUNTIME,
    RUNTIME_ABI,
    cache_folder,
    cmake_build,
    locked,
    run,
    runtime_libraries,
    tool,
)

_EXPORTED = Path(__file__).with_name("exported_names.json")
_LAYERS = ("core", "cpu", "kernels", "schema", "autograd", "transforms")


def _runtime_tests() -> Path:
    folder = cache_folder() / "runtime-tests"
    options = (*DEBUG, "-DOPGEN_BUILD_TESTS=ON", "-DOPGEN_WERROR=ON")
    with locked(folder.name):
        cmake_build(RUNTIME, folder, *options)
    return folder


@pytest.mark.slow
def test_the_runtimes_own_tests_pass() -> None:
    folder = _runtime_tests()
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
    symbols = run(["nm", "-D", folder / "libopgen_core.so"])
    assert "GOMP_parallel" in symbols or "__kmpc_fork_call" in symbols


def test_options_of_elf_are_not_passed_to_other_linkers(tmp_path: Path) -> None:
    """Protects builds on macOS, whose linker refuses them."""
    options = [
        "-DCMAKE_SYSTEM_NAME=Darwin",
        "-DOPGEN_BLAS=OFF",
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
    ]
    # This machine's compiler makes no programs for macOS.
    options += ["-DCMAKE_CXX_COMPILER_WORKS=ON", "-DCMAKE_HAVE_LIBC_PTHREAD=ON"]
    run([tool("cmake"), "-S", RUNTIME, "-B", tmp_path, "-G", "Ninja", *options])
    rules = (tmp_path / "build.ninja").read_text()
    assert f"libopgen_core.{RUNTIME_ABI}.dylib" in rules
    assert re.findall(r"-Wl,-(?:z|B|-)\S*", rules) == []


@pytest.mark.slow
def test_layers_link_only_lower_ones() -> None:
    """Protects small libraries, and readers: what a layer calls is in it or below it."""
    folder = _runtime_tests()
    needed, defined = {}, {}
    for layer in _LAYERS:
        objects = sorted(folder.glob(f"CMakeFiles/opgen_layer_{layer}.dir/**/*.o"))
        needed[layer] = _symbols(objects, "--undefined-only")
        defined[layer] = _symbols(objects, "--defined-only")
        assert len(defined[layer]) > 10, layer
    for i, layer in enumerate(_LAYERS):
        # opgen::kernels is beside opgen::runtime, whose layers do not link it.
        linked = {*_LAYERS[: i + 1]} - {"kernels"} | {layer}
        below = {name for other in linked for name in defined[other]}
        others = {name for other in {*_LAYERS} - linked for name in defined[other]}
        assert sorted(needed[layer] & others - below) == [], layer


def _symbols(objects: Sequence[Path], option: str) -> set[str]:
    return set(run(["nm", "--format=just-symbols", "--extern-only", option, *objects]).splitlines())


@pytest.mark.slow
@pytest.mark.skipif(platform.system() != "Linux", reason="ELF")
def test_thread_local_memory_is_small() -> None:
    """Protects programs that load the runtime late: libraries with the initial-exec model share few bytes then."""
    total = 0
    for library in runtime_libraries():
        segments = run(["readelf", "-lW", library])
        found = re.search(r"^ +TLS +(?:0x\w+ +){4}(0x\w+)", segments, re.MULTILINE)
        total += int(found[1], 16) if found else 0
    assert 0 < total <= 128, total


@pytest.mark.slow
@pytest.mark.skipif(platform.system() != "Linux", reason="ELF")
def test_symbols_have_the_version_of_the_abi() -> None:
    """Protects a library from calls of another release's function that happens to have the same name."""
    said = [run(["nm", "-D", "--defined-only", library]) for library in runtime_libraries()]
    names = [line.split()[-1] for text in said for line in text.splitlines()]
    assert len(names) > 100
    assert [name for name in names if not name.endswith(f"OPGEN_{RUNTIME_ABI}")] == []


@pytest.mark.slow
@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="names of x86-64"
)
def test_another_abi_has_another_number() -> None:
    """Protects libraries that are already built: each function that they call exists as long as the number is the same."""
    found: dict[str, int | str] = {"OPGEN_RUNTIME_ABI": RUNTIME_ABI}
    for library in runtime_libraries():
        symbols = [
            line.split() for line in run(["nm", "-D", "--defined-only", library]).splitlines()
        ]
        # Weak ones are of inline functions, which each library has, too.
        names = sorted(name.split("@")[0] for _, kind, name in symbols if kind in "BDRT")
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
        found[library.name.split(".")[0]] = f"{len(names)} names, SHA-256 {digest[:16]}"
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        _EXPORTED.write_text(json.dumps(found, indent=2) + "\n")
    assert found == json.loads(_EXPORTED.read_text()), (
        "The runtime exports other names (a function with other parameters has another one). Decide by the comment of "
        "OPGEN_RUNTIME_ABI in runtime/include/opgen/core/macros.h whether to raise it. Then run "
        f"OPGEN_UPDATE_GOLDEN=1 pytest -m slow --whole {Path(__file__).relative_to(REPOSITORY)} -k another_abi"
    )
