// function_schema.h: FunctionSchema, a parsed operator declaration such as `add.Tensor(Tensor self,
// Tensor other) -> Tensor`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opgen/ivalue.h"
#include "opgen/type_kind.h"

namespace opgen {

struct SchemaType {
  TypeKind kind = TypeKind::Tensor;
  std::shared_ptr<const SchemaType> element;
  std::int64_t size = 0;
  std::string class_name;  // of CustomClass

  [[nodiscard]] OPGEN_API std::string str() const;
  [[nodiscard]] OPGEN_API bool operator==(const SchemaType& other) const noexcept;
};

// `(a! -> b)`: the sets before and after as written, `*` included; written to if `!`.
struct AliasInfo {
  std::string before;
  std::string after;
  bool is_write = false;
  [[nodiscard]] OPGEN_API std::string str() const;
  [[nodiscard]] bool operator==(const AliasInfo&) const = default;
};

struct SchemaArgument {
  std::string name;  // of a return: may be empty
  SchemaType type;
  std::optional<AliasInfo> alias;
  bool kwarg_only = false;
  bool is_out = false;
  std::optional<std::string> default_text;
  std::optional<IValue> default_value;
  [[nodiscard]] OPGEN_API std::string str() const;
};

struct FunctionSchema {
  std::string name;  // "aten::add", with the namespace that it was parsed with
  std::string overload_name;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;

  [[nodiscard]] OPGEN_API std::string str() const;
  [[nodiscard]] OPGEN_API std::string full_name() const;  // "aten::add.Tensor"
  [[nodiscard]] OPGEN_API std::optional<std::size_t> find_argument(
      std::string_view name) const noexcept;
};

// ValueError that says where and why. `ns` applies if the text names no namespace.
[[nodiscard]] OPGEN_API FunctionSchema parse_schema(std::string_view text,
                                                    std::string_view ns = {});
// "aten::add.Tensor" -> ("aten::add", "Tensor").
[[nodiscard]] OPGEN_API std::pair<std::string, std::string> split_operator_name(
    std::string_view text);

// The value as the type wants it: ints for floats, one number for a sized list. TypeError if it
// cannot be.
[[nodiscard]] OPGEN_API IValue convert_to_type(IValue value, const SchemaType& type);

}  // namespace opgen
