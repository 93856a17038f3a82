"""Check the rules about a schema as a whole, one function each.

Each rule returns whether it reported an error. The first error ends a chain of rules, because the later rules of the
chain assume that the earlier ones hold.
"""

from __future__ import annotations

from collections.abc import Callable

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
from opgen.parse.schema.reader import TextReader

Rule = Callable[[FunctionSchema, TextReader], bool]


def check_schema(schema: FunctionSchema, reader: TextReader) -> None:
    """Report every rule that `schema`, which `reader` has parsed, violates: at most one of each chain."""
    for chain in _CHAINS:
        for rule in chain:
            if rule(schema, reader):
                break


def _inplace_without_out(schema: FunctionSchema, reader: TextReader) -> bool:
    if not (schema.is_inplace and schema.arguments.out):
        return False
    message = f"'{schema.name}' is in-place by name but has out arguments"
    out = schema.arguments.out[0]
    reader.report(
        "E0341", message, *_name(schema), labels=[(*_argument(schema, out), "an out argument")]
    )
    return True


def _outs_are_returned_in_order(schema: FunctionSchema, reader: TextReader) -> bool:
    failed = False
    for i, (out, value) in enumerate(zip(schema.arguments.out, schema.returns)):
        if out.annotation != value.annotation:
            message = f"return {i + 1} and the out argument '{out.name}' have different annotations"
            label = (*_argument(schema, out), "the out argument")
            reader.report("E0330", message, *_return(schema, value, i), labels=[label])
            failed = True
    return failed


def _written_positionals_are_not_returned(schema: FunctionSchema, reader: TextReader) -> bool:
    failed = False
    for argument in schema.arguments.post_self_positional_mutable:
        for i, value in enumerate(schema.returns):
            if value.annotation == argument.annotation:
                message = f"this return is the written argument '{argument.name}'"
                label = (*_argument(schema, argument), "written here")
                reader.report("E0331", message, *_return(schema, value, i), labels=[label])
                failed = True
    return failed


def _returns_are_all_written_or_none(schema: FunctionSchema, reader: TextReader) -> bool:
    written = [r.is_write for r in schema.returns]
    if all(written) or not any(written):
        return False
    i = written.index(not written[0])
    message = "some returns are written arguments, others are new"
    reader.report("E0332", message, *_return(schema, schema.returns[i], i))
    return True


def _written_returns_are_arguments(schema: FunctionSchema, reader: TextReader) -> bool:
    failed = False
    positional = [a for a in schema.arguments.flat_positional if a.name == "self"]
    targets = {a.annotation for a in (*schema.arguments.out, *positional)}
    for i, value in enumerate(schema.returns):
        if value.is_write and value.annotation not in targets:
            message = f"no out argument, and no self, is annotated '{value.annotation}'"
            reader.report("E0333", message, *_return(schema, value, i))
            failed = True
    return failed


def _lists_of_outs_are_not_returned(schema: FunctionSchema, reader: TextReader) -> bool:
    other = next((a for a in schema.arguments.out if a.type != TENSOR), None)
    if other is None or not schema.returns:
        return False
    message = f"an operator that writes to '{other.type_text}' returns nothing"
    label = (*_argument(schema, other), "written to")
    reader.report("E0334", message, *_returns(schema), labels=[label], replacement="()")
    return True


def _every_out_is_returned(schema: FunctionSchema, reader: TextReader) -> bool:
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
    reader.report("E0335", message, *_returns(schema))
    return True


def _inplace_writes_self(schema: FunctionSchema, reader: TextReader) -> bool:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or (self_arg is not None and self_arg.argument.is_write):
        return False
    message = f"'{schema.name}' is in-place by name but does not write self"
    if self_arg is None:
        reader.report(
            "E0336", message, *_name(schema), hint="no positional argument is named 'self'"
        )
    else:
        hint = "self must be marked as written, as in 'Tensor(a!) self'"
        reader.report("E0336", message, *_argument(schema, self_arg.argument), hint=hint)
    return True


def _inplace_returns_self(schema: FunctionSchema, reader: TextReader) -> bool:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or self_arg is None or self_arg.argument.type != TENSOR:
        return False
    annotation = self_arg.argument.annotation
    if len(schema.returns) == 1 and schema.returns[0].annotation == annotation:
        return False
    message = f"'{schema.name}' is in-place, so it returns self and nothing else"
    expected = f"Tensor({annotation})"
    hint = f"write '{expected}'"
    reader.report("E0337", message, *_returns(schema), hint=hint, replacement=expected)
    return True


def _inplace_on_lists_returns_nothing(schema: FunctionSchema, reader: TextReader) -> bool:
    self_arg = schema.arguments.self_arg
    if not schema.is_inplace or self_arg is None or not schema.returns:
        return False
    if self_arg.argument.type == TENSOR:
        return False
    message = f"'{schema.name}' is in-place on '{self_arg.argument.type}', so it returns nothing"
    reader.report("E0338", message, *_returns(schema), hint="write '()'", replacement="()")
    return True


def _only_functional_schemas_have_options(schema: FunctionSchema, reader: TextReader) -> bool:
    options = schema.arguments.tensor_options
    if options is None or schema.kind() is SchemaKind.functional:
        return False
    message = f"'{schema.name}' writes its arguments, so it has no tensor options"
    start = _argument(schema, options.dtype)[0]
    reader.report("E0339", message, start, _argument(schema, options.pin_memory)[1])
    return True


def _functional_overloads_are_functional(schema: FunctionSchema, reader: TextReader) -> bool:
    if not schema.is_functional_fn() or schema.kind() is SchemaKind.functional:
        return False
    message = f"overload '{schema.name.overload_name}' of an operator that is {schema.kind().name}"
    start = len(str(schema.name.name)) + 1
    reader.report("E0340", message, start, len(str(schema.name)))
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
    start = next(at for a, at in argument_offsets(schema) if a is argument)
    return start, start + len(str(argument))


def _return(schema: FunctionSchema, value: Return, index: int) -> tuple[int, int]:
    start = [at for _, at in return_offsets(schema)][index]
    return start, start + len(str(value))


def _returns(schema: FunctionSchema) -> tuple[int, int]:
    text = str(schema)
    return len(f"{schema.name}({schema.arguments}) -> "), len(text)
