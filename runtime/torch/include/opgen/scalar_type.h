// scalar_type.h: ATen's dtypes under the runtime's names.
#pragma once

#include <c10/core/ScalarType.h>

namespace opgen {

using c10::ScalarType;

template <ScalarType t>
using cpp_type_of = c10::impl::ScalarTypeToCPPTypeT<t>;

}  // namespace opgen
