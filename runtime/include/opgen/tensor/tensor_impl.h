// tensor_impl.h: TensorImpl, the record behind tensor handles: type, sizes, strides and storage.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/array_ref.h"
#include "opgen/core/dispatch_key_set.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/ref.h"
#include "opgen/core/scalar_type.h"
#include "opgen/device/device.h"
#include "opgen/tensor/storage.h"

namespace opgen {

class TensorParts;  // tensor_parts.h
class TensorImpl;

namespace detail {
// Throws "t::f is composite, but its kernel calls data_ptr() …", with the function that
// composite_compliance.cpp, which makes stand-ins, has set.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_stand_in(const TensorImpl& impl, const char* act);
using StandInThrower = void (*)(const TensorImpl& impl, const char* act);
OPGEN_API extern constinit Atomic<StandInThrower> stand_in_thrower;
}  // namespace detail

class TensorImpl final : public RefCounted {
 public:
  // Creates a tensor of sizes {0} on `storage`.
  OPGEN_API static TensorImpl* create(Storage storage, DispatchKeySet keys, ScalarType dtype,
                                      Device device, Layout layout = kStrided);
  OPGEN_API static void destroy(TensorImpl* impl) noexcept;

  [[nodiscard]] DispatchKeySet key_set() const noexcept { return keys_; }
  [[nodiscard]] ScalarType dtype() const noexcept { return dtype_; }
  [[nodiscard]] std::size_t itemsize() const noexcept { return itemsize_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] Layout layout() const noexcept { return layout_; }
  [[nodiscard]] std::int64_t dim() const noexcept { return ndim_; }
  [[nodiscard]] std::int64_t numel() const noexcept { return numel_; }
  [[nodiscard]] IntArrayRef sizes() const noexcept { return {sizes_, std::size_t(ndim_)}; }
  [[nodiscard]] IntArrayRef strides() const noexcept { return {strides_, std::size_t(ndim_)}; }
  [[nodiscard]] std::int64_t storage_offset() const noexcept { return storage_offset_; }
  [[nodiscard]] StorageImpl* storage() const noexcept { return storage_; }
  [[nodiscard]] bool is_contiguous() const noexcept { return contiguous_; }
  [[nodiscard]] OPGEN_API bool is_contiguous(MemoryFormat format) const noexcept;
  // Returns whether the elements fill one range of memory without overlap.
  [[nodiscard]] OPGEN_API bool is_non_overlapping_and_dense() const noexcept;
  // Whether strides, with gaps or not, are channels-last. Ambiguous shapes count as contiguous.
  [[nodiscard]] OPGEN_API bool is_strides_like(MemoryFormat format) const noexcept;
  // Returns whether this zero-dim tensor wraps a number, which type promotion treats as a number.
  [[nodiscard]] bool is_wrapped_number() const noexcept { return wrapped_number_; }
  [[nodiscard]] std::uint32_t version() const noexcept {
    return storage_ != nullptr ? storage_->version() : 0;
  }
  // Returns the parts that only some tensors have, which the TensorImpl owns; null for most.
  [[nodiscard]] TensorParts* parts() const noexcept { return parts_.load_acquire(); }
  // Returns the address of element {0, 0, …}; null if there are no bytes. Throws Error only for a
  // stand-in of composite_compliance.h.
  [[nodiscard]] OPGEN_ALWAYS_INLINE void* data() const {
    void* bytes = storage_ != nullptr ? storage_->data() : nullptr;
    if (OPGEN_UNLIKELY(bytes == nullptr)) {
      // A returning call would make the caller save its registers.
      if (OPGEN_UNLIKELY(is_stand_in())) detail::throw_stand_in(*this, "calls data_ptr()");
      return nullptr;
    }
    return static_cast<char*>(bytes) + storage_offset_ * itemsize_;
  }

  [[nodiscard]] bool is_stand_in() const noexcept {
    return keys_.has(DispatchKey::TESTING_ONLY_GenericWrapper);
  }

  void bump_version() noexcept {
    if (storage_ != nullptr) storage_->bump_version();
  }
  void set_wrapped_number(bool value) noexcept { wrapped_number_ = value; }
  void set_key_set(DispatchKeySet keys) noexcept { keys_ = keys; }
  // Whether calls on the tensor may need to be recorded: it requires a gradient, has a tangent, or
  // is a view, whose base may get a history. Has no effect without a key of autograd.
  void set_tracked(bool value) noexcept {
    if (keys_.has(DispatchKey::AutogradTracked) == value) return;
    if (value && !keys_.has(DispatchKey::AutogradFunctionality)) return;
    keys_ = keys_ ^ DispatchKeySet(DispatchKey::AutogradTracked);
  }
  void set_storage_offset(std::int64_t offset) noexcept { storage_offset_ = offset; }
  // Sets the parts and returns them. If another thread was first, deletes `parts` and returns its.
  OPGEN_API TensorParts* add_parts(TensorParts* parts) noexcept;
  OPGEN_API void set_storage(Storage storage) noexcept;
  // Reinterprets the bytes as another dtype. The caller adjusts the sizes.
  OPGEN_API void set_dtype(ScalarType dtype) noexcept;
  OPGEN_API void set_sizes_contiguous(IntArrayRef sizes);
  OPGEN_API void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides);

  struct Undefined {};
  constexpr explicit TensorImpl(Undefined) noexcept;

 private:
  static constexpr int kInlineDims = 5;

  TensorImpl() noexcept : sizes_(inline_), strides_(inline_ + kInlineDims) {}
  void set_dim(std::size_t ndim);
  void refresh_contiguous() noexcept;

  ScalarType dtype_ = ScalarType::Undefined;
  std::uint8_t itemsize_ = 0;
  Device device_;
  DispatchKeySet keys_;
  std::int64_t* sizes_;
  std::int64_t* strides_;
  StorageImpl* storage_ = nullptr;
  std::int64_t storage_offset_ = 0;
  std::int64_t numel_ = 0;
  std::int32_t ndim_ = 1;
  Layout layout_ = Layout::Strided;
  bool contiguous_ = true;
  bool wrapped_number_ = false;
  bool heap_dims_ = false;
  Atomic<TensorParts*> parts_ = nullptr;
  std::int64_t inline_[2 * kInlineDims];

  friend struct TensorPool;
};

constexpr TensorImpl::TensorImpl(Undefined) noexcept
    : sizes_(inline_), strides_(inline_ + kInlineDims), inline_{0, 0, 0, 0, 0, 1, 0, 0, 0, 0} {}

namespace detail {

// Every undefined handle points to this tensor, so that accessors need not test for null. It has
// sizes {0} and no keys.
OPGEN_API extern TensorImpl undefined_tensor;

}  // namespace detail
}  // namespace opgen
