// main.cpp: an out-of-tree device with an allocator, a guard and one kernel, for the out variant.
#include "../say.h"

#include <opgen/device/allocator.h>
#include <opgen/device/device_guard.h>
#include <opgen/library.h>

#include <aten/Functions.h>

#include <cstdlib>

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

at::Tensor& plus_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  std::printf("(out kernel) ");
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = self.const_data_ptr<float>()[i] + other.const_data_ptr<float>()[i];
  }
  return out;
}

OPGEN_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("plus.out", plus_out);
}

void show(const char* what, const at::Tensor& t) {
  std::printf("%s =", what);
  for (std::int64_t i = 0; i < t.numel(); ++i) std::printf(" %g", t.const_data_ptr<float>()[i]);
  std::printf(", on its device: %d\n", t.device() == device);
}

at::Tensor range(std::int64_t count) {
  at::Tensor t = say::tensor({count}, opgen::TensorOptions().device(device));
  for (std::int64_t i = 0; i < count; ++i) t.mutable_data_ptr<float>()[i] = static_cast<float>(i);
  return t;
}

}  // namespace

int main() {
  HostMemory memory;
  Guard guard;
  opgen::set_allocator(opgen::DeviceType::PrivateUse1, &memory);
  opgen::set_device_guard_impl(opgen::DeviceType::PrivateUse1, &guard);
  at::Tensor a = range(3), b = range(3);
  show("functional", at::plus(a, b));
  show("in place", a.plus_(b));
  show("out", at::plus_out(a, b, b));
  say::refused("in place, another shape", [&] { a.plus_(range(2)); });
  at::Tensor tail = at::tail(b);
  show("a view", tail);
  std::printf("of the same storage: %d\n", tail.is_alias_of(b));
  say::refused("a view of nothing", [&] { at::tail(range(0)); });
  show("filled by operators", at::doubled(b));
  say::refused("no kernel for this device", [&] { at::lonely(b); });
}
