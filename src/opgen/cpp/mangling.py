"""Spell the names of C++ functions as linkers know them (Itanium C++ ABI)."""

from __future__ import annotations


def mangled_prefix(function: str) -> str:
    """Return what the linker's names of a function's overloads begin with; their parameters follow.

    `function` is its qualified name, such as `leaky::native::structured_ramp_out_cpu::impl`. It must not be a template.
    """
    parts = function.split("::")
    spelled = [
        "St" if part == "std" and not n else f"{len(part)}{part}" for n, part in enumerate(parts)
    ]
    return f"_ZN{''.join(spelled)}E"
