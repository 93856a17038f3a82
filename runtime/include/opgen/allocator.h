// allocator.h: where the bytes of storages come from, one allocator per device type.
#pragma once

#include <cstddef>

#include "opgen/device.h"
#include "opgen/stream.h"

namespace opgen {

// Bytes and how to give them back: deleter(context) is called once.
struct DataPtr {
  void* data = nullptr;
  void* context = nullptr;
  void (*deleter)(void* context) = nullptr;
  Device device;
};

// Thread-safe. Memory is aligned to at least 64 bytes and not initialised.
class OPGEN_API Allocator {
 public:
  virtual ~Allocator();
  virtual DataPtr allocate(std::size_t bytes, Device device) = 0;
  // Bytes of this allocator to bytes of this allocator, when a storage grows. Without it, a storage
  // that holds data cannot be resized.
  virtual void copy_data(void* to, const void* from, std::size_t bytes) const;
  // Bytes allocated under one current stream are used on another: once given back, they are not
  // handed out again before that stream's work so far is done. An allocator whose device has one
  // stream has nothing to do.
  virtual void record_stream(void* data, Stream stream);
};

// The allocator of a device type: CPU and Meta are built in, others plug in. Not owned.
OPGEN_API void set_allocator(DeviceType type, Allocator* allocator) noexcept;
// Throws if the type has none.
[[nodiscard]] OPGEN_API Allocator* get_allocator(DeviceType type);
[[nodiscard]] OPGEN_API Allocator* find_allocator(DeviceType type) noexcept;

}  // namespace opgen
