"""The runtime's own tests, configured and compiled as by a developer of the runtime, and run by CTest."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from support.build import DEBUG, RUNTIME, cache_folder, cmake_build, locked, run, tool


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
