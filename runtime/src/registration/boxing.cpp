// boxing.cpp: checks of boxed values, and what autograd sets for calls with C++ arguments.
#include "opgen/registration/boxing.h"

namespace opgen::detail {

constinit Atomic<const TrackingHooks*> tracking_hooks = nullptr;

void throw_tuple_size(std::size_t expected, std::size_t got) {
  OPGEN_CHECK_TYPE(false, "expected a tuple of ", expected, " values, got one of ", got);
  __builtin_unreachable();
}

void check_result_count(const OperatorSlot& slot, const Stack& stack, std::size_t expected) {
  OPGEN_CHECK(stack.size() == expected, slot.name, ": a boxed kernel returned ", stack.size(),
              " results, but the schema declares ", expected);
}

}  // namespace opgen::detail
