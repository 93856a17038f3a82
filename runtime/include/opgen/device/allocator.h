// allocator.h: Allocator, the source of the bytes of storages: one per device type; BlockProvider,
// another source of the memory of large storages on the CPU.
#pragma once

#include <cstddef>

#include "opgen/device/device.h"

namespace opgen {

// Bytes and their deleter: deleter(context) is called once.
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
  // Copies between two blocks of this allocator, when a storage grows. Without it, a storage that
  // holds data cannot be resized.
  virtual void copy_data(void* to, const void* from, std::size_t bytes) const;
  // Records that bytes allocated for one stream are used on another: after they are freed, the
  // allocator must not reuse them before that stream has finished its work so far. The default does
  // nothing, which is right for devices with one stream.
  virtual void record_stream(void* data, Stream stream);
};

// Sets the allocator of a device type; it must outlive all storages of the type. CPU and Meta are
// built in.
OPGEN_API void set_allocator(DeviceType type, Allocator* allocator) noexcept;
// Throws Error if the type has none.
[[nodiscard]] OPGEN_API Allocator* get_allocator(DeviceType type);
[[nodiscard]] OPGEN_API Allocator* find_allocator(DeviceType type) noexcept;

// Sets `block`, whose device is set already, to memory aligned to at least 64 bytes. Returns false
// if it has none for this thread. May be called on any thread.
using BlockProvider = bool (*)(std::size_t bytes, DataPtr& block);

// From now on, `provider` is asked for the memory of storages of more than 32 KiB before the
// runtime's own allocator. Returns the provider that it replaces, or null; it must ask that one in
// turn.
OPGEN_API BlockProvider exchange_block_provider(BlockProvider provider) noexcept;

}  // namespace opgen
