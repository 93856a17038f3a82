// function_schema.h: FunctionSchema, a parsed operator declaration such as `add.Tensor(Tensor self,
// Tensor other) -> Tensor`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opgen/registration/ivalue.h"

namespace opgen {

// The kinds of types of the schema language.
enum class TypeKind : std::uint8_t {
  Tensor,
  Scalar,
  Int,
  SymIntType,
  DeviceIndexType,
  Float,
  Bool,
  SymBoolType,
  Str,
  Device,
  ScalarType,
  Layout,
  MemoryFormat,
  QScheme,
  Generator,
  Storage,
  Stream,
  DimVectorType,
  GraphModule,
  CustomClass,
  Optional,  // of `element`
  List,      // of `element`; size 0: any length
  Complex,
  Any,
  None,
  Tuple,  // of `members`
  Dict,   // of `members`: keys and values
};

struct SchemaType {
  TypeKind kind = TypeKind::Tensor;
  std::shared_ptr<const SchemaType> element;
  std::int64_t size = 0;
  std::string class_name;           // for CustomClass
  std::vector<SchemaType> members;  // for Tuple; for Dict, the types of its keys and values

  [[nodiscard]] OPGEN_API std::string str() const;
  // Whether the type is Tensor, a container of tensors, or Any.
  [[nodiscard]] bool may_hold_tensors() const noexcept {
    if (element != nullptr) return element->may_hold_tensors();
    for (const SchemaType& member : members) {
      if (member.may_hold_tensors()) return true;
    }
    return kind == TypeKind::Tensor || kind == TypeKind::Any;
  }
  [[nodiscard]] OPGEN_API bool operator==(const SchemaType& other) const noexcept;
};

// One annotation, `(a|b! -> c)` or `!`.
struct AliasInfo {
  // Names of alias sets, joined by "|"; "*" means any set. A bare `!` is a new set without a name,
  // called "$0", "$1", … in the order of the schema.
  std::string before;
  std::string after;  // empty if it is the same
  bool is_write = false;
  // How many list types precede it: 0 in `Tensor(a!)[]`, 1 in `Tensor[](a!)`.
  std::size_t lists = 0;

  [[nodiscard]] bool is_unnamed() const noexcept { return before.front() == '$'; }
  // Returns the annotation as written, such as "(a|b! -> c)" or "!".
  [[nodiscard]] OPGEN_API std::string str() const;
  // Ignores the order of the sets.
  [[nodiscard]] OPGEN_API bool operator==(const AliasInfo& other) const;
};

struct SchemaArgument {
  std::string name;  // may be empty for a return
  SchemaType type;
  std::vector<AliasInfo> aliases;  // from the inside outwards
  bool kwarg_only = false;
  bool is_out = false;  // written, and keyword-only
  std::optional<std::string> default_text;
  std::optional<IValue> default_value;

  [[nodiscard]] bool is_written() const noexcept {
    for (const AliasInfo& alias : aliases) {
      if (alias.is_write) return true;
    }
    return false;
  }
  [[nodiscard]] OPGEN_API std::string str() const;
  // Compares defaults as they are written.
  [[nodiscard]] OPGEN_API bool operator==(const SchemaArgument& other) const;
};

struct FunctionSchema {
  std::string name;  // "aten::add", with its namespace
  std::string overload_name;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;

  [[nodiscard]] OPGEN_API std::string str() const;
  [[nodiscard]] OPGEN_API std::string full_name() const;  // "aten::add.Tensor"
  // Returns the index of the first argument with this name.
  [[nodiscard]] OPGEN_API std::optional<std::size_t> find_argument(
      std::string_view name) const noexcept;
  [[nodiscard]] OPGEN_API bool operator==(const FunctionSchema& other) const;
};

// Parses what PyTorch's schema parser accepts (docs/concepts/dispatch.md lists the differences).
// Throws ValueError with the position and the reason. `ns` is used as the namespace if the text has
// none.
[[nodiscard]] OPGEN_API FunctionSchema parse_schema(std::string_view text,
                                                    std::string_view ns = {});
// Splits "aten::add.Tensor" into ("aten::add", "Tensor").
[[nodiscard]] OPGEN_API std::pair<std::string, std::string> split_operator_name(
    std::string_view text);

// Converts a value to the type: ints to floats, one number to a sized list. Throws TypeError if it
// cannot.
[[nodiscard]] OPGEN_API IValue convert_to_type(IValue value, const SchemaType& type);

}  // namespace opgen
