"""Recognise a file that was written for another program or another option, and report that as its only error.

Used only for files with errors. At least half of the entries must look alike: one unknown or misspelt key is not
enough. Source of the forms: ExecuTorch's kernels/portable and kernels/quantized, Ascend's op-plugin and torch_npu,
torch_musa, torch_mlu, and PyTorch from 1.0 to 1.13.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.parse.foreign import kinds
from opgen.parse.foreign.kinds import ForeignKind
from opgen.parse.yaml import codes as codes_yaml
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_Entries: TypeAlias = tuple[MappingNode, ...]
_Root = TypeVar("_Root")
# Returns the place that shows that a file is of a kind; None if it is not.
_Finder: TypeAlias = Callable[[_Root], "Span | None"]
_Finders: TypeAlias = tuple[tuple[ForeignKind, _Finder[_Root]], ...]

_WORD = re.compile(r"\w+")
_OPERATOR = re.compile(r"[A-Za-z_]\w*(\.\w+)?")
# Keys that PyTorch removed before 2.0. `npu_dispatch` is Ascend's, in its copy of PyTorch 1.5.
_OLD_KEYS = frozenset(
    (
        *("use_c10_dispatcher", "supports_named_tensor", "requires_tensor"),
        *("matches_jit_signature", "npu_dispatch"),
    )
)
_OLD_DISPATCH_KEYS = frozenset(("Math", "DefaultBackend"))
_OLD_TYPES = re.compile(r"\b(IntList|BoolTensor|IndexTensor|SparseTensorRef|DimnameList)\b")
# Operators that every release of PyTorch from 1.0 to 1.13 has, and no later one.
_OLD_OPERATORS = frozenset(("_cast_Byte", "symeig", "prelu_backward"))
_ASCEND_KEYS = frozenset(("acl_op", "op_api", "gen_opapi"))
_ASCEND_SECTIONS = frozenset(("official", "custom", "custom_autograd"))
# The most entries that are examined.
_MOST_ENTRIES = 1000
# The keys of derivatives.yaml besides the names of arguments.
_FORMULA_KEYS = ("result", "output_differentiability")


def report_foreign_file(
    root: Node | None, source: Source, diagnostics: Diagnostics, *, backend: bool
) -> bool:
    """Replace all diagnostics of a file by one error if it is of another kind, and return whether it is.

    `root` is the file as YAML. `backend` is whether a backend file is expected, else it is a schema file.
    """
    recognised = _recognise(root, backend)
    if recognised is None:
        return False
    kind, sign = recognised
    diagnostics.forget(source)
    diagnostics.error(codes_yaml.E0113, kind.message, sign, notes=kind.notes)
    return True


def _recognise(root: Node | None, backend: bool) -> tuple[ForeignKind, Span] | None:
    if isinstance(root, SequenceNode):
        items = root.items[:_MOST_ENTRIES]
        entries = tuple(item for item in items if isinstance(item, MappingNode))
        lists = (*_LISTS, (kinds.SCHEMA, _schema_file)) if backend else _LISTS
        return _first(lists, entries) if 2 * len(entries) >= len(items) else None
    if isinstance(root, MappingNode):
        return _first(_MAPPINGS if backend else (*_MAPPINGS, (kinds.BACKEND, _backend_file)), root)
    return None


def _first(finders: _Finders[_Root], root: _Root) -> tuple[ForeignKind, Span] | None:
    signs = ((kind, find(root)) for kind, find in finders)
    return next(((kind, sign) for kind, sign in signs if sign is not None), None)


def _first_of_half(signs: Iterable[Span | None], size: int, least: int = 1) -> Span | None:
    """Return the first sign if at least half of `size` entries, and at least `least` of them, have one."""
    present = [sign for sign in signs if sign is not None]
    return present[0] if len(present) >= least and 2 * len(present) >= size else None


def _value(entry: MappingNode, key: str) -> str:
    value = entry.get(key)
    return value.value if isinstance(value, ScalarNode) else ""


def _key(node: Node | None, key: str) -> Span | None:
    key_node = node.key_node(key) if isinstance(node, MappingNode) else None
    return None if key_node is None else key_node.span


def _items(section: Node | None) -> tuple[Node, ...]:
    return section.items if isinstance(section, SequenceNode) else ()


# Files that are lists


def _executorch(entries: _Entries) -> Span | None:
    return _first_of_half(map(_executorch_sign, entries), len(entries))


def _executorch_sign(entry: MappingNode) -> Span | None:
    kernels = entry.get("kernels")
    if any(_key(item, "kernel_name") is not None for item in _items(kernels)):
        return _key(entry, "kernels")
    is_entry = entry.get("func") is None and (kernels or entry.get("dispatch"))
    is_name = _OPERATOR.fullmatch(_value(entry, "op").rpartition("::")[2])
    return _key(entry, "op") if is_entry and is_name else None


def _edge(entries: _Entries) -> Span | None:
    signs = (_key(entry, "inherits") for entry in entries if entry.get("type_constraint"))
    return _first_of_half(signs, len(entries))


def _derivatives(entries: _Entries) -> Span | None:
    return _first_of_half(map(_formula_sign, entries), len(entries))


def _formula_sign(entry: Node) -> Span | None:
    """Return the key `name` of an entry that has a schema there, and formulas under the names of its arguments."""
    if not isinstance(entry, MappingNode) or entry.get("func") is not None:
        return None
    schema = _value(entry, "name")
    words = frozenset((*_WORD.findall(schema), *_FORMULA_KEYS))
    others = (key for key, _ in entry.pairs if key.value != "name")
    is_formula = any(words.issuperset(key.value.split(", ")) for key in others)
    return _key(entry, "name") if "(" in schema and is_formula else None


def _deprecated(entries: _Entries) -> Span | None:
    signs = (_key(e, "aten") for e in entries if "(" in _value(e, "name") and e.get("func") is None)
    return _first_of_half(signs, len(entries))


def _tags(entries: _Entries) -> Span | None:
    signs = (_key(e, "tag") for e in entries if e.get("desc") and e.get("func") is None)
    return _first_of_half(signs, len(entries))


def _musa(entries: _Entries) -> Span | None:
    """Recognise entries that have a name for a schema. A single one may be an unfinished entry of opgen's."""
    rows = (row for entry in entries for row in _dispatch_keys(entry))
    if not any(key.endswith("PrivateUse1") for key in rows):
        return None
    names = (e for e in entries if _OPERATOR.fullmatch(_value(e, "func")))
    return _first_of_half((_key(entry, "func") for entry in names), len(entries), least=2)


def _old_pytorch(entries: _Entries) -> Span | None:
    """Recognise removed words in at least two entries and a tenth of all; or removed operators."""
    signs = [sign for sign in map(_old_sign, entries) if sign is not None]
    if len(signs) > 1 and 10 * len(signs) >= len(entries):
        return signs[0]
    by_name = {_value(entry, "func").partition("(")[0]: entry for entry in entries}
    return _key(by_name["symeig"], "func") if by_name.keys() >= _OLD_OPERATORS else None


def _old_sign(entry: MappingNode) -> Span | None:
    key = next((key for key, _ in entry.pairs if key.value in _OLD_KEYS), None)
    if key is not None:
        return key.span
    if not _OLD_DISPATCH_KEYS.isdisjoint(_dispatch_keys(entry)):
        return _key(entry, "dispatch")
    schema = entry.get("func")
    if not isinstance(schema, ScalarNode):
        return None
    old_type = _OLD_TYPES.search(schema.value)
    return None if old_type is None else schema.part(*old_type.span())


def _dispatch_keys(entry: MappingNode) -> Iterator[str]:
    table = entry.get("dispatch")
    if isinstance(table, MappingNode):
        for key, _ in table.pairs:
            yield from key.value.split(", ")


def _schema_file(entries: _Entries) -> Span | None:
    signs = (_key(entry, "func") for entry in entries if "(" in _value(entry, "func"))
    return _first_of_half(signs, len(entries))


# Files that are mappings


def _ascend_backend(root: MappingNode) -> Span | None:
    """Recognise a backend file that has entries where torchgen's has names."""
    if root.get("backend") is None:
        return None
    for key, section in root.pairs:
        if key.value in _ASCEND_SECTIONS and any(_key(item, "func") for item in _items(section)):
            return key.span
    items = [item for _, section in root.pairs for item in _items(section)]
    return _first_of_half((_key(item, "func") for item in items), len(items), least=2)


def _ascend_operators(root: MappingNode) -> Span | None:
    """Recognise entries in sections, with the versions that have kernels."""
    items = [item for _, section in root.pairs for item in _items(section)]
    entries = [item for item in items if isinstance(item, MappingNode)]
    funcs = [entry for entry in entries if entry.get("func") is not None]
    if funcs and root.get("official") is not None:
        return _key(root, "official")
    signs = (key.span for entry in funcs for key, _ in entry.pairs if key.value in _ASCEND_KEYS)
    return next(signs, None) if 2 * len(funcs) >= len(entries) else None


def _ascend_derivatives(root: MappingNode) -> Span | None:
    items = _items(root.get("backward"))
    return _first_of_half(map(_formula_sign, items), len(items))


def _mlu(root: MappingNode) -> Span | None:
    """Recognise sections that are namespaces, with `aten` among them."""
    items = _items(root.get("aten"))
    has_entries = _first_of_half((_key(item, "func") for item in items), len(items)) is not None
    return _key(root, "aten") if has_entries else None


def _backend_file(root: MappingNode) -> Span | None:
    has_keys = root.get("cpp_namespace") or root.get("supported")
    return _key(root, "backend") if has_keys else None


_LISTS: _Finders[_Entries] = (
    (kinds.EXECUTORCH, _executorch),
    (kinds.EDGE, _edge),
    (kinds.DERIVATIVES, _derivatives),
    (kinds.DEPRECATED, _deprecated),
    (kinds.TAGS, _tags),
    (kinds.MUSA, _musa),
    (kinds.OLD_PYTORCH, _old_pytorch),
)
_MAPPINGS: _Finders[MappingNode] = (
    (kinds.ASCEND_BACKEND, _ascend_backend),
    (kinds.DERIVATIVES, _ascend_derivatives),
    (kinds.ASCEND_OPERATORS, _ascend_operators),
    (kinds.MLU, _mlu),
)
