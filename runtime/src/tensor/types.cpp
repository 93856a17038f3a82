// types.cpp: out-of-line parts of Scalar, Device, DispatchKey, TensorOptions and Generator.
#include <atomic>

#include "opgen/core/dispatch_key_set.h"
#include "opgen/core/scalar.h"
#include "opgen/device/blocking.h"
#include "opgen/device/generator.h"
#include "opgen/tensor/tensor_options.h"

namespace opgen {

void append_message(Message& message, const Scalar& value) {
  if (value.isBoolean()) {
    message.append(value.toBool() ? "true" : "false");
  } else if (value.isIntegral(false)) {
    message.append_integer(value.toLong());
  } else if (value.isFloatingPoint()) {
    message.append_double(value.toDouble());
  } else {
    complex<double> z = value.toComplexDouble();
    message.append("(");
    message.append_double(z.real());
    message.append(z.imag() < 0 ? "" : "+");
    message.append_double(z.imag());
    message.append("j)");
  }
}

namespace detail {
void throw_scalar_overflow(ScalarType target) {
  OPGEN_CHECK(false, "the number cannot be converted to ", target, " without overflow");
  __builtin_unreachable();
}
}  // namespace detail

Device::Device(std::string_view text) {
  std::string_view name = text.substr(0, text.find(':'));
  bool known = false;
#define OPGEN_MATCH(type, spelling, number) \
  if (name == spelling) {                   \
    type_ = DeviceType::type;               \
    known = true;                           \
  }
  OPGEN_FORALL_DEVICE_TYPES(OPGEN_MATCH)
#undef OPGEN_MATCH
  OPGEN_CHECK_VALUE(known, "unknown device type in '", text, "'");
  if (name.size() == text.size()) return;
  std::string_view digits = text.substr(name.size() + 1);
  int index = 0;
  for (char c : digits) {
    OPGEN_CHECK_VALUE(c >= '0' && c <= '9', "bad device index in '", text, "'");
    index = index * 10 + (c - '0');
    OPGEN_CHECK_VALUE(index <= 127, "device index too large in '", text, "'");
  }
  OPGEN_CHECK_VALUE(!digits.empty() && (digits.size() == 1 || digits[0] != '0'),
                    "bad device index in '", text, "'");
  index_ = static_cast<DeviceIndex>(index);
}

void append_message(Message& message, Device device) {
  message.append(toString(device.type()));
  if (!device.has_index()) return;
  message.append(":");
  message.append_integer(device.index());
}

namespace {

constexpr const char* kKeyNames[] = {
    "Undefined",
#define OPGEN_SINGLE(name) #name,
#define OPGEN_PRODUCT(name, prefix) #name,
    OPGEN_FORALL_FUNCTIONALITIES(OPGEN_SINGLE, OPGEN_PRODUCT)
#undef OPGEN_SINGLE
#undef OPGEN_PRODUCT
        "EndOfFunctionalities",
#define OPGEN_PRODUCT_KEYS(prefix)                                                                 \
  prefix "CPU", prefix "CUDA", prefix "HIP", prefix "XLA", prefix "MPS", prefix "IPU",             \
      prefix "XPU", prefix "HPU", prefix "VE", prefix "Lazy", prefix "MTIA", prefix "PrivateUse1", \
      prefix "PrivateUse2", prefix "PrivateUse3", prefix "Meta",
    OPGEN_PRODUCT_KEYS("") OPGEN_PRODUCT_KEYS("Quantized") OPGEN_PRODUCT_KEYS("Sparse")
        OPGEN_PRODUCT_KEYS("SparseCsr") OPGEN_PRODUCT_KEYS("NestedTensor")
            OPGEN_PRODUCT_KEYS("Autograd")
#undef OPGEN_PRODUCT_KEYS
                "EndOfRuntimeKeys",
#define OPGEN_NAME(name) #name,
    OPGEN_FORALL_ALIAS_KEYS(OPGEN_NAME)
#undef OPGEN_NAME
};
static_assert(sizeof(kKeyNames) / sizeof(kKeyNames[0]) == int(DispatchKey::EndOfKeys));

constexpr const char* kBackendNames[] = {
#define OPGEN_NAME(name) #name,
    OPGEN_FORALL_BACKENDS(OPGEN_NAME)
#undef OPGEN_NAME
};

}  // namespace

const char* toString(DispatchKey key) noexcept {
  return key < DispatchKey::EndOfKeys ? kKeyNames[static_cast<int>(key)] : "Unknown";
}
const char* toString(BackendComponent backend) noexcept {
  return kBackendNames[static_cast<int>(backend)];
}

std::optional<DispatchKey> find_dispatch_key(std::string_view name) noexcept {
  if (name == "CatchAll") return DispatchKey::CatchAll;
  if (name == "Autocast") return DispatchKey::Autocast;
  for (int i = 0; i < static_cast<int>(DispatchKey::EndOfKeys); ++i) {
    DispatchKey key = static_cast<DispatchKey>(i);
    if (key == DispatchKey::EndOfFunctionalities || key == DispatchKey::EndOfRuntimeKeys) continue;
    if (name == kKeyNames[i]) return key;
  }
  return std::nullopt;
}

void append_message(Message& message, DispatchKeySet keys) {
  message.append("{");
  const char* separator = "";
  auto add = [&](const char* name) {
    message.append(separator);
    message.append(name);
    separator = ", ";
  };
  for (int f = detail::kNumFunctionalities - 1; f > 0; --f) {
    DispatchKey functionality = static_cast<DispatchKey>(f);
    if (!keys.has(functionality)) continue;
    bool product = detail::per_backend_index(functionality) >= 0;
    bool named = false;
    for (int b = kNumBackends - 1; product && b >= 0; --b) {
      BackendComponent backend = static_cast<BackendComponent>(b);
      if (!keys.has_backend(backend)) continue;
      add(toString(backend_key(functionality, backend)));
      named = true;
    }
    if (!named) add(toString(functionality));
  }
  message.append("}");
}

BackendComponent backend_of_device(DeviceType type) noexcept {
  switch (type) {
    case DeviceType::CPU:
      return BackendComponent::CPU;
    case DeviceType::CUDA:
      return BackendComponent::CUDA;
    case DeviceType::HIP:
      return BackendComponent::HIP;
    case DeviceType::XLA:
      return BackendComponent::XLA;
    case DeviceType::XPU:
      return BackendComponent::XPU;
    case DeviceType::MPS:
      return BackendComponent::MPS;
    case DeviceType::Meta:
      return BackendComponent::Meta;
    case DeviceType::HPU:
      return BackendComponent::HPU;
    case DeviceType::VE:
      return BackendComponent::VE;
    case DeviceType::Lazy:
      return BackendComponent::Lazy;
    case DeviceType::IPU:
      return BackendComponent::IPU;
    case DeviceType::MTIA:
      return BackendComponent::MTIA;
    case DeviceType::PrivateUse1:
      return BackendComponent::PrivateUse1;
  }
  return BackendComponent::CPU;
}

DispatchKey compute_dispatch_key(std::optional<ScalarType>, std::optional<Layout> layout,
                                 std::optional<Device> device) {
  DeviceType type = device.value_or(Device(kCPU)).type();
  BackendComponent backend = backend_of_device(type);
  switch (layout.value_or(kStrided)) {
    case Layout::Strided:
      return backend_key(DispatchKey::Dense, backend);
    case Layout::Sparse:
      return backend_key(DispatchKey::Sparse, backend);
    case Layout::SparseCsr:
    case Layout::SparseCsc:
    case Layout::SparseBsr:
    case Layout::SparseBsc:
      return backend_key(DispatchKey::SparseCsr, backend);
    case Layout::Jagged:
      return backend_key(DispatchKey::NestedTensor, backend);
    case Layout::Mkldnn:
      OPGEN_CHECK(type == kCPU, "layout Mkldnn is for cpu, not for ", type);
      return DispatchKey::MkldnnCPU;
  }
  return backend_key(DispatchKey::Dense, backend);
}

namespace detail {

void throw_requires_grad() {
  OPGEN_CHECK(false, "a factory operator does not take requires_grad=true");
  __builtin_unreachable();
}
void throw_format_twice() {
  OPGEN_CHECK(false, "memory_format is given both in TensorOptions and as an argument");
  __builtin_unreachable();
}

}  // namespace detail

GeneratorImpl::~GeneratorImpl() = default;
void GeneratorImpl::destroy(GeneratorImpl* impl) noexcept {
  delete impl;
}
void GeneratorImpl::lock() noexcept {
  std::atomic_ref<bool> locked(locked_);
  while (locked.exchange(true, std::memory_order_acquire)) {
    const BlockingScope blocking;
    locked.wait(true, std::memory_order_relaxed);
  }
}
void GeneratorImpl::unlock() noexcept {
  std::atomic_ref<bool> locked(locked_);
  locked.store(false, std::memory_order_release);
  locked.notify_one();
}

namespace {

void* hold_nothing() noexcept {
  return nullptr;
}
void take_nothing_back(void*) noexcept {}

// Set once, by the Python module.
std::atomic<void* (*)() noexcept> let_go{&hold_nothing};
std::atomic<void (*)(void*) noexcept> take_back{&take_nothing_back};

}  // namespace

void set_blocking_hooks(void* (*before)() noexcept, void (*after)(void*) noexcept) noexcept {
  take_back.store(after);
  let_go.store(before);
}

BlockingScope::BlockingScope() noexcept : held_(let_go.load()()) {}
BlockingScope::~BlockingScope() {
  if (held_ != nullptr) take_back.load()(held_);
}

}  // namespace opgen
