"""Write imported entries as YAML, and a header for kernels that no header of the sources declares."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from opgen.emit.common.base import GeneratedFile, blocks, generated, group_by, listed, unique
from opgen.importing.common.registrations import Kernel
from opgen.importing.entries.callables import CallableFunction, Declaration
from opgen.importing.entries.merge import Conditions, CustomClass, Entry, Row

# Characters that a plain scalar cannot begin with. Source: YAML 1.2, 7.3.3.
_INDICATOR = re.compile(r"[,\[\]{}#&*!|>'\"%@`\s]|[-?:](?:\s|$)|(?:---|\.\.\.)(?:\s|$)")
# As plain scalars, these are not strings but special keys of YAML 1.1: the default value, and a merge.
_KEYS_OF_YAML = ("=", "<<")
_BREAKS_OFF = re.compile(r":(?:\s|$)|\s#|\s$")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ALWAYS: Conditions = ()
_DEFINE = (
    "the function that registers the class, if this library must register it before the schemas"
)
_TRACED_BY_PYTHON = "opgen: allow(W1030) Python registers its fake kernel"


def build_snippets(folder: str, entries: Sequence[Entry]) -> Iterator[GeneratedFile]:
    """Build, for each source, what to include at its end for its functions that no other file can call."""
    called = unique(
        c.declaration
        for c in _called(entries)
        if c.declaration is not None and c.declaration.snippet
    )
    for snippet, some in group_by(called, lambda one: one.snippet).items():
        text = some[0].text
        assert text is not None
        yield generated(
            path=posixpath.join(folder, snippet),
            template="kernels.inc.j2",
            source=text.source.path,
            name=snippet,
            namespace=some[0].namespace,
            functions=tuple(unique(map(_passing_on, some))),
        )


def _passing_on(one: Declaration) -> str:
    """Return the function of a snippet: it passes its arguments on to `calls`, in the file that includes the snippet."""
    types = [parameter.type for parameter in one.declared.signature.parameters]
    parameters = ", ".join(f"{type_} a{i}" for i, type_ in enumerate(types))
    arguments = ", ".join(f"static_cast<decltype(a{i})&&>(a{i})" for i in range(len(types)))
    head = f"{one.declared.signature.returns} {one.name}({parameters})"
    return f"{head} {{\n  return {one.calls}({arguments});\n}}"


def build_imported(
    path: str,
    entries: Sequence[Entry],
    classes: Mapping[str, CustomClass],
    own_header: str,
    traced_by_python: Collection[str],
    *,
    is_fragment: bool,
) -> GeneratedFile:
    """Return the YAML file: the lines of the first item, if there is one, and of each entry. `own_header` is the header that `build_kernels_header` builds; empty if there is none.

    `traced_by_python` names the operators whose fake kernel is in Python. `is_fragment` says that other libraries may
    share its namespaces.
    """
    modules = Counter(entry.fake_module for entry in entries if not entry.left_out)
    shared = None if None in modules else next(iter(modules.most_common(1)), (None,))[0]
    includes = [called.include for called in _called(entries) if called.include]
    listed = list(unique([*sorted(includes), *([own_header] if own_header else [])]))
    written = "\n".join(entry.schema for entry in entries if not entry.left_out)
    # The classes that occur in these schemas.
    named = [c for c in classes.values() if re.search(rf"\.{re.escape(c.name)}(?![\w.])", written)]
    header = (
        *([f"include: [{', '.join(map(_in_list, listed))}]"] if listed else ()),
        *(["fragment: True"] if is_fragment else ()),
        *_classes(named),
        *([f"fake_module: {yaml_text(shared)}"] if shared else ()),
    )
    first = tuple(f"{'  ' if n else '- '}{line}" for n, line in enumerate(header))
    made = (tuple(_entry(entry, shared, entry.name in traced_by_python)) for entry in entries)
    items = (*([first] if first else []), *made)
    return generated(path=path, template="imported.yaml.j2", items=items)


def build_kernels_header(path: str, yaml: str, entries: Sequence[Entry]) -> GeneratedFile | None:
    """Return the header for kernels that no header of the sources declares; None if there are none."""
    declarations = [c.declaration for c in _called(entries) if c.declaration is not None]
    if not declarations:
        return None
    headers = {header for one in declarations for header in one.declared.headers}
    made = blocks(unique((one.namespace, _declaration(one)) for one in declarations))
    return generated(
        path=path,
        template="kernels.h.j2",
        yaml=yaml,
        headers=tuple(sorted(headers, key=lambda header: ("/" not in header, header))),
        blocks=made,
    )


def yaml_text(text: str) -> str:
    """Return a scalar that YAML reads as `text`: plain if possible, otherwise in quotes."""
    if not text.isprintable():
        return f'"{"".join(map(_escaped, text))}"'
    if not text or text in _KEYS_OF_YAML or _INDICATOR.match(text) or _BREAKS_OFF.search(text):
        doubled = text.replace("'", "''")
        return f"'{doubled}'"
    return text


def _in_list(text: str) -> str:
    """Return a scalar of a list in brackets."""
    if re.fullmatch(r"[\w./+-]+", text) and text.isascii():
        return yaml_text(text)
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if character.isprintable():
        return character
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )


def _called(entries: Iterable[Entry]) -> Iterator[CallableFunction]:
    for entry in entries:
        if not entry.left_out:
            yield from (row.function for row in entry.rows.values() if row.function is not None)


# Custom classes


def _classes(classes: Sequence[CustomClass]) -> Iterator[str]:
    if classes:
        yield "classes:"
    for one in classes:
        yield f"  {one.name}:"
        yield f"    type: {one.type}"
        yield f"    header: {yaml_text(one.header)}"
        yield f"    # define: {_DEFINE}"


# Entries


def _entry(entry: Entry, shared_module: str | None, traced_by_python: bool) -> Iterator[str]:
    """Yield the lines of an entry. If all rows are comments, there is no key `dispatch`."""
    yield from (f"# {line}" for line in _comments(entry))
    if traced_by_python:
        yield f"# {_TRACED_BY_PYTHON}"
    func = yaml_text(f"{entry.namespace}::{entry.schema}")
    if entry.left_out:
        yield f"# - func: {func}"
        return
    yield f"- func: {func}"
    has_rows = any(row.written for row in entry.rows.values())
    if has_rows:
        yield "  dispatch:"
    for line in (line for row in entry.rows.values() for line in _row(row, entry)):
        yield f"    {line}" if has_rows else f"  {line}"
    if entry.fake_module and entry.fake_module != shared_module:
        yield f"  fake_module: {yaml_text(entry.fake_module)}"
    if entry.alias_analysis:
        yield f"  alias_analysis: {entry.alias_analysis.name}"
    if entry.tags:
        tags = ", ".join(entry.tags)
        yield f"  tags: [{tags}]" if len(entry.tags) > 1 else f"  tags: {tags}"
    if not has_rows:
        yield "  manual_kernel_registration: True"


def _comments(entry: Entry) -> Iterator[str]:
    condition = _condition(entry.alternatives)
    if condition:
        yield _printable(condition)
    if entry.left_out:
        yield f"Left out: {_printable(entry.left_out)}."
    if entry.is_inferred:
        which = (
            "arguments have no names, and none is" if " _0" in entry.schema else "no argument is"
        )
        yield f"PyTorch infers this schema from the C++ function: {which} marked as written."
    for other in entry.others:
        where = _condition([other.conditions])
        yield _printable(f"Defined with another schema, too{f'. {where}' if where else ''}:")
        yield f"- func: {yaml_text(f'{other.namespace}::{other.schema}')}"


def _row(row: Row, entry: Entry) -> Iterator[str]:
    """Yield the lines of a row: its condition, if the entry has another; the row; and comments with other registrations."""
    condition = _condition(row.alternatives)
    if condition and condition != _condition(entry.alternatives):
        yield f"# {_printable(condition)}"
    if row.written:
        yield f"{row.key}: {yaml_text(row.written)}"
    else:
        yield f"# {row.key}: {_printable(_not_written(row.kernel))}"
    for kernel, conditions in row.others:
        where = _condition([conditions])
        yield f"# {row.key}: {_printable(_not_written(kernel))}{f'. {_printable(where)}' if where else ''}"


def _not_written(kernel: Kernel) -> str:
    location = kernel.span.source.location(kernel.span.start)
    file = kernel.span.source.path.replace("\\", "/").rpartition("/")[2]
    return f"{kernel.code} ({file}, line {location.line})"


def _condition(ways: Sequence[Conditions]) -> str:
    """Return `Only #if A && B`, or several alternatives; empty if one of them has no condition."""
    several = list(unique(ways))
    if _ALWAYS in several or _are_opposite(several):
        return ""
    return "Only " + ", or ".join(f"#if {' && '.join(way)}" for way in several)


def _are_opposite(ways: Sequence[Conditions]) -> bool:
    if len(ways) != 2 or any(len(way) != 1 for way in ways):
        return False
    one, other = ways[0][0], ways[1][0]
    return f"!{one}" == other or f"!{other}" == one or f"!({one})" == other


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


# Declarations


def _declaration(one: Declaration) -> str:
    """Return `at::Tensor f(const at::Tensor& x);`, after `template <typename T>` in a line of its own."""
    signature = one.declared.signature
    parameters = listed([f"{p.type} {p.name}".rstrip() for p in signature.parameters])
    template = f"template {one.template}\n" if one.template else ""
    return f"{template}{signature.returns} {one.name}({parameters});"
