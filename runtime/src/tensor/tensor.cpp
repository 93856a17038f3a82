// tensor.cpp: TensorImpl and the parts of TensorBase that are not inline.
#include "opgen/tensor/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "opgen/core/local_keys.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/shape_utils.h"
#include "tensor/negative_strides.h"
#include "tensor/row_major.h"
#include "tensor/stride_order.h"
#include "tensor/tensor_parts.h"
#include "tensor/tensor_pool.h"

namespace opgen {

namespace detail {

constinit TensorImpl undefined_tensor{TensorImpl::Undefined{}};
constinit Atomic<StandInThrower> stand_in_thrower = nullptr;

void throw_stand_in(const TensorImpl& impl, const char* act) {
  stand_in_thrower.load_acquire()(impl, act);
  __builtin_unreachable();
}

void throw_dim_out_of_range(std::int64_t dim, std::int64_t ndim, bool wrap_scalar) {
  std::int64_t range = ndim == 0 && wrap_scalar ? 1 : ndim;
  OPGEN_CHECK_INDEX(range != 0, "dimension ", dim, " was given for a tensor without dimensions");
  OPGEN_CHECK_INDEX(false, "dimension ", dim, " is out of range: expected ", -range, " to ",
                    range - 1);
  __builtin_unreachable();
}
void throw_no_broadcast(IntArrayRef a, IntArrayRef b, std::size_t dim) {
  const auto size = [&](IntArrayRef sizes) {
    const std::size_t from_end = std::max(a.size(), b.size()) - dim;
    return from_end > sizes.size() ? 1 : sizes[sizes.size() - from_end];
  };
  OPGEN_CHECK(false, "shapes ", a, " and ", b, " do not broadcast: size ", size(a), " against ",
              size(b), " in dimension ", dim);
  __builtin_unreachable();
}
void throw_wrong_dtype(ScalarType asked, ScalarType is) {
  OPGEN_CHECK_TYPE(false, "expected elements of type ", asked, " but the tensor has ", is);
  __builtin_unreachable();
}
void throw_no_version() {
  OPGEN_CHECK(false, "a tensor made in inference mode has no version counter");
  __builtin_unreachable();
}
void throw_undefined(const char* what) {
  OPGEN_CHECK(false, "an undefined tensor has no ", what);
  __builtin_unreachable();
}

}  // namespace detail

TensorImpl* TensorImpl::create(Storage storage, DispatchKeySet keys, ScalarType dtype,
                               Device device, Layout layout) {
  TensorImpl* impl =
      TensorPool::create(storage.unsafeReleaseStorageImpl(), keys, dtype, device, layout);
  impl->sizes_[0] = 0;
  impl->strides_[0] = 1;
  return impl;
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  TensorPool::destroy(impl);
}

TensorParts* TensorImpl::add_parts(TensorParts* parts) noexcept {
  TensorParts* there = parts_.replace_null(parts);
  if (there == nullptr) return parts;
  delete parts;
  return there;
}

void TensorImpl::set_storage(Storage storage) noexcept {
  StorageImpl* old = storage_;
  storage_ = storage.unsafeReleaseStorageImpl();
  if (old != nullptr && old->drop()) StorageImpl::destroy(old);
}

void TensorImpl::set_dtype(ScalarType dtype) noexcept {
  dtype_ = dtype;
  itemsize_ = static_cast<std::uint8_t>(elementSize(dtype));
}

void TensorImpl::set_dim(std::size_t ndim) {
  if (OPGEN_UNLIKELY(ndim > kInlineDims || heap_dims_)) {
    std::int64_t* dims = inline_;
    std::size_t room = kInlineDims;
    if (ndim > kInlineDims) {
      room = ndim;
      dims = static_cast<std::int64_t*>(std::malloc(2 * ndim * sizeof(std::int64_t)));
      OPGEN_CHECK_KIND(OutOfMemory, dims != nullptr, "cannot allocate ", ndim, " sizes");
    }
    if (heap_dims_) std::free(sizes_);
    heap_dims_ = ndim > kInlineDims;
    sizes_ = dims;
    strides_ = dims + room;
  }
  ndim_ = static_cast<std::int32_t>(ndim);
}

namespace {

// Returns whether the argument points into this tensor's own sizes, which set_dim moves.
bool overlaps(IntArrayRef range, const std::int64_t* begin, const std::int64_t* end) noexcept {
  return range.data() >= begin && range.data() < end;
}

// Called before anything changes, so that a tensor keeps its sizes if the new ones are invalid.
std::int64_t checked_numel(IntArrayRef sizes) {
  std::int64_t numel = 1;
  bool overflow = false;
  bool empty = false;
  for (std::int64_t size : sizes) {
    overflow |= __builtin_mul_overflow(numel, size, &numel);
    empty |= size == 0;
  }
  OPGEN_CHECK(!overflow || empty, "the number of elements of sizes ", sizes,
              " does not fit into 64 bits");
  return empty ? 0 : numel;
}

}  // namespace

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  if (OPGEN_UNLIKELY(overlaps(sizes, sizes_, strides_ + ndim_))) {
    DimVector copy(sizes);
    return set_sizes_contiguous(copy);
  }
  std::int64_t numel = checked_numel(sizes);
  set_dim(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    sizes_[i] = sizes[i];
    strides_[i] = stride;
    stride = detail::next_stride(stride, sizes[i]);
  }
  numel_ = numel;
  contiguous_ = true;
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides) {
  OPGEN_CHECK(sizes.size() == strides.size(), "sizes ", sizes, " and strides ", strides,
              " differ in number");
  if (OPGEN_UNLIKELY(overlaps(sizes, sizes_, strides_ + ndim_) ||
                     overlaps(strides, sizes_, strides_ + ndim_))) {
    DimVector sizes_copy(sizes);
    DimVector strides_copy(strides);
    return set_sizes_and_strides(sizes_copy, strides_copy);
  }
  std::int64_t numel = checked_numel(sizes);
  set_dim(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes_[i] = sizes[i];
    strides_[i] = strides[i];
  }
  numel_ = numel;
  refresh_contiguous();
}

void TensorImpl::refresh_contiguous() noexcept {
  contiguous_ = true;
  if (numel_ == 0) return;
  std::int64_t expected = 1;
  for (std::int32_t i = ndim_ - 1; i >= 0; --i) {
    if (sizes_[i] == 1) continue;
    if (strides_[i] != expected) {
      contiguous_ = false;
      return;
    }
    expected *= sizes_[i];
  }
}

bool TensorImpl::is_contiguous(MemoryFormat format) const noexcept {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return contiguous_;
  return detail::has_channels_last_strides(sizes(), strides(), format);
}

bool TensorImpl::is_strides_like(MemoryFormat format) const noexcept {
  return detail::is_strides_like(sizes(), strides(), format);
}

bool TensorImpl::is_non_overlapping_and_dense() const noexcept {
  return contiguous_ || detail::is_non_overlapping_and_dense(sizes(), strides());
}

TensorBase TensorBase::contiguous(MemoryFormat format) const {
  if (is_contiguous(format)) return *this;
  return detail::contiguous(*this, format);
}

void append_message(Message& message, const TensorBase& tensor) {
  if (!tensor.defined()) return message.append("undefined tensor");
  message.append(toString(tensor.scalar_type()));
  detail::append_any(message, tensor.sizes());
  message.append(" on ");
  append_message(message, tensor.device());
}

namespace detail {

namespace {

// Returns an alias of `base`, whose sizes the caller must set.
OPGEN_ALWAYS_INLINE TensorBase alias(const TensorBase& base, std::int64_t storage_offset) {
  if (!base.defined()) throw_undefined("storage");
  const TensorImpl* from = base.unsafeGetTensorImpl();
  if (from->storage() != nullptr) from->storage()->retain();
  const DispatchKeySet keys = from->key_set().remove(DispatchKey::AutogradTracked);
  TensorImpl* impl =
      TensorPool::create(from->storage(), keys, from->dtype(), from->device(), from->layout());
  impl->set_storage_offset(storage_offset);
  return TensorBase::adopt(impl);
}

}  // namespace

TensorBase alias_with_sizes_and_strides(const TensorBase& base, IntArrayRef sizes,
                                        IntArrayRef strides, std::int64_t storage_offset) {
  TensorBase view = alias(base, storage_offset);
  view.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return view;
}

TensorBase view_if_row_major(const TensorBase& base, IntArrayRef sizes) {
  const TensorImpl* from = base.unsafeGetTensorImpl();
  std::int64_t numel = 1;
  for (std::int64_t size : sizes) {
    if (size <= 0 || __builtin_mul_overflow(numel, size, &numel)) return {};
  }
  if (!base.defined() || numel != from->numel() || !detail::has_row_major_strides(from)) return {};
  TensorBase view = alias(base, base.storage_offset());
  if (!TensorPool::set_contiguous(view.unsafeGetTensorImpl(), sizes)) return {};
  return view;
}

TensorBase expand_view(const TensorBase& self, IntArrayRef desired) {
  Geometry geometry = infer_expand_geometry(self.sizes(), self.strides(), desired);
  return alias_with_sizes_and_strides(self, geometry.sizes, geometry.strides,
                                      self.storage_offset());
}

TensorBase as_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                      std::optional<std::int64_t> storage_offset) {
  OPGEN_CHECK(sizes.size() == strides.size(), "as_strided: sizes ", sizes, " and strides ", strides,
              " differ in number");
  check_sizes_nonnegative(sizes);
  for (std::int64_t stride : strides) {
    OPGEN_CHECK(stride >= 0, "as_strided: ", kNoNegativeStrides, strides);
  }
  const std::int64_t offset = storage_offset.value_or(self.storage_offset());
  OPGEN_CHECK(offset >= 0, "as_strided: negative storage offset ", offset);
  const std::size_t needed = checked_storage_bytes(sizes, strides, offset, self.itemsize());
  const std::size_t there = self.storage().nbytes();
  OPGEN_CHECK(needed <= there, "as_strided: sizes ", sizes, ", strides ", strides, " and offset ",
              offset, " need ", needed, " bytes, but the storage has ", there);
  return alias_with_sizes_and_strides(self, sizes, strides, offset);
}

DispatchKeySet default_key_set(DispatchKey key) noexcept {
  DispatchKeySet keys(key);
  DispatchKey functionality = functionality_of(key);
  DispatchKey autograd = !is_product_key(key) ? DispatchKey::AutogradOther
                         : functionality == DispatchKey::NestedTensor
                             ? DispatchKey::AutogradNestedTensor
                             : DispatchKey::AutogradFunctionality;
  return keys.add(autograd).add(DispatchKey::ADInplaceOrView);
}

namespace {

constexpr DispatchKeySet kCPUKeys{DispatchKey::CPU, DispatchKey::AutogradFunctionality,
                                  DispatchKey::ADInplaceOrView};
constexpr DispatchKeySet kMetaKeys{DispatchKey::Meta, DispatchKey::AutogradFunctionality,
                                   DispatchKey::ADInplaceOrView};

void check_strides(IntArrayRef strides) {
  for (std::int64_t stride : strides) {
    OPGEN_CHECK_VALUE(stride >= 0, detail::kNoNegativeStrides, strides);
  }
}

TensorBase fresh_tensor(const TensorOptions& options, std::size_t bytes) {
  Device device = options.device();
  ScalarType dtype = options.dtype();
  Layout layout = options.layout();
  OPGEN_CHECK(!options.pinned_memory() || device.is_cpu(), "only CPU memory can be pinned");
  DispatchKeySet keys = OPGEN_LIKELY(device.is_cpu() && layout == kStrided)
                            ? kCPUKeys
                            : default_key_set(compute_dispatch_key(dtype, layout, device));
  return TensorBase::adopt(TensorImpl::create(Storage(bytes, device), keys_of_fresh_tensor(keys),
                                              dtype, device, layout));
}

// Frees the record if the construction of the rest of the tensor throws.
struct Unfinished {
  TensorImpl* impl;
  ~Unfinished() {
    if (OPGEN_UNLIKELY(impl != nullptr)) TensorPool::destroy(impl);
  }
};

OPGEN_NOINLINE TensorBase empty_on_any_device(IntArrayRef sizes, ScalarType dtype, Device device) {
  return empty(sizes, TensorOptions(device).dtype(dtype), MemoryFormat::Contiguous);
}

// `device` is the CPU or Meta.
OPGEN_NOINLINE TensorBase empty_of_any_size(IntArrayRef sizes, ScalarType dtype, Device device,
                                            DispatchKeySet keys) {
  Unfinished tensor{TensorPool::create(nullptr, keys, dtype, device, kStrided)};
  if (OPGEN_UNLIKELY(!TensorPool::set_contiguous(tensor.impl, sizes))) {
    return empty_on_any_device(sizes, dtype, device);
  }
  std::size_t bytes = static_cast<std::size_t>(tensor.impl->numel()) * tensor.impl->itemsize();
  TensorPool::set_storage(tensor.impl, StorageImpl::create(bytes, device));
  return TensorBase::adopt(std::exchange(tensor.impl, nullptr));
}

}  // namespace

TensorBase empty_contiguous(IntArrayRef sizes, ScalarType dtype, Device device) {
  bool is_cpu = device.is_cpu();
  if (OPGEN_UNLIKELY(!is_cpu && !device.is_meta())) {
    return empty_on_any_device(sizes, dtype, device);
  }
  DispatchKeySet keys = keys_of_fresh_tensor(is_cpu ? kCPUKeys : kMetaKeys);
  std::int64_t numel = TensorPool::small_numel(sizes);
  std::size_t small_bytes = static_cast<std::size_t>(numel) * elementSize(dtype);
  if (OPGEN_LIKELY(is_cpu && numel >= 0 && small_bytes <= kInlineStorageBytes &&
                   !has_own_allocators())) {
    TensorImpl* impl = TensorPool::create_small(small_bytes, keys, dtype, device);
    TensorPool::set_small(impl, sizes, numel);
    return TensorBase::adopt(impl);
  }
  return empty_of_any_size(sizes, dtype, device, keys);
}

TensorBase empty(IntArrayRef sizes, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  if (OPGEN_LIKELY(options.is_plain() && !format.has_value())) {
    return empty_contiguous(sizes, options.dtype(), options.device());
  }
  format = check_tensor_options_and_extract_memory_format(options, format);
  MemoryFormat asked = format.value_or(MemoryFormat::Contiguous);
  OPGEN_CHECK(asked != MemoryFormat::Preserve,
              "empty() has no input whose memory format it can preserve");
  DimVector strides;
  strides_for_format(sizes, asked, strides);
  std::size_t bytes = checked_storage_bytes(sizes, strides, 0, elementSize(options.dtype()));
  TensorBase tensor = fresh_tensor(options, bytes);
  if (asked == MemoryFormat::Contiguous) {
    tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    return tensor;
  }
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  check_strides(strides);
  std::size_t bytes = checked_storage_bytes(sizes, strides, 0, elementSize(options.dtype()));
  TensorBase tensor = fresh_tensor(options, bytes);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

namespace {

// Owns the memory passed to from_blob() until a storage takes it over: otherwise calls its deleter.
class GivenBytes {
 public:
  explicit GivenBytes(const DataPtr& bytes) noexcept : bytes_(bytes) {}
  GivenBytes(const GivenBytes&) = delete;
  GivenBytes& operator=(const GivenBytes&) = delete;
  ~GivenBytes() {
    if (bytes_.deleter != nullptr) bytes_.deleter(bytes_.context);
  }
  [[nodiscard]] DataPtr take() noexcept {
    DataPtr taken = bytes_;
    bytes_.deleter = nullptr;
    return taken;
  }

 private:
  DataPtr bytes_;
};

}  // namespace

TensorBase from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                     const TensorOptions& options, void* context, void (*deleter)(void*)) {
  GivenBytes given(DataPtr{data, context, deleter, options.device()});
  check_strides(strides);
  Device device = options.device();
  std::size_t bytes = checked_storage_bytes(sizes, strides, 0, elementSize(options.dtype()));
  Storage storage(given.take(), bytes);
  DispatchKey key = compute_dispatch_key(options.dtype(), options.layout(), device);
  TensorBase tensor = TensorBase::adopt(TensorImpl::create(
      storage, keys_of_fresh_tensor(default_key_set(key)), options.dtype(), device));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

}  // namespace detail
}  // namespace opgen
