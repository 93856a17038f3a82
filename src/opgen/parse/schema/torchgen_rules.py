"""Check torchgen's rules about schemas that its parser, or PyTorch's, can read.

A rule about a schema as a whole returns whether it reported an error. The first error ends a chain of rules, because the later rules of the
chain assume that the earlier ones hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from opgen.diagnostics.suggestions import shorten
from opgen.model.function_schema import (
    SCRATCH_PREFIX,
    TENSOR,
    Annotation,
    Argument,
    FunctionSchema,
    Return,
    SchemaKind,
    argument_offsets,
    return_offsets,
)
from opgen.parse.schema.roles import option_starts
from opgen.parse.schema.text import SchemaText

Rule = Callable[[FunctionSchema, SchemaText], bool]
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
    options = option_starts([a for a, *_ in keyword[:out]])
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
        for rule in chain:
            if rule(schema, at):
                break


def _inplace_without_out(schema: FunctionSchema, at: SchemaText) -> bool:
    if not (schema.is_inplace and schema.arguments.out):
        return False
    message = f"'{schema.name}' is in-place by name but has out arguments"
    out = schema.arguments.out[0]
    at.report(
        "E0341", message, *_name(schema), labels=[(*_argument(schema, out), "an out argument")]
    )
    return True


def _outs_are_returned_in_order(schema: FunctionSchema, at: SchemaText) -> bool:
    failed = False
    for i, (out, value) in enumerate(zip(schema.arguments.out, schema.returns)):
        if out.annotation != value.annotation:
            message = f"return {i + 1} and the out argument '{out.name}' have different annotations"
            label = (*_argument(schema, out), "the out argument")
            at.report("E0330", message, *_return(schema, value, i), labels=[label])
            failed = True
    return failed


def _written_positionals_are_not_returned(schema: FunctionSchema, at: SchemaText) -> bool:
    failed = False
    for argument in schema.arguments.post_self_positional_mutable:
        for i, value in enumerate(schema.returns):
            if value.annotation == argument.annotation:
                message = f"this return is the written argument '{argument.name}'"
                label = (*_argument(schema, argument), "written here")
                at.report("E0331", message, *_return(schema, value, i), labels=[label])
                failed = True
    return failed


def _returns_are_all_written_or_none(schema: FunctionSchema, at: SchemaText) -> bool:
    written = [r.is_write for r in schema.returns]
    if all(written) or not any(written):
        return False
    i = written.index(not written[0])
    message = "some returns are written arguments, others are new"
    at.report("E0332", message, *_return(schema, schema.returns[i], i))
    return True


def _written_returns_are_arguments(schema: FunctionSchema, at: SchemaText) -> bool:
    failed = False
    positional = [a for a in schema.arguments.flat_positional if a.name == "self"]
    targets = {a.annotation for a in (*schema.arguments.out, *positional)}
    for i, value in enumerate(schema.returns):
        if value.is_write and value.annotation not in targets:
            message = f"no out argument, and no self, is annotated '{value.annotation}'"
            at.report("E0333", message, *_return(schema, value, i))
            failed = True
    return failed


def _lists_of_outs_are_not_returned(schema: FunctionSchema, at: SchemaText) -> bool:
    other = next((a for a in schema.arguments.out if a.type != TENSOR), None)
    if other is None or not schema.returns:
        return False
    message = f"an operator that writes to '{other.type_text}' returns nothing"
    label = (*_argument(schema, other), "written to")
    at.report("E0334", message, *_returns(schema), labels=[label], replacement="()")
    return True


def _every_out_is_returned(schema: FunctionSchema, at: SchemaText) -> bool:
    outs = schema.arguments.out
    if not outs or any(a.type != TENSOR for a in outs):
        return False
    returned_outs = [a for a in outs if not a.name.startswith(SCRATCH_PREFIX)]
    if len(returned_outs) == len(schema.returns):
        return False
    message = (
        f"{len(returned_outs)} out argument{'s'[: len(returned_outs) != 1]}, "
        f"but {len(schema.returns)} return{'s'[: len(schema.returns) != 1]}"
    )
    at.report("E0335", message, *_returns(schema))
    return True


def _inplace_writes_self(schema: FunctionSchema, at: SchemaText) -> bool:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or (self_arg is not None and self_arg.argument.is_write):
        return False
    message = f"'{schema.name}' is in-place by name but does not write self"
    if self_arg is None:
        at.report("E0336", message, *_name(schema), hint="no positional argument is named 'self'")
    else:
        hint = "self must be marked as written, as in 'Tensor(a!) self'"
        at.report("E0336", message, *_argument(schema, self_arg.argument), hint=hint)
    return True


def _inplace_returns_self(schema: FunctionSchema, at: SchemaText) -> bool:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or self_arg is None or self_arg.argument.type != TENSOR:
        return False
    annotation = self_arg.argument.annotation
    if len(schema.returns) == 1 and schema.returns[0].annotation == annotation:
        return False
    message = f"'{schema.name}' is in-place, so it returns self and nothing else"
    expected = f"Tensor({annotation})"
    hint = f"write '{expected}'"
    at.report("E0337", message, *_returns(schema), hint=hint, replacement=expected)
    return True


def _inplace_on_lists_returns_nothing(schema: FunctionSchema, at: SchemaText) -> bool:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or self_arg is None or not schema.returns:
        return False
    if self_arg.argument.type == TENSOR:
        return False
    message = f"'{schema.name}' is in-place on '{self_arg.argument.type}', so it returns nothing"
    at.report("E0338", message, *_returns(schema), hint="write '()'", replacement="()")
    return True


def _only_functional_schemas_have_options(schema: FunctionSchema, at: SchemaText) -> bool:
    options = schema.arguments.tensor_options
    if options is None or schema.kind() is SchemaKind.functional:
        return False
    message = f"'{schema.name}' writes its arguments, so it has no tensor options"
    start = _argument(schema, options.dtype)[0]
    at.report("E0339", message, start, _argument(schema, options.pin_memory)[1])
    return True


def _functional_overloads_are_functional(schema: FunctionSchema, at: SchemaText) -> bool:
    if not schema.is_functional_fn() or schema.kind() is SchemaKind.functional:
        return False
    message = f"overload '{schema.name.overload_name}' of an operator that is {schema.kind().name}"
    start = len(str(schema.name.name)) + 1
    at.report("E0340", message, start, len(str(schema.name)))
    return True


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
    text = str(schema)
    return len(f"{schema.name}({schema.arguments}) -> "), len(text)
