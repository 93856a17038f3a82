"""The files of a new package of operators, which its author then changes."""

from __future__ import annotations

from opgen.emit.common.base import GeneratedFile
from opgen.targets.base import FileKind, Target


class NewPackageFile(GeneratedFile, frozen=True):
    """`releases` of PyTorch that the package supports, oldest first; empty for opgen's own runtime."""

    name: str
    target: str
    releases: tuple[str, ...]

    @property
    def oldest(self) -> str:
        return self.releases[0]

    @property
    def release_list(self) -> str:
        """`"2.9.0", "2.10.0"`."""
        return ", ".join(f'"{release}"' for release in self.releases)

    @property
    def tensors(self) -> str:
        """The target whose tensors the package's operators take: "torch" also for torch-stable."""
        return "torch" if self.releases else self.target

    @property
    def module(self) -> str:
        """The module whose tensors the package's operators take."""
        return "torch" if self.releases else self.name


def build_new_package(name: str, target: Target) -> tuple[NewPackageFile, ...]:
    """Return the files of package `name`: two operators, their kernels and tests, a build, jobs for CI.

    Where the target generates gradients, there are also their formulas and tests.
    """
    required = target.required_package
    releases = () if required is None else required.releases
    files: tuple[tuple[str, str], ...] = (
        (".github/workflows/ci.yml", "ci.yml.j2"),
        (".gitignore", "gitignore.j2"),
        ("CMakeLists.txt", "CMakeLists.txt.j2"),
        ("README.md", "README.md.j2"),
        (f"kernels/{name}.cpp", "kernels.cpp.j2"),
        ("native_functions.yaml", "native_functions.yaml.j2"),
        ("pyproject.toml", "pyproject.toml.j2"),
        ("tests/test_promises.py", "test_promises.py.j2"),
        (f"tests/test_{name}.py", "test.py.j2"),
    )
    if FileKind.DERIVATIVES in target.plan.kinds:
        files = (
            *files,
            ("derivatives.yaml", "derivatives.yaml.j2"),
            ("tests/test_gradients.py", "test_gradients.py.j2"),
        )
    if releases:
        files = (
            *files,
            (".github/workflows/wheels.yml", "wheels.yml.j2"),
            (f"python/{name}/ops.py", "ops.py.j2"),
        )
    return tuple(
        NewPackageFile(path, template, name, target.name, releases) for path, template in files
    )
