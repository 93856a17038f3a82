// symbolic.h: the dispatcher's arguments for meta functions with symbolic sizes, and their outputs.
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/structured/output_sinks.h"
#include "opgen/symbolic/symbolic_meta.h"
#include "opgen/symbolic/symbolic_tensor.h"

namespace opgen::detail {

template <class T>
[[nodiscard]] const T& symbolic(const T& argument) noexcept {
  return argument;
}
[[nodiscard]] inline std::optional<SymIntArrayRef> symbolic(const OptionalSymIntArrayRef& sizes) {
  if (!sizes.has_value()) return std::nullopt;
  return *sizes;
}
[[nodiscard]] inline SymbolicTensor symbolic(const Tensor& tensor) {
  return tensor;
}
[[nodiscard]] inline OptionalSymbolicTensor symbolic(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? OptionalSymbolicTensor(*tensor) : OptionalSymbolicTensor();
}
[[nodiscard]] inline SymbolicTensorList symbolic(const TensorList& tensors) {
  return SymbolicTensorList::of(tensors);
}
[[nodiscard]] inline OptionalSymbolicTensorList symbolic(
    const List<std::optional<Tensor>>& tensors) {
  return OptionalSymbolicTensorList::of(tensors);
}
[[nodiscard]] inline OptionalSymbolicTensorList symbolic(
    const ArrayRef<std::optional<Tensor>>& tensors) {
  return OptionalSymbolicTensorList::of(tensors);
}

// Throws the error of an operator whose meta function did not set an output.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_not_set(const char* op, std::size_t index);

// Records which outputs meta has set.
template <std::size_t N>
class SetOutputs {
 public:
  void note(std::int64_t index) noexcept { set_[static_cast<std::size_t>(index)] = true; }
  void check(const char* op) const {
    for (std::size_t i = 0; i < N; ++i) {
      if (OPGEN_UNLIKELY(!set_[i])) throw_not_set(op, i);
    }
  }

 private:
  bool set_[N] = {};
};

[[nodiscard]] OPGEN_API SymbolicTensor create_symbolic_out(SymIntArrayRef sizes,
                                                           SymIntArrayRef strides,
                                                           const TensorOptions& options);
OPGEN_API void resize_symbolic_out(const Tensor& out, SymIntArrayRef sizes, SymIntArrayRef strides,
                                   const TensorOptions& options);
OPGEN_API void check_symbolic_inplace(const Tensor& self, SymIntArrayRef sizes,
                                      const TensorOptions& options);

// `Meta` is the author's class for symbolic sizes.
template <class Meta>
struct SymbolicFreshOutputs final : Meta {
  void set_output_raw_strided(std::int64_t i, SymIntArrayRef sizes, SymIntArrayRef strides,
                              TensorOptions options) override {
    set.note(i);
    outputs[i] = create_symbolic_out(sizes, strides, options);
  }
  const SymbolicTensor& maybe_get_output(std::int64_t i) override { return outputs[i]; }

  SymbolicTensor outputs[Meta::opgen_outputs];
  SetOutputs<Meta::opgen_outputs> set;
};

template <class Meta, bool inplace>
struct SymbolicGivenOutputs final : Meta {
  template <class... T>
  explicit SymbolicGivenOutputs(const T&... outputs) : given{SymbolicTensor(outputs)...} {}

  void set_output_raw_strided(std::int64_t i, SymIntArrayRef sizes, SymIntArrayRef strides,
                              TensorOptions options) override {
    set.note(i);
    if constexpr (inplace) {
      check_symbolic_inplace(given[i], sizes, options);
    } else {
      resize_symbolic_out(given[i], sizes, strides, options);
    }
  }
  const SymbolicTensor& maybe_get_output(std::int64_t i) override { return given[i]; }

  SymbolicTensor given[Meta::opgen_outputs];
  SetOutputs<Meta::opgen_outputs> set;
};

}  // namespace opgen::detail
