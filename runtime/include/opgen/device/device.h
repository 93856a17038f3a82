// device.h: DeviceType and Device, the place of a tensor's data; Stream, a queue of work there.
#pragma once

#include <cstdint>
#include <string_view>

#include "opgen/core/error.h"

// X(name, text, number). The numbers are PyTorch's.
// clang-format off
#define OPGEN_FORALL_DEVICE_TYPES(X) \
  X(CPU, "cpu", 0)                   \
  X(CUDA, "cuda", 1)                 \
  X(HIP, "hip", 6)                   \
  X(XLA, "xla", 9)                   \
  X(XPU, "xpu", 12)                  \
  X(MPS, "mps", 13)                  \
  X(Meta, "meta", 14)                \
  X(HPU, "hpu", 15)                  \
  X(VE, "ve", 16)                    \
  X(Lazy, "lazy", 17)                \
  X(IPU, "ipu", 18)                  \
  X(MTIA, "mtia", 19)                \
  X(PrivateUse1, "privateuseone", 20)
// clang-format on

namespace opgen {

enum class DeviceType : std::int8_t {
#define OPGEN_ENUMERATOR(name, text, number) name = number,
  OPGEN_FORALL_DEVICE_TYPES(OPGEN_ENUMERATOR)
#undef OPGEN_ENUMERATOR
};
inline constexpr int kMaxDeviceTypes = 21;

#define OPGEN_CONSTANT(name, text, number) inline constexpr DeviceType k##name = DeviceType::name;
OPGEN_FORALL_DEVICE_TYPES(OPGEN_CONSTANT)
#undef OPGEN_CONSTANT

[[nodiscard]] constexpr const char* toString(DeviceType type) noexcept {
  switch (type) {
#define OPGEN_CASE(name, text, number) \
  case DeviceType::name:               \
    return text;
    OPGEN_FORALL_DEVICE_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
  }
  return "unknown";
}

using DeviceIndex = std::int8_t;

// Index -1 means the current device of the type. It has 16 bits: if an optional<Device> had three
// bytes, g++ would split and rejoin it wherever it is passed.
class alignas(2) Device {
 public:
  constexpr Device() noexcept = default;
  constexpr Device(DeviceType type, DeviceIndex index = -1) noexcept  // NOLINT
      : type_(type), index_(index) {}
  // Parses a name such as "cpu" or "cuda:1". Throws ValueError for an invalid name.
  OPGEN_API explicit Device(std::string_view text);

  [[nodiscard]] constexpr DeviceType type() const noexcept { return type_; }
  [[nodiscard]] constexpr DeviceIndex index() const noexcept { return index_; }
  [[nodiscard]] constexpr bool has_index() const noexcept { return index_ >= 0; }
  [[nodiscard]] constexpr bool is_cpu() const noexcept { return type_ == DeviceType::CPU; }
  [[nodiscard]] constexpr bool is_cuda() const noexcept { return type_ == DeviceType::CUDA; }
  [[nodiscard]] constexpr bool is_meta() const noexcept { return type_ == DeviceType::Meta; }
  [[nodiscard]] constexpr bool operator==(const Device&) const noexcept = default;

 private:
  DeviceType type_ = DeviceType::CPU;
  DeviceIndex index_ = -1;
};

// The id is the backend's own; 0 is the default stream.
class Stream {
 public:
  constexpr Stream() noexcept = default;
  constexpr Stream(Device device, std::int64_t id) noexcept : device_(device), id_(id) {}
  [[nodiscard]] constexpr Device device() const noexcept { return device_; }
  [[nodiscard]] constexpr std::int64_t id() const noexcept { return id_; }
  [[nodiscard]] constexpr bool operator==(const Stream&) const noexcept = default;

 private:
  Device device_;
  std::int64_t id_ = 0;
};

OPGEN_API void append_message(Message& message, Device device);

}  // namespace opgen
