// call.cpp: calls of operators from C++, exceptions of kernels, writes that are counted.
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "shim.h"

#include "opgen/registration/boxing.h"
#include "opgen/symbolic/fake_call.h"
#include "opgen/symbolic/fake_tensor.h"

namespace opgen::detail {

constinit thread_local bool KernelScope::below_autograd_ OPGEN_TLS = false;

namespace {

// Autograd records nothing during the scope.
class NoGradScope {
 public:
  explicit NoGradScope(bool active) : was_enabled_(active && aoti_torch_grad_mode_is_enabled()) {
    if (was_enabled_) aoti_torch_grad_mode_set_enabled(false);
  }
  ~NoGradScope() {
    if (was_enabled_) aoti_torch_grad_mode_set_enabled(true);
  }
  NoGradScope(const NoGradScope&) = delete;
  NoGradScope& operator=(const NoGradScope&) = delete;

 private:
  bool was_enabled_;
};

[[noreturn]] void throw_call_failure(const char* name) {
  const std::string text = shim::failure(name);
  throw Error(text.data(), text.size());
}

}  // namespace

void call_dispatcher(const char* name, const char* overload, Word* stack, bool has_numbers) {
  if (OPGEN_UNLIKELY(makes_fakes())) return call_from_fake(name, overload, stack);
  const NoGradScope no_grad(KernelScope::is_below_autograd());
  if (has_numbers) return call_by_python(name, overload, stack);
  if (torch_call_dispatcher(name, overload, stack, shim::kVersion) != AOTI_TORCH_SUCCESS) {
    throw_call_failure(name);
  }
}

void copy_unrecorded(const TensorBase& to, const TensorBase& from) {
  const NoGradScope no_grad(true);
  OPGEN_SHIM(aoti_torch_copy_, to.unsafeGetTensorImpl()->handle(),
             from.unsafeGetTensorImpl()->handle(), 0);
}

void count_write(const TensorBase& tensor) {
  if (!tensor.defined() || tensor.unsafeGetTensorImpl()->fake() != nullptr) return;
  // An operator that changes nothing, and counts as a write of its tensor.
  AtenTensorHandle handle = nullptr;
  OPGEN_SHIM(aoti_torch_new_tensor_handle, tensor.unsafeGetTensorImpl()->handle(), &handle);
  Word stack[3] = {reinterpret_cast<Word>(handle), 0, 0};
  const NoGradScope no_grad(true);
  if (torch_call_dispatcher("aten::transpose_", "", stack, shim::kVersion) != AOTI_TORCH_SUCCESS) {
    throw_call_failure("aten::transpose_");
  }
  aoti_torch_delete_tensor_object(reinterpret_cast<AtenTensorHandle>(stack[0]));
}

namespace {

// PyTorch's C functions lose the type of an exception, and before 2.13 also its text.
thread_local std::exception_ptr below_failure;

[[noreturn]] void convert_and_throw() {
  // Copied before the exception that holds the text is destroyed.
  std::string text;
  try {
    throw;
  } catch (const OutOfMemoryError& error) {
    text = error.msg();
  } catch (const IndexError& error) {
    throw std::out_of_range(error.msg());
  } catch (const ValueError& error) {
    throw std::invalid_argument(error.msg());
  } catch (const Error& error) {
    text = error.msg();
  }
  throw std::runtime_error(text);
}

}  // namespace

constinit thread_local bool BelowScope::active_ OPGEN_TLS = false;

void BelowScope::rethrow() {
  if (below_failure != nullptr) std::rethrow_exception(std::exchange(below_failure, nullptr));
}

void rethrow_as_standard() {
  if (!BelowScope::is_active()) convert_and_throw();
  try {
    convert_and_throw();
  } catch (...) {
    below_failure = std::current_exception();
    throw;
  }
}

}  // namespace opgen::detail
