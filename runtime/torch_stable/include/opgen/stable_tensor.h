// stable_tensor.h: conversions between opgen::Tensor and torch::stable::Tensor.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include "opgen/tensor/tensor.h"

namespace opgen {

// Return the same tensor of PyTorch for the other library; an undefined one stays undefined.
// to_stable() throws Error for a tensor that stands for one in a traced program.
[[nodiscard]] inline torch::stable::Tensor to_stable(const TensorBase& tensor) {
  OPGEN_CHECK_NOT_IMPLEMENTED(!tensor.defined() || tensor.unsafeGetTensorImpl()->fake() == nullptr,
                              "a function of torch::stable::Tensor cannot be called while a "
                              "program is traced: give the operator a line 'fake: ...'");
  return torch::stable::Tensor(detail::give_handle(TensorBase(tensor)));
}
[[nodiscard]] inline Tensor from_stable(const torch::stable::Tensor& tensor) {
  AtenTensorHandle handle = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(tensor.get(), &handle));
  return detail::take_handle(handle);
}

}  // namespace opgen
