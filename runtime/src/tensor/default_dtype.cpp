// default_dtype.cpp: the floating dtype that factories and integer division use by default.
#include <atomic>

#include "opgen/tensor/promotion.h"

namespace opgen {

namespace {

constinit std::atomic<ScalarType> default_dtype{kFloat};

}  // namespace

ScalarType get_default_dtype() noexcept {
  return default_dtype.load(std::memory_order_relaxed);
}
void set_default_dtype(ScalarType dtype) {
  OPGEN_CHECK_TYPE(isFloatingType(dtype), "the default dtype must be a floating type, not ", dtype);
  default_dtype.store(dtype, std::memory_order_relaxed);
}

}  // namespace opgen
