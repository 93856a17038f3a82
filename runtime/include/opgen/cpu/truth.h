// truth.h: cpu_any and cpu_all, whether elements of any dtype are not zero.
#pragma once

#include "opgen/core/macros.h"
#include "opgen/iterator/tensor_iterator.h"

namespace opgen {

// Stores for each output, of dtype Bool or Byte, whether some element that is reduced into it is
// not zero. NaN is not zero. Of no elements, none is.
OPGEN_API void cpu_any(TensorIteratorBase& iter);
// The same for whether none is zero. Of no elements, none is.
OPGEN_API void cpu_all(TensorIteratorBase& iter);

}  // namespace opgen
