// registration_tables.h: SchemaTable and KernelTable, the operators and kernels that a generated
// library registers for as long as it is loaded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "opgen/dispatch/operator.h"
#include "opgen/registration/direct_kernel.h"

namespace opgen {

namespace detail {
struct Table;
}

struct SchemaRow {
  OperatorSlot* slot;
  const char* schema;
  const char* tags;  // "core,pointwise"
};

// Defines operators during its lifetime. Their names, with namespaces, are in the slots. If a row
// of a library cannot be registered, such as an operator that another library defines, none of its
// tables is: a call of its operators is then an error that says why. So it is if the headers that
// the library was compiled with have another ABI than the runtime, or if another copy of the
// runtime has registered libraries in this process.
class OPGEN_API SchemaTable {
 public:
  SchemaTable(const char* ns, const char* library, const SchemaRow* rows, std::size_t count,
              int abi = OPGEN_RUNTIME_ABI);
  template <std::size_t N>
  SchemaTable(const char* ns, const char* library, const SchemaRow (&rows)[N])
      : SchemaTable(ns, library, rows, N) {}
  ~SchemaTable();
  SchemaTable(const SchemaTable&) = delete;
  SchemaTable& operator=(const SchemaTable&) = delete;

 private:
  detail::Table* table_;
};

struct KernelRow {
  OperatorSlot* slot;
  void* function;
  bool with_keys;
  bool only_tracked = false;
};

// The function has the operator's signature, or that signature with a leading key set.
template <class Op>
KernelRow kernel(DirectKernel<Op> kernel) noexcept {
  return {&Op::slot, reinterpret_cast<void*>(kernel.function), false};
}
// A fallthrough: calls use the next key.
template <class Op>
KernelRow fallthrough() noexcept {
  return {&Op::slot, nullptr, false};
}
namespace detail {
template <class Signature>
struct WithKeys;
template <class R, class... A>
struct WithKeys<R(A...)> {
  using type = R(DispatchKeySet, A...);
};
}  // namespace detail
template <class Op>
KernelRow kernel(typename detail::WithKeys<typename Op::schema>::type* function) noexcept {
  return {&Op::slot, reinterpret_cast<void*>(function), true};
}

// Registers kernels for one key during its lifetime.
class OPGEN_API KernelTable {
 public:
  KernelTable(const char* library, DispatchKey key, const KernelRow* rows, std::size_t count,
              int abi = OPGEN_RUNTIME_ABI);
  template <std::size_t N>
  KernelTable(const char* library, DispatchKey key, const KernelRow (&rows)[N])
      : KernelTable(library, key, rows, N) {}
  ~KernelTable();
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;

 private:
  detail::Table* table_;
};

// Returns why the tables of the library with this name are not registered; empty if they are.
[[nodiscard]] OPGEN_API std::string why_refused(std::string_view library);

}  // namespace opgen
