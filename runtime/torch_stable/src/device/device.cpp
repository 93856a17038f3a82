// device.cpp: devices, their guards, and generators of random numbers.
#include "opgen/device/device.h"

#include <string>

#include "shim.h"

#include "opgen/cpu/cpu_generator.h"
#include "opgen/device/device_guard.h"
#include "opgen/dispatch/call_operator.h"
#include "opgen/registration/backend_select.h"
#include "opgen/registration/registration_tables.h"
#include "opgen/symbolic/fake_tensor.h"
#include "opgen/tensor/empty.h"

namespace opgen {

Device::Device(std::string_view text) {
  std::uint32_t type = 0;
  std::int32_t index = -1;
  const std::string copy(text);
  OPGEN_SHIM(torch_parse_device_string, copy.c_str(), &type, &index);
  *this = Device(static_cast<DeviceType>(type), static_cast<DeviceIndex>(index));
}
void append_message(Message& message, Device device) {
  message.append(toString(device.type()));
  if (!device.has_index()) return;
  message.append(":");
  message.append_integer(device.index());
}

// The C functions guard devices of the accelerator that PyTorch was built for.
void OptionalDeviceGuard::enter(Device device) {
  if (!device.has_index()) return;
  if (guard_ == nullptr) {
    DeviceGuardHandle handle = nullptr;
    OPGEN_SHIM(aoti_torch_create_device_guard, device.index(), &handle);
    guard_ = handle;
  } else {
    OPGEN_SHIM(aoti_torch_device_guard_set_index, static_cast<DeviceGuardHandle>(guard_),
               device.index());
  }
}
void OptionalDeviceGuard::restore() noexcept {
  aoti_torch_delete_device_guard(static_cast<DeviceGuardHandle>(guard_));
}

void* detail::find_factory(const char* name, const char* overload, Device device) {
  const char* const key = device.is_cpu()    ? "CPU"
                          : device.is_cuda() ? "CUDA"
                          : device.is_meta() ? "Meta"
                                             : "PrivateUse1";
  const KernelRow* row = find_kernel(name, overload, key);
  OPGEN_CHECK_NOT_IMPLEMENTED(row != nullptr && (!device.is_meta() || makes_fakes()), name,
                              " has no kernel for device ", device);
  return row->function;
}

// ---- Random numbers ----

void GeneratorImpl::destroy(GeneratorImpl* impl) noexcept {
  static const auto free =
      shim::find_function<AOTITorchError(AtenGeneratorHandle)>("torch_delete_generator");
  if (free != nullptr) free(impl->handle_);
  delete impl;
}
Device GeneratorImpl::device() const {
  static const auto get =
      shim::find_function<AOTITorchError(AtenGeneratorHandle, std::int32_t*, std::int32_t*)>(
          "torch_generator_get_device");
  OPGEN_CHECK(get != nullptr, "a Generator argument needs PyTorch 2.13");
  std::int32_t type = 0;
  std::int32_t index = -1;
  shim::check(get(handle_, &type, &index), "torch_generator_get_device");
  return {static_cast<DeviceType>(type), static_cast<DeviceIndex>(index)};
}

void CPUGeneratorImpl::reset(const std::optional<Generator>& generator) {
  generator_ = generator;
  next_ = kWords;
}
void CPUGeneratorImpl::refill() {
  // random_ fills 63 bits of each element; the lower 32 are a word.
  const std::int64_t sizes[] = {kWords};
  const TensorBase block = detail::empty_contiguous(sizes, kLong, kCPU);
  static_cast<void>(
      call_operator<Tensor>("aten::random_", "", static_cast<const Tensor&>(block), generator_));
  const auto* const drawn = block.const_data_ptr<std::int64_t>();
  for (std::uint32_t i = 0; i < kWords; ++i) words_[i] = static_cast<std::uint32_t>(drawn[i]);
  next_ = 0;
}

CPUGeneratorImpl* tensor_functions::cpu_generator(const std::optional<Generator>& generator) {
  static thread_local CPUGeneratorImpl engine;
  OPGEN_CHECK(!generator.has_value() || generator->device().is_cpu(),
              "Expected a 'cpu' device type for generator but found another");
  engine.reset(generator);
  return &engine;
}

}  // namespace opgen
