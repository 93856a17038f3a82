// output_sinks.cpp: outputs of structured operators: allocated, or checked and resized.
#include "opgen/output_sinks.h"

#include "opgen/copy.h"
#include "opgen/device_guard.h"
#include "opgen/factories.h"
#include "opgen/iterator.h"
#include "opgen/resize.h"
#include "opgen/shape_utils.h"

namespace opgen {

void MetaBase::set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options, bool exact) {
  OPGEN_INTERNAL_ASSERT(opgen_sink_ != nullptr, "a meta function was called without outputs");
  opgen_sink_->set_output(index, sizes, strides, options, exact);
  if (opgen_is_iterator_) static_cast<TensorIteratorBase*>(this)->opgen_note_output(index);
}

void MetaBase::set_output_strided(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                  const TensorOptions& options) {
  set_output(index, sizes, strides, options, true);
}

void MetaBase::set_output_raw_strided(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                      const TensorOptions& options) {
  set_output(index, sizes, strides, options, false);
}

void MetaBase::set_output_contiguous(std::int64_t index, IntArrayRef sizes,
                                     const TensorOptions& options) {
  set_output(index, sizes, detail::contiguous_strides(sizes), options, true);
}

const TensorBase& MetaBase::maybe_get_output(std::int64_t index) const noexcept {
  static const TensorBase undefined;
  return opgen_sink_ != nullptr ? opgen_sink_->output(index) : undefined;
}

void MetaBase::opgen_finish() {
  if (opgen_is_iterator_) static_cast<TensorIteratorBase*>(this)->cast_outputs();
}

namespace detail {

void SinkGuard::enter_device(Device device) {
  if (device.is_cpu() || device.is_meta()) return;
  if (set_) {
    OPGEN_CHECK(current_ == device, "one operator cannot have outputs on ", current_, " and on ",
                device);
    return;
  }
  const DeviceGuardImpl* impl = find_device_guard_impl(device.type());
  if (impl == nullptr) return;
  original_ = impl->exchange_device(device);
  current_ = device;
  set_ = true;
}

void SinkGuard::restore() noexcept {
  find_device_guard_impl(current_.type())->exchange_device(original_);
}

void FunctionalSink::set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                const TensorOptions& options, bool) {
  guard_.enter(options.device());
  outputs_[index] =
      strides.empty() ? empty(sizes, options) : empty_strided(sizes, strides, options);
}

const TensorBase& FunctionalSink::output(std::int64_t index) const noexcept {
  return outputs_[index];
}

namespace {

void check_out(const TensorBase& out, std::int64_t index, const TensorOptions& options) {
  OPGEN_CHECK(out.defined(), "out= tensor ", index, " is undefined");
  OPGEN_CHECK(out.scalar_type() == options.dtype(), "expected an out= tensor of dtype ",
              options.dtype(), " but got ", out.scalar_type());
  OPGEN_CHECK(out.device() == options.device(), "expected an out= tensor on ", options.device(),
              " but got one on ", out.device());
}

void check_inplace(const TensorBase& self, IntArrayRef sizes, const TensorOptions& options) {
  OPGEN_CHECK(self.defined(), "an in-place operator was called on an undefined tensor");
  OPGEN_CHECK(self.scalar_type() == options.dtype(),
              "an in-place operator cannot change the dtype: self is ", self.scalar_type(),
              " but the result is ", options.dtype());
  OPGEN_CHECK(self.device() == options.device(),
              "an in-place operator cannot change the device: self is on ", self.device(),
              " but the result is on ", options.device());
  OPGEN_CHECK(self.sizes() == sizes,
              "an in-place operator cannot change the shape: self has sizes ", self.sizes(),
              " but the result has ", sizes);
}

}  // namespace

void WrittenSink::set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                             const TensorOptions& options, bool exact) {
  guard_.enter(options.device());
  const TensorBase& out = *outputs_[index];
  if (kind_ == Kind::Inplace) {
    check_inplace(out, sizes, options);
  } else {
    check_out(out, index, options);
    if (resize_output(out, sizes)) {
      restride_output(out, sizes, strides,
                      strides.empty() ? options.memory_format_opt() : std::nullopt);
    }
  }
  if (exact && !strides.empty() && out.strides() != strides) {
    proxies_[index] = empty_strided(sizes, strides, options);
  }
}

const TensorBase& WrittenSink::output(std::int64_t index) const noexcept {
  return proxies_[index].defined() ? proxies_[index] : *outputs_[index];
}

void WrittenSink::finish() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (OPGEN_UNLIKELY(proxies_[i].defined())) copy_(*outputs_[i], proxies_[i]);
  }
}

}  // namespace detail
}  // namespace opgen
