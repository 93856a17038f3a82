// autograd_kernel.h: what the library does at Autograd for its operators.
//
// PyTorch's C functions can neither ask whether a tensor requires a gradient nor call the next
// kernel. So this kernel calls a hidden operator with the same kernels below Autograd. There, the
// kernel that PyTorch has for operators without one connects the results with the arguments, if one
// of these requires a gradient: the results are then not leaves. (Its backward pass would warn and
// give a gradient of zero.)
#pragma once

#include <cstdint>
#include <string_view>

#include "opgen/core/macros.h"
#include "opgen/dispatch/schema_text.h"
#include "opgen/registration/boxing.h"

namespace opgen::detail {

struct AutogradCall {
  const char* name;
  const char* overload;
  const char* schema;
  const char* below;
  std::uint64_t results;
  // Whether results tell if an argument requires a gradient: they are tensors of their own.
  bool has_plain_results;
};

// Whether all results of the schema are tensors that share no memory with arguments. (PyTorch's
// kernel does not find the arguments in lists of optionals or of lists.)
constexpr bool has_plain_results(std::string_view schema) noexcept {
  const std::string_view results = schema.substr(schema.rfind("->") + 3);
  std::string_view rest = results;
  if (rest.starts_with('(') && rest.ends_with(')')) {
    rest.remove_prefix(1);
    rest.remove_suffix(1);
  }
  if (rest.empty()) return false;
  for (const std::string_view part : {"!", "Tensor?[", "[]["}) {
    if (schema.substr(0, schema.rfind("->")).find(part) != std::string_view::npos) return false;
  }
  while (!rest.empty()) {
    if (!rest.starts_with("Tensor")) return false;
    rest.remove_prefix(6);
    if (!rest.empty() && rest[0] != ' ' && rest[0] != ',') return false;
    const std::size_t end = rest.find(',');
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 2);
  }
  return true;
}

// Throws Error if a gradient is required that the library cannot give.
OPGEN_API void call_below_autograd(const AutogradCall& call, Word* stack);

template <class Op>
struct AutogradKernel {
  static void call(Word* stack, std::uint64_t, std::uint64_t results) {
    try {
      call_below_autograd({Op::name, Op::overload_name, Op::schema_str, Op::below_autograd, results,
                           kHasPlainResults},
                          stack);
    } catch (...) {
      rethrow_as_standard();
    }
  }

 private:
  static constexpr bool kHasPlainResults = has_plain_results(Op::schema_str);
};

}  // namespace opgen::detail
