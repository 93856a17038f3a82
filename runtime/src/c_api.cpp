// c_api.cpp: the C interface, which throws no exceptions.
#include "opgen/c_api.h"

#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/text.h"
#include "core/thread_value.h"
#include "opgen/core/named_operator.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/cpu_generator.h"
#include "opgen/device/allocator.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/registration/stub_report.h"
#include "opgen/schema/function_schema.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/transforms/composite_compliance.h"

struct opgen_value {
  opgen::IValue value;
};

namespace opgen {

namespace {

struct LastError {
  std::string text;
  const char* kind = "";
};
ThreadValue<LastError>& last_errors() {
  static ThreadValue<LastError>& all = *new ThreadValue<LastError>;
  return all;
}

const char* kind_of(const Error& error) noexcept {
  if (dynamic_cast<const IndexError*>(&error) != nullptr) return "IndexError";
  if (dynamic_cast<const ValueError*>(&error) != nullptr) return "ValueError";
  if (dynamic_cast<const TypeError*>(&error) != nullptr) return "TypeError";
  if (dynamic_cast<const NotImplementedError*>(&error) != nullptr) return "NotImplementedError";
  if (dynamic_cast<const OutOfMemoryError*>(&error) != nullptr) return "OutOfMemoryError";
  return "Error";
}

void remember(const char* kind, const char* text) noexcept {
  try {
    LastError& error = last_errors().get();
    error = {"", kind};
    error.text = text;
  } catch (...) {
    return;  // Without memory, the text is empty.
  }
}

// Returns the function's result; if it throws, returns R() and stores the error for
// opgen_last_error().
template <class F>
auto guarded(F&& function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (const Error& error) {
    remember(kind_of(error), error.what());
  } catch (const std::bad_alloc&) {
    remember("OutOfMemoryError", "out of memory");
  } catch (const std::exception& error) {
    remember("Error", error.what());
  } catch (...) {
    remember("Error", "an exception of an unknown type");
  }
  return decltype(function())();
}

opgen_value* give(IValue value) {
  return new opgen_value{std::move(value)};
}

const IValue& take(const opgen_value* value) {
  OPGEN_CHECK_VALUE(value != nullptr, "a value is NULL");
  return value->value;
}

// Returns a pointer of the caller's, which may be NULL only if nothing is read or written there.
template <class T>
T* there(T* pointer, const char* what, std::size_t count = 1) {
  OPGEN_CHECK_VALUE(pointer != nullptr || count == 0, what, " is NULL");
  return pointer;
}

std::vector<IValue> values_of(const opgen_value* const* items, std::size_t count) {
  there(items, "the list of values", count);
  std::vector<IValue> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) values.push_back(take(items[i]));
  return values;
}

ScalarType dtype_of(std::int32_t number) {
  OPGEN_CHECK_VALUE(isValidScalarType(number), "no dtype has the number ", number);
  return static_cast<ScalarType>(number);
}

OperatorHandle find(const char* name) {
  auto [base, overload] = split_operator_name(there(name, "the operator's name"));
  return Dispatcher::singleton().findSchemaOrThrow(base, overload);
}

void check_extent(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset, std::size_t itemsize,
                  std::size_t storage_bytes) {
  OPGEN_CHECK_VALUE(opgen::checked_storage_bytes(sizes, strides, offset, itemsize) <= storage_bytes,
                    "sizes ", sizes, ", strides ", strides, " and offset ", offset,
                    " need more than the ", storage_bytes, " bytes of the storage");
}

void fill_missing(const FunctionSchema& schema, Stack& stack, const std::vector<bool>& given) {
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    OPGEN_CHECK_TYPE(given[i] || argument.default_value.has_value(), schema.full_name(),
                     ": argument ", argument.name, " is missing");
    if (!given[i] && argument.default_value->isNone()) {
      stack[i] = IValue();  // None, also for an argument of type Tensor
      continue;
    }
    try {
      if (!given[i]) stack[i] = *argument.default_value;
      stack[i] = convert_to_type(std::move(stack[i]), argument.type);
    } catch (const TypeError& error) {
      OPGEN_CHECK_TYPE(false, schema.full_name(), ": ", given[i] ? "" : "the default of ",
                       "argument ", argument.name, ": ", error.msg());
    }
  }
}

// Formats a call for an error message: "\n  in aten::select.int(self = float[2, 3] on cpu, dim = 5,
// index = 0)". A check inside a kernel knows sizes, but not the names of arguments.
std::string call_text(const FunctionSchema& schema, const opgen_value* const* arguments,
                      std::size_t count, const char* const* keywords,
                      const opgen_value* const* keyword_arguments, std::size_t keyword_count) {
  std::string text = "\n  in " + schema.full_name() + "(";
  for (std::size_t i = 0; i < count + keyword_count; ++i) {
    bool positional = i < count;
    if (i != 0) text += ", ";
    text += positional ? schema.arguments[i].name : keywords[i - count];
    text += " = ";
    text += message_text((positional ? arguments[i] : keyword_arguments[i - count])->value);
  }
  return text + ")";
}

// Returns for each argument its name, its type, its annotations, whether it is keyword-only, and a
// list with its default if it has one. An annotation consists of its alias sets before and after
// the call, whether it writes, and how many list types precede it.
IValue parts_of(const std::vector<SchemaArgument>& arguments) {
  std::vector<IValue> all;
  for (const SchemaArgument& argument : arguments) {
    std::vector<IValue> aliases;
    for (const AliasInfo& alias : argument.aliases) {
      aliases.emplace_back(std::vector<IValue>{alias.before, alias.after, alias.is_write,
                                               static_cast<std::int64_t>(alias.lists)});
    }
    std::vector<IValue> defaults;
    if (argument.default_value) defaults.push_back(*argument.default_value);
    all.emplace_back(std::vector<IValue>{argument.name, argument.type.str(), std::move(aliases),
                                         argument.kwarg_only, std::move(defaults)});
  }
  return IValue(std::move(all));
}

opgen_value* call(const char* name, const opgen_value* const* arguments, std::size_t count,
                  const char* const* keywords, const opgen_value* const* keyword_arguments,
                  std::size_t keyword_count) {
  OperatorHandle op = find(name);
  const FunctionSchema& schema = op.schema();
  std::size_t positional = 0;
  while (positional < schema.arguments.size() && !schema.arguments[positional].kwarg_only)
    ++positional;
  OPGEN_CHECK_TYPE(count <= positional, schema.full_name(), " takes ", positional,
                   " positional arguments, got ", count);
  there(arguments, "the list of arguments", count);
  there(keywords, "the list of keywords", keyword_count);
  there(keyword_arguments, "the list of keyword arguments", keyword_count);
  Stack stack(schema.arguments.size());
  std::vector<bool> given(schema.arguments.size(), false);
  for (std::size_t i = 0; i < count; ++i) {
    stack[i] = take(arguments[i]);
    given[i] = true;
  }
  for (std::size_t i = 0; i < keyword_count; ++i) {
    auto position = schema.find_argument(there(keywords[i], "a keyword"));
    OPGEN_CHECK_TYPE(position.has_value(), schema.full_name(), " has no argument ", keywords[i]);
    OPGEN_CHECK_TYPE(!given[*position], schema.full_name(), ": argument ", keywords[i],
                     " is given twice");
    stack[*position] = take(keyword_arguments[i]);
    given[*position] = true;
  }
  fill_missing(schema, stack, given);
  try {
    op.call_boxed(stack);
  } catch (const Error& error) {
    std::string where =
        call_text(schema, arguments, count, keywords, keyword_arguments, keyword_count);
    const char* text = error.msg();
    text += detail::length_of_operator_before_colon(text, where);
    remember(kind_of(error), (text + where).c_str());
    return nullptr;
  }
  return give(IValue(static_cast<std::vector<IValue>&&>(stack)));
}

// Memory from the two functions of opgen_set_cpu_allocator.
class BorrowedAllocator final : public Allocator {
 public:
  void borrow(void* (*allocate_bytes)(std::size_t), void (*release)(void*)) noexcept {
    release_.store(release, std::memory_order_relaxed);
    allocate_.store(allocate_bytes, std::memory_order_release);
  }
  DataPtr allocate(std::size_t bytes, Device device) override {
    void* data = allocate_.load(std::memory_order_acquire)(bytes);
    OPGEN_CHECK_KIND(OutOfMemory, data != nullptr, "cannot allocate ", bytes, " bytes of memory");
    return {data, data, release_.load(std::memory_order_relaxed), device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  std::atomic<void* (*)(std::size_t)> allocate_ = nullptr;
  std::atomic<void (*)(void*)> release_ = nullptr;
};

}  // namespace
}  // namespace opgen

using namespace opgen;

const char* opgen_last_error(void) {
  const LastError* error = last_errors().find();
  return error != nullptr ? error->text.c_str() : "";
}
const char* opgen_last_error_kind(void) {
  const LastError* error = last_errors().find();
  return error != nullptr ? error->kind : "";
}

opgen_value* opgen_tensor_new(int32_t dtype, int64_t ndim, const int64_t* sizes,
                              const int64_t* strides, int64_t storage_offset, const void* bytes,
                              size_t storage_bytes, const char* device) {
  return guarded([&] {
    OPGEN_CHECK_VALUE(ndim >= 0, "a tensor cannot have ", ndim, " dimensions");
    there(sizes, "the list of sizes", static_cast<std::size_t>(ndim));
    ScalarType type = dtype_of(dtype);
    Device where = device != nullptr ? Device(std::string_view(device)) : Device(kCPU);
    IntArrayRef shape(sizes, static_cast<std::size_t>(ndim));
    const DimVector steps = strides != nullptr ? DimVector(IntArrayRef(strides, shape.size()))
                                               : contiguous_strides(shape);
    check_extent(shape, steps, storage_offset, elementSize(type), storage_bytes);
    OPGEN_CHECK_VALUE(bytes == nullptr || where.is_cpu(),
                      "bytes can only be given for cpu, not for ", where);
    Storage storage(storage_bytes, where);
    if (bytes != nullptr && storage_bytes != 0) {
      std::memcpy(storage.mutable_data(), bytes, storage_bytes);
    }
    DispatchKeySet keys = detail::default_key_set(compute_dispatch_key(type, kStrided, where));
    TensorBase tensor = TensorBase::adopt(TensorImpl::create(storage, keys, type, where));
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(shape, steps);
    tensor.unsafeGetTensorImpl()->set_storage_offset(storage_offset);
    return give(IValue(std::move(tensor)));
  });
}

opgen_value* opgen_tensor_view(const opgen_value* base, int64_t ndim, const int64_t* sizes,
                               const int64_t* strides, int64_t storage_offset) {
  return guarded([&] {
    OPGEN_CHECK_VALUE(ndim >= 0, "a tensor cannot have ", ndim, " dimensions");
    TensorBase tensor = take(base).toTensor();
    there(sizes, "the list of sizes", static_cast<std::size_t>(ndim));
    there(strides, "the list of strides", static_cast<std::size_t>(ndim));
    IntArrayRef shape(sizes, static_cast<std::size_t>(ndim));
    IntArrayRef steps(strides, static_cast<std::size_t>(ndim));
    check_extent(shape, steps, storage_offset, tensor.itemsize(), tensor.storage().nbytes());
    return give(IValue(detail::alias_with_sizes_and_strides(tensor, shape, steps, storage_offset)));
  });
}

opgen_value* opgen_tensor_undefined(void) {
  return guarded([] { return give(IValue(TensorBase())); });
}

int opgen_tensor_read(const opgen_value* tensor, opgen_tensor_info* info) {
  return guarded([&] {
    const TensorBase t = take(tensor).toTensor();
    const TensorImpl* impl = t.unsafeGetTensorImpl();
    *there(info, "the result") = opgen_tensor_info{};
    info->defined = t.defined() ? 1 : 0;
    if (!t.defined()) return 1;
    info->dtype = static_cast<std::int32_t>(t.scalar_type());
    info->layout = static_cast<std::int32_t>(t.layout());
    info->device_type = static_cast<std::int32_t>(t.device().type());
    info->device_index = t.device().index();
    info->wrapped_number = impl->is_wrapped_number() ? 1 : 0;
    info->ndim = t.dim();
    info->sizes = t.sizes().data();
    info->strides = t.strides().data();
    info->storage_offset = t.storage_offset();
    info->numel = t.numel();
    info->data = t.data_ptr();
    info->storage_data = impl->storage() != nullptr ? impl->storage()->data() : nullptr;
    info->storage_bytes = impl->storage() != nullptr ? impl->storage()->nbytes() : 0;
    info->version = impl->version();
    info->identity = impl;
    info->storage_identity = impl->storage();
    return 1;
  });
}

int opgen_tensor_set_wrapped_number(const opgen_value* tensor, int wrapped) {
  return guarded([&] {
    TensorBase t = take(tensor).toTensor();
    OPGEN_CHECK_VALUE(t.defined() && t.dim() == 0, "only a zero-dim tensor can stand for a number");
    t.unsafeGetTensorImpl()->set_wrapped_number(wrapped != 0);
    return 1;
  });
}

opgen_value* opgen_none(void) {
  return guarded([] { return give(IValue()); });
}
opgen_value* opgen_bool(int value) {
  return guarded([&] { return give(IValue(value != 0)); });
}
opgen_value* opgen_int(int64_t value) {
  return guarded([&] { return give(IValue(value)); });
}
opgen_value* opgen_double(double value) {
  return guarded([&] { return give(IValue(value)); });
}
opgen_value* opgen_complex(double real, double imag) {
  return guarded([&] { return give(IValue(complex<double>(real, imag))); });
}
opgen_value* opgen_string(const char* text, size_t size) {
  return guarded(
      [&] { return give(IValue(std::string_view(there(text, "the text", size), size))); });
}
opgen_value* opgen_device(const char* text) {
  return guarded([&] { return give(IValue(Device(std::string_view(there(text, "the device"))))); });
}
opgen_value* opgen_generator(uint64_t seed) {
  return guarded([&] {
    return give(IValue(Generator(Ref<GeneratorImpl>::adopt(new CPUGeneratorImpl(seed)))));
  });
}
opgen_value* opgen_default_generator(void) {
  return guarded([] { return give(IValue(opgen::default_cpu_generator())); });
}
opgen_value* opgen_list(const opgen_value* const* items, size_t count) {
  return guarded([&] { return give(IValue(values_of(items, count))); });
}
opgen_value* opgen_tuple(const opgen_value* const* items, size_t count) {
  return guarded([&] { return give(IValue::tuple(values_of(items, count))); });
}
opgen_value* opgen_dict(const opgen_value* const* keys_and_values, size_t count) {
  return guarded([&] {
    OPGEN_CHECK_VALUE(count <= SIZE_MAX / 2, "a dict cannot have ", count, " keys");
    return give(IValue::dict(values_of(keys_and_values, 2 * count)));
  });
}
opgen_value* opgen_value_copy(const opgen_value* value) {
  return guarded([&] { return give(take(value)); });
}
void opgen_value_free(opgen_value* value) {
  delete value;
}

static_assert(static_cast<int>(IValue::Tag::Custom) == OPGEN_CUSTOM);
static_assert(static_cast<int>(IValue::Tag::Dict) == OPGEN_DICT);
int opgen_value_kind(const opgen_value* value) {
  return value == nullptr ? OPGEN_NONE : static_cast<int>(value->value.tag());
}
int opgen_as_bool(const opgen_value* value, int* result) {
  return guarded([&] {
    *there(result, "the result") = take(value).toBool() ? 1 : 0;
    return 1;
  });
}
int opgen_as_int(const opgen_value* value, int64_t* result) {
  return guarded([&] {
    *there(result, "the result") = take(value).toInt();
    return 1;
  });
}
int opgen_as_double(const opgen_value* value, double* result) {
  return guarded([&] {
    *there(result, "the result") = take(value).toDouble();
    return 1;
  });
}
int opgen_as_complex(const opgen_value* value, double* real, double* imag) {
  return guarded([&] {
    complex<double> z = take(value).toComplexDouble();
    there(imag, "the imaginary part");
    *there(real, "the real part") = z.real();
    *imag = z.imag();
    return 1;
  });
}
int opgen_as_string(const opgen_value* value, const char** text, size_t* size) {
  return guarded([&] {
    std::string_view view = take(value).toStringView();
    there(size, "the size");
    *there(text, "the text") = view.data();
    *size = view.size();
    return 1;
  });
}
int opgen_as_device(const opgen_value* value, int32_t* type, int32_t* index) {
  return guarded([&] {
    Device device = take(value).toDevice();
    there(index, "the index");
    *there(type, "the type") = static_cast<std::int32_t>(device.type());
    *index = device.index();
    return 1;
  });
}
int opgen_list_size(const opgen_value* list, size_t* size) {
  return guarded([&] {
    *there(size, "the size") = take(list).elements().size();
    return 1;
  });
}
opgen_value* opgen_list_item(const opgen_value* list, size_t index) {
  return guarded([&] {
    const std::vector<IValue>& items = take(list).elements();
    OPGEN_CHECK_INDEX(index < items.size(), "index ", index, " of a list of ", items.size());
    return give(items[index]);
  });
}

opgen_value* opgen_call(const char* name, const opgen_value* const* arguments, size_t count,
                        const char* const* keywords, const opgen_value* const* keyword_arguments,
                        size_t keyword_count) {
  return guarded(
      [&] { return call(name, arguments, count, keywords, keyword_arguments, keyword_count); });
}

int opgen_set_composite_compliance(int on) {
  return guarded([&] {
    static auto& guards = *new ThreadValue<std::optional<CompositeComplianceGuard>>;
    std::optional<CompositeComplianceGuard>& guard = guards.get();
    if (on == 0) {
      guard.reset();
    } else if (!guard.has_value()) {
      guard.emplace();
    }
    return 1;
  });
}

int opgen_get_num_threads(void) {
  return guarded([] { return get_num_threads(); });
}
int opgen_set_num_threads(int count) {
  return guarded([&] {
    set_num_threads(count);
    return 1;
  });
}

int opgen_set_cpu_allocator(void* (*allocate)(size_t bytes), void (*release)(void* data)) {
  return guarded([&] {
    OPGEN_CHECK_VALUE((allocate == nullptr) == (release == nullptr),
                      "an allocator is two functions: ",
                      allocate == nullptr ? "allocate" : "release", " is NULL");
    static BorrowedAllocator* allocator = new BorrowedAllocator;
    if (allocate != nullptr) allocator->borrow(allocate, release);
    set_allocator(DeviceType::CPU, allocate == nullptr ? nullptr : allocator);
    return 1;
  });
}

opgen_value* opgen_operators(void) {
  return guarded([] {
    std::vector<IValue> names;
    for (const OperatorHandle& op : Dispatcher::singleton().operators())
      names.emplace_back(op.full_name());
    return give(IValue(std::move(names)));
  });
}
opgen_value* opgen_operator_schema(const char* name) {
  return guarded([&] { return give(IValue(find(name).schema().str())); });
}
opgen_value* opgen_parse_schema(const char* text, size_t size) {
  return guarded([&] {
    FunctionSchema schema = parse_schema(std::string_view(there(text, "the text", size), size));
    std::vector<IValue> parts{schema.str(), schema.name, schema.overload_name,
                              parts_of(schema.arguments), parts_of(schema.returns)};
    return give(IValue(std::move(parts)));
  });
}
opgen_value* opgen_operator_registrations(const char* name) {
  return guarded([&] { return give(IValue(find(name).dump_registrations())); });
}
opgen_value* opgen_operator_table(const char* name) {
  return guarded([&] { return give(IValue(find(name).dump_computed_table())); });
}
opgen_value* opgen_stubs(void) {
  return guarded([] {
    std::vector<IValue> rows;
    for (const StubReport& stub : opgen_stub_report()) {
      std::vector<IValue> row{stub.library, stub.op, stub.key, stub.signature};
      rows.emplace_back(std::move(row));
    }
    return give(IValue(std::move(rows)));
  });
}
