"""Check the rules about schemas, torchgen's and then those of PyTorch's runtime, and assign roles to arguments.

The first error in a schema as a whole ends a chain of rules, because the later rules of the chain assume that the earlier
ones hold.

PyTorch's runtime parser has no roles: an operator of any name may write any argument. An operator with the form of
torchgen's out or in-place variant is treated as one. Any other operator that writes arguments is `mutable`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from opgen.diagnostics.suggestions import shorten
from opgen.model.function_schema import (
    AUGMENTED_ASSIGNMENT_NAMES,
    SCRATCH_PREFIX,
    TENSOR,
    TENSOR_LIST,
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    Return,
    SchemaKind,
    argument_offsets,
    may_alias,
    return_offsets,
)
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, TupleType
from opgen.parse.schema.text import SchemaText

_OPTION_TYPES = (
    ("dtype", BaseTy.ScalarType),
    ("layout", BaseTy.Layout),
    ("device", BaseTy.Device),
    ("pin_memory", BaseTy.bool),
)


def arguments_in_roles(
    positional: Sequence[Argument],
    keyword: Sequence[Argument],
    outs: int,
    *,
    has_options: bool = True,
) -> Arguments:
    """Assign a role to each argument; the last `outs` keyword arguments are out arguments."""
    plain, out = tuple(keyword[: len(keyword) - outs]), tuple(keyword[len(keyword) - outs :])
    return Arguments(
        tuple(positional), plain, out, has_options=has_options and bool(_option_starts(plain))
    )


def _option_starts(keyword: Sequence[Argument]) -> list[int]:
    """Return each index where four consecutive arguments become one TensorOptions in C++."""
    return [
        i
        for i in range(len(keyword) - 3)
        if all(
            a.name == name and a.type in (BaseType(ty), OptionalType(BaseType(ty)))
            for a, (name, ty) in zip(keyword[i : i + 4], _OPTION_TYPES)
        )
    ]


Rule = Callable[[FunctionSchema, SchemaText], None]
# An argument, and its range in the text.
Placed = tuple[Argument, int, int]

_LETTER = re.compile("[a-z]")


def annotation_problem(annotation: Annotation) -> str | None:
    """Return why a tensor cannot have an annotation; empty if it has other names than letters, None if it can."""
    before, after = annotation.alias_set, annotation.alias_set_after
    names = before if after == ("*",) else (*before, *after)
    if not all(map(_LETTER.fullmatch, names)):
        return ""
    if annotation.is_write and len(before) > 1:
        return "only one letter can be marked as written"
    if len(before) > 1 and len(after) > 1:
        return "only one side of '->' can have several letters"
    return "at most two letters are possible here" if len(before) > 2 else None


def default_problem(text: str) -> str | None:
    """Return why `text` cannot be a default; None if it can."""
    if "=" in text:
        return "a default cannot contain '='"
    if "::" in text:
        return "a default cannot contain '::'"
    if ", " in text:
        inside = "quoted string" if text[0] in "\"'" else "list"
        return f"a default cannot contain ', ', not even inside a {inside}"
    return None


def check_arguments(
    positional: Sequence[Placed], keyword: Sequence[Placed], at: SchemaText
) -> None:
    """Check the order and the names of arguments."""
    out = next((i for i, (a, *_) in enumerate(keyword) if a.is_write), len(keyword))
    for argument, start, end in keyword[out:]:
        if not argument.is_write:
            message = f"'{argument.name}' comes after the out arguments, but is not written"
            at.report("E0316", message, start, end)
    options = _option_starts([a for a, *_ in keyword[:out]])
    for i in options[1:]:
        message = "dtype, layout, device and pin_memory appear a second time"
        at.report("E0317", message, keyword[i][1], keyword[i + 3][2])
    if len(options) < 2:
        _check_names((*positional, *keyword), at)
    self_at = next((i for i, (a, *_) in enumerate(positional) if a.name == "self"), 0)
    for argument, start, end in positional[:self_at]:
        if argument.is_write:
            message = f"'{argument.name}' is written, but comes before self"
            at.report("E0318", message, start, end)


def _check_names(arguments: Sequence[Placed], at: SchemaText) -> None:
    if len({a.name for a, *_ in arguments}) == len(arguments):
        return
    first: dict[str, int] = {}
    for argument, start, end in arguments:
        size = len(argument.name)
        equals = at.text.find("=", start, end)
        begin = at.text.rindex(argument.name, start, end if equals < 0 else equals)
        earlier = first.setdefault(argument.name, begin)
        if earlier != begin:
            message = f"two arguments are named '{shorten(argument.name)}'"
            label = (earlier, earlier + size, "the first")
            at.report("E0319", message, begin, begin + size, labels=[label])


def check_schema(schema: FunctionSchema, at: SchemaText) -> None:
    """Report every rule that `schema`, which is the whole text, violates: at most one of each chain."""
    for chain in _CHAINS:
        before = at.errors
        for rule in chain:
            rule(schema, at)
            if at.errors > before:
                break


def _inplace_without_out(schema: FunctionSchema, at: SchemaText) -> None:
    if not (schema.is_inplace and schema.arguments.out):
        return
    message = f"'{schema.name}' is in-place by name but has out arguments"
    out = schema.arguments.out[0]
    at.report(
        "E0341", message, *_name(schema), labels=[(*_argument(schema, out), "an out argument")]
    )


def _outs_are_returned_in_order(schema: FunctionSchema, at: SchemaText) -> None:
    for i, (out, value) in enumerate(zip(schema.arguments.out, schema.returns)):
        if out.annotation != value.annotation:
            message = f"return {i + 1} and the out argument '{out.name}' have different annotations"
            label = (*_argument(schema, out), "the out argument")
            at.report("E0330", message, *_return(schema, value, i), labels=[label])


def _written_positionals_are_not_returned(schema: FunctionSchema, at: SchemaText) -> None:
    for argument in (a for a in schema.arguments.post_self_positional if a.is_write):
        for i, value in enumerate(schema.returns):
            if value.annotation == argument.annotation:
                message = f"this return is the written argument '{argument.name}'"
                label = (*_argument(schema, argument), "written here")
                at.report("E0331", message, *_return(schema, value, i), labels=[label])


def _returns_are_all_written_or_none(schema: FunctionSchema, at: SchemaText) -> None:
    written = [r.is_write for r in schema.returns]
    if all(written) or not any(written):
        return
    i = written.index(not written[0])
    message = "some returns are written arguments, others are new"
    at.report("E0332", message, *_return(schema, schema.returns[i], i))


def _written_returns_are_arguments(schema: FunctionSchema, at: SchemaText) -> None:
    positional = [a for a in schema.arguments.flat_positional if a.name == "self"]
    targets = {a.annotation for a in (*schema.arguments.out, *positional)}
    for i, value in enumerate(schema.returns):
        if value.is_write and value.annotation not in targets:
            message = f"no out argument, and no self, is annotated '{value.annotation}'"
            at.report("E0333", message, *_return(schema, value, i))


def _lists_of_outs_are_not_returned(schema: FunctionSchema, at: SchemaText) -> None:
    other = next((a for a in schema.arguments.out if a.type != TENSOR), None)
    if other is None or not schema.returns:
        return
    message = f"an operator that writes to '{other.type_text}' returns nothing"
    label = (*_argument(schema, other), "written to")
    at.report("E0334", message, *_returns(schema), labels=[label], replacement="()")


def _every_out_is_returned(schema: FunctionSchema, at: SchemaText) -> None:
    outs = schema.arguments.out
    if not outs or any(a.type != TENSOR for a in outs):
        return
    returned_outs = [a for a in outs if not a.name.startswith(SCRATCH_PREFIX)]
    if len(returned_outs) == len(schema.returns):
        return
    message = (
        f"{len(returned_outs)} out argument{'s'[: len(returned_outs) != 1]}, "
        f"but {len(schema.returns)} return{'s'[: len(schema.returns) != 1]}"
    )
    at.report("E0335", message, *_returns(schema))


def _inplace_writes_self(schema: FunctionSchema, at: SchemaText) -> None:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or (self_arg is not None and self_arg.argument.is_write):
        return
    message = f"'{schema.name}' is in-place by name but does not write self"
    if self_arg is None:
        at.report("E0336", message, *_name(schema), hint="no positional argument is named 'self'")
    else:
        hint = "self must be marked as written, as in 'Tensor(a!) self'"
        at.report("E0336", message, *_argument(schema, self_arg.argument), hint=hint)


def _inplace_returns_self(schema: FunctionSchema, at: SchemaText) -> None:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or self_arg is None or self_arg.argument.type != TENSOR:
        return
    annotation = self_arg.argument.annotation
    if len(schema.returns) == 1 and schema.returns[0].annotation == annotation:
        return
    message = f"'{schema.name}' is in-place, so it returns self and nothing else"
    expected = f"Tensor({annotation})"
    at.report("E0337", message, *_returns(schema), hint=f"write '{expected}'", replacement=expected)


def _inplace_on_lists_returns_nothing(schema: FunctionSchema, at: SchemaText) -> None:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or self_arg is None or not schema.returns:
        return
    if self_arg.argument.type == TENSOR:
        return
    message = f"'{schema.name}' is in-place on '{self_arg.argument.type}', so it returns nothing"
    at.report("E0338", message, *_returns(schema), hint="write '()'", replacement="()")


def _only_functional_schemas_have_options(schema: FunctionSchema, at: SchemaText) -> None:
    options = schema.arguments.tensor_options
    if options is None or schema.kind() is SchemaKind.functional:
        return
    message = f"'{schema.name}' writes its arguments, so it has no tensor options"
    start = _argument(schema, options.dtype)[0]
    at.report("E0339", message, start, _argument(schema, options.pin_memory)[1])


def _functional_overloads_are_functional(schema: FunctionSchema, at: SchemaText) -> None:
    if not schema.is_functional_fn() or schema.kind() is SchemaKind.functional:
        return
    message = f"overload '{schema.name.overload_name}' of an operator that is {schema.kind().name}"
    start = len(str(schema.name.name)) + 1
    at.report("E0340", message, start, len(str(schema.name)))


_CHAINS: tuple[tuple[Rule, ...], ...] = (
    (
        _inplace_without_out,
        _outs_are_returned_in_order,
        _written_positionals_are_not_returned,
        _returns_are_all_written_or_none,
        _written_returns_are_arguments,
        _lists_of_outs_are_not_returned,
        _every_out_is_returned,
        _inplace_writes_self,
        _inplace_returns_self,
        _inplace_on_lists_returns_nothing,
    ),
    (_only_functional_schemas_have_options,),
    (_functional_overloads_are_functional,),
)


def _name(schema: FunctionSchema) -> tuple[int, int]:
    return 0, len(str(schema.name))


def _argument(schema: FunctionSchema, argument: Argument) -> tuple[int, int]:
    start = next(start for a, start in argument_offsets(schema) if a is argument)
    return start, start + len(str(argument))


def _return(schema: FunctionSchema, value: Return, index: int) -> tuple[int, int]:
    start = [start for _, start in return_offsets(schema)][index]
    return start, start + len(str(value))


def _returns(schema: FunctionSchema) -> tuple[int, int]:
    return len(f"{schema.name}({schema.arguments}) -> "), len(str(schema))


# The suffix of the functional form of an operator that writes its arguments.
_FUNCTIONAL = "_functional"


def check_order(positional: Sequence[tuple[Argument, int, int]], at: SchemaText) -> None:
    """Report an argument without a default after one that has a default, unless it is a list."""
    default: tuple[int, int] | None = None
    for argument, start, end in positional:
        if argument.default is not None:
            default = (start, end)
        elif default is not None and not isinstance(argument.type, ListType):
            message = f"'{argument.name}' has no default, but an argument before it has one"
            hint = "give it a default, or put it first, or after '*'"
            at.report("E0326", message, start, end, labels=[(*default, "has a default")], hint=hint)


def check_returns(returns: Sequence[Return], start: int, end: int, at: SchemaText) -> None:
    """Report a single tuple: PyTorch infers one return for each element of the tuple that a kernel returns."""
    if len(returns) == 1 and isinstance(returns[0].type, TupleType):
        message = "PyTorch's registry takes no kernel that returns one tuple"
        hint = None
        if at.text[start] == "(":
            hint = f"write '{at.text[start:end]}' for several returns"
        at.report("E0325", message, start, end, hint=hint)


def _distinct(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Rename arguments so that all names differ: PyTorch's parser accepts two of one name."""
    names = {a.name for a in arguments}
    if len(names) == len(arguments):
        return tuple(arguments)
    seen: set[str] = set()
    renamed = []
    for a in arguments:
        if a.name in seen:
            number = next(i for i in range(1, len(arguments) + 1) if f"{a.name}_{i}" not in names)
            names.add(f"{a.name}_{number}")
            renamed.append(replace(a, name=f"{a.name}_{number}", written=a.name))
        else:
            renamed.append(a)
        seen.add(a.name)
    return tuple(renamed)


def in_roles(
    positional: Sequence[Argument], keyword: Sequence[Argument], returns: Sequence[Return]
) -> Arguments:
    """Assign a role to each argument. There are out arguments only if the operator is an out variant."""
    named = _distinct((*positional, *keyword))
    positional, keyword = named[: len(positional)], named[len(positional) :]
    outs = _out_count(keyword, returns)
    plain = keyword[: len(keyword) - outs]
    # As in a TensorOptions, they are all optional.
    start = next(iter(_option_starts(plain)), len(plain))
    are_optional = all(isinstance(a.type, OptionalType) for a in plain[start : start + 4])
    has_options = not outs and "options" not in {a.name for a in named} and are_optional
    return arguments_in_roles(positional, keyword, outs, has_options=has_options)


def _out_count(keyword: Sequence[Argument], returns: Sequence[Return]) -> int:
    """Count the out arguments, which are the last keyword arguments; 0 if the operator is not an out variant.

    In an out variant, either all of them are tensors, and the operator returns exactly these in order; or some are
    lists, and it returns nothing.
    """
    outs: list[Argument] = []
    for a in reversed(keyword):
        if not a.is_write or a.type not in (TENSOR, TENSOR_LIST) or a.default is not None:
            break
        outs.insert(0, a)
    if any(a.is_write for a in keyword[: len(keyword) - len(outs)]) or _option_starts(keyword):
        return 0
    if any(a.type != TENSOR for a in outs):
        return 0 if returns else len(outs)
    if len(outs) != len(returns):
        return 0
    same = (may_alias(a.annotation, r.annotation) for a, r in zip(outs, returns))
    return len(outs) if all(same) else 0


def base_name(text: str, arguments: Arguments, returns: Sequence[Return]) -> BaseOperatorName:
    """Parse the base name `text` of an operator.

    A prefix or suffix such as `_` or `__i...__` is a mark only if the arguments and returns agree with it.
    """
    dunder = text[2:-2] if len(text) > 4 and text.startswith("__") and text.endswith("__") else ""
    is_inplace = _is_inplace(arguments, returns)
    if dunder and "__" not in dunder:
        if is_inplace and dunder[:1] == "i" and dunder[1:] in AUGMENTED_ASSIGNMENT_NAMES:
            return BaseOperatorName(dunder[1:], inplace=True, dunder_method=True)
        if not is_inplace and dunder[:1] != "i":
            return BaseOperatorName(dunder, inplace=False, dunder_method=True)
        return BaseOperatorName(text, inplace=False, dunder_method=False)
    if is_inplace and text.endswith("_") and text.strip("_"):
        return BaseOperatorName(text[:-1], inplace=True, dunder_method=False)
    writes = any(a.is_write for a in arguments.flat_all)
    if text.endswith(_FUNCTIONAL) and text != _FUNCTIONAL and not writes:
        base = text[: -len(_FUNCTIONAL)]
        return BaseOperatorName(base, inplace=False, dunder_method=False, functional_overload=True)
    return BaseOperatorName(text, inplace=False, dunder_method=False)


def _is_inplace(arguments: Arguments, returns: Sequence[Return]) -> bool:
    """Return whether the operator writes only self, and returns only self, or nothing if self is a list."""
    if arguments.self_arg is None:
        return False
    target = arguments.self_arg.argument
    if not target.is_write or sum(a.is_write for a in arguments.flat_all) > 1:
        return False
    if target.type == TENSOR:
        return len(returns) == 1 and may_alias(target.annotation, returns[0].annotation)
    return target.type == TENSOR_LIST and not returns
