"""Find what keeps an operator with the name of an in-place operator from being one: the name of its first argument."""

from __future__ import annotations

from opgen.model.function_schema import FunctionSchema


def find_inplace_mistake(func: FunctionSchema) -> str | None:
    """Return what makes an operator like `f_(Tensor(a!) image) -> Tensor(a!)` an in-place operator, for a hint.

    None if it is one, or if it does not write its first argument and return only that.
    """
    arguments, returned = func.arguments.flat_all, func.aliased_return_names()
    if not str(func.name.name).endswith("_") or func.is_inplace or len(returned) != 1:
        return None
    first = arguments[0].name if arguments else None
    if first is None or returned[0] != first or any(a.name == "self" for a in arguments):
        return None
    return f"an in-place operator writes 'self': rename '{first}' to 'self', in all variants"
