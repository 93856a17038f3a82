// loops.h: the arithmetic of the five operators, shared by the generated and the hand-written
// version. Its lines are not counted.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/cpu/Loops.h>

#include <cmath>

namespace loops {

inline void axpy(at::TensorIteratorBase& iterator, const at::Scalar& a) {
  AT_DISPATCH_ALL_TYPES(iterator.common_dtype(), "axpy", [&] {
    const auto factor = a.to<scalar_t>();
    at::native::cpu_kernel(iterator,
                           [=](scalar_t x, scalar_t y) -> scalar_t { return factor * x + y; });
  });
}

inline void softclip(at::TensorIteratorBase& iterator, double limit) {
  AT_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "softclip", [&] {
    const auto most = static_cast<scalar_t>(limit);
    at::native::cpu_kernel(iterator,
                           [=](scalar_t x) -> scalar_t { return most * std::tanh(x / most); });
  });
}

inline void exceeds(at::TensorIteratorBase& iterator) {
  AT_DISPATCH_ALL_TYPES_AND(at::kBool, iterator.common_dtype(), "exceeds", [&] {
    at::native::cpu_kernel(iterator, [](scalar_t x, scalar_t y) -> bool { return x > y; });
  });
}

// Write the difference of the largest and the smallest element along `dim`. `out` may have any
// strides.
inline void span(const at::Tensor& self, int64_t dim, const at::Tensor& out) {
  const at::Tensor rows = self.movedim(dim, -1).contiguous();
  const at::Tensor spans = out.is_contiguous() ? out : out.contiguous();
  const int64_t columns = rows.size(-1);
  AT_DISPATCH_ALL_TYPES(self.scalar_type(), "span", [&] {
    const scalar_t* row = rows.const_data_ptr<scalar_t>();
    scalar_t* to = spans.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < spans.numel(); ++i, row += columns) {
      const auto [least, most] = std::minmax_element(row, row + columns);
      to[i] = *most - *least;
    }
  });
  if (!spans.is_same(out)) out.copy_(spans);
}

inline void ends(const at::Tensor& self, const at::Tensor& first, const at::Tensor& last) {
  TORCH_CHECK_INDEX(self.size(0) > 0, "ends: the vector is empty");
  AT_DISPATCH_ALL_TYPES(self.scalar_type(), "ends", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    *first.mutable_data_ptr<scalar_t>() = *from;
    *last.mutable_data_ptr<scalar_t>() = from[(self.size(0) - 1) * self.stride(0)];
  });
}

}  // namespace loops
