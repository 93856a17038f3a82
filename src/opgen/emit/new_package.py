"""The files of a new package of operators, which its author then changes."""

from __future__ import annotations

from opgen.emit.common.base import GeneratedFile


class NewPackageFile(GeneratedFile, frozen=True):
    """`releases` of PyTorch that the package supports, oldest first; empty for opgen's own runtime."""

    name: str
    releases: tuple[str, ...]

    @property
    def oldest(self) -> str:
        return self.releases[0]

    @property
    def release_list(self) -> str:
        """`"2.9.0", "2.10.0"`."""
        return ", ".join(f'"{release}"' for release in self.releases)

    @property
    def target(self) -> str:
        return "torch" if self.releases else "runtime"

    @property
    def module(self) -> str:
        """The module whose tensors the package's operators take."""
        return "torch" if self.releases else self.name


def build_new_package(name: str, releases: tuple[str, ...]) -> tuple[NewPackageFile, ...]:
    """Return the files of package `name`: two operators, their gradients, kernels and tests, a build, jobs for CI."""
    files: tuple[tuple[str, str], ...] = (
        (".github/workflows/ci.yml", "ci.yml.j2"),
        (".gitignore", "gitignore.j2"),
        ("CMakeLists.txt", "CMakeLists.txt.j2"),
        ("README.md", "README.md.j2"),
        ("derivatives.yaml", "derivatives.yaml.j2"),
        (f"kernels/{name}.cpp", "kernels.cpp.j2"),
        ("native_functions.yaml", "native_functions.yaml.j2"),
        ("pyproject.toml", "pyproject.toml.j2"),
        (f"tests/test_{name}.py", "test.py.j2"),
        ("tests/test_gradients.py", "test_gradients.py.j2"),
    )
    if releases:
        files = (
            *files,
            (".github/workflows/wheels.yml", "wheels.yml.j2"),
            (f"python/{name}/ops.py", "ops.py.j2"),
        )
    return tuple(NewPackageFile(path, template, name, releases) for path, template in files)
