// output_sinks.cpp: outputs of structured operators: allocated, or checked and resized.
#include "opgen/output_sinks.h"

#include "opgen/copy.h"
#include "opgen/device_guard.h"
#include "opgen/factories.h"
#include "opgen/iterator.h"
#include "opgen/memory_overlap.h"
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

void MetaBase::set_output_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                               std::int64_t storage_offset) {
  OPGEN_INTERNAL_ASSERT(opgen_sink_ != nullptr, "a meta function was called without outputs");
  opgen_sink_->set_view(index, sizes, strides, storage_offset);
}

const TensorBase& MetaBase::opgen_no_output() noexcept {
  static const TensorBase undefined;
  return undefined;
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

namespace {

void check_out(const TensorBase& out, std::int64_t index, const TensorOptions& options) {
  OPGEN_CHECK(out.defined(), "out= tensor ", index, " is undefined");
  OPGEN_CHECK(out.scalar_type() == options.dtype(), "expected an out= tensor of dtype ",
              options.dtype(), " but got ", out.scalar_type());
  OPGEN_CHECK(out.device() == options.device(), "expected an out= tensor on ", options.device(),
              " but got one on ", out.device());
}

// Whatever is written to one of them would be overwritten through the other.
void check_apart(const TensorBase& a, const TensorBase& b, std::int64_t i, std::int64_t j) {
  MemOverlapStatus status = get_overlap_status(a, b);
  OPGEN_CHECK(status != MemOverlapStatus::Full && status != MemOverlapStatus::Partial,
              "out= tensors ", i, " and ", j, " share memory");
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

void check_view(const TensorBase& base, std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                std::int64_t storage_offset) {
  OPGEN_CHECK(base.defined(), "output ", index, " is to be a view of an undefined tensor");
  OPGEN_CHECK(sizes.size() == strides.size(), "output ", index, " is to be a view of ",
              sizes.size(), " sizes and ", strides.size(), " strides");
  check_sizes_nonnegative(sizes);
  OPGEN_CHECK(storage_offset >= 0, "output ", index, " is to be a view at the storage offset ",
              storage_offset);
  for (std::int64_t stride : strides) {
    OPGEN_CHECK(stride >= 0, "output ", index, " is to be a view with negative strides: ", strides);
  }
  const auto elements = static_cast<std::size_t>(storage_elements(sizes, strides, storage_offset));
  OPGEN_CHECK(elements <= base.storage().nbytes() / base.itemsize(), "output ", index,
              " is to be a view of sizes ", sizes, ", strides ", strides, " and storage offset ",
              storage_offset, ", which needs ", elements, " elements, but the storage has ",
              base.storage().nbytes() / base.itemsize());
}

}  // namespace
}  // namespace detail

void OutputSink::set_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          std::int64_t storage_offset) {
  note_set(index);
  if (kind_ == Kind::View) {
    const TensorBase* base = static_cast<ViewSink*>(this)->bases_[index];
    OPGEN_CHECK(base != nullptr, "output ", index,
                " is no view: its schema says of it that it aliases nothing");
    detail::check_view(*base, index, sizes, strides, storage_offset);
    fresh_[index] = detail::alias_with_sizes_and_strides(*base, sizes, strides, storage_offset);
    return;
  }
  OPGEN_CHECK(kind_ == Kind::InplaceView, "output ", index,
              " is no view: its schema says of it that it aliases nothing");
  detail::check_view(*given_[index], index, sizes, strides, storage_offset);
  TensorImpl* self = given_[index]->unsafeGetTensorImpl();
  self->set_sizes_and_strides(sizes, strides);
  self->set_storage_offset(storage_offset);
}

void OutputSink::throw_not_set(const char* op) const {
  OPGEN_CHECK(false, op, ": its meta function set no output ", __builtin_ctzll(~set_));
  __builtin_unreachable();
}

void detail::throw_not_built(const char* op) {
  OPGEN_CHECK(false, op,
              ": its meta function set up no iteration: it calls build_borrowing_binary_op() or "
              "another build_..._op(), or build(config)");
  __builtin_unreachable();
}

void OutputSink::set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                            const TensorOptions& options, bool exact) {
  note_set(index);
  guard_.enter(options.device());
  if (OPGEN_UNLIKELY(kind_ >= Kind::View)) {
    OPGEN_CHECK(kind_ == Kind::View && static_cast<ViewSink*>(this)->bases_[index] == nullptr,
                "output ", index, " is a view: its meta function calls set_output_view");
  }
  if (kind_ == Kind::Fresh || kind_ == Kind::View) {
    fresh_[index] = strides.empty() ? detail::empty(sizes, options)
                                    : detail::empty_strided(sizes, strides, options);
    return;
  }
  const TensorBase& out = *given_[index];
  switch (kind_) {
    case Kind::Inplace:
      detail::check_inplace(out, sizes, options);
      break;
    case Kind::Out:
      detail::check_out(out, index, options);
      if (detail::resize_output(out, sizes)) {
        detail::restride_output(out, sizes, strides,
                                strides.empty() ? options.memory_format_opt() : std::nullopt);
      }
      for (std::int64_t i = 0; i < index; ++i) detail::check_apart(*given_[i], out, i, index);
      break;
    default:
      break;
  }
  if (exact && !strides.empty() && out.strides() != strides) {
    fresh_[index] = detail::empty_strided(sizes, strides, options);
  }
}

const TensorBase& OutputSink::set_contiguous(std::int64_t index, IntArrayRef sizes,
                                             ScalarType dtype, Device device) {
  return fresh_[index] = detail::empty_contiguous(sizes, dtype, device);
}

void OutputSink::copy_back(std::size_t index) {
  detail::copy_(*given_[index], fresh_[index]);
}

}  // namespace opgen
