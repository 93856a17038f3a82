// refusals.h: what an iteration refuses. Each library over these sources says it in its own words:
// refusals.cpp has the runtime's. Internal.
#pragma once

#include "opgen/iterator/iterator_state.h"

namespace opgen::detail {

// Throws Error if `out` may not be resized to `sizes`, because it shares its storage with `input`.
void check_resized_beside(const TensorBase& out, IntArrayRef sizes, const TensorBase& input);
[[noreturn]] OPGEN_COLD void refuse_shape(const TensorBase& out, IntArrayRef shape);
[[noreturn]] OPGEN_COLD void refuse_undefined_input();
[[noreturn]] OPGEN_COLD void refuse_dtypes(ScalarType common, const OperandInfo& operand);
[[noreturn]] OPGEN_COLD void refuse_devices(Device common, Device device);
[[noreturn]] OPGEN_COLD void refuse_cast(ScalarType from, ScalarType to);

}  // namespace opgen::detail
