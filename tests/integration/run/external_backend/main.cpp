// main.cpp: an out-of-tree device whose kernels are functional; the other variants are made from
// them.
#include "../say.h"

#include <opgen/device/allocator.h>
#include <opgen/device/device_guard.h>
#include <opgen/stub.h>

#include <aten/Functions.h>

#include <cstdlib>
#include <cstring>

namespace {

const opgen::Device device(opgen::DeviceType::PrivateUse1, 0);

struct HostMemory : opgen::Allocator {
  opgen::DataPtr allocate(std::size_t bytes, opgen::Device where) override {
    void* data = std::malloc(bytes);
    return {data, data, std::free, where};
  }
};

struct Guard : opgen::DeviceGuardImpl {
  opgen::Device device() const override { return current; }
  opgen::Device exchange_device(opgen::Device next) const override {
    std::printf("(device %d) ", static_cast<int>(next.index()));
    return std::exchange(current, next);
  }
  opgen::DeviceIndex device_count() const noexcept override { return 2; }
  mutable opgen::Device current = ::device;
};

void copy(const opgen::TensorBase& dst, const opgen::TensorBase& src, bool) {
  std::printf("(copy) ");
  std::memcpy(dst.mutable_data_ptr<float>(), src.const_data_ptr<float>(), src.numel() * sizeof(float));
}
const opgen::DeviceCopy copies{copy, nullptr};

void show(const char* what, const opgen::Tensor& t) {
  std::printf("%s =", what);
  for (std::int64_t i = 0; i < t.numel(); ++i) std::printf(" %g", t.const_data_ptr<float>()[i]);
  std::printf(", on its device: %d\n", t.device() == device);
}

opgen::Tensor made(std::int64_t count) {
  opgen::Tensor t = say::tensor({count}, opgen::TensorOptions().device(device));
  for (std::int64_t i = 0; i < count; ++i) t.mutable_data_ptr<float>()[i] = static_cast<float>(i + 1);
  return t;
}

}  // namespace

int main() {
  HostMemory memory;
  Guard guard;
  opgen::set_allocator(opgen::DeviceType::PrivateUse1, &memory);
  opgen::set_device_guard_impl(opgen::DeviceType::PrivateUse1, &guard);
  opgen::register_device_copy(opgen::DeviceType::PrivateUse1, &copies);

  opgen::Tensor a = made(4), b = made(4), out = made(0);
  show("functional", at::plus(a, b));
  show("in place", at::plus_(a, b));
  show("out, resized", at::plus_out(out, a, b));
  out = made(2);
  say::refused("in place, another shape", [&] { at::plus_(a, made(2)); });
  say::refused("two devices", [&] { at::plus(a, say::range({4})); });
  show("factory", at::ramp(3, opgen::TensorOptions().device(device)));
  show("factory, out", at::ramp_out(out, 2));
  opgen::Tensor low = made(2), high = made(0);
  at::halves_out(low, high, b);
  show("first of two outs", low);
  show("second of two outs", high);
  std::vector<opgen::Tensor> list{made(1), made(2)};
  at::_foreach_neg_(list);
  show("list in place", list[1]);
  say::refused("not written", [&] { at::abs(a); });
  for (const opgen::StubReport& stub : opgen::opgen_stub_report()) {
    if (stub.key == "PrivateUse1") std::printf("stub: %s, %s\n", stub.op.c_str(), stub.signature.c_str());
  }
}
