"""Render the files of a new package of operators."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Iterator, Mapping, Sequence

from opgen.data import templates_dir
from opgen.diagnostics import Diagnostics
from opgen.emit.common.base import GeneratedFile, generated
from opgen.model.cpp_words import C_FUNCTIONS
from opgen.pipeline.loading import check_library_name
from opgen.python.frameworks import FRAMEWORKS, report_frameworks
from opgen.targets import TARGETS
from opgen.targets.base import FileKind, Target
from opgen.templating.render import Renderer


def _build_new_package(
    name: str, target: Target, frameworks: Sequence[str]
) -> Iterator[GeneratedFile]:
    """Yield the files of package `name`: two operators, their kernels and tests, a build, jobs for CI.

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
        files += (("derivatives.yaml", "derivatives.yaml.j2"),)
        files += (("tests/test_gradients.py", "test_gradients.py.j2"),)
    if releases:
        files += ((".github/workflows/wheels.yml", "wheels.yml.j2"),)
        files += ((f"python/{name}/ops.py", "ops.py.j2"),)
    if "jax" in frameworks:
        files += (("tests/test_jax.py", "test_jax.py.j2"),)
    for path, template in files:
        yield generated(
            path,
            template,
            name=name,
            target=target.name,
            # Of PyTorch, oldest first; none for opgen's own runtime.
            releases=releases,
            oldest="".join(releases[:1]),
            release_list=", ".join(f'"{release}"' for release in releases),
            # The target, and the module, whose tensors the package's operators take.
            tensors="torch" if releases else target.name,
            module="torch" if releases else name,
            frameworks=" ".join(frameworks),
            framework_list=", ".join(f'"{framework}"' for framework in frameworks),
            framework_packages="".join(f', "{FRAMEWORKS[framework]}"' for framework in frameworks),
        )


# Packages that nearly every environment of an author has, or gets some day.
_WELL_KNOWN = frozenset(
    (
        *("torch", "test", "numpy", "scipy", "pandas", "jax", "tensorflow", "triton"),
        *("torchvision", "torchaudio"),
        *("matplotlib", "sklearn", "PIL", "cv2", "networkx", "sympy", "mpmath", "transformers"),
        *("pip", "setuptools", "wheel", "build", "packaging", "virtualenv", "cmake", "ninja"),
        *("scikit_build_core", "pybind11", "nanobind", "cython", "Cython", "numba", "cffi"),
        *("pytest", "_pytest", "tests", "hypothesis", "click", "jinja2", "yaml", "rich", "msgspec"),
        *("requests", "six", "attr", "attrs", "typing_extensions", "IPython", "jupyter", "tqdm"),
    )
)


def new_package(
    name: str, target: str, diagnostics: Diagnostics, frameworks: Sequence[str] = ()
) -> Mapping[str, str]:
    """Return the text of every file of a new package by path; report a bad name or framework, and return nothing."""
    _check_name(name, diagnostics)
    is_runtime = TARGETS[target].call_words is None
    report_frameworks((), frameworks, diagnostics, is_runtime=is_runtime, python=True)
    if diagnostics.has_errors:
        return {}
    new = templates_dir() / "new"
    folders = [new / folder for folder in TARGETS[target].plan.templates]
    return Renderer(*folders, new).render_all(_build_new_package(name, TARGETS[target], frameworks))


def _check_name(name: str, diagnostics: Diagnostics) -> None:
    if not check_library_name(name, diagnostics):
        return
    own = {namespace for target in TARGETS.values() for namespace in target.schema.own_namespaces}
    if name in own:
        problem = "is a namespace of PyTorch"
    elif keyword.iskeyword(name):
        problem = "is a keyword of Python"
    elif name.startswith("__") and name.endswith("__"):
        problem = "is a name that Python reserves"
    elif name in C_FUNCTIONS:
        problem = "is a function of the C library, so it cannot be a namespace in C++"
    elif name in sys.stdlib_module_names:
        problem = "is a module of Python's standard library"
    else:
        if name in _WELL_KNOWN:
            message = (
                f"'{name}' is the name of a well-known Python package, which this one would hide"
            )
            diagnostics.warning("W0923", message, None, hint="choose another name")
        return
    diagnostics.error("E0915", f"'{name}' {problem}", None, hint="choose another name")
