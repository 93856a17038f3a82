"""A package of operators to begin with: its files, for people to change."""

from __future__ import annotations

from opgen.views.base import FileView, view


@view
class NewPackageView(FileView):
    """`releases` of what it is compiled against, oldest first; none if that is opgen's own runtime."""

    name: str
    releases: tuple[str, ...]

    @property
    def oldest(self) -> str:
        return self.releases[0]


def build_new_package(name: str, releases: tuple[str, ...]) -> tuple[NewPackageView, ...]:
    """The files of package `name`: two operators, their kernels and tests, a build, jobs for CI."""
    files: tuple[tuple[str, str], ...] = (
        (".github/workflows/ci.yml", "ci.yml.j2"),
        (".gitignore", "gitignore.j2"),
        ("CMakeLists.txt", "CMakeLists.txt.j2"),
        ("README.md", "README.md.j2"),
        (f"kernels/{name}.cpp", "kernels.cpp.j2"),
        ("native_functions.yaml", "native_functions.yaml.j2"),
        ("pyproject.toml", "pyproject.toml.j2"),
        (f"tests/test_{name}.py", "test.py.j2"),
    )
    if releases:
        files = (
            *files,
            (".github/workflows/wheels.yml", "wheels.yml.j2"),
            (f"python/{name}/ops.py", "ops.py.j2"),
        )
    return tuple(NewPackageView(path, template, name, releases) for path, template in files)
