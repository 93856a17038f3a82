// truth.h: cpu_any, cpu_all and cpu_count: whether, and how many, elements of any dtype are not
// zero.
#pragma once

#include "opgen/core/macros.h"
#include "opgen/iterator/tensor_iterator.h"

namespace opgen {

// Stores for each output, of dtype Bool or Byte, whether some element that is reduced into it is
// not zero. NaN is not zero. Of no elements, none is.
OPGEN_API void cpu_any(TensorIteratorBase& iter);
// The same for whether none is zero. Of no elements, none is.
OPGEN_API void cpu_all(TensorIteratorBase& iter);
// Stores for each output, of dtype Long, how many elements that are reduced into it are not zero.
OPGEN_API void cpu_count(TensorIteratorBase& iter);

}  // namespace opgen
