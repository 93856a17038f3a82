// tensor.cpp: what can be asked about a tensor of PyTorch, and its life.
#include "opgen/tensor/tensor.h"

#include <algorithm>

#include "shim.h"

#include "opgen/dispatch/values.h"
#include "opgen/symbolic/fake_tensor.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/shape_utils.h"
#include "tensor/stride_order.h"

namespace opgen {

// Records that are not in use, per thread: a call makes one for each of its tensors.
struct TensorRecords {
  static constexpr std::uint32_t kMost = 64;

  union Record {
    Record* next;
    alignas(TensorImpl) unsigned char bytes[sizeof(TensorImpl)];
  };

  struct List {
    Record* first = nullptr;
    std::uint32_t count = 0;
    ~List() {
      while (first != nullptr) ::operator delete(std::exchange(first, first->next));
      count = kMost;  // records of later destructors are freed at once
    }
  };
  static thread_local List free;

  static TensorImpl* create() {
    List& list = free;
    void* place = nullptr;
    if (OPGEN_LIKELY(list.first != nullptr)) {
      place = std::exchange(list.first, list.first->next);
      --list.count;
    } else {
      place = ::operator new(sizeof(Record));
    }
    return ::new (place) TensorImpl;
  }
  static void destroy(TensorImpl* impl) noexcept {
    impl->~TensorImpl();
    List& list = free;
    if (OPGEN_UNLIKELY(list.count >= kMost)) return ::operator delete(impl);
    Record* record = reinterpret_cast<Record*>(impl);
    record->next = list.first;
    list.first = record;
    ++list.count;
  }
};

thread_local TensorRecords::List TensorRecords::free;

TensorImpl* TensorImpl::create(AtenTensorHandle handle, bool dense_cpu) {
  TensorImpl* impl = TensorRecords::create();
  impl->handle_ = handle;
  if (dense_cpu) {
    impl->device_ = kCPU;
    impl->layout_ = kStrided;
    impl->known_ = kDevice | kLayout;
  }
  return impl;
}

TensorImpl* TensorImpl::create_fake(FakeParts* parts, ScalarType dtype, Device device,
                                    Layout layout) {
  TensorImpl* impl = TensorRecords::create();
  impl->fake_ = parts;
  impl->dtype_ = dtype;
  impl->device_ = device;
  impl->layout_ = layout;
  impl->ndim_ = static_cast<std::int64_t>(parts->sizes.size());
  impl->known_ = kDtype | kDevice | kLayout | kDim;
  return impl;
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  if (impl->handle_ != nullptr) aoti_torch_delete_tensor_object(impl->handle_);
  delete impl->fake_;
  TensorRecords::destroy(impl);
}

// ---- Questions ----

void TensorImpl::ask_dtype() const {
  std::int32_t code = 0;
  OPGEN_SHIM(aoti_torch_get_dtype, handle_, &code);
  dtype_ = detail::Words::scalar_type_of_code(code);
  known_ |= kDtype;
}

void TensorImpl::ask_device() const {
  std::int32_t type = 0;
  std::int32_t index = -1;
  OPGEN_SHIM(aoti_torch_get_device_type, handle_, &type);
  if (static_cast<DeviceType>(type) != DeviceType::CPU) {
    OPGEN_SHIM(aoti_torch_get_device_index, handle_, &index);
  }
  device_ = Device(static_cast<DeviceType>(type), static_cast<DeviceIndex>(index));
  known_ |= kDevice;
}

void TensorImpl::ask_layout() const {
  std::int32_t code = 0;
  OPGEN_SHIM(aoti_torch_get_layout, handle_, &code);
  layout_ = static_cast<Layout>(code);
  known_ |= kLayout;
}

void TensorImpl::ask_dim() const {
  OPGEN_SHIM(aoti_torch_get_dim, handle_, &ndim_);
  known_ |= kDim;
}

namespace {

// Returns the numbers among the sizes or strides of a fake.
const std::int64_t* numbers(const SymDimVector& symbols, DimVector& known, const char* what) {
  if (known.size() != symbols.size()) {
    DimVector found;
    for (const SymInt& symbol : symbols) {
      OPGEN_CHECK(!symbol.is_symbolic(), "Cannot call ", what,
                  "() on tensor with symbolic sizes/strides; ask for sym_", what,
                  "(), and end the kernel's name in _symint if it has sizes as arguments");
      found.push_back(symbol.bits());
    }
    known = found;
  }
  return known.data();
}

}  // namespace

void TensorImpl::ask_numel() const {
  if (OPGEN_UNLIKELY(fake_ != nullptr)) {
    numel_ = multiply_integers(
        {numbers(fake_->sizes, fake_->known_sizes, "sizes"), fake_->sizes.size()});
  } else {
    OPGEN_SHIM(aoti_torch_get_numel, handle_, &numel_);
  }
  known_ |= kNumel;
}

void TensorImpl::ask_sizes() const {
  if (OPGEN_UNLIKELY(fake_ != nullptr)) {
    sizes_ = numbers(fake_->sizes, fake_->known_sizes, "sizes");
    known_ |= kSizes;
    return;
  }
  std::int64_t* found = nullptr;
  OPGEN_SHIM(aoti_torch_get_sizes, handle_, &found);
  sizes_ = found;
  known_ |= kSizes;
}

void TensorImpl::ask_strides() const {
  if (OPGEN_UNLIKELY(fake_ != nullptr)) {
    strides_ = numbers(fake_->strides, fake_->known_strides, "strides");
    known_ |= kStrides;
    return;
  }
  std::int64_t* found = nullptr;
  OPGEN_SHIM(aoti_torch_get_strides, handle_, &found);
  strides_ = found;
  known_ |= kStrides;
}

void TensorImpl::ask_offset() const {
  if (OPGEN_UNLIKELY(fake_ != nullptr)) {
    storage_offset_ = fake_->storage_offset.guard_int(__FILE__, __LINE__);
  } else {
    OPGEN_SHIM(aoti_torch_get_storage_offset, handle_, &storage_offset_);
  }
  known_ |= kOffset;
}

void TensorImpl::ask_contiguous() const {
  if (OPGEN_UNLIKELY(fake_ != nullptr)) {
    contiguous_ = is_contiguous_or_false(MemoryFormat::Contiguous);
    return;  // not kept: symbols may become known
  }
  OPGEN_SHIM(aoti_torch_is_contiguous, handle_, &contiguous_);
  known_ |= kContiguous;
}

void TensorImpl::ask_data() const {
  if (OPGEN_UNLIKELY(fake_ != nullptr)) {
    OPGEN_CHECK(detail::DtypeScope::is_alive(),
                "Cannot access data pointer of Tensor that doesn't have storage");
    data_ = nullptr;
    return;
  }
  // The address alone: whether memory that is shared until it is written becomes the tensor's own
  // is decided by torch_get_mutable_data_ptr, and the caller may write.
  OPGEN_SHIM(torch_get_mutable_data_ptr, handle_, &data_);
  known_ |= kData;
}

bool TensorImpl::is_contiguous(MemoryFormat format) const {
  if (fake_ != nullptr) return is_contiguous_or_false(format);
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) {
    return is_contiguous();
  }
  return detail::has_channels_last_strides(sizes(), strides(), format);
}

bool TensorImpl::is_non_overlapping_and_dense() const {
  if (fake_ != nullptr) return is_non_overlapping_and_dense_or_false();
  return is_contiguous() || detail::is_non_overlapping_and_dense(sizes(), strides());
}

bool TensorImpl::is_strides_like(MemoryFormat format) const {
  return detail::is_strides_like(sizes(), strides(), format);
}

SymIntArrayRef TensorImpl::sym_sizes() const {
  if (fake_ != nullptr) return fake_->sizes;
  return detail::as_symbols(sizes());
}
SymIntArrayRef TensorImpl::sym_strides() const {
  if (fake_ != nullptr) return fake_->strides;
  return detail::as_symbols(strides());
}
SymInt TensorImpl::sym_storage_offset() const {
  return fake_ != nullptr ? fake_->storage_offset : SymInt(storage_offset());
}
SymInt TensorImpl::sym_numel() const {
  if (fake_ == nullptr) return numel();
  SymInt product = 1;
  for (const SymInt& size : fake_->sizes) product = product * size;
  return product;
}

// ---- Tensors ----

namespace detail {

constinit TensorImpl undefined_tensor{TensorImpl::Undefined{}};

void throw_dim_out_of_range(std::int64_t dim, std::int64_t ndim, bool wrap_scalar) {
  OPGEN_CHECK_INDEX(ndim != 0 || wrap_scalar, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  const std::int64_t range = ndim == 0 ? 1 : ndim;
  OPGEN_CHECK_INDEX(false, "Dimension out of range (expected to be in range of [", -range, ", ",
                    range - 1, "], but got ", dim, ")");
  __builtin_unreachable();
}

void throw_no_broadcast(IntArrayRef a, IntArrayRef b, std::size_t dim) {
  const auto size = [&](IntArrayRef sizes) {
    const std::size_t from_end = std::max(a.size(), b.size()) - dim;
    return from_end > sizes.size() ? 1 : sizes[sizes.size() - from_end];
  };
  OPGEN_CHECK(false, "The size of tensor a (", size(a), ") must match the size of tensor b (",
              size(b), ") at non-singleton dimension ", dim);
  __builtin_unreachable();
}

void throw_wrong_dtype(ScalarType asked, ScalarType is) {
  OPGEN_CHECK(false, "expected scalar type ", asked, " but found ", is);
  __builtin_unreachable();
}

void throw_undefined(const char* what) {
  OPGEN_CHECK(false, "tensor does not have a ", what);
  __builtin_unreachable();
}

TensorBase take_handle(AtenTensorHandle handle) {
  bool is_defined = false;
  OPGEN_SHIM(aoti_torch_is_defined, handle, &is_defined);
  if (!is_defined) {
    aoti_torch_delete_tensor_object(handle);
    return {};
  }
  return TensorBase::adopt(TensorImpl::create(handle));
}

AtenTensorHandle give_handle(TensorBase&& tensor) {
  TensorBase given = std::move(tensor);
  AtenTensorHandle handle = nullptr;
  if (!given.defined()) {
    OPGEN_SHIM(aoti_torch_new_uninitialized_tensor, &handle);
  } else if (given.use_count() == 1) {
    handle = given.unsafeGetTensorImpl()->release_handle();
  } else {
    OPGEN_SHIM(aoti_torch_new_tensor_handle, given.unsafeGetTensorImpl()->handle(), &handle);
  }
  return handle;
}

}  // namespace detail

bool TensorBase::is_alias_of(const TensorBase& other) const {
  const FakeParts* mine = impl_->fake();
  const FakeParts* theirs = other.impl_->fake();
  if (mine != nullptr || theirs != nullptr) {
    return mine != nullptr && theirs != nullptr && mine->storage != 0 &&
           mine->storage == theirs->storage;
  }
  return impl_->storage() != nullptr && impl_->storage() == other.impl_->storage();
}

bool TensorBase::looks_same(const TensorBase& other) const {
  const FakeParts* mine = impl_->fake();
  const FakeParts* theirs = other.impl_->fake();
  if (mine != nullptr || theirs != nullptr) {
    return mine != nullptr && theirs != nullptr && mine->object >= 0 &&
           mine->object == theirs->object;
  }
  return data_ptr() != nullptr && data_ptr() == other.data_ptr() && dtype() == other.dtype() &&
         sizes() == other.sizes() && strides() == other.strides();
}

Storage TensorBase::storage() const {
  if (!defined() || impl_->fake() != nullptr) return {};
  std::int64_t bytes = 0;
  OPGEN_SHIM(aoti_torch_get_storage_size, impl_->handle(), &bytes);
  return {impl_->storage(), static_cast<std::size_t>(bytes), device()};
}

TensorBase TensorBase::contiguous(MemoryFormat format) const {
  if (is_contiguous(format)) return *this;
  return detail::contiguous(*this, format);
}

void append_message(Message& message, const TensorBase& tensor) {
  if (!tensor.defined()) return message.append("undefined tensor");
  message.append(toString(tensor.scalar_type()));
  detail::append_any(message, tensor.sym_sizes());
  message.append(" on ");
  append_message(message, tensor.device());
}

}  // namespace opgen
