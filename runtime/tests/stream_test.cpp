// stream_test.cpp: current streams per device, the guard that changes them, and backends without
// streams.
#include <vector>

#include "check.h"
#include "opgen/device/device_guard.h"
#include "opgen/tensor/storage.h"

using namespace opgen;

namespace {

// A backend of two devices with any number of streams.
struct TwoDevices final : DeviceGuardImpl {
  mutable DeviceIndex current = 0;
  mutable std::int64_t streams[2] = {0, 0};
  mutable std::int64_t made = 0;
  mutable std::vector<std::int64_t> waited_for;

  Device device() const override { return {kPrivateUse1, current}; }
  Device exchange_device(Device to) const override {
    Device before = device();
    current = to.index();
    return before;
  }
  DeviceIndex device_count() const noexcept override { return 2; }
  Stream current_stream(Device of) const override { return {of, streams[of.index()]}; }
  Stream exchange_stream(Stream to) const override {
    Stream before = current_stream(to.device());
    streams[to.device().index()] = to.id();
    return before;
  }
  Stream new_stream(Device of) const override { return {of, ++made}; }
  void synchronize(Stream stream) const override { waited_for.push_back(stream.id()); }
};

struct Recorder final : Allocator {
  char bytes[64];
  std::vector<std::int64_t> streams;
  DataPtr allocate(std::size_t, Device device) override {
    return {bytes, nullptr, nullptr, device};
  }
  void record_stream(void* data, Stream stream) override {
    CHECK(data == bytes);
    streams.push_back(stream.id());
  }
};

}  // namespace

TEST(a_backend_without_streams_has_a_default_stream) {
  CHECK_EQ(getCurrentStream(kCPU), Stream(kCPU, 0));
  CHECK_EQ(getNewStream(kCPU), getDefaultStream(kCPU));
  {
    StreamGuard guard(getCurrentStream(kCPU));
    CHECK_EQ(getCurrentStream(kCPU).id(), 0);
  }
  synchronize(getCurrentStream(kCPU));
  CHECK_THROWS(Error, "devices of type cpu have only the default stream; there is no stream 3",
               StreamGuard(Stream(kCPU, 3)).current_stream());
  CHECK_THROWS(Error, "no backend for hpu is loaded", getCurrentStream(kHPU));
}

TEST(a_guard_changes_stream_and_device) {
  TwoDevices devices;
  set_device_guard_impl(kPrivateUse1, &devices);
  Device first(kPrivateUse1, 0), second(kPrivateUse1, 1);
  devices.streams[1] = 40;
  CHECK_EQ(getCurrentStream(kPrivateUse1), Stream(first, 0));  // the stream of the current device
  Stream stream = getNewStream(second);
  {
    StreamGuard guard(stream);
    CHECK_EQ(guard.current_stream(), stream);
    CHECK_EQ(guard.original_stream(), Stream(second, 40));
    CHECK_EQ(getCurrentStream(kPrivateUse1), stream);
    CHECK_EQ(getCurrentStream(first), Stream(first, 0));
    {
      StreamGuard inner(getNewStream(first));
      CHECK_EQ(getCurrentStream(kPrivateUse1), Stream(first, 2));
    }
    CHECK_EQ(devices.current, 1);
    CHECK_EQ(getCurrentStream(second), stream);
  }
  CHECK_EQ(devices.current, 0);
  CHECK_EQ(devices.streams[0], 0);
  CHECK_EQ(devices.streams[1], 40);
  synchronize(stream);
  CHECK_EQ(devices.waited_for, std::vector<std::int64_t>{1});
  set_device_guard_impl(kPrivateUse1, nullptr);
}

TEST(the_allocator_learns_which_streams_use_its_bytes) {
  Recorder recorder;
  set_allocator(kPrivateUse1, &recorder);
  {
    Storage storage(64, Device(kPrivateUse1, 0));
    record_stream(storage, Stream(Device(kPrivateUse1, 0), 7));
    record_stream(Storage(64, kCPU), Stream(kCPU, 0));  // one stream: nothing to do
    record_stream(Storage(), Stream());
  }
  set_allocator(kPrivateUse1, nullptr);
  CHECK_EQ(recorder.streams, std::vector<std::int64_t>{7});
}
