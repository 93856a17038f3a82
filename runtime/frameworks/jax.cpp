// jax.cpp: the functions that XLA calls for the operators of a package, all of them for every
// operator. package/jax/_calls.py writes the attributes that they read.
//
// The attribute "operator" is the operator's full name; "plan" has a letter for each argument of
// its schema:
//
//   t     the next buffer                     [..]  a list of t and n
//   n     None                                d     the default
//   a     the next attribute                  c     the next attribute, the two parts of a complex
//   e     an empty list                       b     the next attribute, bools as integers
//   w     the next buffer, which the operator writes
//   o     the next result, which the operator writes
//
// All other attributes are values of arguments, whose names sort before these and in their order.
#include <xla/ffi/api/c_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "operator_call.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/grad_mode.h"
#include "opgen/core/error.h"
#include "opgen/core/local_keys.h"
#include "opgen/tensor/copy.h"

namespace opgen::frameworks {

namespace {

constexpr std::pair<XLA_FFI_DataType, ScalarType> kDtypes[] = {
    {XLA_FFI_DataType_F32, kFloat},        {XLA_FFI_DataType_F64, kDouble},
    {XLA_FFI_DataType_S32, kInt},          {XLA_FFI_DataType_S64, kLong},
    {XLA_FFI_DataType_PRED, kBool},        {XLA_FFI_DataType_U8, kByte},
    {XLA_FFI_DataType_S8, kChar},          {XLA_FFI_DataType_S16, kShort},
    {XLA_FFI_DataType_F16, kHalf},         {XLA_FFI_DataType_BF16, kBFloat16},
    {XLA_FFI_DataType_C64, kComplexFloat}, {XLA_FFI_DataType_C128, kComplexDouble},
};

ScalarType dtype_of(XLA_FFI_DataType type) {
  for (const auto& [theirs, ours] : kDtypes) {
    if (theirs == type) return ours;
  }
  OPGEN_CHECK_TYPE(false, "the runtime has no dtype for XLA's type ", static_cast<int>(type));
}

bool has_gradient(ScalarType type) {
  return isFloatingType(type) || isComplexType(type);
}

TensorBase tensor_of(const void* buffer) {
  const auto& one = *static_cast<const XLA_FFI_Buffer*>(buffer);
  return borrow(one.data, IntArrayRef(one.dims, static_cast<std::size_t>(one.rank)),
                dtype_of(one.dtype));
}

template <class T, class Element = T>
IValue list_of(const XLA_FFI_Array& array) {
  const T* first = static_cast<const T*>(array.data);
  std::vector<IValue> list;
  for (std::size_t i = 0; i < array.size; ++i) list.emplace_back(static_cast<Element>(first[i]));
  return IValue(std::move(list));
}

// Reads one call: its attributes, its buffers and its results, each of them in turn.
class Frame {
 public:
  explicit Frame(const XLA_FFI_CallFrame& frame) : frame_(frame) {
    plan_ = text("plan");
    fresh_ = frame.rets.size - std::count(plan_.begin(), plan_.end(), 'w');
  }

  [[nodiscard]] std::string_view operator_name() const { return text("operator"); }

  [[nodiscard]] TensorBase next_buffer() { return tensor_of(next_argument()); }
  [[nodiscard]] std::vector<TensorBase> buffers_left() {
    std::vector<TensorBase> left;
    while (buffers_ < frame_.args.size) left.push_back(next_buffer());
    return left;
  }
  [[nodiscard]] TensorBase next_result() {
    OPGEN_CHECK_VALUE(results_ < frame_.rets.size, "JAX has passed too few results");
    return tensor_of(frame_.rets.rets[results_++]);
  }
  // Throws ValueError unless all results are filled.
  void finish(const FunctionSchema& schema) const {
    OPGEN_CHECK_VALUE(results_ == fresh_, schema.full_name(), ": the kernel returns ", results_,
                      " tensors, and its Meta kernel ", fresh_);
  }

  // Adds all arguments. `input` makes the value of each tensor that is only read.
  template <class F>
  void add_arguments(OperatorCall& call, F&& input) {
    std::int64_t written = fresh_;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      switch (plan_[i]) {
        case 't':
          call.add(IValue(input(next_buffer())));
          break;
        case 'n':
          call.add(IValue());
          break;
        case 'd':
          call.add_default();
          break;
        case 'e':
          call.add(IValue(std::vector<IValue>()));
          break;
        case 'a':
        case 'b':
        case 'c':
          call.add(attribute(plan_[i]));
          break;
        case 'o':
          call.add_written(next_result());
          break;
        case 'w':
          call.add_written(written_buffer(written++));
          break;
        case '[': {
          std::vector<IValue> list;
          for (++i; i < plan_.size() && plan_[i] != ']'; ++i) {
            list.push_back(plan_[i] == 't' ? IValue(input(next_buffer())) : IValue());
          }
          call.add(IValue(std::move(list)));
          break;
        }
        default:
          OPGEN_CHECK_VALUE(false, "the plan '", plan_, "' has an unknown letter");
      }
    }
  }

 private:
  // The operator writes to the result, which is the memory of the buffer if XLA could donate it.
  TensorBase written_buffer(std::int64_t index) {
    OPGEN_CHECK_VALUE(0 <= index && index < frame_.rets.size, "JAX has passed too few results");
    const void* from = next_argument();
    TensorBase to = tensor_of(frame_.rets.rets[index]);
    if (to.data_ptr() != static_cast<const XLA_FFI_Buffer*>(from)->data) copy_(to, tensor_of(from));
    return to;
  }

  const void* next_argument() {
    OPGEN_CHECK_VALUE(buffers_ < frame_.args.size, "JAX has passed too few buffers");
    return frame_.args.args[buffers_++];
  }

  IValue attribute(char letter) {
    OPGEN_CHECK_VALUE(attributes_ < frame_.attrs.size, "JAX has passed too few attributes");
    const XLA_FFI_AttrType type = frame_.attrs.types[attributes_];
    const void* value = frame_.attrs.attrs[attributes_++];
    if (type == XLA_FFI_AttrType_STRING) {
      const auto& span = *static_cast<const XLA_FFI_ByteSpan*>(value);
      return IValue(std::string_view(span.ptr, span.len));
    }
    if (type == XLA_FFI_AttrType_SCALAR) {
      const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(value);
      if (scalar.dtype == XLA_FFI_DataType_PRED) return IValue(*static_cast<bool*>(scalar.value));
      if (scalar.dtype == XLA_FFI_DataType_S64) {
        return IValue(*static_cast<std::int64_t*>(scalar.value));
      }
      if (scalar.dtype == XLA_FFI_DataType_F64) return IValue(*static_cast<double*>(scalar.value));
    }
    if (type == XLA_FFI_AttrType_ARRAY) {
      const auto& array = *static_cast<const XLA_FFI_Array*>(value);
      if (letter == 'c' && array.dtype == XLA_FFI_DataType_F64 && array.size == 2) {
        const double* parts = static_cast<const double*>(array.data);
        return IValue(complex<double>(parts[0], parts[1]));
      }
      if (array.dtype == XLA_FFI_DataType_F64) return list_of<double>(array);
      if (array.dtype == XLA_FFI_DataType_S64) {
        return letter == 'b' ? list_of<std::int64_t, bool>(array) : list_of<std::int64_t>(array);
      }
    }
    OPGEN_CHECK_TYPE(false, "an attribute has a type that no argument has");
  }

  [[nodiscard]] std::string_view text(std::string_view name) const {
    for (std::int64_t i = frame_.attrs.size; i-- > 0;) {
      const XLA_FFI_ByteSpan& found = *frame_.attrs.names[i];
      if (std::string_view(found.ptr, found.len) != name) continue;
      if (frame_.attrs.types[i] != XLA_FFI_AttrType_STRING) break;
      const auto& value = *static_cast<const XLA_FFI_ByteSpan*>(frame_.attrs.attrs[i]);
      return {value.ptr, value.len};
    }
    OPGEN_CHECK_VALUE(false, "the attribute '", name, "' is missing, or no text");
  }

  const XLA_FFI_CallFrame& frame_;
  std::string_view plan_;
  // The number of results that are no arguments.
  std::int64_t fresh_ = 0;
  std::int64_t buffers_ = 0, results_ = 0, attributes_ = 0;
};

struct Operator {
  explicit Operator(std::string_view name) : op(find_operator(name)), schema(&op.schema()) {}
  OperatorHandle op;
  const FunctionSchema* schema;
};

// Finds an operator without the dispatcher's lock, if this thread has called it lately. Operators
// are not unloaded while Python has imported their package.
OperatorCall begin(std::string_view name) {
  struct Found {
    std::string name;
    std::optional<Operator> op;
  };
  thread_local std::array<Found, 32> recent;
  Found& found = recent[(reinterpret_cast<std::uintptr_t>(name.data()) >> 4) % recent.size()];
  if (!found.op || found.name != name) found = {std::string(name), Operator(name)};
  return OperatorCall(found.op->op, *found.op->schema);
}

void call(Frame& frame) {
  const AutoDispatchBelowADInplaceOrView untracked;
  OperatorCall call = begin(frame.operator_name());
  frame.add_arguments(call, [](TensorBase tensor) { return tensor; });
  for (const TensorBase& result : call.run()) deliver(result, frame.next_result(), call.schema());
  frame.finish(call.schema());
}

// XLA may call on a thread of Python's, which may be in no_grad() or inference_mode().
struct Recording {
  const InferenceMode outside{false};
  const AutoGradMode on{true};
};

// Adds the arguments, and returns those that can have gradients.
std::vector<TensorBase> add_inputs(Frame& frame, OperatorCall& call, bool is_recorded) {
  std::vector<TensorBase> inputs;
  frame.add_arguments(call, [&](TensorBase tensor) {
    if (!has_gradient(tensor.scalar_type())) return tensor;
    if (is_recorded) autograd::set_requires_grad(tensor, true);
    return inputs.emplace_back(std::move(tensor));
  });
  return inputs;
}

// Calls the operator, and returns the gradients of the inputs for the gradients of its results.
// With `again`, gradients of these can be computed.
autograd::Gradients gradients_of(OperatorCall& call, const std::vector<TensorBase>& inputs,
                                 ArrayRef<TensorBase> given, bool again) {
  std::vector<TensorBase> outputs;
  autograd::Gradients wanted;
  std::size_t next = 0;
  for (TensorBase& result : call.run()) {
    if (!has_gradient(result.scalar_type())) continue;
    OPGEN_CHECK_VALUE(next < given.size(), "JAX has passed too few buffers");
    const TensorBase& gradient = given[next++];
    if (!autograd::requires_grad(result)) continue;
    outputs.push_back(std::move(result));
    wanted.push_back(gradient);
  }
  if (outputs.empty()) return autograd::Gradients(inputs.size());
  return autograd::grad(outputs, inputs, wanted, again, again, true);
}

void deliver_all(ArrayRef<TensorBase> found, Frame& frame, const FunctionSchema& schema) {
  for (const TensorBase& one : found) {
    const TensorBase to = frame.next_result();
    if (one.defined()) {
      deliver(one, to, schema);
    } else {
      zero_(to);
    }
  }
  frame.finish(schema);
}

// Buffers: the arguments, then the gradient of each result that can have one. Results: the gradient
// of each argument that can have one.
void gradient(Frame& frame) {
  const Recording recording;
  OperatorCall call = begin(frame.operator_name());
  const std::vector<TensorBase> inputs = add_inputs(frame, call, true);
  const std::vector<TensorBase> given = frame.buffers_left();
  deliver_all(gradients_of(call, inputs, given, false), frame, call.schema());
}

// Buffers: those of gradient(), then the gradient of each of its results. Results: the gradients of
// the arguments, and of the gradients of the operator's results.
void second_gradient(Frame& frame) {
  const Recording recording;
  OperatorCall call = begin(frame.operator_name());
  std::vector<TensorBase> inputs = add_inputs(frame, call, true);
  const std::vector<TensorBase> left = frame.buffers_left();
  OPGEN_CHECK_VALUE(left.size() >= inputs.size(), "JAX has passed too few buffers");
  const std::size_t count = left.size() - inputs.size();
  for (std::size_t i = 0; i < count; ++i) autograd::set_requires_grad(left[i], true);
  autograd::Gradients found =
      gradients_of(call, inputs, ArrayRef<TensorBase>(left.data(), count), true);
  std::vector<TensorBase> outputs;
  autograd::Gradients given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!found[i].defined() || !autograd::requires_grad(found[i])) continue;
    outputs.push_back(std::move(found[i]));
    given.push_back(left[count + i]);
  }
  inputs.insert(inputs.end(), left.data(), left.data() + count);
  autograd::Gradients second(inputs.size());
  if (!outputs.empty()) second = autograd::grad(outputs, inputs, given, false, false, true);
  deliver_all(second, frame, call.schema());
}

// Buffers: the arguments, then the tangent of each argument that can have one. Results: the tangent
// of each result that can have one.
void tangent(Frame& frame) {
  const Recording recording;
  const autograd::ForwardLevel level;
  OperatorCall call = begin(frame.operator_name());
  for (const TensorBase& input : add_inputs(frame, call, false)) {
    autograd::set_tangent(input, frame.next_buffer());
  }
  std::vector<TensorBase> found;
  for (const TensorBase& result : call.run()) {
    if (has_gradient(result.scalar_type())) found.push_back(autograd::tangent_of(result));
  }
  deliver_all(found, frame, call.schema());
}

// Buffers: those of gradient(), then the tangents of the arguments, and of the gradients of the
// operator's results. Results: the tangent of each result of gradient().
void second_tangent(Frame& frame) {
  const Recording recording;
  const autograd::ForwardLevel level;
  OperatorCall call = begin(frame.operator_name());
  const std::vector<TensorBase> inputs = add_inputs(frame, call, true);
  const std::vector<TensorBase> left = frame.buffers_left();
  OPGEN_CHECK_VALUE(left.size() >= inputs.size(), "JAX has passed too few buffers");
  const std::size_t count = (left.size() - inputs.size()) / 2, size = inputs.size();
  for (std::size_t i = 0; i < size; ++i) autograd::set_tangent(inputs[i], left[count + i]);
  for (std::size_t i = 0; i < count; ++i) autograd::set_tangent(left[i], left[count + size + i]);
  std::vector<TensorBase> found;
  for (const TensorBase& one :
       gradients_of(call, inputs, ArrayRef<TensorBase>(left.data(), count), false)) {
    found.push_back(one.defined() ? autograd::tangent_of(one) : TensorBase());
  }
  deliver_all(found, frame, call.schema());
}

XLA_FFI_Error* failure(const XLA_FFI_Api* api, XLA_FFI_Error_Code code, const char* text) {
  XLA_FFI_Error_Create_Args args{};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = text;
  args.errc = code;
  return api->XLA_FFI_Error_Create(&args);
}

// XLA asks for the version of the headers, and later calls the operator. No exception leaves it.
XLA_FFI_Error* handle(XLA_FFI_CallFrame* frame, void (*execute)(Frame&)) noexcept {
  const auto* extension = frame->extension_start;  // its type has another name since 0.12
  if (extension != nullptr && extension->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata* metadata =
        reinterpret_cast<const XLA_FFI_Metadata_Extension*>(extension)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    // All that the handlers use is there since 0.1, so that older jaxlibs load them, too.
    metadata->api_version.minor_version = 1;
    metadata->traits = 0;
    return nullptr;
  }
  try {
    Frame call(*frame);
    execute(call);
    return nullptr;
  } catch (const OutOfMemoryError& error) {
    return failure(frame->api, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, error.what());
  } catch (const NotImplementedError& error) {
    const char* text = error.what();
    // Where a forward formula is missing, the runtime advises a function of its own package.
    constexpr std::string_view own = "unpack_dual(argument).primal";
    char ours[2048];
    if (const char* at = std::strstr(text, own.data())) {
      std::snprintf(ours, sizeof ours, "%.*sjax.lax.stop_gradient(argument)%s",
                    static_cast<int>(at - text), text, at + own.size());
      text = ours;
    }
    return failure(frame->api, XLA_FFI_Error_Code_UNIMPLEMENTED, text);
  } catch (const Error& error) {
    return failure(frame->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, error.what());
  } catch (const std::exception& error) {
    return failure(frame->api, XLA_FFI_Error_Code_INTERNAL, error.what());
  } catch (...) {
    return failure(frame->api, XLA_FFI_Error_Code_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace
}  // namespace opgen::frameworks

#define OPGEN_JAX_HANDLER(NAME)                                        \
  extern "C" __attribute__((visibility("default")))                    \
  XLA_FFI_Error* opgen_jax_##NAME(XLA_FFI_CallFrame* frame) {          \
    return opgen::frameworks::handle(frame, &opgen::frameworks::NAME); \
  }
OPGEN_JAX_HANDLER(call)
OPGEN_JAX_HANDLER(gradient)
OPGEN_JAX_HANDLER(tangent)
OPGEN_JAX_HANDLER(second_gradient)
OPGEN_JAX_HANDLER(second_tangent)
