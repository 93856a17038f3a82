// block_source.h: BlockSource, a framework that provides the memory of large storages on the CPU.
#pragma once

#include <cstddef>

#include "opgen/device/allocator.h"

namespace opgen {

class OPGEN_API BlockSource {
 public:
  // Sets `block`, whose device is set already, to memory aligned to at least 64 bytes. Returns
  // false, and the runtime's own allocator is asked, if it has none.
  virtual bool provide(std::size_t bytes, DataPtr& block) = 0;

 protected:
  ~BlockSource();
};

// Lets `source`, which may be null, provide the memory of this thread's next storages of more than
// 32 KiB. Returns the source that it replaces.
OPGEN_API BlockSource* exchange_block_source(BlockSource* source) noexcept;

}  // namespace opgen
