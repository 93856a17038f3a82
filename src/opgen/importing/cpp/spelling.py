"""Write C++ types with full names, and find the headers that declare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from opgen.importing.common.cpp_types import CppParameter, CppSignature, CppType
from opgen.importing.cpp.functions import Names

_TENSOR = "ATen/core/Tensor.h"
# Types that PyTorch declares in `at`, and often also in `c10` and `torch`, with their headers.
ATEN: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *("Tensor", "Scalar", "ScalarType", "Layout", "MemoryFormat", "Device", "SymInt"),
                *("IntArrayRef", "TensorList", "ArrayRef", "SymIntArrayRef", "TensorOptions"),
            ),
            _TENSOR,
        ),
        "Generator": "ATen/core/Generator.h",
        "ITensorListRef": "ATen/core/IListRef.h",
        "OptionalIntArrayRef": "c10/util/OptionalArrayRef.h",
        "OptionalArrayRef": "c10/util/OptionalArrayRef.h",
        "OptionalSymIntArrayRef": "ATen/core/Tensor.h",
        "QScheme": "c10/core/QScheme.h",
    }
)
C10: Mapping[str, str] = MappingProxyType(
    {
        "List": "ATen/core/List.h",
        "Dict": "ATen/core/Dict.h",
        "IValue": "ATen/core/ivalue.h",
        "SymFloat": "c10/core/SymFloat.h",
        "SymBool": "c10/core/SymBool.h",
        "Storage": "c10/core/Storage.h",
        "Stream": "c10/core/Stream.h",
        "DeviceIndex": "c10/core/Device.h",
        "complex": "c10/util/complex.h",
        "string_view": "c10/util/string_view.h",
        "optional": "c10/util/Optional.h",
    }
)
STD: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in ("array", "optional", "string", "string_view", "tuple")},
        **{name: name for name in ("vector", "map", "unordered_map", "pair", "complex")},
        **dict.fromkeys(("int8_t", "int32_t", "int64_t", "uint8_t", "uint64_t"), "cstdint"),
        "pair": "utility",
        "size_t": "cstddef",
    }
)
# Types of PyTorch's stable ABI.
STABLE: Mapping[str, str] = MappingProxyType(
    {
        "stable::Tensor": "torch/csrc/stable/tensor.h",
        "stable::Device": "torch/csrc/stable/device.h",
        **dict.fromkeys(
            ("headeronly::HeaderOnlyArrayRef", "headeronly::IntHeaderOnlyArrayRef"),
            "torch/headeronly/util/HeaderOnlyArrayRef.h",
        ),
        "headeronly::ScalarType": "torch/headeronly/core/ScalarType.h",
        "headeronly::Layout": "torch/headeronly/core/Layout.h",
        "headeronly::MemoryFormat": "torch/headeronly/core/MemoryFormat.h",
    }
)
_PLAIN = frozenset(
    {
        *("void", "bool", "char", "int", "long", "short", "float", "double", "unsigned"),
        *("long long", "unsigned int", "unsigned long", "unsigned long long", "unsigned char"),
        *("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"),
        *("size_t", "true", "false"),
    }
)
# Names in `torch` whose names in `at` differ.
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"Dtype": "ScalarType", "IntList": "IntArrayRef"}
)


class UnknownName(Exception):
    """The name of a type that only its own file declares."""


class Declared(Struct, frozen=True):
    """A signature with full names, and the headers that it needs."""

    signature: CppSignature
    headers: tuple[str, ...]


def spell_signature(signature: CppSignature, names: Names, own: Iterable[str] = ()) -> Declared:
    """Write a signature with full names. `own` are names of template parameters, which are kept.

    `names` are the `using` declarations of the signature's file. Raises UnknownName.
    """
    speller = _Speller(names, frozenset(own), {})
    returns = None if signature.returns is None else speller.spell(signature.returns)
    parameters = tuple(CppParameter(speller.spell(p.type), p.name) for p in signature.parameters)
    return Declared(CppSignature(returns, parameters), tuple(sorted(speller.headers)))


class _Speller(Struct, frozen=True):
    names: Names
    own: frozenset[str]
    headers: dict[str, None]

    def spell(self, type_: CppType) -> CppType:
        resolved = self.names.aliases.resolved(type_)
        if "[]" in resolved.mark or resolved.name in ("auto", "..."):
            raise UnknownName(str(type_))
        arguments = tuple(self.spell(argument) for argument in resolved.arguments)
        name = self._name(resolved.name)
        if name == "std::tuple" and not arguments:
            name = "std::tuple<>"
        return replace(resolved, name=name, arguments=arguments)

    def _name(self, name: str) -> str:
        name = name.removeprefix("::")
        root, _, rest = name.partition("::")
        root = "::".join(self.names.namespaces.get(root, (root,))) if rest else ""
        name = f"{root}::{rest}" if root else name
        if name in _PLAIN or name in self.own or name.isdigit():
            self._need("cstdint" if name.endswith("_t") else "")
            return name
        if root == "std" and rest in STD:
            return self._known(name, STD[rest])
        if root == "torch" and rest in STABLE:
            return self._known(name, STABLE[rest])
        last = _OTHER_NAMES.get(rest or name, rest or name)
        if root in ("", "at", "c10", "torch") and last in ATEN:
            # `c10::ScalarType` and `at::ScalarType` are the same type.
            return self._known(f"at::{last}", ATEN[last])
        if root in ("at", "c10", "torch") and last in C10:
            return self._known(f"c10::{last}", C10[last])
        raise UnknownName(name)

    def _known(self, name: str, header: str) -> str:
        self._need(header)
        return name

    def _need(self, header: str) -> None:
        if header:
            self.headers[header] = None
