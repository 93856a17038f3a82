// sym_int.h: symbolic sizes of a schema. This runtime has none, so they are plain values.
#pragma once

#include <cstdint>

#include "opgen/array_ref.h"

namespace opgen {

using SymInt = std::int64_t;
using SymBool = bool;
using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;

}  // namespace opgen
