// registration_tables.h: SchemaTable and KernelTable, the operators and kernels that a generated
// library registers with PyTorch when it is loaded.
//
// If one of them fails, the library registers none and keeps the reason: nothing can catch an
// exception while a library is loaded. The Python code of the package asks opgen_refusal() for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/dispatch/autograd_kernel.h"
#include "opgen/dispatch/operator.h"
#include "opgen/registration/boxing.h"

namespace opgen {

struct SchemaRow {
  const char* schema;
  const char* tags;     // "core,pointwise"
  const char* module;   // the Python module that PyTorch names if there is no fake; null: as before
  const char* context;  // what PyTorch then says about the module
};

// The operators of a namespace. PyTorch's messages name the library, `yaml` and `line`: those of
// the first operator.
class OPGEN_API SchemaTable {
 public:
  SchemaTable(const char* ns, bool is_fragment, const char* yaml, std::uint32_t line,
              const SchemaRow* rows, std::size_t count);
  template <std::size_t N>
  SchemaTable(const char* ns, bool is_fragment, const char* yaml, std::uint32_t line,
              const SchemaRow (&rows)[N])
      : SchemaTable(ns, is_fragment, yaml, line, rows, N) {}
  SchemaTable(const SchemaTable&) = delete;
  SchemaTable& operator=(const SchemaTable&) = delete;
};

using BoxedFunction = void (*)(std::uint64_t* stack, std::uint64_t arguments,
                               std::uint64_t results);

struct KernelRow {
  const char* name;      // "mylib::f", or the operator that has lists instead of numbers
  const char* overload;  // "out"
  BoxedFunction call;
  BoxedFunction call_on_cpu;
  BoxedFunction call_composite;
  void* function;          // of the operator's own signature
  const char* below;       // the hidden operator that has the same kernels; null if there is none
  BoxedFunction autograd;  // what then runs at Autograd
  bool is_of_pytorch = false;  // `call` converts to PyTorch's own types: it takes no fakes
};

template <class Op, typename Op::ptr_schema function>
KernelRow kernel() noexcept {
  using Boxed = detail::BoxedKernel<Op, function>;
  KernelRow row{detail::dispatched_name<Op>(),
                Op::overload_name,
                &Boxed::call,
                &Boxed::call_on_cpu,
                &Boxed::call_composite,
                reinterpret_cast<void*>(function),
                nullptr,
                nullptr};
  if constexpr (requires { Op::below_autograd; }) {
    row.below = Op::below_autograd;
    row.autograd = &detail::AutogradKernel<Op>::call;
  }
  return row;
}

// Kernels for one key of PyTorch, by its name. Those for Meta are not registered: the Python part
// of the library calls them for fakes, unless they are functions of PyTorch's own types.
class OPGEN_API KernelTable {
 public:
  KernelTable(const char* ns, const char* key, const KernelRow* rows, std::size_t count);
  template <std::size_t N>
  KernelTable(const char* ns, const char* key, const KernelRow (&rows)[N])
      : KernelTable(ns, key, rows, N) {}
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;
};

namespace detail {

// Returns the kernel of an operator for a key, by the name of both; null if there is none.
[[nodiscard]] OPGEN_API const KernelRow* find_kernel(const char* name, const char* overload,
                                                     const char* key) noexcept;

}  // namespace detail

}  // namespace opgen
