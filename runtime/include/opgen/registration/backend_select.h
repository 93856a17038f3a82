// backend_select.h: BackendSelect, the kernel that chooses the backend of a factory.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/dispatch/operator.h"

namespace opgen {

namespace detail {

inline bool is_dense_cpu(std::optional<Layout> layout, std::optional<Device> device) noexcept {
  return (!layout.has_value() || *layout == kStrided) && (!device.has_value() || device->is_cpu());
}

}  // namespace detail

// Selects the backend of a factory by its options. dtype, layout and device are the arguments at
// `dtype`, `dtype` + 1 and `dtype` + 2.
template <class Op, std::size_t dtype, class Schema = typename Op::schema>
struct BackendSelect;
template <class Op, std::size_t dtype, class R, class... A>
struct BackendSelect<Op, dtype, R(A...)> {
  static R call(A... arguments) {
    if constexpr (!has_tensors) {
      // The most frequent case. The key is a constant and nothing else is called, so the arguments
      // stay in their registers and the compiler calls the kernel with a jump.
      auto all = std::forward_as_tuple(arguments...);
      if (OPGEN_LIKELY(detail::is_dense_cpu(std::get<dtype + 1>(all), std::get<dtype + 2>(all)))) {
        return detail::dispatch<R, A...>(Op::slot, DispatchKeySet(DispatchKey::CPU),
                                         std::forward<A>(arguments)...);
      }
    }
    return choose(std::forward<A>(arguments)...);
  }

 private:
  static constexpr bool has_tensors =
      (false || ... || detail::TensorsOf<std::remove_cvref_t<A>>::value);

  OPGEN_NOINLINE static R choose(A... arguments) {
    auto all = std::forward_as_tuple(arguments...);
    DispatchKeySet keys(compute_dispatch_key(std::get<dtype>(all), std::get<dtype + 1>(all),
                                             std::get<dtype + 2>(all)));
    if constexpr (has_tensors) {
      keys |= detail::with_local_keys((std::uint64_t(0) | ... | detail::keys_of(arguments))) &
              DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect);
    }
    return detail::dispatch<R, A...>(Op::slot, keys, std::forward<A>(arguments)...);
  }
};

// Does the same for an operator without tensors that has only a Device or Device? argument. An
// absent device means the CPU.
template <class Op, std::size_t device, class Schema = typename Op::schema>
struct BackendSelectByDevice;
template <class Op, std::size_t device, class R, class... A>
struct BackendSelectByDevice<Op, device, R(A...)> {
  static R call(A... arguments) {
    const std::optional<Device> given = std::get<device>(std::forward_as_tuple(arguments...));
    const DispatchKey key = compute_dispatch_key(std::nullopt, std::nullopt, given);
    return detail::dispatch<R, A...>(Op::slot, DispatchKeySet(key), std::forward<A>(arguments)...);
  }
};

}  // namespace opgen
