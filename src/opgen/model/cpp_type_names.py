"""The schema types that PyTorch infers from C++ types, by name.

Source of the rules: PyTorch's ATen/core/op_registration/infer_schema.h and ATen/core/jit_type.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Schema types by C++ names, without `at::`, `c10::` and `torch::`, but with `std::`. SymFloat and SymBool are left out:
# PyTorch infers them, but its schema parser does not accept them.
SCHEMA_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "Tensor": "Tensor",
        "int64_t": "int",
        "std::int64_t": "int",
        "long": "int",
        "int8_t": "int",
        "std::int8_t": "int",
        "DeviceIndex": "int",
        "double": "float",
        "bool": "bool",
        "std::string": "str",
        "std::string_view": "str",
        "string_view": "str",
        "Scalar": "Scalar",
        "ScalarType": "ScalarType",
        "Dtype": "ScalarType",
        "Layout": "Layout",
        "MemoryFormat": "MemoryFormat",
        "Device": "Device",
        "Generator": "Generator?",
        "Storage": "Storage",
        "Stream": "Stream",
        "QScheme": "QScheme",
        "SymInt": "SymInt",
        "IValue": "Any",
        "TensorList": "Tensor[]",
        "ITensorListRef": "Tensor[]",
        "IntArrayRef": "int[]",
        "IntList": "int[]",
        "SymIntArrayRef": "SymInt[]",
        "OptionalIntArrayRef": "int[]?",
        "OptionalSymIntArrayRef": "SymInt[]?",
    }
)
LISTS = frozenset({"std::vector", "std::array", "ArrayRef", "List", "IListRef"})
OPTIONALS = frozenset({"std::optional", "optional", "OptionalArrayRef"})
# PyTorch's namespaces, which all have the names of `SCHEMA_TYPES`.
_ROOTS = frozenset({"at", "c10", "torch"})


def unqualified(name: str) -> str:
    """Return `Tensor` for `at::Tensor`, `c10::Tensor` and `Tensor`; other names without a leading `::`."""
    root, _, last = name.removeprefix("::").rpartition("::")
    return last if root in _ROOTS else name.removeprefix("::")
