"""Check conventions of the schema language: code that is valid, but probably not intended.

Only `opgen lint` reports them, as warnings (W10xx); the generated code is correct either way. Source of the
conventions: the ATen native README.
"""

from __future__ import annotations

from collections.abc import Collection

from opgen.diagnostics import Diagnostics
from opgen.lints.kernels import lint_kernels, lint_keys
from opgen.lints.libraries import lint_blanks, lint_library, lint_overloads, lint_writes
from opgen.lints.names import lint_base, lint_names
from opgen.lints.suppression import lint_allows, suppress
from opgen.lints.variants import lint_variants
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry

__all__ = ["lint", "lint_allows", "lint_blanks", "suppress"]


def lint(
    registry: Registry,
    tensor_keys: frozenset[DispatchKey] | None,
    diagnostics: Diagnostics,
    *,
    bases: Collection[str],
    with_formulas: Collection[str] | None,
    traced: bool,
    several_views: bool,
) -> None:
    """Report violations of conventions.

    `tensor_keys` are the dispatch keys that tensors of the target can have, None for all. `bases` are the
    classes that structured kernels may inherit without a header of the author's, and `with_formulas` the full names of
    operators with formulas, None for a target that has no key for the others. `traced` is whether programs of the
    target are traced, as torch.compile does, and `several_views` whether operators that return more than one view can be.
    """
    lint_variants(registry.functions, diagnostics)
    for f in registry.functions:
        # Generated variants cannot be written differently.
        if "generated" not in f.tags:
            if f.is_library:
                lint_library(f, registry, diagnostics, traced=traced, several_views=several_views)
            else:
                lint_names(f, diagnostics)
            lint_base(f, bases, diagnostics)
            lint_kernels(f, registry, diagnostics)
    if traced:
        lint_overloads(registry.functions, diagnostics)
    if with_formulas is not None:
        lint_writes(registry.functions, with_formulas, diagnostics)
    lint_keys(registry, tensor_keys, diagnostics)
