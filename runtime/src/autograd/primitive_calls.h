// primitive_calls.h: call the runtime's own operators by name. Internal.
#pragma once

#include "opgen/dispatch/dispatcher.h"

namespace opgen::primitive {

// A primitive's handle, looked up once; its library defines it for the life of the process.
inline OperatorHandle find(const char* name) {
  return Dispatcher::singleton().findSchemaOrThrow(name, "");
}

inline TensorBase call(const OperatorHandle& op, Stack stack) {
  std::uint64_t bits = 0;
  for (const IValue& value : stack) bits |= value.key_bits();
  op.redispatch_boxed(opgen::detail::with_local_keys(bits), stack);
  return stack.back().toTensor();
}

}  // namespace opgen::primitive
