"""Which operators' results the Python package computes for tensors without data."""

from __future__ import annotations

from opgen.emit.common.context import Context
from opgen.model.native_function import NativeFunction
from opgen.resolve.dispatch_tables import key_of_fake
from opgen.targets.base import FileKind


def is_faked_in_python(context: Context, f: NativeFunction) -> bool:
    """Return whether Python registers a fake kernel for `f`: for a `fake` line, or one that calls the library's."""
    if f.fake is not None:
        return True
    calls_library = FileKind.PYTHON_REGISTRATIONS in context.target.plan.kinds
    return calls_library and key_of_fake(context.registry, f) is not None
