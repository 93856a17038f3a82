"""A file that was written for another program, or for another option, into one diagnostic.

Asked when a file has errors, and only then. What half of its entries have tells what it is; one key that is unknown
or misspelt never does. Source of the forms: ExecuTorch's kernels/portable and kernels/quantized, Ascend's op-plugin
and torch_npu, torch_musa, torch_mlu, and PyTorch from 1.0 to 1.13.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.parse import codes_yaml
from opgen.parse import neighbour_texts as texts
from opgen.parse.neighbour_texts import Neighbour
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode

_Entries: TypeAlias = tuple[MappingNode, ...]
_Root = TypeVar("_Root")
# Where it is seen that a file is of a kind; None if it is not.
_Finder: TypeAlias = Callable[[_Root], "Span | None"]
_Finders: TypeAlias = tuple[tuple[Neighbour, _Finder[_Root]], ...]

_WORD = re.compile(r"\w+")
_OPERATOR = re.compile(r"[A-Za-z_]\w*(\.\w+)?")
# Gone before 2.0. `npu_dispatch` is Ascend's, in its copy of PyTorch 1.5.
_OLD_KEYS = frozenset(
    (
        *("use_c10_dispatcher", "supports_named_tensor", "requires_tensor"),
        *("matches_jit_signature", "npu_dispatch"),
    )
)
_OLD_DISPATCH_KEYS = frozenset(("Math", "DefaultBackend"))
_OLD_TYPES = re.compile(r"\b(IntList|BoolTensor|IndexTensor|SparseTensorRef|DimnameList)\b")
# Operators that every PyTorch from 1.0 to 1.13 has, and none since.
_OLD_OPERATORS = frozenset(("_cast_Byte", "symeig", "prelu_backward"))
_ASCEND_KEYS = frozenset(("acl_op", "op_api", "gen_opapi"))
_ASCEND_SECTIONS = frozenset(("official", "custom", "custom_autograd"))
# So many entries tell what kind of file it is.
_ENOUGH = 1000
# Of derivatives.yaml, besides the names of arguments.
_FORMULA_KEYS = ("result", "output_differentiability")


def report_neighbour(
    root: Node | None, source: Source, diagnostics: Diagnostics, *, backend: bool
) -> bool:
    """Report a file of another kind, in place of all problems of it.

    False if it is a file with mistakes; then nothing is changed. `backend` says what kind is expected.
    """
    found = _find(root, backend)
    if found is None:
        return False
    neighbour, sign = found
    diagnostics.forget(source)
    diagnostics.error(codes_yaml.E0113, neighbour.message, sign, notes=neighbour.notes)
    return True


def _find(root: Node | None, backend: bool) -> tuple[Neighbour, Span] | None:
    if isinstance(root, SequenceNode):
        items = root.items[:_ENOUGH]
        entries = tuple(item for item in items if isinstance(item, MappingNode))
        lists = (*_LISTS, (texts.SCHEMA, _schema_file)) if backend else _LISTS
        return _first(lists, entries) if 2 * len(entries) >= len(items) else None
    if isinstance(root, MappingNode):
        return _first(_MAPPINGS if backend else (*_MAPPINGS, (texts.BACKEND, _backend_file)), root)
    return None


def _first(finders: _Finders[_Root], root: _Root) -> tuple[Neighbour, Span] | None:
    found = ((neighbour, find(root)) for neighbour, find in finders)
    return next(((n, sign) for n, sign in found if sign is not None), None)


def _of_half(signs: Iterable[Span | None], size: int, least: int = 1) -> Span | None:
    """The first sign, if half of so many entries have one."""
    found = [sign for sign in signs if sign is not None]
    return found[0] if len(found) >= least and 2 * len(found) >= size else None


def _text(entry: MappingNode, key: str) -> str:
    value = entry.get(key)
    return value.value if isinstance(value, ScalarNode) else ""


def _key(node: Node | None, key: str) -> Span | None:
    found = node.key_node(key) if isinstance(node, MappingNode) else None
    return None if found is None else found.span


def _items(section: Node | None) -> tuple[Node, ...]:
    return section.items if isinstance(section, SequenceNode) else ()


# Files that are lists


def _executorch(entries: _Entries) -> Span | None:
    return _of_half(map(_executorch_sign, entries), len(entries))


def _executorch_sign(entry: MappingNode) -> Span | None:
    kernels = entry.get("kernels")
    if any(_key(item, "kernel_name") is not None for item in _items(kernels)):
        return _key(entry, "kernels")
    is_entry = entry.get("func") is None and (kernels or entry.get("dispatch"))
    is_name = _OPERATOR.fullmatch(_text(entry, "op").rpartition("::")[2])
    return _key(entry, "op") if is_entry and is_name else None


def _edge(entries: _Entries) -> Span | None:
    signs = (_key(entry, "inherits") for entry in entries if entry.get("type_constraint"))
    return _of_half(signs, len(entries))


def _derivatives(entries: _Entries) -> Span | None:
    return _of_half(map(_formula_sign, entries), len(entries))


def _formula_sign(entry: Node) -> Span | None:
    """A schema under `name`, and under its arguments what their gradients are."""
    if not isinstance(entry, MappingNode) or entry.get("func") is not None:
        return None
    schema = _text(entry, "name")
    words = frozenset((*_WORD.findall(schema), *_FORMULA_KEYS))
    others = (key for key, _ in entry.pairs if key.value != "name")
    is_formula = any(words.issuperset(key.value.split(", ")) for key in others)
    return _key(entry, "name") if "(" in schema and is_formula else None


def _deprecated(entries: _Entries) -> Span | None:
    signs = (_key(e, "aten") for e in entries if "(" in _text(e, "name") and e.get("func") is None)
    return _of_half(signs, len(entries))


def _tags(entries: _Entries) -> Span | None:
    signs = (_key(e, "tag") for e in entries if e.get("desc") and e.get("func") is None)
    return _of_half(signs, len(entries))


def _musa(entries: _Entries) -> Span | None:
    """Names without a schema; one alone is a schema that somebody has only begun."""
    rows = (row for entry in entries for row in _dispatch_keys(entry))
    if not any(key.endswith("PrivateUse1") for key in rows):
        return None
    names = (e for e in entries if _OPERATOR.fullmatch(_text(e, "func")))
    return _of_half((_key(entry, "func") for entry in names), len(entries), least=2)


def _old_pytorch(entries: _Entries) -> Span | None:
    """Two entries with a word that is gone, a tenth at least; or operators that are gone."""
    found = [sign for sign in map(_old_sign, entries) if sign is not None]
    if len(found) > 1 and 10 * len(found) >= len(entries):
        return found[0]
    named = {_text(entry, "func").partition("(")[0]: entry for entry in entries}
    return _key(named["symeig"], "func") if named.keys() >= _OLD_OPERATORS else None


def _old_sign(entry: MappingNode) -> Span | None:
    key = next((key for key, _ in entry.pairs if key.value in _OLD_KEYS), None)
    if key is not None:
        return key.span
    if not _OLD_DISPATCH_KEYS.isdisjoint(_dispatch_keys(entry)):
        return _key(entry, "dispatch")
    schema = entry.get("func")
    found = _OLD_TYPES.search(schema.value) if isinstance(schema, ScalarNode) else None
    return schema.part(*found.span()) if found and isinstance(schema, ScalarNode) else None


def _dispatch_keys(entry: MappingNode) -> Iterator[str]:
    table = entry.get("dispatch")
    if isinstance(table, MappingNode):
        for key, _ in table.pairs:
            yield from key.value.split(", ")


def _schema_file(entries: _Entries) -> Span | None:
    signs = (_key(entry, "func") for entry in entries if "(" in _text(entry, "func"))
    return _of_half(signs, len(entries))


# Files that are mappings


def _ascend_backend(root: MappingNode) -> Span | None:
    """A backend file with entries where torchgen's has names."""
    if root.get("backend") is None:
        return None
    for key, section in root.pairs:
        if key.value in _ASCEND_SECTIONS and any(_key(item, "func") for item in _items(section)):
            return key.span
    items = [item for _, section in root.pairs for item in _items(section)]
    return _of_half((_key(item, "func") for item in items), len(items), least=2)


def _ascend_operators(root: MappingNode) -> Span | None:
    """Entries in sections, which say for which versions there are kernels."""
    items = [item for _, section in root.pairs for item in _items(section)]
    entries = [item for item in items if isinstance(item, MappingNode)]
    funcs = [entry for entry in entries if entry.get("func") is not None]
    if funcs and root.get("official") is not None:
        return _key(root, "official")
    signs = (key.span for entry in funcs for key, _ in entry.pairs if key.value in _ASCEND_KEYS)
    return next(signs, None) if 2 * len(funcs) >= len(entries) else None


def _ascend_derivatives(root: MappingNode) -> Span | None:
    items = _items(root.get("backward"))
    return _of_half(map(_formula_sign, items), len(items))


def _mlu(root: MappingNode) -> Span | None:
    """Sections that are namespaces, `aten` among them."""
    items = _items(root.get("aten"))
    is_one = _of_half((_key(item, "func") for item in items), len(items)) is not None
    return _key(root, "aten") if is_one else None


def _backend_file(root: MappingNode) -> Span | None:
    is_one = root.get("cpp_namespace") or root.get("supported")
    return _key(root, "backend") if is_one else None


_LISTS: _Finders[_Entries] = (
    (texts.EXECUTORCH, _executorch),
    (texts.EDGE, _edge),
    (texts.DERIVATIVES, _derivatives),
    (texts.DEPRECATED, _deprecated),
    (texts.TAGS, _tags),
    (texts.MUSA, _musa),
    (texts.OLD_PYTORCH, _old_pytorch),
)
_MAPPINGS: _Finders[MappingNode] = (
    (texts.ASCEND_BACKEND, _ascend_backend),
    (texts.DERIVATIVES, _ascend_derivatives),
    (texts.ASCEND_OPERATORS, _ascend_operators),
    (texts.MLU, _mlu),
)
