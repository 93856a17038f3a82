// common_device.h: check_common_device, which makes sure that the tensors of a call are on the same
// device.
#pragma once

#include <cstddef>
#include <optional>

#include "opgen/core/macros.h"
#include "opgen/device/device.h"

namespace opgen::detail {

// Throws ATen's error: argument `argument` of `op` is on another device.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_different_devices(const char* op, const char* schema,
                                                               std::size_t argument, Device common,
                                                               Device device);

// Ignores undefined and absent tensors.
template <class Op, class T>
void check_common_device(std::optional<Device>& common, const T& argument, std::size_t position) {
  if constexpr (requires {
                  argument.defined();
                  argument.device();
                }) {
    if (!argument.defined()) return;
    if (!common.has_value()) {
      common = argument.device();
    } else if (*common != argument.device()) {
      throw_different_devices(Op::name, Op::schema_str, position, *common, argument.device());
    }
  } else if constexpr (requires { argument.has_value(); }) {
    if (argument.has_value()) check_common_device<Op>(common, *argument, position);
  } else {
    for (const auto& element : argument) check_common_device<Op>(common, element, position);
  }
}

}  // namespace opgen::detail
