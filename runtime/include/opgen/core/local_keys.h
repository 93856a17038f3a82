// local_keys.h: the keys that this thread adds to and removes from every call, and the guards that
// change them.
#pragma once

#include <cstdint>

#include "opgen/core/dispatch_key_set.h"

namespace opgen {

// Keys that take part in every call unless excluded; operators without a kernel for them skip them
// at no cost. PythonDispatcher is the highest key of all: observers of calls register there
// (profiler.h).
inline constexpr DispatchKeySet kDefaultIncludedKeys{
    DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView, DispatchKey::PythonDispatcher};
// For redispatch: the keys below autograd, and those below view tracking.
inline constexpr DispatchKeySet after_autograd_keyset{DispatchKeySet::FULL_AFTER,
                                                      DispatchKey::AutogradOther};
inline constexpr DispatchKeySet after_ADInplaceOrView_keyset{DispatchKeySet::FULL_AFTER,
                                                             DispatchKey::ADInplaceOrView};

namespace detail {

struct LocalKeys {
  std::uint64_t included;
  std::uint64_t kept;  // all keys except the excluded ones
};
extern OPGEN_API thread_local constinit LocalKeys local_keys OPGEN_TLS;

inline DispatchKeySet with_local_keys(std::uint64_t keys) noexcept {
  return {DispatchKeySet::RAW, (keys | local_keys.included) & local_keys.kept};
}

// Inference mode excludes the key for view tracking; see inference_mode.h.
inline bool in_inference_mode() noexcept {
  return (local_keys.included & DispatchKeySet(DispatchKey::ADInplaceOrView).raw_repr()) == 0;
}
// Returns the keys of a new tensor; in inference mode, without those of autograd and view tracking.
inline DispatchKeySet keys_of_fresh_tensor(DispatchKeySet keys) noexcept {
  constexpr DispatchKeySet tracked = kAutogradKeys.add(DispatchKey::ADInplaceOrView);
  return OPGEN_UNLIKELY(in_inference_mode()) ? keys - tracked : keys;
}

}  // namespace detail

// Restores the thread's keys at the end of the scope.
class LocalKeysGuard {
 public:
  LocalKeysGuard() noexcept : saved_(detail::local_keys) {}
  LocalKeysGuard(DispatchKeySet include, DispatchKeySet exclude) noexcept : LocalKeysGuard() {
    detail::local_keys.included |= include.raw_repr();
    detail::local_keys.kept &= ~exclude.raw_repr() | DispatchKeySet::backend_bits();
  }
  ~LocalKeysGuard() { detail::local_keys = saved_; }
  LocalKeysGuard(const LocalKeysGuard&) = delete;
  LocalKeysGuard& operator=(const LocalKeysGuard&) = delete;

 private:
  detail::LocalKeys saved_;
};

class IncludeDispatchKeyGuard : public LocalKeysGuard {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys) noexcept : LocalKeysGuard(keys, {}) {}
};
// Saves one word less than LocalKeysGuard; every kernel that redispatches uses one.
class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) noexcept : saved_(detail::local_keys.kept) {
    detail::local_keys.kept = saved_ & (~keys.raw_repr() | DispatchKeySet::backend_bits());
  }
  ~ExcludeDispatchKeyGuard() { detail::local_keys.kept = saved_; }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  std::uint64_t saved_;
};
// Skips the autograd kernels of every call in the scope.
class AutoDispatchBelowAutograd : public ExcludeDispatchKeyGuard {
 public:
  AutoDispatchBelowAutograd() noexcept : ExcludeDispatchKeyGuard(kAutogradKeys) {}
};
class AutoDispatchBelowADInplaceOrView : public ExcludeDispatchKeyGuard {
 public:
  AutoDispatchBelowADInplaceOrView() noexcept
      : ExcludeDispatchKeyGuard(kAutogradKeys.add(DispatchKey::ADInplaceOrView)) {}
};

[[nodiscard]] inline DispatchKeySet tls_included_keys() noexcept {
  return {DispatchKeySet::RAW, detail::local_keys.included};
}
[[nodiscard]] inline DispatchKeySet tls_excluded_keys() noexcept {
  return {DispatchKeySet::RAW, ~detail::local_keys.kept};
}

}  // namespace opgen
