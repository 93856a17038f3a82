// dispatch_slots.h: the slots of a dispatch table, and their keys. Internal.
#pragma once

#include "opgen/core/dispatch_key_set.h"
#include "opgen/dispatch/dispatch_table.h"

namespace opgen {

// Undefined, the key of calls without tensors, counts as a backend.
[[nodiscard]] inline bool is_backend(DispatchKey key) noexcept {
  return functionality_of(key) <= DispatchKey::NestedTensor;
}

// Calls f(slot, key) for every slot that has a key.
template <class F>
void for_each_slot(F&& function) {
  for (int f = 0; f < detail::kNumFunctionalities; ++f) {
    DispatchKey functionality = static_cast<DispatchKey>(f);
    if (functionality == DispatchKey::AutogradTracked) continue;  // shares others' slots
    int offset = detail::kSlotRows.rows[f].offset;
    if (detail::per_backend_index(functionality) < 0) {
      function(offset, functionality, functionality);
      continue;
    }
    for (int b = 0; b < kNumBackends; ++b) {
      function(offset + 1 + b, backend_key(functionality, static_cast<BackendComponent>(b)),
               functionality);
    }
  }
}

}  // namespace opgen
