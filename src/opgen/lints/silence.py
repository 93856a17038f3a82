"""Warnings without those that a comment in the file allows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opgen.diagnostics import Diagnostic, Diagnostics, Severity
from opgen.lints.codes import ALWAYS, W1014, W1015, W1016
from opgen.parse import Allow


def silence(allows: Sequence[Allow], diagnostics: Diagnostics) -> frozenset[Allow]:
    """Take out every warning that one of `allows` is for; the answer is those that were for one."""
    by_code: dict[str, list[Allow]] = {}
    for allow in allows:
        by_code.setdefault(allow.code, []).append(allow)
    used: set[Allow] = set()

    def is_allowed(item: Diagnostic) -> bool:
        if item.severity is not Severity.warning or item.span is None:
            return False
        span = item.span
        found = [allow for allow in by_code.get(item.code, ()) if allow.covers(span)]
        used.update(found)
        return bool(found)

    if by_code:
        diagnostics.remove(is_allowed)
    return frozenset(used)


def lint_allows(
    allows: Sequence[Allow],
    used: Collection[Allow],
    codes: Collection[str],
    diagnostics: Diagnostics,
) -> None:
    """Report comments that allow what is no warning or nothing at all, or do not say why."""
    for allow in allows:
        if not allow.code:
            message = "the comment allows nothing: it names no code in parentheses"
            diagnostics.warning(W1014, message, allow.span)
        elif not allow.code.startswith("W") or allow.code not in codes:
            what = "an error, which" if allow.code in codes else "no code of a warning, and"
            message = f"'{allow.code}' is {what} cannot be allowed"
            diagnostics.warning(W1014, message, allow.span)
        elif allow not in used and allow.code in ALWAYS:
            message = f"there is no {allow.code} here that the comment would allow"
            diagnostics.warning(W1016, message, allow.span, hint="remove it")
        elif allow in used and not allow.reason:
            message = "the comment does not say why this is allowed"
            diagnostics.warning(W1015, message, allow.span, hint="write the reason after ')'")
