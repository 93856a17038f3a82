// tensor.h: TensorBase, a counted handle to a TensorImpl, with all functions of tensors that are
// not operators; and Tensor, the handle in the signatures of operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <utility>

#include "opgen/core/small_vector.h"
#include "opgen/core/sym_int.h"
#include "opgen/tensor/tensor_impl.h"
#include "opgen/tensor/tensor_options.h"

namespace opgen {

template <class T, std::size_t N>
class TensorAccessor;  // cpu/accessor.h

// Returns `dim`, counted from the end if negative. Throws IndexError if it is out of range. A
// zero-dim tensor can be treated as one-dimensional.
namespace detail {
[[noreturn]] OPGEN_API OPGEN_COLD void throw_dim_out_of_range(std::int64_t dim, std::int64_t ndim,
                                                              bool wrap_scalar);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_wrong_dtype(ScalarType asked, ScalarType is);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_undefined(const char* what);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_no_version();
}  // namespace detail
inline std::int64_t maybe_wrap_dim(std::int64_t dim, std::int64_t ndim, bool wrap_scalar = true) {
  if (OPGEN_LIKELY(dim >= -ndim && dim < ndim)) return dim < 0 ? dim + ndim : dim;
  if (ndim == 0 && wrap_scalar && (dim == 0 || dim == -1)) return 0;
  detail::throw_dim_out_of_range(dim, ndim, wrap_scalar);
}

class TensorBase {
 public:
  TensorBase() noexcept : impl_(&detail::undefined_tensor) {}
  TensorBase(const TensorBase& other) noexcept : impl_(other.impl_) {
    if (impl_ != &detail::undefined_tensor) impl_->retain();
  }
  TensorBase(TensorBase&& other) noexcept
      : impl_(std::exchange(other.impl_, &detail::undefined_tensor)) {}
  TensorBase& operator=(const TensorBase& other) noexcept {
    TensorBase copy(other);
    std::swap(impl_, copy.impl_);
    return *this;
  }
  TensorBase& operator=(TensorBase&& other) noexcept {
    TensorBase taken(std::move(other));
    std::swap(impl_, taken.impl_);
    return *this;
  }
  ~TensorBase() {
    if (impl_ != &detail::undefined_tensor && impl_->drop()) TensorImpl::destroy(impl_);
  }
  // Takes over a share of `impl`.
  [[nodiscard]] static TensorBase adopt(TensorImpl* impl) noexcept {
    TensorBase tensor;
    tensor.impl_ = impl;
    return tensor;
  }

  [[nodiscard]] bool defined() const noexcept { return impl_ != &detail::undefined_tensor; }
  void reset() noexcept { *this = TensorBase(); }
  [[nodiscard]] bool is_same(const TensorBase& other) const noexcept {
    return impl_ == other.impl_;
  }
  [[nodiscard]] bool is_alias_of(const TensorBase& other) const noexcept {
    return impl_->storage() != nullptr && impl_->storage() == other.impl_->storage();
  }
  [[nodiscard]] std::size_t use_count() const noexcept {
    return defined() ? static_cast<std::size_t>(impl_->use_count()) : 0;
  }
  [[nodiscard]] TensorImpl* unsafeGetTensorImpl() const noexcept { return impl_; }
  // Passes the share to the caller. The handle is undefined afterwards.
  [[nodiscard]] TensorImpl* unsafeReleaseTensorImpl() noexcept {
    return std::exchange(impl_, &detail::undefined_tensor);
  }

  [[nodiscard]] IntArrayRef sizes() const noexcept { return impl_->sizes(); }
  [[nodiscard]] SymIntArrayRef sym_sizes() const noexcept { return impl_->sizes(); }
  [[nodiscard]] IntArrayRef strides() const noexcept { return impl_->strides(); }
  [[nodiscard]] SymIntArrayRef sym_strides() const noexcept { return impl_->strides(); }
  [[nodiscard]] std::int64_t size(std::int64_t d) const {
    return sizes()[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] std::int64_t stride(std::int64_t d) const {
    return strides()[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] SymInt sym_size(std::int64_t d) const { return size(d); }
  [[nodiscard]] SymInt sym_stride(std::int64_t d) const { return stride(d); }
  [[nodiscard]] std::int64_t dim() const noexcept { return impl_->dim(); }
  [[nodiscard]] std::int64_t ndimension() const noexcept { return impl_->dim(); }
  [[nodiscard]] std::int64_t numel() const noexcept { return impl_->numel(); }
  [[nodiscard]] SymInt sym_numel() const noexcept { return impl_->numel(); }
  [[nodiscard]] ScalarType scalar_type() const noexcept { return impl_->dtype(); }
  [[nodiscard]] ScalarType dtype() const noexcept { return impl_->dtype(); }
  [[nodiscard]] Device device() const {
    if (OPGEN_UNLIKELY(!defined())) detail::throw_undefined("device");
    return impl_->device();
  }
  [[nodiscard]] std::int64_t get_device() const { return device().index(); }
  [[nodiscard]] Layout layout() const noexcept { return impl_->layout(); }
  [[nodiscard]] TensorOptions options() const {
    return TensorOptions().dtype(scalar_type()).device(device()).layout(layout());
  }
  [[nodiscard]] DispatchKeySet key_set() const noexcept { return impl_->key_set(); }

  [[nodiscard]] bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const noexcept {
    return format == MemoryFormat::Contiguous ? impl_->is_contiguous()
                                              : impl_->is_contiguous(format);
  }
  [[nodiscard]] bool is_non_overlapping_and_dense() const noexcept {
    return impl_->is_contiguous() || impl_->is_non_overlapping_and_dense();
  }
  // Returns the format that the strides resemble; with `exact`, only if they are those of a new
  // tensor in that format.
  [[nodiscard]] OPGEN_API MemoryFormat suggest_memory_format(bool exact = false) const noexcept;

  [[nodiscard]] std::size_t itemsize() const noexcept { return impl_->itemsize(); }
  [[nodiscard]] std::int64_t element_size() const noexcept {
    return static_cast<std::int64_t>(impl_->itemsize());
  }
  [[nodiscard]] std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(impl_->numel()) * impl_->itemsize();
  }
  [[nodiscard]] Storage storage() const noexcept {
    return Storage(Ref<StorageImpl>::share(impl_->storage()));
  }
  [[nodiscard]] bool has_storage() const noexcept { return impl_->storage() != nullptr; }
  [[nodiscard]] std::int64_t storage_offset() const noexcept { return impl_->storage_offset(); }
  [[nodiscard]] SymInt sym_storage_offset() const noexcept { return impl_->storage_offset(); }

  // Returns the address of element {0, 0, …}; null for meta tensors and tensors without bytes.
  [[nodiscard]] OPGEN_ALWAYS_INLINE void* data_ptr() const { return impl_->data(); }
  [[nodiscard]] const void* const_data_ptr() const { return impl_->data(); }
  [[nodiscard]] void* mutable_data_ptr() const { return impl_->data(); }
  // Throws TypeError if the elements are not of type T.
  template <class T>
  [[nodiscard]] T* data_ptr() const {
    using Element = std::remove_const_t<T>;
    if (OPGEN_UNLIKELY(scalar_type() != scalar_type_of<Element>)) {
      detail::throw_wrong_dtype(scalar_type_of<Element>, scalar_type());
    }
    return static_cast<T*>(impl_->data());
  }
  template <class T>
  [[nodiscard]] const std::remove_const_t<T>* const_data_ptr() const {
    return data_ptr<const std::remove_const_t<T>>();
  }
  template <class T>
  [[nodiscard]] T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T, std::size_t N>
  [[nodiscard]] TensorAccessor<T, N> accessor() const {
    OPGEN_CHECK(dim() == static_cast<std::int64_t>(N), "accessor of ", N,
                " dimensions for a tensor of ", dim());
    return TensorAccessor<T, N>(data_ptr<T>(), sizes().data(), strides().data());
  }

  [[nodiscard]] bool is_cpu() const noexcept { return impl_->device().is_cpu(); }
  [[nodiscard]] bool is_cuda() const noexcept { return impl_->device().is_cuda(); }
  [[nodiscard]] bool is_meta() const noexcept { return impl_->device().is_meta(); }
  [[nodiscard]] bool is_sparse() const noexcept { return impl_->layout() == kSparse; }
  [[nodiscard]] bool is_mkldnn() const noexcept { return impl_->layout() == kMkldnn; }
  [[nodiscard]] bool is_floating_point() const noexcept { return isFloatingType(scalar_type()); }
  [[nodiscard]] bool is_complex() const noexcept { return isComplexType(scalar_type()); }
  [[nodiscard]] bool is_signed() const noexcept { return isSignedType(scalar_type()); }

  [[nodiscard]] bool is_conj() const noexcept { return key_set().has(DispatchKey::Conjugate); }
  [[nodiscard]] bool is_neg() const noexcept { return key_set().has(DispatchKey::Negative); }
  [[nodiscard]] bool _is_zerotensor() const noexcept {
    return key_set().has(DispatchKey::ZeroTensor);
  }
  // Returns whether the tensor was made in inference mode. Such a tensor has no autograd keys, so
  // it is never recorded.
  [[nodiscard]] bool is_inference() const noexcept {
    return defined() && !key_set().has(DispatchKey::ADInplaceOrView);
  }

  [[nodiscard]] OPGEN_API TensorBase
  contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;

  // Returns how often operators changed the bytes in place; views share the count. Throws Error if
  // the tensor was made in inference mode.
  [[nodiscard]] std::int64_t _version() const {
    if (OPGEN_UNLIKELY(is_inference())) detail::throw_no_version();
    return impl_->version();
  }
  void bump_version() const noexcept { impl_->bump_version(); }

 private:
  TensorImpl* impl_;
};

// A library whose operators are methods derives a class from this one, which adds only methods:
// each converts to the other, and references to one are passed as references to the other.
class Tensor : public TensorBase {
 public:
  Tensor() = default;
  Tensor(const TensorBase& base) noexcept : TensorBase(base) {}        // NOLINT
  Tensor(TensorBase&& base) noexcept : TensorBase(std::move(base)) {}  // NOLINT

  // Returns a copy with negated imaginary parts if the tensor is complex, else the tensor itself.
  [[nodiscard]] OPGEN_API Tensor conj() const;
};

namespace detail {

// Returns another tensor on the same storage. Strides and offset count elements; they are not
// checked against the storage.
[[nodiscard]] OPGEN_API TensorBase alias_with_sizes_and_strides(const TensorBase& base,
                                                                IntArrayRef sizes,
                                                                IntArrayRef strides,
                                                                std::int64_t storage_offset);
// Returns a view with other sizes if `base` is row-major in every dimension and the sizes have the
// same number of elements; else an undefined tensor.
[[nodiscard]] OPGEN_API TensorBase view_if_row_major(const TensorBase& base, IntArrayRef sizes);

}  // namespace detail

// Appends, for example, "Float[2, 3] on cpu".
OPGEN_API void append_message(Message& message, const TensorBase& tensor);

// Prints such a line, with strides unless the tensor is row-major, then the elements in brackets,
// with the stream's precision. Of more than 1000 elements, only those at the ends of each dimension
// are printed.
OPGEN_API std::ostream& operator<<(std::ostream& out, const TensorBase& tensor);

}  // namespace opgen
