// plain.h: tensors whose memory a composite kernel may read.
//
// A composite kernel calls operators, so that it serves every backend, vmap, tracing and autograd.
// Where the operators take much longer than a loop, a kernel may run the loop instead if all of its
// tensors are plain: nobody could tell the difference.
#pragma once

#include <cstdint>

#include <opgen/autograd.h>
#include <opgen/autograd/forward.h>
#include <opgen/core/local_keys.h>
#include <opgen/kernel.h>

namespace kernels {

// Returns whether calls with the tensor reach the kernels of the CPU, and no other key's, and no
// derivative is recorded.
inline bool is_plain(const opgen::Tensor& x) {
  using opgen::DispatchKey;
  constexpr std::uint64_t keys =
      opgen::DispatchKeySet{DispatchKey::CPU, DispatchKey::AutogradFunctionality,
                            DispatchKey::ADInplaceOrView}
          .raw_repr();
  constexpr std::uint64_t included = opgen::kDefaultIncludedKeys.raw_repr();
  return x.is_cpu() && (x.key_set().raw_repr() & ~keys) == 0 &&
         (opgen::tls_included_keys().raw_repr() & ~included) == 0 &&
         !(opgen::GradMode::is_enabled() && opgen::autograd::requires_grad(x)) &&
         !opgen::autograd::has_tangent(x);
}

}  // namespace kernels
