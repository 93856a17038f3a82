// toy.cpp: an accelerator in about a hundred lines: memory, current device, streams, copy, fill and
// two kernels. It is a separate shared library that any program can load, and includes only the
// operators' headers.
#include <opgen/device/device_guard.h>
#include <opgen/dispatch_macros.h>
#include <opgen/library.h>
#include <opgen/tensor_functions.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <demo/TensorBody.h>

namespace {

using namespace opgen::types;
using opgen::DataPtr;
using opgen::Stream;

// ---- Memory ------------------------------------------------------------------------------------

// The toy's addresses are invalid on the host: a program that dereferences one crashes.
constexpr std::uintptr_t kOnToy = std::uintptr_t(1) << 62;

void* to_toy(void* host) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(host) | kOnToy);
}
void* to_host(const void* toy) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(toy) & ~kOnToy);
}

class ToyAllocator final : public opgen::Allocator {
 public:
  DataPtr allocate(std::size_t bytes, Device device) override {
    void* host = std::aligned_alloc(64, (bytes + 64) & ~std::size_t(63));
    OPGEN_CHECK(host != nullptr, "the toy has no ", bytes, " bytes left");
    return {to_toy(host), host, &std::free, device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to_host(to), to_host(from), bytes);
  }
};

// ---- Current device and streams ----------------------------------------------------------------

thread_local opgen::DeviceIndex current = 0;
thread_local std::int64_t streams[2] = {};  // per device; id 0 runs work immediately
// Work on the other streams, by id. It runs when the program waits for the stream.
thread_local std::vector<std::vector<std::function<void()>>> queues(1);

class ToyGuard final : public opgen::DeviceGuardImpl {
 public:
  Device device() const override { return Device(opgen::kPrivateUse1, current); }
  Device exchange_device(Device device) const override {
    return Device(opgen::kPrivateUse1,
                  std::exchange(current, device.has_index() ? device.index() : current));
  }
  opgen::DeviceIndex device_count() const noexcept override { return 2; }
  Stream current_stream(Device device) const override { return {device, streams[device.index()]}; }
  Stream exchange_stream(Stream stream) const override {
    return {stream.device(), std::exchange(streams[stream.device().index()], stream.id())};
  }
  Stream new_stream(Device device) const override {
    queues.emplace_back();
    return {device, static_cast<std::int64_t>(queues.size()) - 1};
  }
  void synchronize(Stream stream) const override {
    for (auto& work : std::exchange(queues[std::size_t(stream.id())], {})) work();
  }
};

void enqueue(Device device, std::function<void()> work) {
  Stream stream = opgen::getCurrentStream(device);
  if (stream.id() == 0) return work();
  queues[std::size_t(stream.id())].push_back(std::move(work));
}

// ---- Copy and fill -----------------------------------------------------------------------------

// Returns the tensor as the toy's processor sees it, with an address that it can access.
opgen::TensorBase seen(const opgen::TensorBase& tensor) {
  if (tensor.is_cpu()) return tensor;
  return opgen::from_blob(to_host(tensor.data_ptr()), tensor.sizes(), tensor.strides(),
                          TensorOptions().dtype(tensor.scalar_type()));
}
void copy(const opgen::TensorBase& to, const opgen::TensorBase& from, bool non_blocking) {
  Device device = to.is_cpu() ? from.device() : to.device();
  enqueue(device, [to, from] { opgen::copy_(seen(to), seen(from)); });
  if (!non_blocking) opgen::synchronize(opgen::getCurrentStream(device));
}
void fill(const opgen::TensorBase& self, const Scalar& value) {
  enqueue(self.device(), [self, value] { opgen::fill_(seen(self), value); });
}

// ---- Kernels -----------------------------------------------------------------------------------

// Computes out = f(self, other). add() and add_() pass an `out` with the right shape, but a program
// may pass any shape.
template <class F>
Tensor& binary(const Tensor& self, const Tensor& other, Tensor& out, F f) {
  opgen::resize_output(out, opgen::infer_size(self.sizes(), other.sizes()));
  enqueue(out.device(), [self, other, out, f] {
    TensorOptions like = TensorOptions().dtype(out.scalar_type());
    opgen::TensorBase a = opgen::empty(out.sizes(), like);
    opgen::TensorBase b = opgen::empty(out.sizes(), like);
    opgen::copy_(a, seen(self));  // broadcasts and converts
    opgen::copy_(b, seen(other));
    opgen::dispatch<opgen::NumberTypes>(out.scalar_type(), "binary", [&]<class scalar_t> {
      scalar_t* x = a.mutable_data_ptr<scalar_t>();
      const scalar_t* y = b.const_data_ptr<scalar_t>();
      for (std::int64_t i = 0; i < out.numel(); ++i) x[i] = f(x[i], y[i]);
    });
    opgen::copy_(seen(out), a);
  });
  return out;
}
Tensor& add_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return binary(self, other, out, [](auto a, auto b) { return a + b; });
}
Tensor& mul_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return binary(self, other, out, [](auto a, auto b) { return a * b; });
}

OPGEN_LIBRARY_IMPL(demo, PrivateUse1, m) {
  static ToyAllocator allocator;
  static ToyGuard guard;
  static constexpr opgen::DeviceCopy copies{&copy, &fill};
  opgen::set_allocator(opgen::kPrivateUse1, &allocator);
  opgen::set_device_guard_impl(opgen::kPrivateUse1, &guard);
  opgen::register_device_copy(opgen::kPrivateUse1, &copies);
  m.impl("add.out", add_out);
  m.impl("mul.out", mul_out);
}

}  // namespace
