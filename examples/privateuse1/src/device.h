// device.h: pocket, an accelerator that uses the host's memory: its allocator, and the function
// that launches kernels.
#pragma once

#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <opgen/device/pointwise.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pocket {

using namespace opgen::types;

inline constexpr c10::DeviceType kPocket = c10::DeviceType::PrivateUse1;
inline constexpr c10::DeviceIndex kDevices = 2;

c10::Allocator& allocator();
c10::DeviceIndex current_device() noexcept;

// Counters for each device, used by tests.
struct Counters {
  std::atomic<std::int64_t> launches{0};
  std::atomic<std::int64_t> bytes{0};
};
Counters& counters(c10::DeviceIndex device);

// Call element(i) for every i < n on the current device. As on a real device, the kernel runs on a
// copy of its bytes and sees nothing else of the host.
struct Launch {
  template <class Element>
  void operator()(std::int64_t n, const Element& element) const {
    static_assert(std::is_trivially_copyable_v<Element>);
    alignas(Element) unsigned char argument[sizeof(Element)];
    std::memcpy(argument, &element, sizeof(Element));
    const auto& copy = *reinterpret_cast<const Element*>(argument);
    ++counters(current_device()).launches;
    at::parallel_for(0, n, 1 << 14, [&copy](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) copy(i);
    });
  }
};
inline constexpr Launch launch;

// The launch function for pointwise operators.
template <class F>
void pointwise(at::TensorIteratorBase& iter, F function) {
  opgen::device_kernel(iter, launch, function);
}

}  // namespace pocket
