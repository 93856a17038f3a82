"""Conventions of the schema language: what is allowed, and mostly not what was meant.

Only `opgen lint` reports them, as warnings (W10xx): what is generated is right either way. Source of
the conventions: the ATen native README.
"""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.lints.codes import CODES
from opgen.lints.kernels import lint_kernels, lint_keys
from opgen.lints.libraries import lint_blanks, lint_library
from opgen.lints.names import lint_names
from opgen.lints.silence import lint_allows, silence
from opgen.lints.variants import lint_variants
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry

__all__ = ["CODES", "lint", "lint_allows", "lint_blanks", "silence"]


def lint(
    registry: Registry,
    tensor_keys: frozenset[DispatchKey] | None,
    diagnostics: Diagnostics,
    *,
    traced: bool,
) -> None:
    """Report what goes against a convention.

    `tensor_keys` are those that tensors of the target have, `traced` whether its world traces programs.
    """
    lint_variants(registry.functions, diagnostics)
    for f in registry.functions:
        # What is generated nobody can write otherwise.
        if "generated" not in f.tags:
            if f.is_library:
                lint_library(f, registry, diagnostics, traced=traced)
            else:
                lint_names(f, diagnostics)
            lint_kernels(f, registry, diagnostics)
    lint_keys(registry, tensor_keys, diagnostics)
