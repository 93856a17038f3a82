// alias_keys.h: the runtime keys for which an alias key stands. Internal.
#pragma once

#include "opgen/core/dispatch_key_set.h"

namespace opgen::detail {

inline constexpr DispatchKeySet kAllBackends{DispatchKeySet::RAW, DispatchKeySet::backend_bits()};

// The backends that have no autograd key of their own and share AutogradOther.
inline constexpr DispatchKeySet kAutogradOtherBackends =
    DispatchKeySet{DispatchKey::FPGA,     DispatchKey::MAIA,      DispatchKey::Vulkan,
                   DispatchKey::Metal,    DispatchKey::MKLDNN,    DispatchKey::OpenGL,
                   DispatchKey::OpenCL,   DispatchKey::IDEEP,     DispatchKey::CustomRNGKeyId,
                   DispatchKey::Sparse,   DispatchKey::SparseCsr, DispatchKey::MkldnnCPU,
                   DispatchKey::Quantized} |
    kAllBackends;
// Without NestedTensor, because explicit composites assume that sizes exist.
inline constexpr DispatchKeySet kBackendKeys =
    kAutogradOtherBackends | DispatchKeySet(DispatchKey::Dense);
inline constexpr DispatchKeySet kAutogradRuntimeKeys = kAutogradKeys | kAllBackends;
// Nested tensors may use implicit composites. Functionalize has its own fallback.
inline constexpr DispatchKeySet kImplicitKeys =
    kBackendKeys | kAutogradRuntimeKeys | DispatchKeySet(DispatchKey::NestedTensor);
inline constexpr DispatchKeySet kNestedKeys =
    DispatchKeySet{DispatchKey::NestedTensor, DispatchKey::AutogradNestedTensor} | kAllBackends;
// Sparse tensors and graph-building backends are functional, so out= kernels cannot be composed for
// them.
inline constexpr DispatchKeySet kNonFunctionalKeys = kBackendKeys.remove(DispatchKey::Sparse)
                                                         .remove_backend(BackendComponent::XLA)
                                                         .remove_backend(BackendComponent::Lazy);
inline constexpr DispatchKeySet kBatchedKeys{DispatchKey::FuncTorchBatched};

// Whether the alias key includes runtime key `key`.
[[nodiscard]] constexpr bool alias_includes(DispatchKey alias, DispatchKey key) noexcept {
  switch (alias) {
    case DispatchKey::Autograd:
      return kAutogradRuntimeKeys.has(key);
    case DispatchKey::CompositeImplicitAutograd:
      return kImplicitKeys.has(key);
    case DispatchKey::CompositeImplicitAutogradNestedTensor:
      return kNestedKeys.has(key);
    case DispatchKey::CompositeExplicitAutograd:
      return kBackendKeys.has(key);
    case DispatchKey::CompositeExplicitAutogradNonFunctional:
      return kNonFunctionalKeys.has(key);
    case DispatchKey::FuncTorchBatchedDecomposition:
      return kBatchedKeys.has(key);
    default:
      return alias == key;
  }
}

// Returns the backends below an autograd key; none for other keys.
[[nodiscard]] constexpr DispatchKeySet backends_below_autograd(DispatchKey key) noexcept {
  if (key == DispatchKey::AutogradOther) return kAutogradOtherBackends;
  if (key == DispatchKey::AutogradNestedTensor) {
    return DispatchKeySet(DispatchKey::NestedTensor) | kAllBackends;
  }
  if (is_product_key(key) && functionality_of(key) == DispatchKey::AutogradFunctionality) {
    return DispatchKeySet(backend_key(DispatchKey::Dense, backend_of(key)));
  }
  return {};
}

}  // namespace opgen::detail
