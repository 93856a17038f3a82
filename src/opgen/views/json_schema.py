"""The keys of native_functions.yaml into a JSON Schema, from which editors complete and explain them.

Draft 7 is what yaml-language-server reads. The schema takes every file that the parser takes; what
a grammar of values cannot say (the text of a schema, rules between keys) is left to `opgen lint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opgen.model.dispatch_key import SUPPORTED_DISPATCH_KEYS
from opgen.model.native_function import (
    DTYPE_CLASSES,
    DeviceCheckType,
    ScalarType,
    UfuncKey,
    Variant,
)
from opgen.model.tags import TagSet
from opgen.older_pythons import assert_never
from opgen.parse.entry_keys import ENTRY_KEYS, Shape, describe_dispatch_key

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_KERNEL = f"^({_NAME}::){{0,2}}{_NAME}$"
# What is after the point may be any text, as in torchgen.
_OPERATOR = rf"^{_NAME}(\..+)?$"


def build_json_schema(tags: TagSet) -> Schema:
    """Of a native_functions.yaml whose tags are `tags`."""
    return {
        "$schema": _DRAFT,
        "title": "native_functions.yaml",
        "type": "array",
        "items": {
            "type": "object",
            "description": "An operator: its schema, and how it is dispatched.",
            "required": ["func"],
            "additionalProperties": False,
            "properties": {
                name: {
                    **_shape(key.shape, tags),
                    "description": key.description.replace("`", ""),
                    "markdownDescription": key.description,
                }
                for name, key in ENTRY_KEYS.items()
            },
        },
    }


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
            return {"type": "string", "pattern": r"^[^\s(]+\([\s\S]*\) -> [\s\S]+$"}
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
            return _dispatch()
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


def _dispatch() -> Schema:
    names = [key.name for key in SUPPORTED_DISPATCH_KEYS]
    kernel = {"type": "string", "pattern": _KERNEL}
    return {
        "type": ["object", "null"],
        # One key each, for completion and hover; then lists of them, `CPU, CUDA`.
        "properties": {
            key.name: {**kernel, "description": describe_dispatch_key(key)}
            for key in SUPPORTED_DISPATCH_KEYS
        },
        "patternProperties": {
            _listed(names, r"\s*,\s*", around=r"\s*"): {
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
