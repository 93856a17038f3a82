// dispatch_key_set.h: DispatchKeySet, one word: backends in the low bits, functionalities above
// them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "opgen/core/dispatch_key.h"

namespace opgen {

// A per-backend functionality applies to every backend in the set: {CUDA, AutogradCPU} also
// contains CPU and AutogradCUDA.
class DispatchKeySet {
 public:
  enum Full { FULL };
  enum FullAfter { FULL_AFTER };
  enum Raw { RAW };

  constexpr DispatchKeySet() noexcept = default;
  constexpr DispatchKeySet(Full) noexcept : bits_(all_bits()) {}  // NOLINT
  // Every backend, and every functionality with a lower priority than that of `key`.
  constexpr DispatchKeySet(FullAfter, DispatchKey key) noexcept
      : bits_((functionality_bit(functionality_of(key)) - 1) & all_bits()) {}
  constexpr DispatchKeySet(Raw, std::uint64_t bits) noexcept : bits_(bits) {}
  // Aliases and Undefined make the empty set.
  constexpr DispatchKeySet(DispatchKey key) noexcept {  // NOLINT
    DispatchKey functionality = functionality_of(key);
    if (functionality == DispatchKey::Undefined) return;
    bits_ = functionality_bit(functionality);
    if (is_product_key(key)) bits_ |= backend_bit(backend_of(key));
  }
  constexpr DispatchKeySet(BackendComponent backend) noexcept
      : bits_(backend_bit(backend)) {}  // NOLINT
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) noexcept {
    for (DispatchKey key : keys) bits_ |= DispatchKeySet(key).bits_;
  }

  // Whether the key's functionality, and its backend if it has one, are in the set.
  [[nodiscard]] constexpr bool has(DispatchKey key) const noexcept {
    return key != DispatchKey::Undefined && has_all(DispatchKeySet(key)) &&
           DispatchKeySet(key).bits_ != 0;
  }
  [[nodiscard]] constexpr bool has_backend(BackendComponent backend) const noexcept {
    return (bits_ & backend_bit(backend)) != 0;
  }
  [[nodiscard]] constexpr bool has_all(DispatchKeySet other) const noexcept {
    return (bits_ & other.bits_) == other.bits_;
  }
  // Whether some key of `other` is in the set, compared by functionality.
  [[nodiscard]] constexpr bool has_any(DispatchKeySet other) const noexcept {
    std::uint64_t common = bits_ & other.bits_;
    std::uint64_t functionalities = common & ~backend_bits();
    if ((functionalities & ~per_backend_bits()) != 0) return true;
    return functionalities != 0 &&
           ((common & backend_bits()) != 0 || (other.bits_ & backend_bits()) == 0);
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint64_t raw_repr() const noexcept { return bits_; }

  [[nodiscard]] constexpr DispatchKeySet operator|(DispatchKeySet o) const noexcept {
    return {RAW, bits_ | o.bits_};
  }
  [[nodiscard]] constexpr DispatchKeySet operator&(DispatchKeySet o) const noexcept {
    return {RAW, bits_ & o.bits_};
  }
  [[nodiscard]] constexpr DispatchKeySet operator^(DispatchKeySet o) const noexcept {
    return {RAW, bits_ ^ o.bits_};
  }
  // Removes functionalities. The backends stay, because other functionalities may need them.
  [[nodiscard]] constexpr DispatchKeySet operator-(DispatchKeySet o) const noexcept {
    return {RAW, bits_ & (backend_bits() | ~o.bits_)};
  }
  constexpr DispatchKeySet& operator|=(DispatchKeySet o) noexcept { return *this = *this | o; }
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKey key) const noexcept {
    return *this | DispatchKeySet(key);
  }
  [[nodiscard]] constexpr DispatchKeySet remove(DispatchKey key) const noexcept {
    return *this - DispatchKeySet(key);
  }
  [[nodiscard]] constexpr DispatchKeySet remove_backend(BackendComponent backend) const noexcept {
    return {RAW, bits_ & ~backend_bit(backend)};
  }
  [[nodiscard]] constexpr bool operator==(const DispatchKeySet&) const noexcept = default;

  [[nodiscard]] constexpr DispatchKey highest_functionality() const noexcept {
    std::uint64_t shifted = (bits_ >> (kNumBackends - 1)) | 1;
    return static_cast<DispatchKey>(63 - __builtin_clzll(shifted));
  }
  [[nodiscard]] constexpr DispatchKey highestPriorityTypeId() const noexcept {
    DispatchKey functionality = highest_functionality();
    std::uint64_t backends = bits_ & backend_bits();
    if (detail::per_backend_index(functionality) < 0 || backends == 0) return functionality;
    return backend_key(functionality,
                       static_cast<BackendComponent>(63 - __builtin_clzll(backends)));
  }

  static constexpr std::uint64_t backend_bits() noexcept {
    return (std::uint64_t(1) << kNumBackends) - 1;
  }
  static constexpr std::uint64_t backend_bit(BackendComponent backend) noexcept {
    return std::uint64_t(1) << static_cast<int>(backend);
  }
  static constexpr std::uint64_t functionality_bit(DispatchKey functionality) noexcept {
    return std::uint64_t(1) << (kNumBackends - 1 + static_cast<int>(functionality));
  }
  static constexpr std::uint64_t per_backend_bits() noexcept {
    std::uint64_t bits = 0;
    for (DispatchKey key : detail::kPerBackend) bits |= functionality_bit(key);
    return bits;
  }
  static constexpr std::uint64_t all_bits() noexcept {
    return (std::uint64_t(1) << (kNumBackends - 1 + detail::kNumFunctionalities)) - 1;
  }

 private:
  std::uint64_t bits_ = 0;
};

static_assert(kNumBackends - 1 + detail::kNumFunctionalities <= 64, "a key set is one word");

inline constexpr DispatchKeySet kAutogradKeys{
    DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther,
    DispatchKey::AutogradNestedTensor, DispatchKey::AutogradTracked};

OPGEN_API void append_message(Message& message, DispatchKeySet keys);

}  // namespace opgen
