// autograd_kernel.cpp: calls below Autograd, and errors for gradients that the library cannot give.
#include "opgen/dispatch/autograd_kernel.h"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "shim.h"

#include "opgen/core/error.h"
#include "opgen/core/scalar_type.h"
#include "opgen/dispatch/values.h"
#include "opgen/symbolic/fake_call.h"

namespace opgen::detail {

namespace {

// Set by the package while forward-mode AD is active.
std::atomic<bool> has_forward_level = false;

// Whether forward-mode AD may be active. Only Python enters it; without the package, nobody says
// so.
bool may_have_tangents() noexcept {
  if (has_forward_level.load(std::memory_order_relaxed)) return true;
  if (OPGEN_LIKELY(has_python())) return false;
  static void* const found = ::dlsym(RTLD_DEFAULT, "Py_IsInitialized");
  return found != nullptr && reinterpret_cast<int (*)()>(found)() != 0;
}

AtenTensorHandle handle_of(Word word) noexcept {
  return reinterpret_cast<AtenTensorHandle>(word);
}
Word retained(AtenTensorHandle tensor) {
  AtenTensorHandle copy = nullptr;
  OPGEN_SHIM(aoti_torch_new_tensor_handle, tensor, &copy);
  return reinterpret_cast<Word>(copy);
}

void call(const char* name, const char* overload, Word* stack) {
  if (torch_call_dispatcher(name, overload, stack, shim::kVersion) != AOTI_TORCH_SUCCESS) {
    shim::throw_failure(name);
  }
}

std::string name_of(const AutogradCall& call) {
  return *call.overload == '\0' ? call.name : std::string(call.name) + "." + call.overload;
}

// Calls the hidden operator. Its kernel's exception is this function's.
void call_hidden(const AutogradCall& called, Word* stack) {
  const BelowScope scope;
  const char* const name = called.below;
  if (OPGEN_LIKELY(torch_call_dispatcher(name, called.overload, stack, shim::kVersion) ==
                   AOTI_TORCH_SUCCESS)) {
    return;
  }
  BelowScope::rethrow();
  rethrow_from_python();
  OPGEN_CHECK(has_python(), name_of(called), ": ", shim::failure(name),
              ". To trace calls, as torch.compile does, import the Python package of the library");
  shim::throw_failure(name);
}

bool is_defined(AtenTensorHandle tensor) {
  bool found = false;
  OPGEN_SHIM(aoti_torch_is_defined, tensor, &found);
  return found;
}
// Whether a tensor can have a gradient by its dtype.
bool is_differentiable(AtenTensorHandle tensor) {
  if (!is_defined(tensor)) return false;
  std::int32_t code = 0;
  OPGEN_SHIM(aoti_torch_get_dtype, tensor, &code);
  const ScalarType type = Words::scalar_type_of_code(code);
  return isFloatingType(type) || isComplexType(type);
}

bool is_leaf(AtenTensorHandle tensor) {
  Word stack[1] = {retained(tensor)};
  call("aten::is_leaf", "", stack);
  return (stack[0] & 0xff) != 0;
}
// A view of a tensor is a leaf only if the tensor requires no gradient.
bool requires_grad(AtenTensorHandle tensor) {
  if (!is_differentiable(tensor)) return false;
  Word stack[1] = {retained(tensor)};
  call("aten::alias", "", stack);
  const TensorBase view = Words::take_tensor(stack[0]);
  return !is_leaf(view.unsafeGetTensorImpl()->handle());
}
bool has_tangent(AtenTensorHandle tensor) {
  if (!is_differentiable(tensor)) return false;
  Word stack[2] = {retained(tensor), 0};
  call("aten::_unpack_dual", "", stack);
  static_cast<void>(Words::take_tensor(stack[0]));
  const bool found = is_defined(handle_of(stack[1]));
  OPGEN_SHIM(aoti_torch_delete_tensor_object, handle_of(stack[1]));
  return found;
}

// Whether `test` is true for a tensor of a value, which keeps what it owns. `type` is what follows
// `Tensor` in its type, such as `?[]`.
template <class Test>
bool is_any_in(std::string_view type, Word value, const Test& test) {
  if (type.ends_with('?')) {
    type.remove_suffix(1);
    return value != 0 && is_any_in(type, *reinterpret_cast<const Word*>(value), test);
  }
  if (!type.ends_with(']')) return test(handle_of(value));
  auto* const list = reinterpret_cast<StableListHandle>(value);
  std::size_t size = 0;
  OPGEN_SHIM(torch_list_size, list, &size);
  for (std::size_t k = 0; k < size; ++k) {
    Word item = 0;
    OPGEN_SHIM(torch_list_get_item, list, k, &item);
    if (is_any_in(type.substr(0, type.rfind('[')), item, test)) return true;
  }
  return false;
}

// Whether `test` is true for a tensor of the arguments.
template <class Test>
bool is_any(const AutogradCall& call, const Word* stack, const Test& test) {
  for (std::size_t i = 0;; ++i) {
    std::string_view type = schema_argument(call.schema, i).type;
    if (type.empty()) return false;
    if (!type.starts_with("Tensor")) continue;
    type = type.substr(0, 7) == "Tensor(" ? type.substr(type.find(')') + 1) : type.substr(6);
    if (is_any_in(type, stack[i], test)) return true;
  }
}
OPGEN_COLD void refuse_gradient(const AutogradCall& call) {
  OPGEN_CHECK(false, name_of(call),
              ": an argument requires a gradient, which only the Python package of the operator's "
              "library records: import it, or call the operator under torch.no_grad()");
}

// Lets the backward pass from the result throw an error, which Python does.
OPGEN_COLD void refuse_backward(const AutogradCall& called, Word& result) {
  if (!has_python()) refuse_gradient(called);
  const std::string text = name_of(called);
  const std::string_view name = called.name;
  Word stack[2] = {result, Words::give_string(text)};
  result = 0;
  const std::string refusal =
      std::string(name.substr(0, name.find("::"))) + "::opgen_without_formula";
  call(refusal.c_str(), "", stack);
  result = stack[0];
}

OPGEN_COLD void check_tangents(const AutogradCall& call, const Word* stack) {
  OPGEN_CHECK(!is_any(call, stack, has_tangent), "Trying to use forward AD with ", name_of(call),
              " that does not support it because it has not been implemented yet");
}

}  // namespace

void call_below_autograd(const AutogradCall& called, Word* stack) {
  if (OPGEN_UNLIKELY(may_have_tangents())) check_tangents(called, stack);
  const bool records = aoti_torch_grad_mode_is_enabled();
  if (records && !called.has_plain_results && is_any(called, stack, requires_grad)) {
    refuse_gradient(called);
  }
  call_hidden(called, stack);
  if (!records || !called.has_plain_results) return;
  for (std::uint64_t i = 0; i < called.results; ++i) {
    const AtenTensorHandle result = handle_of(stack[i]);
    if (is_differentiable(result) && OPGEN_UNLIKELY(!is_leaf(result))) {
      refuse_backward(called, stack[i]);
    }
  }
}

}  // namespace opgen::detail

extern "C" __attribute__((used, visibility("default"))) void opgen_set_forward_level(
    std::int32_t is_active) {
  opgen::detail::has_forward_level.store(is_active != 0, std::memory_order_relaxed);
}
