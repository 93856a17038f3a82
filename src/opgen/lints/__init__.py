"""Check conventions of the schema language: code that is valid, but probably not intended.

Only `opgen lint` reports them, as warnings (W10xx); the generated code is correct either way. Source of the
conventions: the ATen native README.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opgen.diagnostics import Diagnostic, Diagnostics, known_codes
from opgen.lints.conventions import lint_base, lint_kernels, lint_keys, lint_names, lint_variants
from opgen.lints.libraries import (
    lint_blanks,
    lint_conservative,
    lint_library,
    lint_overloads,
    lint_writes,
)
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.parse.entries.comments import Allow

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
        lint_conservative(registry.functions, diagnostics)
    lint_keys(registry, tensor_keys, diagnostics)


# Every run checks these; the others depend on the target and on options.
_ALWAYS = frozenset(
    f"W{number}"
    for number in (
        *range(1002, 1009),
        *range(1010, 1014),
        *range(1017, 1024),
        *range(1026, 1029),
        *range(1031, 1035),
    )
)


def suppress(allows: Sequence[Allow], diagnostics: Diagnostics) -> frozenset[Allow]:
    """Remove each warning that one of `allows` covers, and return those that covered a warning."""
    by_code: dict[str, list[Allow]] = {}
    for allow in allows:
        by_code.setdefault(allow.code, []).append(allow)
    used: set[Allow] = set()

    def is_allowed(item: Diagnostic) -> bool:
        span, allows = item.span, by_code.get(item.code, ())
        covering = [allow for allow in allows if span is not None and allow.covers(span)]
        used.update(covering)
        return bool(covering)

    if by_code:
        diagnostics.remove(is_allowed)
    return frozenset(used)


def lint_allows(
    allows: Sequence[Allow],
    used: Collection[Allow],
    diagnostics: Diagnostics,
) -> None:
    """Report comments that name no warning, cover no warning, or have no reason."""
    for allow in allows:
        if not allow.code:
            message = "this comment has no effect: it has no code in parentheses"
            diagnostics.warning("W1014", message, allow.span)
        elif not allow.code.startswith("W") or allow.code not in known_codes():
            what = "an error" if allow.code in known_codes() else "not the code of a warning"
            message = f"'{allow.code}' is {what}: it cannot be allowed"
            diagnostics.warning("W1014", message, allow.span)
        elif allow not in used and allow.code in _ALWAYS:
            message = f"this comment has no effect: there is no {allow.code} here"
            diagnostics.warning("W1016", message, allow.span, hint="remove it")
        elif allow in used and not allow.reason:
            message = "this comment has no reason"
            diagnostics.warning("W1015", message, allow.span, hint="write the reason after ')'")
