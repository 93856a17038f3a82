// dispatch_table.h: the computed kernels of one operator, and how a key set finds its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/dispatch_key_set.h"

namespace opgen {

struct KernelFunction;

namespace detail {

// Per functionality: its first slot, and the backends that select one of the slots after it.
struct SlotRow {
  std::uint32_t offset;
  std::uint32_t backends;
};
struct SlotRows {
  SlotRow rows[kNumFunctionalities];
  int count;
};
constexpr SlotRows make_slot_rows() noexcept {
  SlotRows result{};
  int next = 0;
  for (int f = 0; f < kNumFunctionalities; ++f) {
    bool product = per_backend_index(static_cast<DispatchKey>(f)) >= 0;
    result.rows[f].offset = static_cast<std::uint32_t>(next);
    result.rows[f].backends = product ? DispatchKeySet::backend_bits() : 0;
    next += product ? kNumBackends + 1 : 1;
  }
  result.count = next;
  return result;
}
inline constexpr SlotRows kSlotRows = make_slot_rows();
inline constexpr int kNumSlots = kSlotRows.count;
static_assert(kNumBackends <= 16 && kNumSlots <= 255);

// The slot of the highest functionality in the set, for the highest backend in the set.
inline std::size_t slot_of(DispatchKeySet keys) noexcept {
  std::uint64_t bits = keys.raw_repr();
  // `63 ^ clz` is one instruction, the index of the highest bit.
  std::size_t functionality =
      63u ^ static_cast<unsigned>(__builtin_clzll((bits >> (kNumBackends - 1)) | 1));
  const SlotRow& row = kSlotRows.rows[functionality];
  std::uint64_t backends = bits & row.backends;
  return row.offset + (63u ^ static_cast<unsigned>(__builtin_clzll((backends << 1) | 1)));
}

}  // namespace detail

// Immutable once published, never freed: a call may be reading it. 128 bytes of index instead of 2
// KiB of pointers.
struct DispatchTable {
  std::uint64_t mask;  // without the functionalities that all fall through
  const KernelFunction* kernels;
  std::uint8_t index[detail::kNumSlots];  // slot -> kernel; 0: none

  // Behind the table: per kernel the address to call with the arguments alone, or null for the slow
  // path.
  [[nodiscard]] void* const* direct() const noexcept {
    return reinterpret_cast<void* const*>(this + 1);
  }
};
static_assert(sizeof(DispatchTable) % sizeof(void*) == 0);

namespace detail {

struct UnresolvedTable {
  DispatchTable table;
  void* direct;
};
// What a slot points to until its first call, and after every change of registrations.
OPGEN_API extern const UnresolvedTable unresolved_table;

}  // namespace detail
}  // namespace opgen
