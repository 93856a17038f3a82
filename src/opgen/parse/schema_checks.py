"""Rules about a schema as a whole, one function each.

Every rule answers whether it had something to report. Rules of one chain build on each other, so the
first that fails ends its chain: what a later one said would be a mere consequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from opgen.diagnostics.codes import Code
from opgen.model.function_schema import (
    SCRATCH_PREFIX,
    TENSOR,
    Argument,
    FunctionSchema,
    Return,
    SchemaKind,
    argument_offsets,
    return_offsets,
)
from opgen.parse import codes_schema as codes


class Report(Protocol):
    """Reports the characters `start` to `end` of the schema's text."""

    def __call__(
        self,
        code: Code,
        message: str,
        start: int,
        end: int,
        *,
        labels: Iterable[tuple[int, int, str]] = (),
        notes: Iterable[str] = (),
        hint: str | None = None,
        replacement: str | None = None,
    ) -> None: ...


Rule = Callable[[FunctionSchema, Report], bool]


def check_schema(schema: FunctionSchema, report: Report) -> None:
    """Report every rule that `schema` breaks."""
    for chain in _CHAINS:
        for rule in chain:
            if rule(schema, report):
                break


def _inplace_without_out(schema: FunctionSchema, report: Report) -> bool:
    if not (schema.is_inplace and schema.arguments.out):
        return False
    message = f"'{schema.name}' is in-place by name but has out arguments"
    out = schema.arguments.out[0]
    report(
        codes.E0341, message, *_name(schema), labels=[(*_argument(schema, out), "an out argument")]
    )
    return True


def _outs_are_returned_in_order(schema: FunctionSchema, report: Report) -> bool:
    failed = False
    for i, (out, value) in enumerate(zip(schema.arguments.out, schema.returns)):
        if out.annotation != value.annotation:
            message = f"return {i + 1} and the out argument '{out.name}' have different annotations"
            label = (*_argument(schema, out), "the out argument")
            report(codes.E0330, message, *_return(schema, value, i), labels=[label])
            failed = True
    return failed


def _written_positionals_are_not_returned(schema: FunctionSchema, report: Report) -> bool:
    failed = False
    for argument in schema.arguments.post_self_positional_mutable:
        for i, value in enumerate(schema.returns):
            if value.annotation == argument.annotation:
                message = f"this return is the written argument '{argument.name}'"
                label = (*_argument(schema, argument), "written here")
                report(codes.E0331, message, *_return(schema, value, i), labels=[label])
                failed = True
    return failed


def _returns_are_all_written_or_none(schema: FunctionSchema, report: Report) -> bool:
    written = [r.is_write for r in schema.returns]
    if all(written) or not any(written):
        return False
    i = written.index(not written[0])
    message = "some returns are written arguments, others are new"
    report(codes.E0332, message, *_return(schema, schema.returns[i], i))
    return True


def _written_returns_are_arguments(schema: FunctionSchema, report: Report) -> bool:
    failed = False
    positional = [a for a in schema.arguments.flat_positional if a.name == "self"]
    targets = {a.annotation for a in (*schema.arguments.out, *positional)}
    for i, value in enumerate(schema.returns):
        if value.is_write and value.annotation not in targets:
            message = f"no out argument, and no self, is annotated '{value.annotation}'"
            report(codes.E0333, message, *_return(schema, value, i))
            failed = True
    return failed


def _lists_of_outs_are_not_returned(schema: FunctionSchema, report: Report) -> bool:
    other = next((a for a in schema.arguments.out if a.type != TENSOR), None)
    if other is None or not schema.returns:
        return False
    message = f"an operator that writes into '{other.type_text}' returns nothing"
    label = (*_argument(schema, other), "written into")
    report(codes.E0334, message, *_returns(schema), labels=[label], replacement="()")
    return True


def _every_out_is_returned(schema: FunctionSchema, report: Report) -> bool:
    outs = schema.arguments.out
    if not outs or any(a.type != TENSOR for a in outs):
        return False
    wanted = [a for a in outs if not a.name.startswith(SCRATCH_PREFIX)]
    if len(wanted) == len(schema.returns):
        return False
    message = (
        f"{len(wanted)} out argument{'s'[: len(wanted) != 1]}, "
        f"but {len(schema.returns)} return{'s'[: len(schema.returns) != 1]}"
    )
    report(codes.E0335, message, *_returns(schema))
    return True


def _inplace_writes_self(schema: FunctionSchema, report: Report) -> bool:
    me = schema.arguments.self_arg
    if not schema.is_inplace or (me is not None and me.argument.is_write):
        return False
    message = f"'{schema.name}' is in-place by name but does not write a self"
    if me is None:
        report(codes.E0336, message, *_name(schema), hint="no positional argument is named 'self'")
    else:
        hint = "self has to be written, as in 'Tensor(a!) self'"
        report(codes.E0336, message, *_argument(schema, me.argument), hint=hint)
    return True


def _inplace_returns_self(schema: FunctionSchema, report: Report) -> bool:
    me = schema.arguments.self_arg
    if not schema.is_inplace or me is None or me.argument.type != TENSOR:
        return False
    annotation = me.argument.annotation
    if len(schema.returns) == 1 and schema.returns[0].annotation == annotation:
        return False
    message = f"'{schema.name}' is in-place, so it returns self and nothing else"
    mend = f"Tensor({annotation})"
    report(codes.E0337, message, *_returns(schema), hint=f"write '{mend}'", replacement=mend)
    return True


def _inplace_on_lists_returns_nothing(schema: FunctionSchema, report: Report) -> bool:
    me = schema.arguments.self_arg
    if not schema.is_inplace or me is None or me.argument.type == TENSOR or not schema.returns:
        return False
    message = f"'{schema.name}' is in-place on '{me.argument.type}', so it returns nothing"
    report(codes.E0338, message, *_returns(schema), hint="write '()'", replacement="()")
    return True


def _options_only_where_something_is_made(schema: FunctionSchema, report: Report) -> bool:
    options = schema.arguments.tensor_options
    if options is None or schema.kind() is SchemaKind.functional:
        return False
    message = f"'{schema.name}' writes its arguments, so it has no tensor options"
    start = _argument(schema, options.dtype)[0]
    report(codes.E0339, message, start, _argument(schema, options.pin_memory)[1])
    return True


def _functional_overloads_are_functional(schema: FunctionSchema, report: Report) -> bool:
    if not schema.is_functional_fn() or schema.kind() is SchemaKind.functional:
        return False
    message = f"overload '{schema.name.overload_name}' of an operator that is {schema.kind().name}"
    start = len(str(schema.name.name)) + 1
    report(codes.E0340, message, start, len(str(schema.name)))
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
    (_options_only_where_something_is_made,),
    (_functional_overloads_are_functional,),
)


def _name(schema: FunctionSchema) -> tuple[int, int]:
    return 0, len(str(schema.name))


def _argument(schema: FunctionSchema, argument: Argument) -> tuple[int, int]:
    start = next(at for a, at in argument_offsets(schema) if a is argument)
    return start, start + len(str(argument))


def _return(schema: FunctionSchema, value: Return, index: int) -> tuple[int, int]:
    start = [at for _, at in return_offsets(schema)][index]
    return start, start + len(str(value))


def _returns(schema: FunctionSchema) -> tuple[int, int]:
    text = str(schema)
    return len(f"{schema.name}({schema.arguments}) -> "), len(text)
