// kernel.h: all that a kernel author needs, under the names of opgen's own runtime, over ATen.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/ops/empty_like_ops.h>

#include "opgen/copy.h"
#include "opgen/dispatch_macros.h"
#include "opgen/empty.h"
#include "opgen/error.h"
#include "opgen/iterator.h"
#include "opgen/kernel_macros.h"
#include "opgen/resize.h"
#include "opgen/tensor.h"

namespace opgen {

using at::get_num_threads;
using at::get_thread_num;
using at::in_parallel_region;
using at::parallel_for;
using at::native::cpu_kernel;
using at::native::cpu_kernel_multiple_outputs;

using at::maybe_wrap_dim;

// Tensors made and filled without a name of ATen's.
namespace detail {

[[nodiscard]] inline Tensor empty_like(const Tensor& self, const TensorOptions& options = {}) {
  return at::_ops::empty_like::call(self, c10::optTypeMetaToScalarType(options.dtype_opt()),
                                    options.layout_opt(), options.device_opt(),
                                    options.pinned_memory_opt(), options.memory_format_opt());
}
[[nodiscard]] inline Tensor clone(const Tensor& self) {
  return self.clone();
}
inline void fill_(const Tensor& self, const Scalar& value) {
  self.fill_(value);
}

}  // namespace detail

}  // namespace opgen
