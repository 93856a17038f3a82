// dispatch_stub.h: one function per device, and for the CPU one per instruction set, chosen at run
// time.
//
//   header:      using add_fn = void (*)(TensorIteratorBase&, const Scalar&);
//                OPGEN_DECLARE_DISPATCH(add_fn, add_stub);
//   one .cpp:    OPGEN_DEFINE_DISPATCH(add_stub);
//   kernel .cpp: OPGEN_REGISTER_DISPATCH(add_stub, &add_kernel);
//                compiled once per instruction set, -DOPGEN_CPU_CAPABILITY=DEFAULT, AVX2 or AVX512
//                (in CMake: opgen_add_cpu_kernels(mylib a_kernel.cpp))
//   a backend:   OPGEN_REGISTER_DEVICE_DISPATCH(PrivateUse1, add_stub, &add_kernel_privateuse1);
//   call:        add_stub(iter.device_type(), iter, alpha);
//
// $OPGEN_CPU_CAPABILITY = default, avx2 or avx512 limits the instruction set.
#pragma once

#include <cstdint>
#include <utility>

#include "opgen/core/atomic.h"
#include "opgen/core/macros.h"
#include "opgen/device/device.h"

#ifndef OPGEN_CPU_CAPABILITY
#define OPGEN_CPU_CAPABILITY DEFAULT
#endif

namespace opgen {

enum class CPUCapability : std::uint8_t { DEFAULT, AVX2, AVX512 };
inline constexpr int kNumCPUCapabilities = 3;

namespace detail {

inline constexpr std::uint8_t kUnknownCapability = 255;
OPGEN_API extern Atomic<std::uint8_t> cpu_capability;
[[nodiscard]] OPGEN_API OPGEN_COLD CPUCapability find_cpu_capability() noexcept;

}  // namespace detail

// Returns the best instruction set that the processor has and the environment allows.
[[nodiscard]] inline CPUCapability get_cpu_capability() noexcept {
  std::uint8_t known = detail::cpu_capability.load_relaxed();
  if (OPGEN_LIKELY(known != detail::kUnknownCapability)) return static_cast<CPUCapability>(known);
  return detail::find_cpu_capability();
}
[[nodiscard]] OPGEN_API const char* toString(CPUCapability capability) noexcept;

namespace detail {

// The fields are atomic, because a library may be loaded, and set functions, while another thread
// reads them.
struct DispatchTargets {
  const char* name;
  Atomic<void*> cpu[kNumCPUCapabilities] = {};
  Atomic<void*> devices[kMaxDeviceTypes] = {};
};
// Throws NotImplementedError if nothing is registered.
[[nodiscard]] OPGEN_API void* choose_dispatch(const DispatchTargets& targets, DeviceType device);

}  // namespace detail

template <class F>
class DispatchStub;

template <class R, class... A>
class DispatchStub<R (*)(A...)> {
 public:
  constexpr explicit DispatchStub(const char* name) noexcept : targets_{name} {}
  DispatchStub(const DispatchStub&) = delete;
  DispatchStub& operator=(const DispatchStub&) = delete;

  R operator()(DeviceType device, A... arguments) const {
    auto function = reinterpret_cast<R (*)(A...)>(detail::choose_dispatch(targets_, device));
    return function(std::forward<A>(arguments)...);
  }
  void set(CPUCapability capability, R (*function)(A...)) noexcept {
    targets_.cpu[static_cast<int>(capability)].store_release(reinterpret_cast<void*>(function));
  }
  void set(DeviceType device, R (*function)(A...)) noexcept {
    targets_.devices[static_cast<int>(device)].store_release(reinterpret_cast<void*>(function));
  }

 private:
  detail::DispatchTargets targets_;
};

// Registers a function while its library is loaded.
struct RegisterDispatch {
  template <class Stub, class Where, class F>
  RegisterDispatch(Stub& stub, Where where, F function) noexcept {
    stub.set(where, function);
  }
};

}  // namespace opgen

#define OPGEN_DECLARE_DISPATCH(function_type, name) extern ::opgen::DispatchStub<function_type> name
// The stub is constant-initialised, because registrations in other files may run first.
#define OPGEN_DEFINE_DISPATCH(name) \
  constinit decltype(name) name {   \
#name                           \
  }
#define OPGEN_REGISTER_DISPATCH(name, function)                                      \
  static const ::opgen::RegisterDispatch OPGEN_UNIQUE_NAME(opgen_register_dispatch)( \
      name, ::opgen::CPUCapability::OPGEN_CPU_CAPABILITY, function)
#define OPGEN_REGISTER_DEVICE_DISPATCH(device, name, function)                       \
  static const ::opgen::RegisterDispatch OPGEN_UNIQUE_NAME(opgen_register_dispatch)( \
      name, ::opgen::DeviceType::device, function)
