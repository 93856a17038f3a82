// block_provider.h: a function that provides the memory of large storages on the CPU, such as that
// of another framework.
#pragma once

#include <cstddef>

#include "opgen/device/allocator.h"

namespace opgen {

// Sets `block`, whose device is set already, to memory aligned to at least 64 bytes. Returns false
// if it has none for this thread. May be called on any thread.
using BlockProvider = bool (*)(std::size_t bytes, DataPtr& block);

// From now on, `provider` is asked for the memory of storages of more than 32 KiB before the
// runtime's own allocator. Returns the provider that it replaces, or null; it must ask that one in
// turn.
OPGEN_API BlockProvider exchange_block_provider(BlockProvider provider) noexcept;

}  // namespace opgen
