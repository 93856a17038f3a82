// autocast.cpp: scopes, the cache of converted weights, boxed wrappers and the default lists.
#include "opgen/transforms/autocast.h"

#include <unordered_map>

#include "autograd/tensors_of.h"
#include "core/thread_value.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/autograd/primitives.h"
#include "opgen/schema/function_schema.h"
#include "opgen/transforms/weak_tensor.h"

namespace opgen::autocast {

namespace {

struct CachedCast {
  WeakTensor weight;
  std::int64_t version;
  bool recorded;  // converted while gradients were recorded
  TensorBase converted;
};

struct ThreadState {
  int depth = 0;  // number of nested scopes
  bool cache_enabled = true;
  ScalarType dtypes[kMaxDeviceTypes] = {};  // Undefined means the default
  std::unordered_map<const TensorImpl*, CachedCast> cache;

  ThreadState() {
    for (ScalarType& dtype : dtypes) dtype = ScalarType::Undefined;
  }
};

ThreadState& state() {
  static ThreadValue<ThreadState>& states = *new ThreadValue<ThreadState>;
  return states.get();
}

ScalarType& dtype_slot(DeviceType device) {
  return state().dtypes[static_cast<int>(device)];
}

}  // namespace

// ---- The scope ---------------------------------------------------------------------------------

DispatchKey key_of(DeviceType device) {
  switch (device) {
    case DeviceType::CPU:
      return DispatchKey::AutocastCPU;
    case DeviceType::CUDA:
      return DispatchKey::AutocastCUDA;
    case DeviceType::XPU:
      return DispatchKey::AutocastXPU;
    default:
      OPGEN_CHECK(false, "no autocast key exists for device ", Device(device));
      __builtin_unreachable();
  }
}

Mode::Mode(DeviceType device, ScalarType dtype, bool enabled, bool cache_enabled)
    : keys_(enabled ? DispatchKeySet(key_of(device)) : DispatchKeySet(),
            enabled ? DispatchKeySet() : DispatchKeySet(key_of(device))),
      device_(device),
      dtype_(dtype_slot(device)),
      cache_enabled_(state().cache_enabled) {
  OPGEN_CHECK(dtype == ScalarType::Undefined || dtype == kHalf || dtype == kBFloat16,
              "autocast converts to Half or BFloat16, not to ", dtype);
  if (enabled) {
    detail::local_keys.kept |=
        DispatchKeySet(key_of(device)).raw_repr();  // ends the exclusion by a wrapper
    dtype_slot(device) = dtype;
  }
  state().cache_enabled = cache_enabled;
  ++state().depth;
}

Mode::~Mode() {
  dtype_slot(device_) = dtype_;
  state().cache_enabled = cache_enabled_;
  if (--state().depth == 0) clear_cache();
}

bool is_enabled(DeviceType device) {
  return (tls_included_keys() - tls_excluded_keys()).has(key_of(device));
}

ScalarType lower_precision_dtype(DeviceType device) {
  ScalarType dtype = dtype_slot(device);
  if (dtype != ScalarType::Undefined) return dtype;
  return device == DeviceType::CPU ? kBFloat16 : kHalf;
}

void clear_cache() noexcept {
  state().cache.clear();
}
std::size_t cache_size() noexcept {
  return state().cache.size();
}

// ---- Casts -------------------------------------------------------------------------------------

bool is_eligible(const TensorBase& tensor, DeviceType device) {
  return tensor.defined() && tensor.is_floating_point() && tensor.scalar_type() != kDouble &&
         tensor.device().type() == device;
}

TensorBase internal::cached_cast(ScalarType to, const TensorBase& tensor, DeviceType device) {
  if (!is_eligible(tensor, device) || tensor.scalar_type() == to) return tensor;
  bool is_weight = tensor.scalar_type() == kFloat && autograd::requires_grad(tensor) &&
                   autograd::is_leaf(tensor) && !is_view(tensor) && !tensor.is_inference();
  bool caches = is_weight && to == lower_precision_dtype(device) && state().cache_enabled &&
                state().depth > 0;
  if (!caches) return primitive::cast(tensor, to);
  auto& cache = state().cache;
  auto it = cache.find(tensor.unsafeGetTensorImpl());
  if (it != cache.end()) {
    const CachedCast& known = it->second;
    if (known.weight.refers_to(tensor) && known.version == tensor._version() &&
        known.recorded == GradMode::is_enabled() && known.converted.scalar_type() == to) {
      return known.converted;
    }
  }
  TensorBase converted = primitive::cast(tensor, to);
  cache.insert_or_assign(
      tensor.unsafeGetTensorImpl(),
      CachedCast{WeakTensor(tensor), tensor._version(), GradMode::is_enabled(), converted});
  return converted;
}

ScalarType internal::promote_type(ScalarType current, DeviceType device, const TensorBase& tensor) {
  OPGEN_CHECK(current != kDouble, "autocast does not promote from Double");
  if (!is_eligible(tensor, device)) return current;
  ScalarType next = tensor.scalar_type();
  return current == next ? current : kFloat;  // the common dtype of Half and BFloat16
}

// ---- Boxed wrappers ----------------------------------------------------------------------------

namespace {

DeviceType device_of(DispatchKeySet keys) {
  for (DeviceType device : {DeviceType::CUDA, DeviceType::XPU}) {
    if (keys.highest_functionality() == key_of(device)) return device;
  }
  return DeviceType::CPU;
}

void promote_value(ScalarType& current, DeviceType device, const IValue& value) {
  detail::for_each_tensor(value, [&](const TensorBase& tensor) {
    current = internal::promote_type(current, device, tensor);
  });
}
IValue cast_value(ScalarType to, DeviceType device, const IValue& value) {
  return detail::map_tensors(
      value, [&](const TensorBase& tensor) { return internal::cached_cast(to, tensor, device); });
}

template <Policy policy>
void wrapper_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  DeviceType device = device_of(keys);
  const FunctionSchema& schema = op.schema();
  IValue* arguments = stack.data() + (stack.size() - schema.arguments.size());
  auto is_written = [&](std::size_t i) { return schema.arguments[i].is_written(); };
  ScalarType to = policy == Policy::Fp32 ? kFloat : lower_precision_dtype(device);
  for (std::size_t i = 0; policy == Policy::Promote && i < schema.arguments.size(); ++i) {
    if (!is_written(i)) promote_value(to, device, arguments[i]);
  }
  ExcludeDispatchKeyGuard no_autocast{DispatchKeySet(key_of(device))};
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    if (!is_written(i)) arguments[i] = cast_value(to, device, arguments[i]);
  }
  op.call_boxed(stack);
}

// The operators that PyTorch documents for the CPU.
constexpr const char* kLowerPrecision[] = {
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "bmm",    "mm",     "addmm",  "addbmm",           "baddbmm",          "linear",
    "matmul"};
constexpr const char* kFp32[] = {"avg_pool3d",
                                 "binary_cross_entropy",
                                 "grid_sampler",
                                 "polar",
                                 "prod",
                                 "quantile",
                                 "nanquantile",
                                 "stft",
                                 "cdist",
                                 "trace",
                                 "view_as_complex",
                                 "cholesky",
                                 "inverse",
                                 "mse_loss",
                                 "cosine_embedding_loss",
                                 "nll_loss",
                                 "smooth_l1_loss",
                                 "l1_loss",
                                 "huber_loss"};
constexpr const char* kPromote[] = {"stack", "cat", "index_copy"};

}  // namespace

CppFunction lower_precision() {
  return CppFunction::makeFromBoxedFunction(&wrapper_kernel<Policy::LowerPrecision>);
}
CppFunction fp32() {
  return CppFunction::makeFromBoxedFunction(&wrapper_kernel<Policy::Fp32>);
}
CppFunction promote() {
  return CppFunction::makeFromBoxedFunction(&wrapper_kernel<Policy::Promote>);
}

ArrayRef<const char*> eligible_operators(Policy policy) {
  switch (policy) {
    case Policy::LowerPrecision:
      return ArrayRef<const char*>(kLowerPrecision);
    case Policy::Fp32:
      return ArrayRef<const char*>(kFp32);
    case Policy::Promote:
      break;
  }
  return ArrayRef<const char*>(kPromote);
}

std::vector<RegistrationHandle> register_defaults(std::string_view ns, DeviceType device) {
  std::vector<RegistrationHandle> handles;
  const std::pair<Policy, CppFunction> policies[] = {{Policy::LowerPrecision, lower_precision()},
                                                     {Policy::Fp32, fp32()},
                                                     {Policy::Promote, promote()}};
  for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
    for (const auto& [policy, wrapper] : policies) {
      for (const char* root : eligible_operators(policy)) {
        if (op.name() != std::string(ns) + "::" + root) continue;
        bool writes = false;
        for (const SchemaArgument& argument : op.schema().arguments) {
          writes |= argument.is_written();
        }
        if (writes || op.has_kernel_for(key_of(device))) continue;
        handles.push_back(Dispatcher::singleton().register_kernel(
            op.name(), op.overload_name(), key_of(device), wrapper.kernel(), "autocast defaults"));
      }
    }
  }
  return handles;
}

}  // namespace opgen::autocast
