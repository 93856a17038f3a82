"""A new package of operators: its name is looked at, its files are rendered."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Mapping

from opgen.codes_files import E0914, E0915
from opgen.diagnostics import Diagnostics
from opgen.model.cpp_identifier import is_library_name
from opgen.parse.names import shorten
from opgen.render import Renderer
from opgen.resources import templates_dir
from opgen.targets import TARGETS
from opgen.views.new_package import build_new_package


def new_package(name: str, target: str, diagnostics: Diagnostics) -> Mapping[str, str]:
    """Path to text of every file of a new package; empty if it cannot be called `name`."""
    _check_name(name, diagnostics)
    if diagnostics.has_errors:
        return {}
    world = TARGETS[target].world
    releases = () if world is None else world.releases
    new = templates_dir() / "new"
    return Renderer(new / target, new).render_all(build_new_package(name, releases))


def _check_name(name: str, diagnostics: Diagnostics) -> None:
    if not is_library_name(name):
        message = f"'{shorten(name)}' cannot be the name of a library"
        hint = "letters, digits and '_', and no keyword or macro of C++"
        diagnostics.error(E0914, message, None, hint=hint)
        return
    own = {namespace for target in TARGETS.values() for namespace in target.own_namespaces}
    if name in own:
        problem = "is a namespace of PyTorch's own"
    elif keyword.iskeyword(name):
        problem = "is a keyword of Python"
    elif name.startswith("__") and name.endswith("__"):
        problem = "is a name that Python keeps for itself"
    elif name in sys.stdlib_module_names:
        problem = "is a module of Python's own"
    else:
        return
    diagnostics.error(E0915, f"'{name}' {problem}", None, hint="choose another name")
