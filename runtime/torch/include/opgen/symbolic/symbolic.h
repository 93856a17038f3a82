// symbolic.h: converts the dispatcher's arguments for meta functions with symbolic sizes, and
// holds their output tensors.
#pragma once

#include <ATen/EmptyTensor.h>

#include <cstdint>
#include <optional>

#include "opgen/registration/concrete.h"
#include "opgen/structured/outputs.h"
#include "opgen/symbolic/symbolic_layout.h"

namespace opgen::detail {

template <class T>
const T& symbolic(const T& argument) {
  return argument;
}
inline OptionalScalarRef symbolic(const std::optional<Scalar>& number) {
  return concrete(number);
}
inline std::optional<SymIntArrayRef> symbolic(const at::OptionalSymIntArrayRef& sizes) {
  if (!sizes.has_value()) return std::nullopt;
  return *sizes;
}
inline SymbolicTensor symbolic(const Tensor& tensor) {
  return tensor;
}
inline OptionalSymbolicTensor symbolic(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? OptionalSymbolicTensor(*tensor) : OptionalSymbolicTensor();
}
inline SymbolicTensorList symbolic(const ITensorListRef& tensors) {
  return SymbolicTensorList::of(tensors);
}
inline SymbolicTensorList symbolic(const TensorList& tensors) {
  return SymbolicTensorList::of(tensors);
}
inline OptionalSymbolicTensorList symbolic(const List<std::optional<Tensor>>& tensors) {
  return OptionalSymbolicTensorList::of(tensors);
}

inline Tensor create_symbolic_out(SymIntArrayRef sizes, SymIntArrayRef strides,
                                  const TensorOptions& options) {
  const ScalarType dtype = c10::typeMetaToScalarType(options.dtype());
  if (strides.empty()) {
    return at::detail::empty_symint_meta(sizes, dtype, options.layout_opt(), kMeta, std::nullopt,
                                         options.memory_format_opt());
  }
  return at::detail::empty_strided_symint_meta(sizes, strides, dtype);
}

inline void resize_symbolic_out(const Tensor& out, SymIntArrayRef sizes, SymIntArrayRef strides,
                                const TensorOptions& options) {
  check_like(out, options, "out");
  if (!resize_output(out, sizes)) return;
  if (!strides.empty()) {
    out.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  } else if (options.memory_format_opt().has_value()) {
    out.unsafeGetTensorImpl()->empty_tensor_restride(*options.memory_format_opt());
  }
}

inline void check_symbolic_inplace(const Tensor& self, SymIntArrayRef sizes,
                                   const TensorOptions& options) {
  check_inplace_options(self, options);
  TORCH_CHECK(expect_equal(sizes, self.sym_sizes()), "Bad in-place call: input tensor size ",
              self.sym_sizes(), " and output tensor size ", sizes, " should match");
}

// The counterparts of FreshOutputs and GivenOutputs. `Meta` is the author's class for symbolic
// sizes.
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

  // There are no proxies to copy back.
  void finish() noexcept {}

  SymbolicTensor given[Meta::opgen_outputs];
  SetOutputs<Meta::opgen_outputs> set;
};

}  // namespace opgen::detail
