"""Write imported entries as YAML, and a header for kernels that no header of the sources declares."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from opgen.emit.common.base import Block, GeneratedFile, Record, blocks, group_by, unique
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
_TRACED_BY_PYTHON = "opgen: allow(W1030) Python registers its fake kernel"


class ImportedEntry(Record, frozen=True):
    """An entry. `rows` are the lines under `dispatch`, including comments; if all are comments, the key is omitted.

    `left_out`: the whole entry is a comment.
    """

    comments: tuple[str, ...]
    func: str
    rows: tuple[str, ...]
    has_rows: bool
    tags: str
    fake_module: str
    alias_analysis: str
    left_out: bool

    @property
    def lines(self) -> Iterator[str]:
        """The lines of the entry, without comments about the whole of it."""
        yield f"# - func: {self.func}" if self.left_out else f"- func: {self.func}"
        if self.left_out:
            return
        if self.has_rows:
            yield "  dispatch:"
        yield from (f"    {row}" if self.has_rows else f"  {row}" for row in self.rows)
        if self.fake_module:
            yield f"  fake_module: {yaml_text(self.fake_module)}"
        if self.alias_analysis:
            yield f"  alias_analysis: {self.alias_analysis}"
        if self.tags:
            yield f"  tags: {self.tags}"
        if not self.has_rows:
            yield "  manual_kernel_registration: True"


class ImportedClass(Record, frozen=True):
    name: str
    type: str
    header: str


class HeaderKey(Record, frozen=True):
    """A key of the first item of the file, which sets properties of the whole file."""

    line: str
    classes: tuple[ImportedClass, ...] = ()


class ImportedFile(GeneratedFile, frozen=True):
    includes: str
    is_fragment: bool
    classes: tuple[ImportedClass, ...]
    fake_module: str
    entries: tuple[ImportedEntry, ...]

    @property
    def header_keys(self) -> tuple[HeaderKey, ...]:
        keys = []
        if self.includes:
            keys.append(HeaderKey(f"include: [{self.includes}]"))
        if self.is_fragment:
            keys.append(HeaderKey("fragment: True"))
        if self.classes:
            keys.append(HeaderKey("classes:", self.classes))
        if self.fake_module:
            keys.append(HeaderKey(f"fake_module: {yaml_text(self.fake_module)}"))
        return tuple(
            HeaderKey(f"{'  ' if n else '- '}{key.line}", key.classes) for n, key in enumerate(keys)
        )


class KernelDeclaration(Record, frozen=True):
    template: str
    declaration: str


class KernelsHeader(GeneratedFile, frozen=True):
    yaml: str
    headers: tuple[str, ...]
    blocks: tuple[Block[KernelDeclaration], ...]


class SnippetFunction(Record, frozen=True):
    """The function of a snippet: it passes its arguments on to `calls`, in the file that includes the snippet."""

    returns: str
    name: str
    types: tuple[str, ...]
    calls: str

    @property
    def parameters(self) -> str:
        return ", ".join(f"{type} a{i}" for i, type in enumerate(self.types))

    @property
    def arguments(self) -> str:
        return ", ".join(f"static_cast<decltype(a{i})&&>(a{i})" for i in range(len(self.types)))


class Snippet(GeneratedFile, frozen=True):
    source: str
    name: str
    namespace: str
    functions: tuple[SnippetFunction, ...]


def build_snippets(folder: str, entries: Sequence[Entry]) -> Iterator[Snippet]:
    """Build, for each source, what to include at its end for its functions that no other file can call."""
    called = unique(
        c.declaration
        for c in _called(entries)
        if c.declaration is not None and c.declaration.snippet
    )
    for snippet, some in group_by(called, lambda one: one.snippet).items():
        text = some[0].text
        assert text is not None
        yield Snippet(
            path=posixpath.join(folder, snippet),
            template="kernels.inc.j2",
            source=text.source.path,
            name=snippet,
            namespace=some[0].namespace,
            functions=tuple(unique(map(_snippet_function, some))),
        )


def _snippet_function(one: Declaration) -> SnippetFunction:
    signature = one.declared.signature
    return SnippetFunction(
        returns=str(signature.returns),
        name=one.name,
        types=tuple(str(parameter.type) for parameter in signature.parameters),
        calls=one.calls,
    )


def build_imported(
    path: str,
    entries: Sequence[Entry],
    classes: Mapping[str, CustomClass],
    own_header: str,
    traced_by_python: Collection[str],
    *,
    is_fragment: bool,
) -> ImportedFile:
    """Return the YAML file. `own_header` is the header that `build_kernels_header` builds; empty if there is none.

    `traced_by_python` names the operators whose fake kernel is in Python. `is_fragment` says that other libraries may
    share its namespaces.
    """
    modules = Counter(entry.fake_module for entry in entries if not entry.left_out)
    shared = None if None in modules else next(iter(modules.most_common(1)), (None,))[0]
    includes = [called.include for called in _called(entries) if called.include]
    listed = list(unique([*sorted(includes), *([own_header] if own_header else [])]))
    return ImportedFile(
        path=path,
        template="imported.yaml.j2",
        includes=", ".join(map(_in_list, listed)),
        is_fragment=is_fragment,
        classes=tuple(
            ImportedClass(name=one.name, type=one.type, header=yaml_text(one.header))
            for one in classes.values()
            if _is_named(one, entries)
        ),
        fake_module=shared or "",
        entries=tuple(_entry(entry, shared, entry.name in traced_by_python) for entry in entries),
    )


def build_kernels_header(path: str, yaml: str, entries: Sequence[Entry]) -> KernelsHeader | None:
    """Return the header for kernels that no header of the sources declares; None if there are none."""
    declarations = [c.declaration for c in _called(entries) if c.declaration is not None]
    if not declarations:
        return None
    headers = {header for one in declarations for header in one.declared.headers}
    pairs = unique((one.namespace, _words(one)) for one in declarations)
    made = blocks((namespace, KernelDeclaration(*words)) for namespace, words in pairs)
    return KernelsHeader(
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


def _is_named(one: CustomClass, entries: Iterable[Entry]) -> bool:
    """Return whether the class occurs in the schema of an entry that is not left out."""
    name = re.compile(rf"\.{re.escape(one.name)}(?![\w.])")
    return any(name.search(entry.schema) for entry in entries if not entry.left_out)


# Entries


def _entry(entry: Entry, shared_module: str | None, traced_by_python: bool) -> ImportedEntry:
    lines = [line for row in entry.rows.values() for line in _row(row, entry)]
    tags = ", ".join(entry.tags)
    return ImportedEntry(
        comments=(*_comments(entry), *([_TRACED_BY_PYTHON] if traced_by_python else ())),
        func=yaml_text(f"{entry.namespace}::{entry.schema}"),
        rows=tuple(lines),
        has_rows=any(row.written for row in entry.rows.values()),
        tags=f"[{tags}]" if len(entry.tags) > 1 else tags,
        fake_module="" if entry.fake_module == shared_module else entry.fake_module or "",
        alias_analysis=entry.alias_analysis.name if entry.alias_analysis else "",
        left_out=bool(entry.left_out),
    )


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


def _words(one: Declaration) -> tuple[str, str]:
    """Return `template <typename T>`, and `at::Tensor f(const at::Tensor& x);`."""
    signature = one.declared.signature
    parameters = ", ".join(f"{p.type} {p.name}".rstrip() for p in signature.parameters)
    return (
        f"template {one.template}" if one.template else "",
        f"{signature.returns} {one.name}({parameters});",
    )
