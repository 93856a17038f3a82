"""The runtime's own tests, configured and compiled as by a developer of the runtime, and run by CTest."""

from __future__ import annotations

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
