// tensor_impl.h: TensorImpl, the record behind tensor handles: a tensor of PyTorch and what was
// asked about it so far.
//
// Each question is a call of PyTorch's C functions, so answers are kept. While a meta function runs
// for symbolic sizes, tensors are *fakes*: they have sizes, strides, a dtype and a device, but no
// tensor of PyTorch and no memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/array_ref.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/ref.h"
#include "opgen/core/scalar_type.h"
#include "opgen/core/sym_int.h"
#include "opgen/device/device.h"
#include "opgen/tensor/storage.h"

struct AtenTensorOpaque;
using AtenTensorHandle = AtenTensorOpaque*;

namespace opgen {

class FakeParts;  // symbolic/fake_tensor.h

class TensorImpl final : public RefCounted {
 public:
  // Takes ownership of the handle. `dense_cpu`: the caller knows that the tensor is strided and on
  // the CPU.
  OPGEN_API static TensorImpl* create(AtenTensorHandle handle, bool dense_cpu = false);
  // Takes ownership of the parts.
  OPGEN_API static TensorImpl* create_fake(FakeParts* parts, ScalarType dtype, Device device,
                                           Layout layout);
  OPGEN_API static void destroy(TensorImpl* impl) noexcept;

  [[nodiscard]] AtenTensorHandle handle() const noexcept { return handle_; }
  // Null for a tensor of PyTorch.
  [[nodiscard]] FakeParts* fake() const noexcept { return fake_; }

  [[nodiscard]] ScalarType dtype() const {
    if (OPGEN_UNLIKELY(!knows(kDtype))) ask_dtype();
    return dtype_;
  }
  [[nodiscard]] std::size_t itemsize() const { return elementSize(dtype()); }
  [[nodiscard]] Device device() const {
    if (OPGEN_UNLIKELY(!knows(kDevice))) ask_device();
    return device_;
  }
  [[nodiscard]] Layout layout() const {
    if (OPGEN_UNLIKELY(!knows(kLayout))) ask_layout();
    return layout_;
  }
  [[nodiscard]] std::int64_t dim() const {
    if (OPGEN_UNLIKELY(!knows(kDim))) ask_dim();
    return ndim_;
  }
  [[nodiscard]] std::int64_t numel() const {
    if (OPGEN_UNLIKELY(!knows(kNumel))) ask_numel();
    return numel_;
  }
  // Throws Error if a size is a symbol.
  [[nodiscard]] IntArrayRef sizes() const {
    if (OPGEN_UNLIKELY(!knows(kSizes))) ask_sizes();
    return {sizes_, static_cast<std::size_t>(dim())};
  }
  [[nodiscard]] IntArrayRef strides() const {
    if (OPGEN_UNLIKELY(!knows(kStrides))) ask_strides();
    return {strides_, static_cast<std::size_t>(dim())};
  }
  [[nodiscard]] std::int64_t storage_offset() const {
    if (OPGEN_UNLIKELY(!knows(kOffset))) ask_offset();
    return storage_offset_;
  }
  // The address of the storage's first byte; null if there are no bytes, or it is a fake.
  [[nodiscard]] StorageImpl* storage() const {
    if (OPGEN_UNLIKELY(fake_ != nullptr)) return nullptr;
    char* first = static_cast<char*>(data());
    if (first == nullptr) return nullptr;
    return reinterpret_cast<StorageImpl*>(first -
                                          storage_offset() * static_cast<std::int64_t>(itemsize()));
  }
  [[nodiscard]] bool is_contiguous() const {
    if (OPGEN_UNLIKELY(!knows(kContiguous))) ask_contiguous();
    return contiguous_;
  }
  [[nodiscard]] OPGEN_API bool is_contiguous(MemoryFormat format) const;
  [[nodiscard]] OPGEN_API bool is_non_overlapping_and_dense() const;
  [[nodiscard]] OPGEN_API bool is_strides_like(MemoryFormat format) const;
  [[nodiscard]] bool is_wrapped_number() const noexcept { return wrapped_number_; }
  void set_wrapped_number(bool value) noexcept { wrapped_number_ = value; }
  // Returns the address of element {0, 0, ...}; null if there are no bytes.
  [[nodiscard]] OPGEN_ALWAYS_INLINE void* data() const {
    if (OPGEN_UNLIKELY(!knows(kData))) ask_data();
    return data_;
  }

  // With symbols for the sizes of a fake.
  [[nodiscard]] OPGEN_API SymIntArrayRef sym_sizes() const;
  [[nodiscard]] OPGEN_API SymIntArrayRef sym_strides() const;
  [[nodiscard]] OPGEN_API SymInt sym_storage_offset() const;
  [[nodiscard]] OPGEN_API SymInt sym_numel() const;
  // False if a size leaves it undecided.
  [[nodiscard]] OPGEN_API bool is_contiguous_or_false(MemoryFormat format) const;
  [[nodiscard]] OPGEN_API bool is_non_overlapping_and_dense_or_false() const;

  // Called after the tensor of PyTorch was resized or got other strides.
  void forget_layout() const noexcept {
    if (OPGEN_LIKELY(fake_ == nullptr)) known_ &= kLasting;
  }
  // Called after a fake got other sizes.
  void know_dim(std::int64_t ndim) const noexcept {
    ndim_ = ndim;
    known_ = kLasting | kDim;
  }
  // Gives up the tensor of PyTorch; the record may only be destroyed then.
  [[nodiscard]] AtenTensorHandle release_handle() noexcept {
    AtenTensorHandle handle = handle_;
    handle_ = nullptr;
    return handle;
  }
  // Writes what is known about a tensor that was just created, row-major.
  void know_contiguous(ScalarType dtype, Device device, std::int64_t numel) noexcept {
    dtype_ = dtype;
    device_ = device;
    layout_ = kStrided;
    numel_ = numel;
    contiguous_ = true;
    storage_offset_ = 0;
    known_ |= kDtype | kDevice | kLayout | kNumel | kContiguous | kOffset;
  }

  struct Undefined {};
  constexpr explicit TensorImpl(Undefined) noexcept
      : sizes_(kNoSizes), strides_(kNoSizes), known_(0xffff) {}

 private:
  enum Known : std::uint16_t {
    kDtype = 1,
    kDevice = 2,
    kLayout = 4,
    kDim = 8,
    kNumel = 16,
    kSizes = 32,
    kStrides = 64,
    kOffset = 128,
    kContiguous = 256,
    kData = 512,
    // What no operator changes.
    kLasting = kDtype | kDevice | kLayout,
  };
  // Of the undefined tensor, which has sizes {0} as the runtime's.
  static constexpr std::int64_t kNoSizes[1] = {0};

  TensorImpl() noexcept = default;
  [[nodiscard]] bool knows(Known what) const noexcept { return (known_ & what) != 0; }
  void ask_dtype() const;
  void ask_device() const;
  void ask_layout() const;
  void ask_dim() const;
  void ask_numel() const;
  void ask_sizes() const;
  void ask_strides() const;
  void ask_offset() const;
  void ask_contiguous() const;
  void ask_data() const;

  AtenTensorHandle handle_ = nullptr;
  FakeParts* fake_ = nullptr;
  mutable void* data_ = nullptr;
  mutable const std::int64_t* sizes_ = nullptr;
  mutable const std::int64_t* strides_ = nullptr;
  mutable std::int64_t ndim_ = 1;
  mutable std::int64_t numel_ = 0;
  mutable std::int64_t storage_offset_ = 0;
  mutable std::uint16_t known_ = 0;
  mutable ScalarType dtype_ = ScalarType::Undefined;
  mutable Device device_;
  mutable Layout layout_ = Layout::Strided;
  mutable bool contiguous_ = true;
  bool wrapped_number_ = false;

  friend struct TensorRecords;
};

namespace detail {

// Every undefined handle points to this record, so that no accessor tests for null.
OPGEN_API extern TensorImpl undefined_tensor;

}  // namespace detail
}  // namespace opgen
