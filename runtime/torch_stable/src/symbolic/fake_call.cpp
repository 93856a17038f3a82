// fake_call.cpp: symbols and fakes, and the C functions by which Python uses them.
#include "opgen/symbolic/fake_call.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <new>

#include "shim.h"

#include "opgen/registration/registration_tables.h"
#include "opgen/symbolic/fake_tensor.h"
#include "tensor/stride_order.h"

namespace opgen {

namespace detail {

namespace {

// The functions that answer this thread; null outside of calls from Python.
constinit thread_local PythonFunctions* python OPGEN_TLS = nullptr;
constinit thread_local bool fakes OPGEN_TLS = false;
constinit thread_local int dtype_scopes OPGEN_TLS = 0;

// Python keeps an exception, which ends the call.
struct PythonError final : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "an exception in Python"; }
};

template <class F, class... A>
auto ask(F PythonFunctions::*function, A... arguments) {
  PythonFunctions* const functions = python;
  OPGEN_CHECK(functions != nullptr,
              "a size is a symbol, but the Python part of the library is not there to compute it");
  struct Check {
    PythonFunctions* functions;
    void operator()() const {
      if (OPGEN_UNLIKELY(functions->failed != 0)) throw PythonError();
    }
  } check{functions};
  using Result = decltype((functions->*function)(arguments...));
  if constexpr (std::is_void_v<Result>) {
    (functions->*function)(arguments...);
    check();
  } else {
    const Result result = (functions->*function)(arguments...);
    check();
    return result;
  }
}

}  // namespace

std::int64_t sym_compute(SymOperation operation, std::int64_t a, std::int64_t b) {
  return ask(&PythonFunctions::compute, static_cast<std::int32_t>(operation), a, b);
}
std::int64_t sym_compare(SymComparison comparison, std::int64_t a, std::int64_t b) {
  return ask(&PythonFunctions::compare, static_cast<std::int32_t>(comparison), a, b);
}
bool sym_decide(SymDecision decision, std::int64_t condition) {
  return ask(&PythonFunctions::decide, static_cast<std::int32_t>(decision), condition) != 0;
}
std::int64_t sym_guard_int(std::int64_t a) {
  // Outside of a call from Python there are no symbols: it is a number.
  return python == nullptr ? a : ask(&PythonFunctions::guard_int, a);
}

namespace {

// Set once, when the Python part of the library is imported.
std::atomic<PythonFunctions*> imported{nullptr};

}  // namespace

void call_from_fake(const char* name, const char* overload, Word* stack) {
  OPGEN_CHECK(python != nullptr, "a tensor without data outside of a call from Python");
  // What Python calls may be a kernel for tensors with data.
  const FakeScope real(false);
  if (python->call(name, overload, stack, 1) != 0) throw PythonError();
}

bool has_python() noexcept {
  return imported.load(std::memory_order_acquire) != nullptr;
}

void rethrow_from_python() {
  PythonFunctions* const functions = imported.load(std::memory_order_acquire);
  if (functions == nullptr) return;
  char text[2048] = {};
  functions->take_error(text, sizeof text);
  text[sizeof text - 1] = '\0';
  if (text[0] != '\0') throw Error(text, std::strlen(text));
}

void call_by_python(const char* name, const char* overload, Word* stack) {
  PythonFunctions* const functions = imported.load(std::memory_order_acquire);
  OPGEN_CHECK(functions != nullptr, name,
              " has a number among its arguments, which PyTorch's C functions do not pass: import "
              "the Python package of the library, which can call it");
  if (functions->call(name, overload, stack, 0) == 0) return;
  char text[2048] = {};
  functions->take_error(text, sizeof text);
  text[sizeof text - 1] = '\0';
  throw Error(text, std::strlen(text));
}

bool makes_fakes() noexcept {
  return fakes;
}
FakeScope::FakeScope(bool makes_fakes) noexcept : outer_(fakes) {
  fakes = makes_fakes;
}
FakeScope::~FakeScope() {
  fakes = outer_;
}
DtypeScope::DtypeScope() noexcept {
  ++dtype_scopes;
}
DtypeScope::~DtypeScope() {
  --dtype_scopes;
}
bool DtypeScope::is_alive() noexcept {
  return dtype_scopes != 0;
}

SymDimVector symbolic_strides(SymIntArrayRef sizes, MemoryFormat format) {
  static constexpr std::size_t kLast2d[] = {1, 3, 2, 0};
  static constexpr std::size_t kLast3d[] = {1, 4, 3, 2, 0};
  SymDimVector strides(sizes.size());
  SymInt next = 1;
  const auto give = [&](std::size_t dim) {
    strides[dim] = next;
    next = next * sizes[dim].max(1);
  };
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) {
    const bool is_2d = format == MemoryFormat::ChannelsLast;
    OPGEN_CHECK(sizes.size() == (is_2d ? 4u : 5u), "memory format ", format, " needs ",
                is_2d ? 4 : 5, " dimensions, but the sizes are ", sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) give(is_2d ? kLast2d[i] : kLast3d[i]);
  } else {
    for (std::size_t dim = sizes.size(); dim-- > 0;) give(dim);
  }
  return strides;
}

TensorBase make_fake(SymIntArrayRef sizes, SymIntArrayRef strides, ScalarType dtype, Device device,
                     Layout layout, MemoryFormat format) {
  auto* const parts = new FakeParts;
  TensorBase made = TensorBase::adopt(TensorImpl::create_fake(parts, dtype, device, layout));
  parts->sizes = SymDimVector(sizes.begin(), sizes.end());
  if (strides.empty() && !sizes.empty()) {
    parts->strides = symbolic_strides(sizes, format);
    parts->format = format;
  } else {
    parts->strides = SymDimVector(strides.begin(), strides.end());
    if (sizes.empty()) parts->format = MemoryFormat::Contiguous;
  }
  made.unsafeGetTensorImpl()->know_dim(static_cast<std::int64_t>(sizes.size()));
  return made;
}

void set_fake_sizes(const TensorBase& fake, SymIntArrayRef sizes, SymIntArrayRef strides,
                    MemoryFormat format) {
  FakeParts* parts = fake.unsafeGetTensorImpl()->fake();
  SymDimVector wanted(sizes.begin(), sizes.end());
  parts->strides = strides.empty() ? symbolic_strides(sizes, format)
                                   : SymDimVector(strides.begin(), strides.end());
  parts->format = strides.empty() ? format : MemoryFormat::Preserve;
  parts->sizes = std::move(wanted);
  parts->known_sizes.clear();
  parts->known_strides.clear();
  parts->is_resized = true;
  fake.unsafeGetTensorImpl()->know_dim(static_cast<std::int64_t>(parts->sizes.size()));
}

}  // namespace detail

void append_message(Message& message, const SymInt& size) {
  if (!size.is_symbolic() || detail::python == nullptr) {
    return message.append_integer(size.bits());
  }
  char text[256] = {};
  detail::python->print(size.bits(), text, sizeof text);
  text[sizeof text - 1] = '\0';
  message.append(text);
}
void append_message(Message& message, SymIntArrayRef sizes) {
  message.append("[");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i != 0) message.append(", ");
    append_message(message, sizes[i]);
  }
  message.append("]");
}

// ---- Questions about fakes that ATen answers for its own tensors ----

bool TensorImpl::is_contiguous_or_false(MemoryFormat format) const {
  if (fake_ == nullptr) return is_contiguous(format);
  const SymDimVector& sizes = fake_->sizes;
  if (format == MemoryFormat::Preserve) format = MemoryFormat::Contiguous;
  if (fake_->format == format) return true;
  static constexpr std::size_t kLast2d[] = {1, 3, 2, 0};
  static constexpr std::size_t kLast3d[] = {1, 4, 3, 2, 0};
  const bool is_2d = format == MemoryFormat::ChannelsLast;
  const bool is_3d = format == MemoryFormat::ChannelsLast3d;
  if ((is_2d && sizes.size() != 4) || (is_3d && sizes.size() != 5)) return false;
  if (!is_2d && !is_3d) {
    for (const SymInt& size : sizes) {
      if (guard_or_false(sym_eq(size, 0))) return true;
    }
  }
  SymInt expected = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t dim = is_2d ? kLast2d[i] : is_3d ? kLast3d[i] : sizes.size() - 1 - i;
    if (guard_or_false(sym_eq(sizes[dim], 1))) continue;
    if (!guard_or_false(sym_eq(fake_->strides[dim], expected))) return false;
    expected = expected * sizes[dim];
  }
  return true;
}

bool TensorImpl::is_non_overlapping_and_dense_or_false() const {
  if (fake_ == nullptr) return is_non_overlapping_and_dense();
  if (is_contiguous_or_false(MemoryFormat::Contiguous)) return true;
  const SymDimVector& sizes = fake_->sizes;
  const SymDimVector& strides = fake_->strides;
  // The dimension of the next stride, until none is left.
  SmallVector<std::size_t, 5> left;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!guard_or_false(sym_eq(sizes[d], 1))) left.push_back(d);
  }
  SymInt expected = 1;
  while (!left.empty()) {
    std::size_t next = left.size();
    for (std::size_t i = 0; i < left.size() && next == left.size(); ++i) {
      if (guard_or_false(sym_eq(strides[left[i]], expected))) next = i;
    }
    if (next == left.size()) return false;
    expected = expected * sizes[left[next]];
    left.erase(left.begin() + next);
  }
  return true;
}

}  // namespace opgen

// ---- What Python calls ----

namespace {

using opgen::FakeParts;
using opgen::TensorBase;
using opgen::TensorImpl;
using opgen::detail::FakeDescription;
using opgen::detail::PythonFunctions;
using opgen::detail::Word;

// The results of opgen_fake_call.
enum Status : std::int32_t { kDone, kFailed, kPythonFailed };
// The Python exception that a failure becomes.
enum ErrorClass : std::int32_t { kRuntimeError, kIndexError, kValueError, kTypeError };

struct CallScope {
  PythonFunctions* outer;
  explicit CallScope(PythonFunctions* functions) noexcept : outer(opgen::detail::python) {
    opgen::detail::python = functions;
  }
  ~CallScope() { opgen::detail::python = outer; }
};

TensorImpl* impl_of(Word word) noexcept {
  return reinterpret_cast<TensorImpl*>(word & ~Word(1));
}

}  // namespace

#define OPGEN_FOR_PYTHON extern "C" __attribute__((used, visibility("default")))

// Calls the kernel of an operator for a dispatch key. It takes the words of the stack and leaves
// its results there. On failure writes a message and the class of the error.
OPGEN_FOR_PYTHON std::int32_t opgen_fake_call(PythonFunctions* functions, const char* key,
                                              const char* name, const char* overload, Word* stack,
                                              std::int64_t arguments, std::int64_t results,
                                              char* message, std::int64_t size,
                                              std::int32_t* error_class) {
  const CallScope scope(functions);
  const opgen::detail::FakeScope fakes;
  const auto fail = [&](const char* text, ErrorClass what) {
    std::strncpy(message, text, static_cast<std::size_t>(size) - 1);
    message[size - 1] = '\0';
    *error_class = what;
    return kFailed;
  };
  const opgen::KernelRow* row = opgen::detail::find_kernel(name, overload, key);
  if (row == nullptr) return fail("the library has no such kernel", kRuntimeError);
  try {
    row->call(stack, static_cast<std::uint64_t>(arguments), static_cast<std::uint64_t>(results));
    return kDone;
  } catch (const opgen::detail::PythonError&) {
    return kPythonFailed;
  } catch (const std::out_of_range& error) {
    return fail(error.what(), kIndexError);
  } catch (const std::invalid_argument& error) {
    return fail(error.what(), kValueError);
  } catch (const std::exception& error) {
    return functions->failed != 0 ? kPythonFailed : fail(error.what(), kRuntimeError);
  }
}

OPGEN_FOR_PYTHON void opgen_set_python(PythonFunctions* functions) {
  opgen::detail::imported.store(functions, std::memory_order_release);
}
OPGEN_FOR_PYTHON Word opgen_make_tensor(const FakeDescription* given) {
  auto* const parts = new FakeParts;
  const auto* const sizes = reinterpret_cast<const opgen::SymInt*>(given->sizes);
  const auto* const strides = reinterpret_cast<const opgen::SymInt*>(given->strides);
  parts->sizes = opgen::SymDimVector(sizes, sizes + given->ndim);
  parts->strides = opgen::SymDimVector(strides, strides + given->ndim);
  parts->storage_offset = opgen::SymInt::of_bits(given->storage_offset);
  parts->object = given->object;
  parts->storage = given->storage;
  TensorImpl* const impl =
      TensorImpl::create_fake(parts, opgen::detail::Words::scalar_type_of_code(given->dtype),
                              opgen::Device(static_cast<opgen::DeviceType>(given->device_type),
                                            static_cast<opgen::DeviceIndex>(given->device_index)),
                              static_cast<opgen::Layout>(given->layout));
  return reinterpret_cast<Word>(impl) | 1;
}
// The pointers are valid as long as the tensor is.
OPGEN_FOR_PYTHON void opgen_read_tensor(Word word, FakeDescription* seen) {
  const TensorImpl* impl = impl_of(word);
  const FakeParts& parts = *impl->fake();
  const TensorImpl* base = parts.base.defined() ? parts.base.unsafeGetTensorImpl() : nullptr;
  seen->object = parts.object;
  seen->storage = parts.storage;
  seen->base = base != nullptr ? base->fake()->object : -1;
  seen->ndim = static_cast<std::int64_t>(parts.sizes.size());
  seen->sizes = reinterpret_cast<const std::int64_t*>(parts.sizes.data());
  seen->strides = reinterpret_cast<const std::int64_t*>(parts.strides.data());
  seen->storage_offset = parts.storage_offset.bits();
  seen->dtype = opgen::detail::Words::code_of_scalar_type(impl->dtype());
  seen->device_type = static_cast<std::int32_t>(impl->device().type());
  seen->device_index = impl->device().index();
  seen->layout = static_cast<std::int32_t>(impl->layout());
  seen->format = static_cast<std::int32_t>(parts.format);
  seen->is_resized = parts.is_resized ? 1 : 0;
}
// Gives the tensor a number by which Python knows it from then on.
OPGEN_FOR_PYTHON void opgen_name_tensor(Word word, std::int64_t object, std::int64_t storage) {
  impl_of(word)->fake()->object = object;
  impl_of(word)->fake()->storage = storage;
}
OPGEN_FOR_PYTHON void opgen_keep_tensor(Word word) {
  impl_of(word)->retain();
}
OPGEN_FOR_PYTHON void opgen_free_tensor(Word word) {
  static_cast<void>(TensorBase::adopt(impl_of(word)));
}
OPGEN_FOR_PYTHON Word opgen_make_list(const Word* items, std::int64_t count) {
  return opgen::detail::Words::give_list({items, static_cast<std::size_t>(count)});
}
// Returns how many items there are, and writes up to `room` of them; frees the list.
OPGEN_FOR_PYTHON std::int64_t opgen_take_list(Word list, Word* items, std::int64_t room) {
  std::size_t size = 0;
  auto* const handle = reinterpret_cast<StableListHandle>(list);
  torch_list_size(handle, &size);
  if (static_cast<std::int64_t>(size) > room) return static_cast<std::int64_t>(size);
  for (std::size_t i = 0; i < size; ++i) torch_list_get_item(handle, i, items + i);
  torch_delete_list(handle);
  return static_cast<std::int64_t>(size);
}
OPGEN_FOR_PYTHON Word opgen_make_optional(Word value) {
  return opgen::detail::Words::give_optional(value);
}
OPGEN_FOR_PYTHON Word opgen_take_optional(Word optional) {
  return opgen::detail::Words::take_optional(optional);
}
OPGEN_FOR_PYTHON Word opgen_make_string(const char* text, std::int64_t size) {
  return opgen::detail::Words::give_string({text, static_cast<std::size_t>(size)});
}
// Returns how long the string is, and copies it if there is room; frees it then.
OPGEN_FOR_PYTHON std::int64_t opgen_take_string(Word string, char* text, std::int64_t room) {
  std::size_t length = 0;
  const char* found = nullptr;
  auto* const handle = reinterpret_cast<StringHandle>(string);
  torch_string_length(handle, &length);
  if (static_cast<std::int64_t>(length) > room) return static_cast<std::int64_t>(length);
  torch_string_c_str(handle, &found);
  std::memcpy(text, found, length);
  torch_delete_string(handle);
  return static_cast<std::int64_t>(length);
}
