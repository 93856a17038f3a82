// tensor.h: Tensor, a counted handle to a tensor of PyTorch, with everything that is not an
// operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "opgen/cpu/accessor.h"
#include "opgen/registration/types.h"
#include "opgen/tensor/tensor_impl.h"

namespace opgen {

namespace detail {
[[noreturn]] OPGEN_API OPGEN_COLD void throw_dim_out_of_range(std::int64_t dim, std::int64_t ndim,
                                                              bool wrap_scalar);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_wrong_dtype(ScalarType asked, ScalarType is);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_undefined(const char* what);
}  // namespace detail

// Returns `dim`, counted from the end if negative. Throws IndexError if it is out of range. A
// zero-dim tensor may count as one-dimensional.
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
  // Takes the share that `impl` was created with.
  [[nodiscard]] static TensorBase adopt(TensorImpl* impl) noexcept {
    TensorBase tensor;
    tensor.impl_ = impl;
    return tensor;
  }

  [[nodiscard]] bool defined() const noexcept { return impl_ != &detail::undefined_tensor; }
  void reset() noexcept { *this = TensorBase(); }
  // Whether both are one tensor. PyTorch's C functions do not tell: two tensors with the same
  // elements, sizes and strides count as one.
  [[nodiscard]] bool is_same(const TensorBase& other) const {
    return impl_ == other.impl_ || (defined() && other.defined() && looks_same(other));
  }
  // Whether both share one storage.
  [[nodiscard]] OPGEN_API bool is_alias_of(const TensorBase& other) const;
  [[nodiscard]] std::size_t use_count() const noexcept {
    return defined() ? static_cast<std::size_t>(impl_->use_count()) : 0;
  }
  [[nodiscard]] TensorImpl* unsafeGetTensorImpl() const noexcept { return impl_; }
  // Gives up the share, which the caller now owns; the handle is undefined afterwards.
  [[nodiscard]] TensorImpl* unsafeReleaseTensorImpl() noexcept {
    return std::exchange(impl_, &detail::undefined_tensor);
  }

  [[nodiscard]] IntArrayRef sizes() const { return impl_->sizes(); }
  [[nodiscard]] IntArrayRef strides() const { return impl_->strides(); }
  [[nodiscard]] std::int64_t size(std::int64_t d) const {
    return sizes()[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] std::int64_t stride(std::int64_t d) const {
    return strides()[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] std::int64_t dim() const { return impl_->dim(); }
  [[nodiscard]] std::int64_t ndimension() const { return impl_->dim(); }
  [[nodiscard]] std::int64_t numel() const { return impl_->numel(); }
  [[nodiscard]] std::int64_t storage_offset() const { return impl_->storage_offset(); }
  [[nodiscard]] SymIntArrayRef sym_sizes() const { return impl_->sym_sizes(); }
  [[nodiscard]] SymIntArrayRef sym_strides() const { return impl_->sym_strides(); }
  [[nodiscard]] SymInt sym_size(std::int64_t d) const {
    return sym_sizes()[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] SymInt sym_stride(std::int64_t d) const {
    return sym_strides()[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] SymInt sym_numel() const { return impl_->sym_numel(); }
  [[nodiscard]] SymInt sym_storage_offset() const { return impl_->sym_storage_offset(); }
  [[nodiscard]] ScalarType scalar_type() const { return impl_->dtype(); }
  [[nodiscard]] ScalarType dtype() const { return impl_->dtype(); }
  [[nodiscard]] Device device() const {
    if (OPGEN_UNLIKELY(!defined())) detail::throw_undefined("device");
    return impl_->device();
  }
  [[nodiscard]] std::int64_t get_device() const { return device().index(); }
  [[nodiscard]] Layout layout() const { return impl_->layout(); }
  [[nodiscard]] TensorOptions options() const {
    return TensorOptions().dtype(scalar_type()).device(device()).layout(layout());
  }

  [[nodiscard]] bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return format == MemoryFormat::Contiguous ? impl_->is_contiguous()
                                              : impl_->is_contiguous(format);
  }
  [[nodiscard]] bool is_contiguous_or_false(MemoryFormat format = MemoryFormat::Contiguous) const {
    return impl_->is_contiguous_or_false(format);
  }
  [[nodiscard]] bool is_non_overlapping_and_dense() const {
    return impl_->is_contiguous() || impl_->is_non_overlapping_and_dense();
  }
  // Returns the format that the strides look like; with `exact`, only if they are those of a new
  // tensor of that format.
  [[nodiscard]] OPGEN_API MemoryFormat suggest_memory_format(bool exact = false) const noexcept;

  [[nodiscard]] std::size_t itemsize() const { return impl_->itemsize(); }
  [[nodiscard]] std::int64_t element_size() const {
    return static_cast<std::int64_t>(impl_->itemsize());
  }
  [[nodiscard]] std::size_t nbytes() const {
    return static_cast<std::size_t>(impl_->numel()) * impl_->itemsize();
  }
  [[nodiscard]] OPGEN_API Storage storage() const;
  [[nodiscard]] bool has_storage() const { return impl_->storage() != nullptr; }

  // Element {0, 0, ...}; null for tensors without bytes.
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

  // A fake has the device that its tensor has in the traced program, and no data there.
  [[nodiscard]] bool is_cpu() const { return !is_fake() && impl_->device().is_cpu(); }
  [[nodiscard]] bool is_cuda() const { return !is_fake() && impl_->device().is_cuda(); }
  [[nodiscard]] bool is_meta() const { return is_fake() || impl_->device().is_meta(); }
  [[nodiscard]] bool is_sparse() const { return impl_->layout() == kSparse; }
  [[nodiscard]] bool is_mkldnn() const { return impl_->layout() == kMkldnn; }
  [[nodiscard]] bool is_floating_point() const { return isFloatingType(scalar_type()); }
  [[nodiscard]] bool is_complex() const { return isComplexType(scalar_type()); }
  [[nodiscard]] bool is_signed() const { return isSignedType(scalar_type()); }

  // Returns this tensor if it has the format already, else a copy that has it.
  [[nodiscard]] OPGEN_API TensorBase
  contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;

 private:
  [[nodiscard]] bool is_fake() const noexcept { return impl_->fake() != nullptr; }
  [[nodiscard]] OPGEN_API bool looks_same(const TensorBase& other) const;

  TensorImpl* impl_;
};

namespace detail {
template <class T>
concept TensorBaseLike = std::is_same_v<std::remove_cvref_t<T>, TensorBase>;
}  // namespace detail

class Tensor : public TensorBase {
 public:
  using TensorBase::TensorBase;
  Tensor() = default;
  // A template, so that copies of derived classes are not ambiguous.
  template <detail::TensorBaseLike T>
  Tensor(T&& base) noexcept : TensorBase(std::forward<T>(base)) {}  // NOLINT(*-explicit-*)
};

namespace detail {

// Returns another tensor on the same storage. Strides and offset count elements.
[[nodiscard]] OPGEN_API TensorBase alias_with_sizes_and_strides(const TensorBase& base,
                                                                IntArrayRef sizes,
                                                                IntArrayRef strides,
                                                                std::int64_t storage_offset);
// Returns a row-major view of the elements of `base`; undefined if it is not row-major, or has
// another number of them, or none.
[[nodiscard]] OPGEN_API TensorBase view_if_row_major(const TensorBase& base, IntArrayRef sizes);
// Takes ownership of a tensor of PyTorch; one that is undefined there is undefined here.
[[nodiscard]] OPGEN_API TensorBase take_handle(AtenTensorHandle handle);
// Returns a tensor of PyTorch that the caller owns.
[[nodiscard]] OPGEN_API AtenTensorHandle give_handle(TensorBase&& tensor);

}  // namespace detail

// "Float[2, 3] on cpu"
OPGEN_API void append_message(Message& message, const TensorBase& tensor);

}  // namespace opgen
