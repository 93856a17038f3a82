"""Write the operators that a library keeps as selective-build YAML, which `--select` reads."""

from __future__ import annotations

from collections.abc import Set

from opgen.emit.common.context import collect_composite_kernels
from opgen.model.registry import Registry


def build_selection_list(registry: Registry, wanted: Set[str]) -> str:
    """Return the operators `wanted` (full names) as root operators, and those that their generated kernels call."""
    called = _called(registry, wanted)
    lines = [f"# {len(wanted) + len(called)} of {len(registry.functions)} operators."]
    lines.append("operators:" if wanted else "operators: {}")
    for name in sorted(wanted | called):
        lines.append(f"  {name}:")
        lines += ["    is_root_operator: False"] if name in called else []
        lines.append("    include_all_overloads: False")
    return "\n".join([*lines, ""])


def _called(registry: Registry, wanted: Set[str]) -> frozenset[str]:
    """Return the operators that generated kernels of `wanted` call, directly or indirectly, without `wanted`."""
    sources = {
        kernel.function.full_name: kernel.source.full_name
        for kernel in collect_composite_kernels(registry)
    }
    found: set[str] = set()
    for name in wanted:
        while (source := sources.get(name)) is not None and source not in found:
            found.add(source)
            name = source
    return frozenset(found - wanted)
