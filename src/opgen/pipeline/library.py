"""Determine the library that is generated: its name, the library it extends, and the header of its manifest."""

from __future__ import annotations

import json
from collections.abc import Container
from pathlib import Path
from typing import Any

from msgspec import Struct

from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import shorten
from opgen.emit.common.context import MODULE_SOURCE, Context, Library
from opgen.emit.tree import operator_headers
from opgen.io.files import MAX_BYTES
from opgen.model.backend import ExternalBackend
from opgen.model.cpp_words import is_library_name
from opgen.model.registry import Registry
from opgen.pipeline.checking import Additions
from opgen.pipeline.derivatives import Gradients
from opgen.pipeline.inputs import Inputs, Overlay, is_backend_only
from opgen.pipeline.loading import read_bytes
from opgen.targets import TARGETS
from opgen.targets.base import Target, dotted

_NO_ADDITIONS = Additions()
_NO_GRADIENTS = Gradients()


def library_context(
    registry: Registry,
    inputs: Inputs,
    diagnostics: Diagnostics,
    additions: Additions = _NO_ADDITIONS,
    signatures: Signatures | None = None,
    gradients: Gradients = _NO_GRADIENTS,
) -> Context | None:
    """Return what files are built from; report a missing or bad name, and return None."""
    backend = additions.backend
    extended = (
        None if inputs.extends is None else _extended(inputs.extends, inputs.overlay, diagnostics)
    )
    target, backend_only = TARGETS[inputs.target], is_backend_only(inputs)
    name = inputs.name
    if name is None and backend is not None and backend_only:
        name = backend.forward.key.lower()
    if name is None:
        name = _only_namespace(registry, diagnostics)
    if name is None:
        return None
    if not is_library_name(name):
        message = f"'{shorten(name)}' cannot be the name of a library"
        diagnostics.error(
            "E0914",
            message,
            None,
            hint="use letters, digits and '_', and no keyword or macro of C++",
        )
        return None
    if backend is not None and extended is not None:
        _check_extended(backend, extended, diagnostics)
    torch, required = "", target.required_package
    if target.serves_releases and required is not None:
        torch = inputs.torch or dotted(required.oldest)
    library = Library(
        name,
        _extended_name(extended, target, backend_only),
        inputs.shards,
        python=inputs.python,
        backend_only=backend_only,
        extends_python=extended is not None and extended.python,
        extended_tensor="" if extended is None else extended.tensor,
        torch=torch,
    )
    return Context(
        registry,
        target,
        library,
        backend,
        additions.selection,
        signatures or Signatures(),
        gradients.functions,
        gradients.files,
    )


def _extended_name(extended: Extended | None, target: Target, backend_only: bool) -> str | None:
    """Return the name by which headers of the extended library are included."""
    if extended is not None:
        return extended.name
    return target.installed.headers if backend_only and target.installed is not None else None


class Extended(Struct, frozen=True):
    """A library that another extends: its name, the full names of its operators, whether it is a Python package, and its
    class Tensor; empty if it has none."""

    name: str
    operators: frozenset[str]
    python: bool
    tensor: str


def _extended(path: Path, overlay: Overlay, diagnostics: Diagnostics) -> Extended | None:
    """Read the manifest of a library; report one that cannot be used."""
    text = read_bytes(path, diagnostics, overlay, most=MAX_BYTES)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
        name, tensor = manifest["name"], manifest["tensor"]
        operators = frozenset(manifest["operators"])
        python = MODULE_SOURCE in manifest["files"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name, tensor, operators, python = None, "", frozenset(), False
    if not isinstance(name, str) or not is_library_name(name):
        diagnostics.error("E0902", f"{path} is not a manifest of a generated library", None)
        return None
    return Extended(name, operators, python, str(tensor))


def _check_extended(backend: ExternalBackend, extended: Extended, diagnostics: Diagnostics) -> None:
    """Report kernels for operators that the extended library does not have."""
    for kernel in backend.kernels():
        if kernel.function.full_name not in extended.operators:
            message = f"library {extended.name} has no operator '{kernel.function.full_name}'"
            diagnostics.error("E0909", message, kernel.span)


def _only_namespace(registry: Registry, diagnostics: Diagnostics) -> str | None:
    """Return the namespace of all operators; report several namespaces, and return None."""
    namespaces = sorted({f.namespace for f in registry.functions})
    if len(namespaces) == 1:
        return namespaces[0]
    if not namespaces:
        return "empty"
    message = f"the operators have several namespaces ({', '.join(namespaces)}), so the library has no name"
    diagnostics.error("E0906", message, None, hint="give it one: --name NAME")
    return None


def manifest_header(context: Context, files: Container[str]) -> dict[str, Any]:
    """Return the values of the manifest besides its list of `files`."""
    headers = {
        root: [path for path in paths if path in files]
        for root, paths in operator_headers(context).items()
    }
    return {
        "name": context.library.name,
        "target": context.target.name,
        "runtime_abi": context.target.plan.runtime_abi,
        "tensor": context.own_tensor,
        "operators": {
            f.full_name: {"schema": context.spell.schema(f), "files": headers[f.root_name]}
            for f in context.registry.functions
            if context.keeps(f) and not context.library.backend_only
        },
    }
