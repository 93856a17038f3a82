// schema_functions.h: what the dispatcher does with the text of a schema. Internal.
#pragma once

#include "opgen/core/atomic.h"
#include "opgen/core/dispatch_key.h"
#include "opgen/dispatch/cpp_signature.h"
#include "opgen/dispatch/function_schema.h"

namespace opgen {

struct SchemaFunctions {
  FunctionSchema (*parse)(std::string_view text, std::string_view ns);
  // Throws Error unless a kernel's C++ function fits the schema.
  void (*check)(const FunctionSchema& schema, std::string_view defined_by, DispatchKey key,
                const CppSignature& signature, std::string_view library);
};
// The parser sets them. (So the dispatcher alone does not link it.)
extern constinit Atomic<const SchemaFunctions*> schema_functions;

void check_against_schema(const FunctionSchema& schema, std::string_view defined_by,
                          DispatchKey key, const CppSignature& signature, std::string_view library);

}  // namespace opgen
