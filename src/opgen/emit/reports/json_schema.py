"""Write a JSON Schema for native_functions.yaml, by which editors complete and explain its keys.

It is in draft 7, which yaml-language-server reads. It accepts every file that the parser accepts. `opgen lint` checks the
rest, which a JSON Schema cannot express: the text of operator schemas, and rules between keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opgen.autograd import called_functions
from opgen.autograd.called_functions import formula_words
from opgen.model.dispatch_key import LIBRARY_DISPATCH_KEYS, SUPPORTED_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import DTYPE_CLASSES, ScalarType, UfuncKey, Variant
from opgen.model.profile import TagSet
from opgen.parse.entries.header import DERIVATIVES_KEYS
from opgen.parse.entries.keys import (
    CLASS,
    ENTRY,
    HEADER,
    HEADER_KEYS,
    KEYS,
    Key,
    Kind,
    describe_dispatch_key,
    described,
)

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_KERNEL = f"({_NAME}::){{0,2}}{_NAME}"
_EXISTING = f"(::{_NAME})+(<[A-Za-z0-9_:, <>*]+>)?"
# Any string may follow the dot, as in torchgen.
_OPERATOR = rf"^{_NAME}(\..+)?$"
_OF_ATEN = r"^\s*aten\s*::"
_FUNC_OF_ATEN = r"^[^\s(]+\([\s\S]*\) -> [\s\S]+$"
_FUNC = r"^[^(]*[^\s(][^(]*\([\s\S]*\)\s*->\s*\S[\s\S]*$"
_HEADER = r"^(<[^<>\"\n]+>|[^<>\"\n]+)$"
_CLASS = rf"^{_NAME}(\.{_NAME})+$"
_QUALIFIED = rf"^(::)?{_NAME}(::{_NAME})*(<[A-Za-z0-9_:, <>*]+>)?$"


def build_json_schema(tags: TagSet, *, strict_torchgen: bool = False) -> Schema:
    """Return the schema of a native_functions.yaml whose tags are `tags`.

    The namespace of a name without one is in the file's header or on the command line, which a JSON Schema cannot see;
    so the schema accepts for such an entry what it accepts for entries of libraries. With `strict_torchgen`, all
    entries follow torchgen's rules, and there is no header.
    """
    schema = {"$schema": _DRAFT, "title": "native_functions.yaml", "type": "array"}
    if strict_torchgen:
        own: Schema = {"func": {"pattern": _FUNC_OF_ATEN}, "dispatch": _dispatch_of_aten()}
        return {**schema, "items": _entry(tags, own)}
    is_head: Schema = {
        "not": {"required": ["func"]},
        "anyOf": [{"required": [name]} for name in HEADER_KEYS],
    }
    entry = {
        **_entry(tags, {}),
        "if": {"properties": {"func": {"pattern": _OF_ATEN}}, "required": ["func"]},
        "then": {
            "properties": {"func": {"pattern": _FUNC_OF_ATEN}, "dispatch": _dispatch_of_aten()}
        },
        "else": {
            "properties": {
                "func": {"pattern": _FUNC},
                "dispatch": _dispatch(LIBRARY_DISPATCH_KEYS, f"^({_KERNEL}|{_EXISTING})$"),
            }
        },
    }
    return {
        **schema,
        "items": {"if": is_head, "then": _head(), "else": entry},
        # The header is the first item.
        "allOf": [{"items": [True], "additionalItems": {"not": is_head}}],
    }


def _entry(tags: TagSet, own: Schema) -> Schema:
    """Return the schema of an entry. `own` has the schemas of keys that are special."""
    return {
        "type": "object",
        "description": "An operator: its schema, and how it is dispatched.",
        "required": ["func"],
        "additionalProperties": False,
        "properties": {
            name: {
                **_value_schema(key, tags),
                **own.get(name, {}),
                **_words(described(ENTRY)[name]),
            }
            for name, key in KEYS.items()
        },
    }


def _head() -> Schema:
    words = {name: _words(text) for name, text in described(CLASS).items()}
    header: Schema = {"type": "string", "pattern": _HEADER}
    qualified: Schema = {"type": "string", "pattern": _QUALIFIED}
    one_class: Schema = {
        "type": "object",
        "required": ["type", "header"],
        "additionalProperties": False,
        "properties": {
            "type": {**qualified, **words["type"]},
            "header": {**header, **words["header"]},
            "define": {"type": ["string", "null"], "pattern": _QUALIFIED, **words["define"]},
        },
    }
    shapes: Mapping[str, Schema] = {
        "namespace": {"type": ["string", "null"], "pattern": f"^{_NAME}$"},
        "include": {"anyOf": [header, {"type": "array", "items": header}]},
        "fragment": {"type": "boolean"},
        "fake_module": {"type": ["string", "null"], "pattern": rf"^{_NAME}(\.{_NAME})*$"},
        "classes": {
            "type": "object",
            "patternProperties": {_CLASS: one_class},
            "additionalProperties": False,
        },
    }
    return {
        "type": "object",
        "description": "The header: settings for the whole file.",
        "additionalProperties": False,
        "properties": {
            name: {**shapes[name], **_words(text)} for name, text in described(HEADER).items()
        },
    }


def _words(text: str) -> Schema:
    """Return the description that editors show, as plain text and as Markdown."""
    return {"description": text.replace("`", ""), "markdownDescription": text}


def build_tags_schema() -> Schema:
    """Return the schema of a tags.yaml."""
    text = {"type": "string", "minLength": 1}
    return {
        "$schema": _DRAFT,
        "title": "tags.yaml",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["tag", "desc"],
            "properties": {
                "tag": {**text, "description": "The name, as entries write it."},
                "desc": {**text, "description": "The property of operators that have the tag."},
            },
        },
    }


def build_derivatives_schema(*, strict_torchgen: bool = False) -> Schema:
    """Return the schema of a derivatives.yaml. With `strict_torchgen`, there is no header."""
    told = formula_words(called_functions.ENTRY)
    name = {"type": "string", "minLength": 1, **_words(told["name"])}
    outputs = {
        "type": "array",
        "items": {"type": ["boolean", "string"]},
        **_words(told["output_differentiability"]),
    }
    formula = {
        "type": "string",
        **_words(
            "A C++ expression: for an argument, its gradient, or `non_differentiable`; for an output "
            "(`result`), its tangent, `auto_linear` or `auto_element_wise`."
        ),
    }
    table = {"type": "object", "additionalProperties": formula}
    dispatch = {
        "type": "object",
        "propertyNames": {"pattern": "^(Default|Autograd[A-Za-z]+)$"},
        "additionalProperties": table,
        **_words(told["dispatch"]),
    }
    properties: Schema = {"name": name, "output_differentiability": outputs}
    entry: Schema = {
        "type": "object",
        "required": ["name"],
        "if": {"required": ["dispatch"]},
        "then": {
            "properties": {**properties, "dispatch": dispatch},
            "additionalProperties": False,
        },
        "else": {"properties": properties, "additionalProperties": formula},
    }
    schema = {"$schema": _DRAFT, "title": "derivatives.yaml", "type": "array"}
    if strict_torchgen:
        return {**schema, "items": entry}
    is_head: Schema = {
        "not": {"required": ["name"]},
        "anyOf": [{"required": [key]} for key in DERIVATIVES_KEYS],
    }
    described = _head()["properties"]
    include = _words(formula_words(called_functions.HEADER)["include"])
    head = {
        "type": "object",
        "properties": {
            "namespace": described["namespace"],
            "include": {**described["include"], **include},
        },
        "additionalProperties": False,
    }
    return {**schema, "items": {"if": is_head, "then": head, "else": entry}}


_OPTIONAL_STRING: Schema = {"type": ["string", "null"]}
_ONE_OPERATOR = _OPERATOR[1:-1]
# The values of keys that are the same for every file.
_VALUES: Mapping[Kind, Schema] = {
    Kind.flag: {"type": "boolean"},
    Kind.schema: {"type": "string"},
    Kind.doc: {"type": "string"},
    Kind.operator_name: {**_OPTIONAL_STRING, "pattern": _OPERATOR},
    Kind.operator_names: {"type": "string", "pattern": f"^({_ONE_OPERATOR}(, {_ONE_OPERATOR})*)?$"},
    Kind.class_name: {**_OPTIONAL_STRING, "pattern": f"^{_NAME}$"},
    Kind.any_string: _OPTIONAL_STRING,
    Kind.module: _OPTIONAL_STRING,
    Kind.fake: _OPTIONAL_STRING,
    Kind.strings: {"type": "array", "items": {"type": "string"}},
    Kind.precomputed: {"type": ["array", "null"], "items": {"type": "string"}},
    Kind.dispatch: {"type": ["object", "null"]},
}


def _value_schema(key: Key, tags: TagSet) -> Schema:
    match key.kind:
        case Kind.choice:
            assert key.choice is not None
            return {"enum": [*key.choice.words.__members__, None]}
        case Kind.variants:
            names = list(Variant.__members__)
            listed = {"enum": [*names, ", ".join(names)]}
            return {"type": "string", "anyOf": [listed, {"pattern": _listed(names, ", ")}]}
        case Kind.tags:
            texts = [" ".join(tag.desc.split()) for tag in tags.tags]
            one = {"type": "string", "enum": list(tags.names), "enumDescriptions": texts}
            return {"anyOf": [one, {"type": "array", "items": one}]}
        case Kind.inner_loops:
            return _inner_loops()
        case _:
            return _VALUES[key.kind]


def _dispatch_of_aten() -> Schema:
    return _dispatch(SUPPORTED_DISPATCH_KEYS, f"^{_KERNEL}$")


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
