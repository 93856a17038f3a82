"""What an entry's keys have said so far: filled by the entry parser, judged by the rules about entries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Edit, Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import FunctionSchema, OperatorName
from opgen.model.native_function import (
    DeviceCheckType,
    KernelSource,
    Precompute,
    UfuncInnerLoop,
    UfuncKey,
    Variant,
)
from opgen.model.profile import Profile
from opgen.model.schema_spelling import Blank, Spelling
from opgen.parse import entry_edits
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode


@dataclass(frozen=True, slots=True)
class NodeSpans:
    """Where the parts of an entry stand, looked up in its nodes when asked.

    `schema_start` is where the schema begins in the value of `func`, after the namespace; in its canonical
    `spelling`, if it need not be written in that one.
    """

    node: MappingNode
    schema_start: int = 0
    spelling: Spelling | None = None

    @property
    def entry(self) -> Span:
        return Span(self.node.source, self.node.start, self.node.end)

    def key(self, name: str) -> Span:
        found = self.node.key_node(name)
        return self.schema_name() if found is None else found.span

    def value(self, name: str) -> Span:
        found = self.node.get(name)
        return self.schema_name() if found is None else found.span

    def item(self, name: str, text: str) -> Span:
        value = self.node.get(name)
        nodes = value.items if isinstance(value, SequenceNode) else (value,)
        for node in nodes:
            if isinstance(node, ScalarNode):
                start = 0
                for part in node.value.split(", "):
                    if part == text:
                        return node.part(start, start + len(part))
                    start += len(part) + 2
        return self.value(name)

    def dispatch_key(self, key: DispatchKey) -> Span:
        row = self._dispatch_row(key)
        return self.key("dispatch") if row is None else row[0]

    def kernel(self, key: DispatchKey) -> Span:
        row = self._dispatch_row(key)
        return self.key("dispatch") if row is None else row[1]

    def schema(self, start: int, end: int) -> Span:
        func = self.node.get("func")
        if not isinstance(func, ScalarNode):
            return self.node.span
        start, end = self.schema_start + start, self.schema_start + end
        if self.spelling is not None:
            start, end = self.spelling.written(start, end)
        return func.part(start, end)

    def schema_name(self) -> Span:
        func = self.node.get("func")
        if not isinstance(func, ScalarNode):
            return self.node.span
        text = func.value if self.spelling is None else self.spelling.text
        length = text.find("(", self.schema_start)
        return self.schema(0, max(length, self.schema_start) - self.schema_start)

    def add_key(self, text: str) -> Edit | None:
        return entry_edits.add_key(self.node, text)

    def remove_key(self, name: str) -> Edit | None:
        return entry_edits.remove_key(self.node, name)

    def add_tag(self, tag: str) -> Edit | None:
        return entry_edits.add_tag(self.node, tag)

    def misplaced_blanks(self) -> tuple[Edit, ...]:
        func = self.node.get("func")
        if self.spelling is None or not isinstance(func, ScalarNode):
            return ()
        # The lines of a literal text are how somebody laid out a long schema.
        blanks = [b for b in self.spelling.blanks if "\n" not in func.value[b.start : b.end]]
        if not blanks:
            return ()
        start, end = blanks[0].start, blanks[-1].end
        whole = func.part(start, end)
        if whole.text == func.value[start:end]:
            return (Edit(whole, _spaced(func.value, blanks)),)
        edits = (Edit(func.part(b.start, b.end), b.replacement) for b in blanks)
        return tuple(edit for edit in edits if not edit.span.text.strip())

    def _dispatch_row(self, key: DispatchKey) -> tuple[Span, Span] | None:
        table = self.node.get("dispatch")
        if not isinstance(table, MappingNode):
            return None
        for name, kernel in table.pairs:
            for start, end in comma_parts(name.value):
                if name.value[start:end] == key.name:
                    return name.part(start, end), kernel.span
        return None


def _spaced(text: str, blanks: Sequence[Blank]) -> str:
    """The part of `text` from the first of `blanks` to the last, with what belongs in their places."""
    parts = [blanks[0].replacement]
    for before, after in pairwise(blanks):
        parts += (text[before.end : after.start], after.replacement)
    return "".join(parts)


def comma_parts(text: str) -> list[tuple[int, int]]:
    """Where the parts between commas begin and end, without blanks around them."""
    parts = []
    start = 0
    for part in text.split(","):
        begin = start + len(part) - len(part.lstrip())
        parts.append((begin, begin + len(part.strip())))
        start += len(part) + 1
    return parts


@dataclass(slots=True)
class DispatchRow:
    """One key of a dispatch table with the name of its kernel, as written."""

    key: DispatchKey
    kernel: str
    namespace: str | None
    source: KernelSource = KernelSource.author


@dataclass(slots=True)
class Draft:
    """An entry being read. `bad` names the keys whose values could not be read.

    `declared_tags` are all tags that there are; `tags` those of the entry. If only out variants can be structured,
    `no_outless` says where. `includes` are headers that the whole file names, and it says whether
    it `shares_namespace` with other libraries.
    """

    spans: NodeSpans
    declared_tags: tuple[str, ...] = ()
    no_outless: str | None = None
    is_strict: bool = False
    includes: tuple[str, ...] = ()
    shares_namespace: bool = False
    bad: set[str] = field(default_factory=set)
    func: FunctionSchema | None = None
    namespace: str = "aten"
    profile: Profile = Profile.torchgen
    variants: frozenset[Variant] = frozenset((Variant.function,))
    tags: tuple[str, ...] = ()
    structured: bool = False
    structured_delegate: OperatorName | None = None
    structured_inherits: str | None = None
    has_precomputed: bool = False
    precomputed: Precompute | None = None
    autogen: tuple[OperatorName, ...] = ()
    ufunc_inner_loop: tuple[tuple[UfuncKey, UfuncInnerLoop], ...] = ()
    cpp_no_default_args: tuple[str, ...] = ()
    use_const_ref_for_mutable_tensors: bool = False
    manual_kernel_registration: bool = False
    manual_cpp_binding: bool = False
    device_guard: bool = True
    device_check: DeviceCheckType = DeviceCheckType.ExactSame
    python_module: str | None = None
    category_override: str | None = None
    fake: str | None = None
    # Whether there is a table, how many keys it names, and its rows without the ignored keys.
    has_dispatch: bool = False
    dispatch_key_count: int = 0
    dispatch: list[DispatchRow] = field(default_factory=list)

    def node(self, key: str) -> Node | None:
        return self.spans.node.get(key)


def default_kernel_name(func: FunctionSchema) -> str:
    """The kernel of an entry that names none: the operator's name, overload left aside."""
    return f"{func.name.name}_out" if func.is_out_fn() else str(func.name.name)
