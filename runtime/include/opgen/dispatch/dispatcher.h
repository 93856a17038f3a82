// dispatcher.h: Dispatcher, the process-wide table of operators; OperatorHandle, which inspects and
// calls an operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opgen/dispatch/kernel_function.h"

namespace opgen {

struct CppSignature;    // schema/cpp_signature.h
struct FunctionSchema;  // function_schema.h
template <class Signature>
class TypedOperatorHandle;

// Valid for the life of the process, even if the operator's library is unloaded.
class OPGEN_API OperatorHandle {
 public:
  explicit OperatorHandle(OperatorEntry* entry) noexcept : entry_(entry) {}

  [[nodiscard]] const std::string& name() const noexcept;           // "aten::add"
  [[nodiscard]] const std::string& overload_name() const noexcept;  // "Tensor"
  [[nodiscard]] std::string full_name() const;                      // "aten::add.Tensor"
  [[nodiscard]] std::string signature() const;  // "aten::add.Tensor(Tensor self, ...) -> Tensor"
  [[nodiscard]] bool has_schema() const noexcept;
  // Parsed on first use. Throws Error if no library defines the operator.
  [[nodiscard]] const FunctionSchema& schema() const;
  [[nodiscard]] std::vector<std::string> tags() const;
  [[nodiscard]] std::string library()
      const;  // the library that defines it; "" if there is no schema
  [[nodiscard]] bool has_kernel_for(DispatchKey key) const;
  [[nodiscard]] bool hasKernelForDispatchKey(DispatchKey key) const { return has_kernel_for(key); }
  [[nodiscard]] std::vector<DispatchKey> registered_keys() const;
  // Whether a kernel registered for `alias` is called for the runtime key `key`.
  [[nodiscard]] bool is_served_by(DispatchKey alias, DispatchKey key) const;

  // Returns the registrations of each key, newest first: "CPU: unboxed, from aten".
  [[nodiscard]] std::string dump_registrations() const;
  // Returns one line per runtime key that has a kernel: "AutogradCPU: CompositeImplicitAutograd".
  [[nodiscard]] std::string dump_computed_table() const;
  // Returns for every runtime key the kernel that a call reaches, the library that registered it,
  // and the rule that chose it: "CUDA: unboxed, from aten [CompositeExplicitAutograd]",
  // "AutogradCPU: fallthrough", "FPGA: missing". Unless `whole`, keys with the same kernel share a
  // line, and keys without a kernel are counted.
  [[nodiscard]] std::string dump_table(bool whole = false) const;

  // Replace the arguments at the end of the stack by the results. Defaults must be filled in.
  void call_boxed(Stack& stack) const;
  void redispatch_boxed(DispatchKeySet keys, Stack& stack) const;
  // The same functions under ATen's names.
  void callBoxed(Stack& stack) const { call_boxed(stack); }
  void redispatchBoxed(DispatchKeySet keys, Stack& stack) const { redispatch_boxed(keys, stack); }

  // Returns a handle that takes C++ arguments (schema/typed_handle.h). Throws Error if a kernel or
  // the library's own handle has a different signature.
  template <class Signature>
  [[nodiscard]] TypedOperatorHandle<Signature> typed() const {
    check_signature(typeid(Signature));
    return TypedOperatorHandle<Signature>(entry_);
  }

  [[nodiscard]] bool operator==(const OperatorHandle&) const noexcept = default;

 protected:
  void check_signature(const std::type_info& signature) const;
  [[nodiscard]] OperatorSlot& slot() const noexcept;

  OperatorEntry* entry_;
};

// Returns the fallback's kernel for an operator with this schema, or a fallthrough if there is
// nothing to do. Called under the dispatcher's lock: it must not use the dispatcher.
using KernelChooser = KernelFunction (*)(const FunctionSchema& schema);

// Removes one registration when it is destroyed.
class OPGEN_API RegistrationHandle {
 public:
  RegistrationHandle() noexcept = default;
  explicit RegistrationHandle(std::uint64_t id) noexcept : id_(id) {}
  RegistrationHandle(RegistrationHandle&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  RegistrationHandle& operator=(RegistrationHandle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~RegistrationHandle();

 private:
  std::uint64_t id_ = 0;
};

// Registrations may come in any order and from any thread, while other threads make calls.
class OPGEN_API Dispatcher {
 public:
  [[nodiscard]] static Dispatcher& singleton();

  // `name` includes the namespace.
  [[nodiscard]] std::optional<OperatorHandle> find_operator(std::string_view name,
                                                            std::string_view overload_name) const;
  // Find only operators with a schema. If there is none, the first function returns nullopt, and
  // the second throws Error, which suggests a similar name.
  [[nodiscard]] std::optional<OperatorHandle> findSchema(std::string_view name,
                                                         std::string_view overload_name) const;
  [[nodiscard]] OperatorHandle findSchemaOrThrow(std::string_view name,
                                                 std::string_view overload_name) const;
  // Returns all operators that have a schema, sorted by name.
  [[nodiscard]] std::vector<OperatorHandle> operators() const;
  // Returns all operators that have kernels but no schema: most often their names are misspelled.
  [[nodiscard]] std::vector<OperatorHandle> operators_without_schema() const;

  // `slot` may be null. `schema` and `tags` ("core,pointwise") are copied.
  RegistrationHandle register_schema(std::string_view name, std::string_view overload_name,
                                     std::string_view schema, std::string_view tags,
                                     std::string_view library, OperatorSlot* slot);
  // With the key Undefined, registers a kernel for all keys, like CompositeImplicitAutograd. With a
  // `signature`, the kernel is checked against the schema, also if the schema is registered later.
  // The registration keeps `owner` alive.
  RegistrationHandle register_kernel(std::string_view name, std::string_view overload_name,
                                     DispatchKey key, KernelFunction kernel,
                                     std::string_view library,
                                     const CppSignature* signature = nullptr,
                                     Ref<HeapValue> owner = nullptr);
  // Registers a fallback for every operator without a better kernel at `key`, or one that is chosen
  // for each operator by its schema.
  RegistrationHandle register_fallback(DispatchKey key, KernelFunction kernel,
                                       std::string_view library);
  RegistrationHandle register_fallback(DispatchKey key, KernelChooser choose,
                                       std::string_view library);
  // Sets what serves the keys of autograd where nothing is registered; for the runtime itself. It
  // is no registration: tables of kernels do not list it.
  void set_autograd_default(KernelChooser choose);
  // Throws Error if another library has claimed the namespace.
  RegistrationHandle claim_namespace(std::string_view ns, std::string_view place);

  struct Impl;
  [[nodiscard]] Impl& impl() const noexcept { return *impl_; }

 private:
  Dispatcher();
  Impl* impl_;
};

}  // namespace opgen
