"""Check that every schema of a library is what PyTorch parses from its text, and that every kernel can be called.

`python check.py LIBRARY SCHEMAS.json`, where SCHEMAS.json has the text of the schema of each operator.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

_VALUES: dict[str, Any] = {
    "TensorType": torch.ones(2, 2),
    "IntType": 1,
    "SymIntType": 1,
    "FloatType": 1.0,
    "BoolType": True,
    "StringType": "x",
    "NumberType": 1,
    "ComplexType": 1j,
    "DeviceObjType": torch.device("cpu"),
    "GeneratorType": torch.Generator(),
    "AnyType": 3,
}
_BY_NAME = {
    "ScalarType": torch.float32,
    "Layout": torch.strided,
    "MemoryFormat": torch.contiguous_format,
}


class NoValue(Exception):
    """No value of this type can be made."""


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    found: dict[str, Any] = {"schemas": 0, "not called": 0, "wrong": []}
    for name, text in json.loads(Path(sys.argv[2]).read_text()).items():
        operator = find(name)
        wanted = torch._C.parse_schema(text)
        have = operator._schema
        same = wanted == have and str(wanted) == str(have)
        answer = call(operator)
        found["schemas"] += 1
        found["not called"] += answer == "not called"
        if not same or answer not in ("stub", "not called"):
            found["wrong"].append([str(wanted), str(have), answer])
    print(json.dumps(found))


def find(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")


def call(operator: Any) -> str:
    """Return `stub` if the call reaches the stub of the kernel."""
    positional, named = [], {}
    try:
        for argument in operator._schema.arguments:
            if argument.kwarg_only:
                named[argument.name] = value_of(argument)
            else:
                positional.append(value_of(argument))
    except NoValue:
        return "not called"
    try:
        operator(*positional, **named)
    except NotImplementedError as error:
        return "stub" if " kernel yet; write" in str(error) else str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def value_of(argument: Any) -> Any:
    value = sample(argument.type)
    for name, word in _BY_NAME.items():
        if name in str(argument.real_type) and "__torch__" not in str(argument.real_type):
            value = [word] if isinstance(value, list) else word
    return value * argument.N if argument.N and isinstance(value, list) else value


def sample(type: Any) -> Any:
    match type.kind():
        case "OptionalType":
            return sample(type.getElementType())
        case "ListType":
            return [sample(type.getElementType())]
        case "TupleType":
            return tuple(sample(element) for element in type.elements())
        case "DictType":
            return {sample(type.getKeyType()): sample(type.getValueType())}
        case "ClassType":
            namespace, name = type.str().rsplit(".", 2)[-2:]
            try:
                return getattr(getattr(torch.classes, namespace), name)()
            except RuntimeError as error:
                raise NoValue from error
        case kind if kind in _VALUES:
            return _VALUES[kind]
    raise NoValue


if __name__ == "__main__":
    main()
