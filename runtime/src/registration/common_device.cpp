// common_device.cpp: the error of tensors on different devices.
#include "opgen/registration/common_device.h"

#include "opgen/core/error.h"
#include "opgen/dispatch/schema_text.h"

namespace opgen::detail {

void throw_different_devices(const char* op, const char* schema, std::size_t argument,
                             Device common, Device device) {
  OPGEN_CHECK(false, "Expected all tensors to be on the same device, but got ",
              schema_argument(schema, argument).name, " is on ", device,
              ", different from other tensors on ", common, " (when checking argument in method ",
              op, ")");
  __builtin_unreachable();
}

}  // namespace opgen::detail
