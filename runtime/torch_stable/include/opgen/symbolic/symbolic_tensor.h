// symbolic_tensor.h: the arguments of meta functions with symbolic sizes: types with the methods
// of Tensor and its lists, whose sizes are SymInt.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "opgen/symbolic/fake_tensor.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

class SymbolicTensor : public Tensor {
 public:
  SymbolicTensor() = default;
  SymbolicTensor(const Tensor& tensor) : Tensor(tensor) {}        // NOLINT(*-explicit-*)
  SymbolicTensor(Tensor&& tensor) : Tensor(std::move(tensor)) {}  // NOLINT(*-explicit-*)
  template <detail::TensorBaseLike T>
  SymbolicTensor(T&& tensor) : Tensor(std::forward<T>(tensor)) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] SymInt size(std::int64_t dim) const { return sym_size(dim); }
  [[nodiscard]] SymIntArrayRef sizes() const { return sym_sizes(); }
  [[nodiscard]] SymInt stride(std::int64_t dim) const { return sym_stride(dim); }
  [[nodiscard]] SymIntArrayRef strides() const { return sym_strides(); }
  [[nodiscard]] SymInt numel() const { return sym_numel(); }
  [[nodiscard]] SymInt nbytes() const {
    return sym_numel() * static_cast<std::int64_t>(itemsize());
  }
  [[nodiscard]] SymInt storage_offset() const { return sym_storage_offset(); }
  // False if a size leaves it undecided.
  [[nodiscard]] bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return is_contiguous_or_false(format);
  }
  [[nodiscard]] bool is_non_overlapping_and_dense() const {
    return unsafeGetTensorImpl()->is_non_overlapping_and_dense_or_false();
  }
};

// The counterpart of OptionalTensorRef.
class OptionalSymbolicTensor {
 public:
  OptionalSymbolicTensor() = default;
  OptionalSymbolicTensor(const Tensor& tensor) : tensor_(tensor) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] bool has_value() const noexcept { return tensor_.defined(); }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const SymbolicTensor& getTensorRef() const noexcept { return tensor_; }
  [[nodiscard]] const SymbolicTensor& value() const noexcept { return tensor_; }
  const SymbolicTensor& operator*() const noexcept { return tensor_; }
  const SymbolicTensor* operator->() const noexcept { return &tensor_; }

 private:
  SymbolicTensor tensor_;
};

}  // namespace opgen

#include "opgen/symbolic/symbolic_list.h"
