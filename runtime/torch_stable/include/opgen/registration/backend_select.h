// backend_select.h: the kernel that chooses the backend of a factory. PyTorch's C functions cannot
// send a call on to another key, so it calls the library's own kernel.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "opgen/dispatch/operator.h"
#include "opgen/registration/registration_tables.h"

namespace opgen {

namespace detail {

// Returns the function of the library's kernel for the device. Throws Error if there is none.
[[nodiscard]] OPGEN_API void* find_factory(const char* name, const char* overload, Device device);

}  // namespace detail

// `device`: the position of a Device or Device? argument; an absent one means the CPU.
template <class Op, std::size_t device, class Schema = typename Op::schema>
struct BackendSelectByDevice;
template <class Op, std::size_t device, class R, class... A>
struct BackendSelectByDevice<Op, device, R(A...)> {
  static R call(A... arguments) {
    const std::optional<Device> given = std::get<device>(std::forward_as_tuple(arguments...));
    void* const function = detail::find_factory(detail::dispatched_name<Op>(), Op::overload_name,
                                                given.value_or(Device(kCPU)));
    return reinterpret_cast<R (*)(A...)>(function)(std::forward<A>(arguments)...);
  }
};

// dtype, layout and device are the arguments at `dtype`, `dtype` + 1 and `dtype` + 2.
template <class Op, std::size_t dtype, class Schema = typename Op::schema>
struct BackendSelect : BackendSelectByDevice<Op, dtype + 2> {};

}  // namespace opgen
