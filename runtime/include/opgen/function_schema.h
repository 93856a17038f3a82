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
  std::string class_name;           // of CustomClass
  std::vector<SchemaType> members;  // of Tuple; of Dict: its keys' type and its values'

  [[nodiscard]] OPGEN_API std::string str() const;
  // A Tensor, or a container of such; Any may be one.
  [[nodiscard]] OPGEN_API bool may_hold_tensors() const noexcept;
  [[nodiscard]] OPGEN_API bool operator==(const SchemaType& other) const noexcept;
};

// One annotation, `(a|b! -> c)` or `!`.
struct AliasInfo {
  // Sets by name, joined by "|"; "*" is any set. A bare `!` is a set of its own without a name:
  // "$0", "$1", … in the order of a schema.
  std::string before;
  std::string after;  // empty: the same
  bool is_write = false;
  // How many lists stand in front of it: 0 in `Tensor(a!)[]`, 1 in `Tensor[](a!)`.
  std::size_t lists = 0;

  [[nodiscard]] bool is_unnamed() const noexcept { return before.front() == '$'; }
  // "(a|b! -> c)", "!"
  [[nodiscard]] OPGEN_API std::string str() const;
  // The order of sets says nothing.
  [[nodiscard]] OPGEN_API bool operator==(const AliasInfo& other) const;
};

struct SchemaArgument {
  std::string name;  // of a return: may be empty
  SchemaType type;
  std::vector<AliasInfo> aliases;  // as they stand, from the inside
  bool kwarg_only = false;
  bool is_out = false;  // written, and given by name alone
  std::optional<std::string> default_text;
  std::optional<IValue> default_value;

  [[nodiscard]] bool is_written() const noexcept {
    for (const AliasInfo& alias : aliases) {
      if (alias.is_write) return true;
    }
    return false;
  }
  [[nodiscard]] OPGEN_API std::string str() const;
  // Defaults are compared as they are written.
  [[nodiscard]] OPGEN_API bool operator==(const SchemaArgument& other) const;
};

struct FunctionSchema {
  std::string name;  // "aten::add", with the namespace that it was parsed with
  std::string overload_name;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;

  [[nodiscard]] OPGEN_API std::string str() const;
  [[nodiscard]] OPGEN_API std::string full_name() const;  // "aten::add.Tensor"
  // The first of this name.
  [[nodiscard]] OPGEN_API std::optional<std::size_t> find_argument(
      std::string_view name) const noexcept;
  [[nodiscard]] OPGEN_API bool operator==(const FunctionSchema& other) const;
};

// Takes what PyTorch's own parser of schemas takes (docs/dispatch.md says what else, and what not).
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
