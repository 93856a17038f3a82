// dispatch_table.h: the computed kernels of one operator, and the lookup by key set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/dispatch_key_set.h"

namespace opgen {

struct KernelFunction;

namespace detail {

// The first slot of a functionality, and a mask (all bits or none) for the backend's number, which
// is added to it.
struct SlotRow {
  std::uint32_t offset;
  std::uint32_t select;
};
struct SlotRows {
  SlotRow rows[kNumFunctionalities];
  int count;
};
constexpr SlotRows make_slot_rows() noexcept {
  SlotRows result{};
  int next = 0;
  for (int f = 0; f < kNumFunctionalities; ++f) {
    if (static_cast<DispatchKey>(f) == DispatchKey::AutogradTracked) continue;
    bool product = per_backend_index(static_cast<DispatchKey>(f)) >= 0;
    result.rows[f].offset = static_cast<std::uint32_t>(next);
    result.rows[f].select = product ? ~std::uint32_t(0) : 0;
    next += product ? kNumBackends + 1 : 1;
  }
  result.count = next;
  // Its kernels are those of the backends' keys of autograd.
  result.rows[static_cast<int>(DispatchKey::AutogradTracked)] =
      result.rows[static_cast<int>(DispatchKey::AutogradFunctionality)];
  return result;
}
inline constexpr SlotRows kSlotRows = make_slot_rows();
inline constexpr int kNumSlots = kSlotRows.count;
static_assert(kNumBackends <= 16 && kNumSlots <= 255);

// Returns the number of the highest backend in the set, counted from 1; 0 if there is none. `63 ^
// clz` is the index of the highest bit, in one instruction.
inline std::size_t backend_number(DispatchKeySet keys) noexcept {
  std::uint64_t backends = keys.raw_repr() & DispatchKeySet::backend_bits();
  return 63u ^ static_cast<unsigned>(__builtin_clzll((backends << 1) | 1));
}
// Returns the slot of the highest functionality in the set, for the backend of this number.
inline std::size_t slot_of(DispatchKeySet keys, std::size_t backend) noexcept {
  std::size_t functionality =
      63u ^ static_cast<unsigned>(__builtin_clzll((keys.raw_repr() >> (kNumBackends - 1)) | 1));
  const SlotRow& row = kSlotRows.rows[functionality];
  return row.offset + (backend & row.select);
}

}  // namespace detail

// The addresses of one kernel. If both are null, the call takes the slow path.
struct KernelAddress {
  void* direct;  // takes only the arguments
  void* keyed;   // takes the key set, then the arguments
};

// Immutable once published, and never freed: a call may be reading it. It has 256 bytes of indices
// and masks; a table of pointers would have 2 KiB.
struct DispatchTable {
  // For each backend number: all bits except those of functionalities that fall through for that
  // backend.
  std::uint64_t masks[kNumBackends + 1];
  const KernelFunction* kernels;
  std::uint8_t index[detail::kNumSlots];  // slot -> kernel; 0: none

  // The addresses, one per kernel, follow the table in memory.
  [[nodiscard]] const KernelAddress* addresses() const noexcept {
    return reinterpret_cast<const KernelAddress*>(this + 1);
  }
};
static_assert(sizeof(DispatchTable) % sizeof(void*) == 0);

namespace detail {

struct FoundKernel {
  DispatchKeySet keys;  // the rest of the call's keys
  std::size_t index;    // index of the kernel in its table
};
OPGEN_ALWAYS_INLINE FoundKernel look_up(const DispatchTable& table, DispatchKeySet keys) noexcept {
  std::size_t backend = backend_number(keys);
  DispatchKeySet live(DispatchKeySet::RAW, keys.raw_repr() & table.masks[backend]);
  return {live, table.index[slot_of(live, backend)]};
}

struct UnresolvedTable {
  DispatchTable table;
  KernelAddress address;
};
// Each slot points to this table until its first call, and again after each change of
// registrations.
OPGEN_API extern const UnresolvedTable unresolved_table;

}  // namespace detail
}  // namespace opgen
