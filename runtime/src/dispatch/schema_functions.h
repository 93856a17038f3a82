// schema_functions.h: what the dispatcher does with the text of a schema. Internal.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>

#include "opgen/core/atomic.h"
#include "opgen/core/dispatch_key.h"

namespace opgen {

struct CppSignature;
struct FunctionSchema;

struct ParsedSchema {
  std::shared_ptr<const FunctionSchema> schema;
  std::int64_t argument_count;
};
struct SchemaFunctions {
  ParsedSchema (*parse)(std::string_view text, std::string_view ns);
  // Throws Error unless a kernel's C++ function fits the schema.
  void (*check)(const FunctionSchema& schema, std::string_view defined_by, DispatchKey key,
                const CppSignature& signature, std::string_view library);
};
// The parser, of a higher layer, sets them.
OPGEN_API extern constinit Atomic<const SchemaFunctions*> schema_functions;

namespace detail {
// Protects the plans of alias_plan.h. It is here because the dispatcher, whose lock is held when
// this one is taken, holds both during fork().
[[nodiscard]] OPGEN_API std::mutex& alias_plans_mutex();
}  // namespace detail

}  // namespace opgen
