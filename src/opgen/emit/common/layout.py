"""Break long lines of C++ where clang-format does, so that clang-format does not change generated code.

The rules are those of clang-format 14 for `BasedOnStyle: Google` and 100 columns, as far as generated code needs them.
They were found by comparing with clang-format on the tree of PyTorch's native_functions.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

WIDTH = 100
# An opening parenthesis ends its line if that saves at least this many lines.
_SAVED_BY_DECLARATION = 4
_SAVED_BY_CALL = 2
# For a line of documentation with a deep indentation.
_LEAST_ROOM = 40
_INVISIBLE = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def wrap_declaration(
    returns: str,
    name: str,
    parameters: Sequence[str],
    tail: str,
    *,
    indent: int = 0,
    width: int = WIDTH,
) -> str:
    """Return `returns name(parameters) tail`, as a declaration or as the head of a definition."""
    start = f"{' ' * indent}{returns} {name}(" if returns else f"{' ' * indent}{name}("
    line = f"{start}{', '.join(parameters)}{tail}"
    if len(line) <= width:
        return line
    saved = _SAVED_BY_DECLARATION
    found = _wrap(start, parameters, tail, indent, saved, width)
    if found is None:
        # The return type gets a line of its own.
        own = _wrap(f"{' ' * indent}{name}(", parameters, tail, indent, saved, width)
        found = None if own is None else f"{' ' * indent}{_wrap_type(returns)}\n{own}"
    return line if found is None else found


def wrap_call(start: str, arguments: Sequence[str], tail: str, *, indent: int) -> str:
    """Return `start(arguments)tail`; `start` is indented by `indent` and ends with the opening parenthesis."""
    line = f"{start}{', '.join(arguments)}{tail}"
    if len(line) <= WIDTH:
        return line
    found = _wrap(start, arguments, tail, indent, _SAVED_BY_CALL)
    if found is None:
        lines = _fill_nested(arguments, len(start), tail)
        found = None if lines is None else start + f"\n{' ' * len(start)}".join(lines)
    return line if found is None else found


def wrap_impl(operator: str, kernel: str) -> str:
    """Return `m.impl("operator", kernel);`, a registration with PyTorch's dispatcher. `kernel` is a call, or a name."""
    start = f'  m.impl("{operator}", '
    line = f"{start}{kernel});"
    if len(line) <= WIDTH or not kernel:
        return line
    function, _, argument = kernel.partition("(")
    aligned, indented = (
        f'  m.impl("{operator}",\n         ',
        f'  m.impl(\n      "{operator}",\n      ',
    )
    forms = [f"{aligned}{kernel});", f"{indented}{kernel});"]
    if len(argument) > 1:
        inner = f"{argument});"
        forms.insert(1, f"{start}{function}(\n{' ' * (len(start) + 4)}{inner}")
        forms.append(f"{aligned}{function}(\n{' ' * 13}{inner}")
        forms.append(f"{indented}{function}(\n{' ' * 10}{inner}")
        nested = wrap_template(argument[:-1], "));", indent=13)
        forms.append(f"{aligned}{function}(\n{' ' * 13}{nested}")
    else:
        forms.append(f"{start}{wrap_template(kernel, ');', indent=len(start))}")
    fitting = (form for form in forms if max(map(len, form.split("\n"))) <= WIDTH)
    return next(fitting, line)


def wrap_base(struct: str, base: str, name: str, returns: str, types: Sequence[str]) -> str:
    """Return `struct x : base<name, returns(types)> {`."""
    line = f"struct {struct} : {base}<{name}, {returns}({', '.join(types)})> {{"
    if len(line) <= WIDTH:
        return line
    starts = ((0, f"struct {struct} : {base}<", ""), (1, f"    : {base}<", f"struct {struct}\n"))
    return _cheapest(starts, name, returns, types, ")> {") or line


def wrap_class(struct: str, base: str) -> str:
    """Return `struct x : base {`."""
    line = f"struct {struct} : {base} {{"
    return line if len(line) <= WIDTH else f"struct {struct}\n    : {base} {{"


def wrap_def(struct: str, tags: str) -> str:
    """Return `m.def(struct::schema_str, tags);`, the definition of an operator for PyTorch's dispatcher."""
    return wrap_call("  m.def(", (f"{struct}::schema_str", tags), ");", indent=2)


# The penalty of a line end after the `<` of a template, in the units of `_signature_forms`.
_BROKEN_TEMPLATE = 7


def wrap_instantiation(template: str, name: str, returns: str, types: Sequence[str]) -> str:
    """Return `template struct template<name, returns(types)>;`."""
    start = f"template struct {template}<"
    line = f"{start}{name}, {returns}({', '.join(types)})>;"
    if len(line) <= WIDTH:
        return line
    starts = ((0, start, ""), (_BROKEN_TEMPLATE, "    ", f"{start}\n"))
    return _cheapest(starts, name, returns, types, ")>;") or line


def _cheapest(
    starts: Sequence[tuple[int, str, str]],
    name: str,
    returns: str,
    types: Sequence[str],
    tail: str,
) -> str | None:
    """Return the best way to break `name, returns(types)tail` after one of `starts`; None if none fits.

    Each start is a penalty, the text before `name` on its line, and the lines above.
    """
    forms = [
        (penalty + cost, text)
        for penalty, start, above in starts
        for cost, text in _signature_forms(start, above, name, returns, types, tail)
    ]
    return min(forms, key=lambda form: form[0])[1] if forms else None


def _signature_forms(
    start: str, above: str, name: str, returns: str, types: Sequence[str], tail: str
) -> Iterator[tuple[int, str]]:
    own_line = (5, f"{' ' * len(start)}{returns}(", f"{above}{start}{name},\n", len(start))
    same_line = (0, f"{start}{name}, {returns}(", above, len(start) + len(name) + 2)
    for comma, head, lines_above, indent in (same_line, own_line):
        if len(head) > WIDTH:
            continue
        aligned = _fill(types, len(head), tail)
        if aligned is not None:
            text = f"\n{' ' * len(head)}".join(aligned)
            yield comma + 6 * len(aligned), f"{lines_above}{head}{text}"
        # This form costs as much as two more lines, so it is not better than two aligned lines.
        if aligned is not None and len(aligned) < 3:
            continue
        indented = _fill(types, indent + 4, tail)
        if indented is not None:
            text = "\n".join([head, *(f"{' ' * (indent + 4)}{line}" for line in indented)])
            yield comma + 6 * len(indented) + 6, f"{lines_above}{text}"


def sorted_includes(*headers: str) -> tuple[str, ...]:
    """Sort the headers of one block of `#include`s, each once. Names without quotes or angle brackets get the latter."""
    operands = {h if h.startswith(("<", '"')) else f"<{h}>" for h in headers}
    return tuple(sorted(operands, key=lambda operand: (_include_category(operand), operand)))


def _include_category(operand: str) -> int:
    if operand.startswith('"'):
        return 3
    return 1 if operand.endswith(".h>") else 2


def wrap_comment(text: str, *, indent: int = 0) -> str:
    """Return `text` as the lines of a comment, without the first `// `."""
    if indent + 3 + len(text) <= WIDTH:
        return text
    return f"\n{' ' * indent}// ".join(_split(text, WIDTH - indent - 3))


def documentation_comment(text: str, *, indent: int = 0) -> str:
    """Return `text` as `///` lines, each after a line end; an empty string for none.

    A long line is split at blanks, and its further lines are indented like the first one.
    """
    if not text:
        return ""
    start = f"\n{' ' * indent}///"
    lines = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        margin = " " * (len(line) - len(words) + 1)
        room = max(WIDTH - indent - 3 - len(margin), _LEAST_ROOM)
        lines += [f"{margin}{part}" for part in _split(words, room)] if words else [""]
    return "".join(f"{start}{_safe_in_comment(line)}" for line in lines)


def _safe_in_comment(line: str) -> str:
    """Return `line` without characters that change how a compiler or an editor reads a comment."""
    line = visible_directions(line)
    # Otherwise, the comment would continue on the next line.
    return f"{line} //" if line.endswith(("\\", "??/")) else line


def visible_directions(text: str) -> str:
    """Replace the characters that change the direction of text, which compilers warn about, and rare line ends by
    escapes of C++.
    """
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def wrap_string(literal: str, *, indent: int, tail: str) -> str:
    """Split the inside of a string literal into several at blanks; `tail` follows the last one."""
    if indent + 2 + len(literal) + len(tail) <= WIDTH:
        return literal
    parts = _split(literal, WIDTH - indent - 3, last=WIDTH - indent - 2 - len(tail))
    return f' "\n{" " * indent}"'.join(parts)


def wrap_assigned_string(start: str, literal: str, tail: str, *, indent: int) -> str:
    """Return `start "literal"tail`, where `start` ends with `=`; a long literal goes to the next lines, after `indent`."""
    line = f'{start} "{literal}"{tail}'
    if len(line) <= WIDTH:
        return line
    return f'{start}\n{" " * indent}"{wrap_string(literal, indent=indent, tail=tail)}"{tail}'


def wrap_definition(type: str, name: str, value: str) -> str:
    """Return `type name = value;`."""
    line = f"{type} {name} = {value};"
    if len(line) <= WIDTH:
        return line
    if len(type) + len(name) + 3 <= WIDTH:
        return f"{type} {name} =\n    {wrap_template(value, ';', indent=4)}"
    if len(name) + len(value) + 8 <= WIDTH:
        return f"{type}\n    {name} = {value};"
    return f"{type}\n    {name} =\n        {wrap_template(value, ';', indent=8)}"


def wrap_alias(name: str, value: str) -> str:
    """Return `using name = value;` in a function."""
    start = f"  using {name} ="
    if len(start) + len(value) + 2 <= WIDTH:
        return f"{start} {value};"
    broken = f"{start}\n      {wrap_template(value, ';', indent=6)}"
    aligned = f"{start} {wrap_template(value, ';', indent=len(start) + 1)}"
    fits = max(map(len, aligned.split("\n"))) <= WIDTH
    return aligned if fits and aligned.count("\n") < broken.count("\n") else broken


def wrap_row(function: str, argument: str) -> str:
    """Return `function(argument),` as an element of a table."""
    line = f"    {function}({argument}),"
    if len(line) <= WIDTH:
        return line
    return f"    {function}(\n        {wrap_template(argument, '),', indent=8)}"


def wrap_disjunction(start: str, terms: Sequence[str]) -> str:
    """Return `start a || b;`, with as many terms on each line as fit after `start`."""
    joined = [f"{term} ||" for term in terms[:-1]]
    lines = [""]
    for term in (*joined, f"{terms[-1]};"):
        longer = f"{lines[-1]} {term}" if lines[-1] else term
        if len(start) + len(longer) <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(term)
    return start + f"\n{' ' * len(start)}".join(lines)


def wrap_list(start: str, items: Sequence[str], tail: str) -> str:
    """Return `start items tail`, aligned after `start`."""
    lines = _fill(items, len(start), tail)
    return (
        f"{start}{', '.join(items)}{tail}"
        if lines is None
        else start + f"\n{' ' * len(start)}".join(lines)
    )


def wrap_columns(items: Sequence[str], *, indent: int) -> str:
    """Return the elements of an array, which end with commas: five or more in columns, if these are not too uneven."""
    margin = " " * indent
    lines = [f"{item}," for item in items]
    columns = _column_count([len(line) for line in lines], WIDTH - indent)
    if len(lines) > 4 and columns > 1:
        widths = [max(map(len, lines[i::columns])) + 1 for i in range(columns)]
        rows = [lines[i : i + columns] for i in range(0, len(lines), columns)]
        lines = ["".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(f"{margin}{line}" for line in lines)


# Columns whose longest and shortest elements differ by more are too uneven.
_UNEVEN = 10


def _column_count(lengths: Sequence[int], room: int) -> int:
    """Return the most columns that fit, unless fewer columns take as few lines."""
    best, least_lines = 1, 0
    for columns in range(min(len(lengths), WIDTH // 3), 0, -1):
        members = [lengths[i::columns] for i in range(columns)]
        if any(max(m) - min(m) > _UNEVEN for m in members[:-1]):
            continue
        if sum(map(max, members)) + columns - 1 > room:
            continue
        count = -(-len(lengths) // columns)
        if least_lines and count > least_lines:
            break
        best, least_lines = columns, count
    return best


def wrap_braced_call(start: str, arguments: Sequence[str], items: Sequence[str]) -> str:
    """Return `start(arguments, {items});` in a function; `start` ends with the opening parenthesis."""
    words = f"{', '.join(arguments)}, {{"
    line = f"{start}{words}{', '.join(items)}}});"
    if len(line) <= WIDTH:
        return line
    aligned, indented = (_fill(items, column, "});") for column in (len(start) + 1, 7))
    if (aligned is None or len(aligned) > 1) and len(line) - len(start) + 6 <= WIDTH:
        return f"{start}\n      {line[len(start) :]}"
    if aligned is not None and (indented is None or len(aligned) <= len(indented)):
        lines = f"\n{' ' * (len(start) + 1)}".join(aligned)
        return f"{start}{words[:-2]}\n{' ' * len(start)}{{{lines}"
    lines = "\n       ".join(indented or items)
    return f"{start}\n      {words[:-2]}\n      {{{lines}"


def wrap_members(members: Sequence[str]) -> str:
    """Return `{members},` as an element of an array: on one line, or one member on each."""
    line = f"    {{{', '.join(members)}}},"
    return line if len(line) <= WIDTH else "    {" + ",\n     ".join(members) + "},"


def wrap_statement(text: str, *, indent: int) -> str:
    """Return a statement with one call on the outside: `f(a, b);`, `return f(a, b);` or `auto x = f(a, b);`."""
    line = f"{' ' * indent}{text}"
    if len(line) <= WIDTH:
        return line
    before, bracket, rest = line.partition("(")
    arguments, after = _arguments(rest)
    found = wrap_call(f"{before}(", arguments, after, indent=indent) if bracket else line
    left, equals, right = text.partition(" = ")
    if not equals:
        return found
    # A line end after the sign costs less than one between arguments.
    below = wrap_statement(right, indent=indent + 4)
    if "\n" in found and below.count("\n") >= found.count("\n"):
        return found
    return f"{' ' * indent}{left} =\n{below}"


def wrap_template(text: str, tail: str, *, indent: int) -> str:
    """Return `text` and `tail`, with the arguments of the first template on several lines if they do not fit after `indent`."""
    before, bracket, rest = text.partition("<")
    if indent + len(text) + len(tail) <= WIDTH or not bracket:
        return text + tail
    arguments, after = _arguments(rest)
    column = indent + len(before) + 1
    lines = _fill_nested(arguments, column, f"{after}{tail}")
    return text + tail if lines is None else f"{before}<" + f"\n{' ' * column}".join(lines)


def _fill_nested(items: Sequence[str], column: int, tail: str) -> list[str] | None:
    """Fill lines as `_fill` does, but break an item that does not fit on a line within its own arguments."""
    ends = [*("," for _ in items[1:]), tail]
    lines: list[str] = []
    short: list[str] = []
    for item, end in zip(items, ends):
        if column + len(item) + len(end) <= WIDTH:
            short.append(item)
            continue
        broken = _break_item(item, column, end)
        filled = _fill(short, column, ",") if short else []
        if broken is None or filled is None:
            return None
        lines += [*filled, broken]
        short = []
    last = _fill(short, column, tail) if short else []
    return None if last is None else [*lines, *last]


def _break_item(item: str, column: int, end: str) -> str | None:
    """Return an argument of a template, at `column`, with its own last list of arguments on several lines."""
    opening = _last_opening(item)
    if opening is None:
        return None
    arguments, after = _arguments(item[opening + 1 :])
    margin = " " * column
    start = f"{margin}{item[: opening + 1]}"
    wrapped = _wrap(start, arguments, f"{after}{end}", column, _SAVED_BY_CALL)
    return None if wrapped is None else wrapped[column:]


def _last_opening(item: str) -> int | None:
    """Return the position of the bracket that opens the last group that is not within another."""
    depth, found = 0, None
    for i, character in enumerate(item):
        if character in "<(":
            found = i if not depth else found
            depth += 1
        elif character in ">)":
            depth -= 1
    return found


def wrap_define(name: str, text: str) -> str:
    """Return `#define name text`."""
    line = f"#define {name} {text}"
    if len(line) <= WIDTH:
        return line
    if len(text) + 2 <= WIDTH:
        return f"#define {name} \\\n  {text}"
    left, _, right = text.rpartition(" ")
    width = max(len(name) + 8, len(left) + 2)
    return "\n".join(
        [f"{f'#define {name}':<{width}} \\", f"{f'  {left}':<{width}} \\", f"      {right}"]
    )


def wrap_heading(text: str) -> str:
    """Wrap the first line of a file if that is a long comment: "Generated by opgen; do not edit." stays whole."""
    if not text.startswith("// ") or text.find("\n") <= WIDTH:
        return text
    line, _, rest = text.partition("\n")
    purpose, generated, more = line.partition(" Generated by ")
    second = f"//{generated}{more}\n" if generated else ""
    return f"// {wrap_comment(purpose[3:])}\n{second}{rest}"


def _arguments(text: str) -> tuple[list[str], str]:
    """Split `text`, which follows an opening bracket, into the arguments and the rest, from the closing bracket on."""
    depth, start = 0, 0
    found: list[str] = []
    for i, character in enumerate(text):
        if character == "<" or character == "(":
            depth += 1
        elif depth and character in ">)":
            depth -= 1
        elif character in ">)":
            return [*found, text[start:i]], text[i:]
        elif character == "," and not depth:
            found.append(text[start:i])
            start = i + 2
    return [text], ""


def _wrap(
    start: str, items: Sequence[str], tail: str, indent: int, saved: int, width: int = WIDTH
) -> str | None:
    """Return the shorter of two forms: aligned after `start`, or indented by 4 on lines of their own."""
    aligned = _fill(items, len(start), tail, width)
    if aligned is not None and len(aligned) <= saved:
        return start + f"\n{' ' * len(start)}".join(aligned)
    indented = _fill(items, indent + 4, tail, width) if len(start) <= width else None
    if aligned is not None and (indented is None or len(aligned) - len(indented) < saved):
        return start + f"\n{' ' * len(start)}".join(aligned)
    if indented is None:
        return None
    return "\n".join([start, *(f"{' ' * (indent + 4)}{line}" for line in indented)])


def _fill(items: Sequence[str], indent: int, tail: str, width: int = WIDTH) -> list[str] | None:
    """Return `items` with commas, as many on each line as fit after `indent`; None if a single one does not fit."""
    room = width - indent
    if not items:
        return [tail] if len(tail) <= room else None
    lines = []
    line = ""
    for item in items[:-1]:
        length = len(line) + len(item) + 1
        if line and length < room:
            line = f"{line} {item},"
        elif len(item) < room:
            if line:
                lines.append(line)
            line = f"{item},"
        else:
            return None
    last = items[-1] + tail
    if line and len(line) + 1 + len(last) <= room:
        lines.append(f"{line} {last}")
    elif len(last) <= room:
        if line:
            lines.append(line)
        lines.append(last)
    else:
        return None
    return lines


def _wrap_type(type: str) -> str:
    """Format a return type on a line of its own; the elements of a tuple may need several lines."""
    name, bracket, elements = type.partition("tuple<")
    if len(type) <= WIDTH or not bracket:
        return type
    wrapped = _wrap(f"{name}tuple<", elements[:-1].split(", "), ">", 0, _SAVED_BY_CALL)
    return type if wrapped is None else wrapped


def _split(text: str, room: int, *, last: int | None = None) -> list[str]:
    """Split `text` at blanks into parts of at most `room` characters; the last part has at most `last`."""
    last = room if last is None else last
    parts = []
    while len(text) > last:
        blank = text.rfind(" ", 1, room + 1)
        if blank < 0:
            blank = text.find(" ", room)
        if blank < 0:
            break
        parts.append(text[:blank])
        text = text[blank + 1 :]
    parts.append(text)
    return parts
