// devices.h: the device check of kernels that serve CPU and Meta.
#pragma once

#include <opgen/kernel.h>

namespace kernels {

inline void check_same_device(const char* name, const opgen::TensorBase& a,
                              const opgen::TensorBase& b) {
  OPGEN_CHECK(!a.defined() || !b.defined() || a.device() == b.device(), name,
              ": expected all tensors on the same device, found ", a.device(), " and ", b.device());
}

}  // namespace kernels
