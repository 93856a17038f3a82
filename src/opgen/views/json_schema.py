"""The keys of native_functions.yaml into a JSON Schema, from which editors complete and explain them.

Draft 7 is what yaml-language-server reads. The schema takes every file that the parser takes; what
a grammar of values cannot say (the text of a schema, rules between keys) is left to `opgen lint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opgen.model.dispatch_key import (
    LIBRARY_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.native_function import (
    DTYPE_CLASSES,
    DeviceCheckType,
    ScalarType,
    UfuncKey,
    Variant,
)
from opgen.model.tags import TagSet
from opgen.older_pythons import assert_never
from opgen.parse.entry_keys import (
    CLASS_KEYS,
    ENTRY_KEYS,
    HEAD_KEYS,
    Shape,
    describe_dispatch_key,
)

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_KERNEL = f"({_NAME}::){{0,2}}{_NAME}"
_EXISTING = f"(::{_NAME})+(<[A-Za-z0-9_:, <>*]+>)?"
# What is after the point may be any text, as in torchgen.
_OPERATOR = rf"^{_NAME}(\..+)?$"
_OF_ATEN = r"^\s*aten\s*::"
_FUNC_OF_ATEN = r"^[^\s(]+\([\s\S]*\) -> [\s\S]+$"
_FUNC = r"^[^(]*[^\s(][^(]*\([\s\S]*\)\s*->\s*\S[\s\S]*$"
_HEADER = r"^(<[^<>\"\n]+>|[^<>\"\n]+)$"
_CLASS = rf"^{_NAME}(\.{_NAME})+$"
_QUALIFIED = rf"^(::)?{_NAME}(::{_NAME})*(<[A-Za-z0-9_:, <>*]+>)?$"


def build_json_schema(tags: TagSet, *, strict_torchgen: bool = False) -> Schema:
    """Of a native_functions.yaml whose tags are `tags`.

    What a bare name's namespace is, only the file or the command line says; such an entry may have what those of
    libraries have. With `strict_torchgen` all entries follow torchgen's rules, and there is no head.
    """
    schema = {"$schema": _DRAFT, "title": "native_functions.yaml", "type": "array"}
    if strict_torchgen:
        own: Schema = {"func": {"pattern": _FUNC_OF_ATEN}, "dispatch": _dispatch_of_aten()}
        return {**schema, "items": _entry(tags, own)}
    is_head: Schema = {
        "not": {"required": ["func"]},
        "anyOf": [{"required": [name]} for name in HEAD_KEYS],
    }
    entry = {
        **_entry(tags, {}),
        "if": {"properties": {"func": {"pattern": _OF_ATEN}}, "required": ["func"]},
        "then": {
            "properties": {"func": {"pattern": _FUNC_OF_ATEN}, "dispatch": _dispatch_of_aten()}
        },
        "else": {"properties": {"func": {"pattern": _FUNC}, "dispatch": _dispatch_of_libraries()}},
    }
    return {
        **schema,
        "items": {"if": is_head, "then": _head(), "else": entry},
        # The head is the first item.
        "allOf": [{"items": [True], "additionalItems": {"not": is_head}}],
    }


def _entry(tags: TagSet, own: Schema) -> Schema:
    """Of an entry, some of whose keys have schemas of their `own`."""
    return {
        "type": "object",
        "description": "An operator: its schema, and how it is dispatched.",
        "required": ["func"],
        "additionalProperties": False,
        "properties": {
            name: {
                **_shape(key.shape, tags),
                **own.get(name, {}),
                **_words(key.description),
            }
            for name, key in ENTRY_KEYS.items()
        },
    }


def _head() -> Schema:
    header: Schema = {"type": "string", "pattern": _HEADER}
    qualified: Schema = {"type": "string", "pattern": _QUALIFIED}
    one_class: Schema = {
        "type": "object",
        "required": ["type", "header"],
        "additionalProperties": False,
        "properties": {
            "type": {**qualified, **_words(CLASS_KEYS["type"])},
            "header": {**header, **_words(CLASS_KEYS["header"])},
            "define": {"type": ["string", "null"], "pattern": _QUALIFIED}
            | _words(CLASS_KEYS["define"]),
        },
    }
    shapes: Mapping[str, Schema] = {
        "namespace": {"type": ["string", "null"], "pattern": f"^{_NAME}$"},
        "include": {"anyOf": [header, {"type": "array", "items": header}]},
        "fragment": {"type": "boolean"},
        "classes": {
            "type": "object",
            "patternProperties": {_CLASS: one_class},
            "additionalProperties": False,
        },
    }
    return {
        "type": "object",
        "description": "What holds for the whole file.",
        "additionalProperties": False,
        "properties": {name: {**shapes[name], **_words(text)} for name, text in HEAD_KEYS.items()},
    }


def _words(text: str) -> Schema:
    """What editors show; not all of them know Markdown."""
    return {"description": text.replace("`", ""), "markdownDescription": text}


def build_tags_schema() -> Schema:
    """Of a tags.yaml."""
    text = {"type": "string", "minLength": 1}
    return {
        "$schema": _DRAFT,
        "title": "tags.yaml",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["tag", "desc"],
            "properties": {
                "tag": {**text, "description": "The name that entries carry."},
                "desc": {**text, "description": "What it says of an operator."},
            },
        },
    }


def _shape(shape: Shape, tags: TagSet) -> Schema:
    match shape:
        case Shape.flag:
            return {"type": "boolean"}
        case Shape.schema:
            return {"type": "string"}
        case Shape.variants:
            return _variants()
        case Shape.device_check:
            return {"enum": [*DeviceCheckType.__members__, None]}
        case Shape.operator_name:
            return {"type": ["string", "null"], "pattern": _OPERATOR}
        case Shape.operator_names:
            one = _OPERATOR[1:-1]
            return {"type": "string", "pattern": f"^({one}(, {one})*)?$"}
        case Shape.class_name:
            return {"type": ["string", "null"], "pattern": f"^{_NAME}$"}
        case Shape.optional_text:
            return {"type": ["string", "null"]}
        case Shape.texts:
            return {"type": "array", "items": {"type": "string"}}
        case Shape.precomputed:
            return {"type": ["array", "null"], "items": {"type": "string"}}
        case Shape.tags:
            return _tags(tags)
        case Shape.dispatch:
            return {"type": ["object", "null"]}
        case Shape.inner_loops:
            return _inner_loops()
        case _:
            assert_never(shape)


def _variants() -> Schema:
    names = list(Variant.__members__)
    return {
        "type": "string",
        "anyOf": [{"enum": [*names, ", ".join(names)]}, {"pattern": _listed(names, ", ")}],
    }


def _tags(tags: TagSet) -> Schema:
    one = {
        "type": "string",
        "enum": list(tags.names),
        "enumDescriptions": [" ".join(tag.desc.split()) for tag in tags.tags],
    }
    return {"anyOf": [one, {"type": "array", "items": one}]}


def _dispatch_of_aten() -> Schema:
    return _dispatch(SUPPORTED_DISPATCH_KEYS, f"^{_KERNEL}$")


def _dispatch_of_libraries() -> Schema:
    return _dispatch(LIBRARY_DISPATCH_KEYS, f"^({_KERNEL}|{_EXISTING})$")


def _dispatch(keys: tuple[DispatchKey, ...], pattern: str) -> Schema:
    kernel: Schema = {"type": "string", "pattern": pattern}
    return {
        # One key each, for completion and hover; then lists of them, `CPU, CUDA`.
        "properties": {
            key.name: {**kernel, "description": describe_dispatch_key(key)} for key in keys
        },
        "patternProperties": {
            _listed((key.name for key in keys), r"\s*,\s*", around=r"\s*"): {
                **kernel,
                "description": "One kernel for several dispatch keys.",
            }
        },
        "additionalProperties": False,
    }


def _inner_loops() -> Schema:
    dtypes = _alternatives((*ScalarType.__members__, *DTYPE_CLASSES))
    loop: Schema = {"type": "string", "pattern": rf"^{_NAME} \({dtypes}(, {dtypes})*\)$"}
    texts: Mapping[str, Schema] = dict.fromkeys(UfuncKey.__members__, loop)
    mapping = {"type": "object", "properties": dict(texts), "additionalProperties": False}
    return {"anyOf": [loop, mapping]}


def _listed(names: Iterable[str], comma: str, around: str = "") -> str:
    one = _alternatives(names)
    return f"^{around}{one}({comma}{one})*{around}$"


def _alternatives(names: Iterable[str]) -> str:
    return f"({'|'.join(names)})"
