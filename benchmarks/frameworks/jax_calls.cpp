// jax_calls.cpp: calls handlers of XLA as XLA does, with a call frame, for the operators of
// examples/everywhere: opgen's, and functions bound by hand with XLA's typed bindings. Those named
// call_... call the same kernels, those named loop_... contain a loop over float arrays of one
// shape. valgrind counts the instructions of the calls.
//
//   jax_calls libopgen_jax.so
#include <dlfcn.h>
#include <everywhere/ops/blend.h>
#include <everywhere/ops/momentum_step_.h>
#include <opgen/tensor_functions.h>
#include <valgrind/callgrind.h>
#include <xla/ffi/api/ffi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace ffi = xla::ffi;
using Buffer = ffi::Buffer<ffi::F32>;
using Result = ffi::ResultBuffer<ffi::F32>;

namespace {

template <class B>
opgen::Tensor wrap(B&& buffer) {
  const auto sizes = buffer.dimensions();
  const opgen::DimVector strides(1, 1);
  return opgen::from_blob(buffer.typed_data(), {sizes.begin(), sizes.size()}, strides,
                          opgen::kFloat);
}

ffi::Error call_blend(double weight, Buffer self, Buffer other, Result out) {
  opgen::Tensor result = wrap(*out);
  everywhere::blend_out(result, wrap(self), wrap(other), weight);
  return ffi::Error::Success();
}
ffi::Error call_momentum_step(double lr, double momentum, Buffer, Buffer, Buffer grad, Result p,
                              Result v) {
  opgen::Tensor parameter = wrap(*p), velocity = wrap(*v);
  everywhere::momentum_step_(parameter, velocity, wrap(grad), lr, momentum);
  return ffi::Error::Success();
}
ffi::Error loop_blend(double weight, Buffer self, Buffer other, Result out) {
  const float *a = self.typed_data(), *b = other.typed_data();
  float* to = out->typed_data();
  const std::size_t size = self.element_count();
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<float>((1 - weight) * a[i] + weight * b[i]);
  }
  return ffi::Error::Success();
}
ffi::Error loop_momentum_step(double lr, double momentum, Buffer, Buffer, Buffer grad, Result p,
                              Result v) {
  const float* g = grad.typed_data();
  float *parameter = p->typed_data(), *velocity = v->typed_data();
  const std::size_t size = grad.element_count();
  for (std::size_t i = 0; i < size; ++i) {
    velocity[i] = static_cast<float>(momentum) * velocity[i] + g[i];
    parameter[i] -= static_cast<float>(lr) * velocity[i];
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER(
    CallBlend, call_blend,
    ffi::Ffi::Bind().Attr<double>("a0000").Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(
    LoopBlend, loop_blend,
    ffi::Ffi::Bind().Attr<double>("a0000").Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
#define STEP                 \
  ffi::Ffi::Bind()           \
      .Attr<double>("a0000") \
      .Attr<double>("a0001") \
      .Arg<Buffer>()         \
      .Arg<Buffer>()         \
      .Arg<Buffer>()         \
      .Ret<Buffer>()         \
      .Ret<Buffer>()
XLA_FFI_DEFINE_HANDLER(CallStep, call_momentum_step, STEP);
XLA_FFI_DEFINE_HANDLER(LoopStep, loop_momentum_step, STEP);

XLA_FFI_Error* print_error(XLA_FFI_Error_Create_Args* args) {
  std::fprintf(stderr, "%s\n", args->message);
  std::exit(1);
}

// The frame of one call; its memory is reused for each call.
class Frame {
 public:
  Frame(std::int64_t size, std::vector<std::vector<float>*> inputs,
        std::vector<std::vector<float>*> outputs, std::vector<double> numbers,
        std::vector<std::string> texts)
      : size_(size), numbers_(std::move(numbers)), texts_(std::move(texts)) {
    for (auto* one : inputs) add(*one, arguments_);
    for (auto* one : outputs) add(*one, results_);
    for (double& number : numbers_) {
      scalars_.push_back({XLA_FFI_DataType_F64, &number});
      names_.push_back(names_.empty() ? "a0000" : "a0001");
    }
    for (const std::string& text : texts_) spans_.push_back({text.data(), text.size()});
    if (!texts_.empty()) names_.insert(names_.end(), {"operator", "plan"});
    for (const char* name : names_) name_spans_.push_back({name, std::string_view(name).size()});
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool is_number = i < scalars_.size();
      types_.push_back(is_number ? XLA_FFI_AttrType_SCALAR : XLA_FFI_AttrType_STRING);
      values_.push_back(is_number ? static_cast<void*>(&scalars_[i])
                                  : &spans_[i - scalars_.size()]);
      name_pointers_.push_back(&name_spans_[i]);
    }
    pointers(arguments_, argument_pointers_);
    pointers(results_, result_pointers_);
    argument_types_.assign(arguments_.size(), XLA_FFI_ArgType_BUFFER);
    result_types_.assign(results_.size(), XLA_FFI_RetType_BUFFER);
    api_.struct_size = XLA_FFI_Api_STRUCT_SIZE;
    api_.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR,
                        XLA_FFI_API_MINOR};
    api_.XLA_FFI_Error_Create = &print_error;
    frame_.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
    frame_.api = &api_;
    frame_.stage = XLA_FFI_ExecutionStage_EXECUTE;
    frame_.args = {XLA_FFI_Args_STRUCT_SIZE, nullptr, static_cast<std::int64_t>(arguments_.size()),
                   argument_types_.data(), argument_pointers_.data()};
    frame_.rets = {XLA_FFI_Rets_STRUCT_SIZE, nullptr, static_cast<std::int64_t>(results_.size()),
                   result_types_.data(), result_pointers_.data()};
    frame_.attrs = {XLA_FFI_Attrs_STRUCT_SIZE,
                    nullptr,
                    static_cast<std::int64_t>(types_.size()),
                    types_.data(),
                    name_pointers_.data(),
                    values_.data()};
  }

  void call(XLA_FFI_Handler* handler) {
    if (handler(&frame_) != nullptr) std::exit(1);
  }

 private:
  void add(std::vector<float>& values, std::vector<XLA_FFI_Buffer>& buffers) {
    buffers.push_back(
        {XLA_FFI_Buffer_STRUCT_SIZE, nullptr, XLA_FFI_DataType_F32, values.data(), 1, &size_});
  }
  static void pointers(std::vector<XLA_FFI_Buffer>& buffers, std::vector<void*>& to) {
    for (XLA_FFI_Buffer& one : buffers) to.push_back(&one);
  }

  std::int64_t size_;
  std::vector<double> numbers_;
  std::vector<std::string> texts_;
  std::vector<XLA_FFI_Buffer> arguments_, results_;
  std::vector<XLA_FFI_Scalar> scalars_;
  std::vector<XLA_FFI_ByteSpan> spans_, name_spans_;
  std::vector<const char*> names_;
  std::vector<XLA_FFI_ByteSpan*> name_pointers_;
  std::vector<XLA_FFI_AttrType> types_;
  std::vector<void*> values_, argument_pointers_, result_pointers_;
  std::vector<XLA_FFI_ArgType> argument_types_;
  std::vector<XLA_FFI_RetType> result_types_;
  XLA_FFI_Api api_{};
  XLA_FFI_CallFrame frame_{};
};

void count(Frame& frame, XLA_FFI_Handler* handler, const std::string& name) {
  for (int calls : {2, 20, 40}) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < calls; ++i) frame.call(handler);
    const std::string text = name + " " + std::to_string(calls);
    CALLGRIND_DUMP_STATS_AT(text.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto* ours = reinterpret_cast<XLA_FFI_Handler*>(dlsym(library, "opgen_jax_call"));
  for (std::int64_t size : {1, 1000000}) {
    std::vector<float> a(static_cast<std::size_t>(size), 1.0F), b = a, c = a;
    const std::string sizes = std::to_string(size);
    Frame ours_blend(size, {&a, &b}, {&c}, {0.25}, {"everywhere::blend.out", "ttao"});
    Frame blend(size, {&a, &b}, {&c}, {0.25}, {});
    count(ours_blend, ours, sizes + " blend opgen");
    count(blend, CallBlend, sizes + " blend call");
    count(blend, LoopBlend, sizes + " blend loop");
    // XLA gives a donated array's memory to the argument and to the result.
    Frame ours_step(size, {&a, &b, &c}, {&a, &b}, {0.001, 0.9},
                    {"everywhere::momentum_step_", "wwtaa"});
    Frame step(size, {&a, &b, &c}, {&a, &b}, {0.001, 0.9}, {});
    count(ours_step, ours, sizes + " momentum_step_ opgen");
    count(step, CallStep, sizes + " momentum_step_ call");
    count(step, LoopStep, sizes + " momentum_step_ loop");
  }
  return 0;
}
