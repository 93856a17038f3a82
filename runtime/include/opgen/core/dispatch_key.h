// dispatch_key.h: DispatchKey: functionalities, their combinations with backends, and aliases.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "opgen/core/error.h"

// clang-format off
// X(name), bit 0 first. If the arguments have several backends, the highest bit wins.
#define OPGEN_FORALL_BACKENDS(X) \
  X(CPU) X(CUDA) X(HIP) X(XLA) X(MPS) X(IPU) X(XPU) X(HPU) X(VE) X(Lazy) X(MTIA) \
  X(PrivateUse1) X(PrivateUse2) X(PrivateUse3) X(Meta)

// S(name): one kernel per operator. P(name, prefix): one per backend, as keys <prefix><backend>. Lowest priority first.
// AutogradTracked has no kernels of its own: a tensor has it beside its key of autograd if it may need a gradient, and
// kernels that do nothing for all other tensors are called for it alone (KernelFunction::only_tracked).
#define OPGEN_FORALL_FUNCTIONALITIES(S, P) \
  P(Dense, )                               \
  S(FPGA)                                  \
  S(MAIA)                                  \
  S(Vulkan)                                \
  S(Metal)                                 \
  S(MKLDNN)                                \
  S(OpenGL)                                \
  S(OpenCL)                                \
  S(IDEEP)                                 \
  P(Quantized, Quantized)                  \
  S(CustomRNGKeyId)                        \
  S(MkldnnCPU)                             \
  P(Sparse, Sparse)                        \
  P(SparseCsr, SparseCsr)                  \
  P(NestedTensor, NestedTensor)            \
  S(BackendSelect)                         \
  S(Python)                                \
  S(FuncTorchDynamicLayerBackMode)         \
  S(Functionalize)                         \
  S(Named)                                 \
  S(Conjugate)                             \
  S(Negative)                              \
  S(ZeroTensor)                            \
  S(ADInplaceOrView)                       \
  S(AutogradOther)                         \
  P(AutogradFunctionality, Autograd)       \
  S(AutogradNestedTensor)                  \
  S(AutogradTracked)                       \
  S(Tracer)                                \
  S(AutocastCPU)                           \
  S(AutocastXPU)                           \
  S(AutocastCUDA)                          \
  S(FuncTorchBatched)                      \
  S(BatchedNestedTensor)                   \
  S(FuncTorchVmapMode)                     \
  S(Batched)                               \
  S(VmapMode)                              \
  S(FuncTorchGradWrapper)                  \
  S(PythonTLSSnapshot)                     \
  S(FuncTorchDynamicLayerFrontMode)        \
  S(TESTING_ONLY_GenericWrapper)           \
  S(TESTING_ONLY_GenericMode)              \
  S(PreDispatch)                           \
  S(PythonDispatcher)

// Keys that stand for sets of keys; no tensor has one.
#define OPGEN_FORALL_ALIAS_KEYS(X) \
  X(Autograd) X(CompositeImplicitAutograd) X(CompositeImplicitAutogradNestedTensor) \
  X(CompositeExplicitAutograd) X(CompositeExplicitAutogradNonFunctional) \
  X(FuncTorchBatchedDecomposition)
// clang-format on

namespace opgen {

enum class BackendComponent : std::uint8_t {
#define OPGEN_ENUMERATOR(name) name,
  OPGEN_FORALL_BACKENDS(OPGEN_ENUMERATOR)
#undef OPGEN_ENUMERATOR
};
inline constexpr int kNumBackends = static_cast<int>(BackendComponent::Meta) + 1;

// Undefined, the functionalities, the backends of each per-backend functionality, the aliases.
enum class DispatchKey : std::uint16_t {
  Undefined = 0,
#define OPGEN_SINGLE(name) name,
#define OPGEN_PRODUCT(name, prefix) name,
  OPGEN_FORALL_FUNCTIONALITIES(OPGEN_SINGLE, OPGEN_PRODUCT)
#undef OPGEN_SINGLE
#undef OPGEN_PRODUCT
      EndOfFunctionalities,

#define OPGEN_PRODUCT_KEYS(prefix)                                                            \
  prefix##CPU, prefix##CUDA, prefix##HIP, prefix##XLA, prefix##MPS, prefix##IPU, prefix##XPU, \
      prefix##HPU, prefix##VE, prefix##Lazy, prefix##MTIA, prefix##PrivateUse1,               \
      prefix##PrivateUse2, prefix##PrivateUse3, prefix##Meta,
  OPGEN_PRODUCT_KEYS() OPGEN_PRODUCT_KEYS(Quantized) OPGEN_PRODUCT_KEYS(Sparse)
      OPGEN_PRODUCT_KEYS(SparseCsr) OPGEN_PRODUCT_KEYS(NestedTensor) OPGEN_PRODUCT_KEYS(Autograd)
#undef OPGEN_PRODUCT_KEYS
          EndOfRuntimeKeys,

#define OPGEN_ENUMERATOR(name) name,
  OPGEN_FORALL_ALIAS_KEYS(OPGEN_ENUMERATOR)
#undef OPGEN_ENUMERATOR
      EndOfKeys,

  CatchAll = Undefined,
  Autocast = AutocastCUDA,
};

namespace detail {

inline constexpr int kNumFunctionalities = static_cast<int>(DispatchKey::EndOfFunctionalities);

// The functionalities that have one key per backend, in the order of those keys.
inline constexpr DispatchKey kPerBackend[] = {
    DispatchKey::Dense,     DispatchKey::Quantized,    DispatchKey::Sparse,
    DispatchKey::SparseCsr, DispatchKey::NestedTensor, DispatchKey::AutogradFunctionality};
inline constexpr int kNumPerBackend = 6;

constexpr int per_backend_index(DispatchKey functionality) noexcept {
  for (int i = 0; i < kNumPerBackend; ++i) {
    if (kPerBackend[i] == functionality) return i;
  }
  return -1;
}

}  // namespace detail

// Returns the key of one backend for a functionality such as Dense or AutogradFunctionality.
[[nodiscard]] constexpr DispatchKey backend_key(DispatchKey functionality,
                                                BackendComponent backend) noexcept {
  int i = detail::per_backend_index(functionality);
  if (i < 0) return functionality;
  return static_cast<DispatchKey>(static_cast<int>(DispatchKey::CPU) + i * kNumBackends +
                                  static_cast<int>(backend));
}

[[nodiscard]] constexpr bool is_alias_key(DispatchKey key) noexcept {
  return key > DispatchKey::EndOfRuntimeKeys && key < DispatchKey::EndOfKeys;
}
[[nodiscard]] constexpr bool is_product_key(DispatchKey key) noexcept {
  return key > DispatchKey::EndOfFunctionalities && key < DispatchKey::EndOfRuntimeKeys;
}
// Returns the functionality of a key: Dense for CPU, the key itself if it is not per-backend, and
// Undefined for aliases.
[[nodiscard]] constexpr DispatchKey functionality_of(DispatchKey key) noexcept {
  if (key < DispatchKey::EndOfFunctionalities) return key;
  if (!is_product_key(key)) return DispatchKey::Undefined;
  int i = (static_cast<int>(key) - static_cast<int>(DispatchKey::CPU)) / kNumBackends;
  return detail::kPerBackend[i];
}
// Only for keys of one backend.
[[nodiscard]] constexpr BackendComponent backend_of(DispatchKey key) noexcept {
  int i = (static_cast<int>(key) - static_cast<int>(DispatchKey::CPU)) % kNumBackends;
  return static_cast<BackendComponent>(i);
}

// Returns the name, as written in YAML.
[[nodiscard]] OPGEN_API const char* toString(DispatchKey key) noexcept;
[[nodiscard]] OPGEN_API const char* toString(BackendComponent backend) noexcept;
[[nodiscard]] OPGEN_API std::optional<DispatchKey> find_dispatch_key(
    std::string_view name) noexcept;

}  // namespace opgen
