// resize.cpp: what out= does to a tensor of the wrong shape, and resize_.
#include "opgen/resize.h"

#include "opgen/memory_overlap.h"
#include "opgen/shape_utils.h"
#include "opgen/tensor.h"

namespace opgen::detail {

namespace {

// Grows the storage to what the tensor's sizes and strides reach.
void grow_storage(const TensorBase& self) {
  TensorImpl* impl = self.unsafeGetTensorImpl();
  if (OPGEN_UNLIKELY(impl->is_stand_in()))
    detail::throw_stand_in(*impl, "calls resize_() on memory");
  std::int64_t elements = storage_elements(self.sizes(), self.strides(), self.storage_offset());
  std::size_t bytes = static_cast<std::size_t>(elements) * self.itemsize();
  if (bytes == 0) return;
  if (impl->storage() == nullptr) {
    impl->set_storage(Storage(bytes, self.device()));
  } else if (impl->storage()->nbytes() < bytes) {
    OPGEN_CHECK(impl->storage()->resizable(), "a tensor on memory of ", impl->storage()->nbytes(),
                " bytes that someone else owns cannot grow to ", bytes, " bytes");
    impl->storage()->resize(bytes);
  }
}

}  // namespace

bool resize_output_check(const TensorBase& output, IntArrayRef sizes) {
  if (output.sizes() == sizes) return false;
  if (output.numel() != 0) {
    OPGEN_WARN(
        "an out= tensor of sizes ", output.sizes(), " was resized to ", sizes,
        " because it did not have the shape of the result. This will become an error: pass a "
        "tensor of that shape, or resize it to zero elements first (out.resize_(0)).");
  }
  return true;
}

bool resize_output(const TensorBase& output, IntArrayRef sizes) {
  if (!resize_output_check(output, sizes)) {
    if (!output.is_contiguous()) assert_no_internal_overlap(output);
    return false;
  }
  resize_(output, sizes);
  return true;
}

const TensorBase& resize_(const TensorBase& self, IntArrayRef sizes,
                          std::optional<MemoryFormat> format) {
  OPGEN_CHECK(self.layout() == kStrided, "a ", self.layout(), " tensor cannot be resized");
  check_sizes_nonnegative(sizes);
  if (self.sizes() != sizes) {
    self.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    grow_storage(self);
  }
  if (format.has_value()) {
    OPGEN_CHECK(*format != MemoryFormat::Preserve,
                "a resized tensor cannot preserve a memory format");
    if (!self.is_contiguous(*format)) {
      self.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides_for_format(sizes, *format));
      grow_storage(self);
    }
  }
  return self;
}

void restride_output(const TensorBase& output, IntArrayRef sizes, IntArrayRef strides,
                     std::optional<MemoryFormat> format) {
  TensorImpl* impl = output.unsafeGetTensorImpl();
  if (!strides.empty()) {
    OPGEN_INTERNAL_ASSERT(!format.has_value(), "strides and a memory format were both given");
    impl->set_sizes_and_strides(sizes, strides);
    grow_storage(output);
  } else if (format.has_value() && *format != MemoryFormat::Preserve) {
    impl->set_sizes_and_strides(sizes, strides_for_format(sizes, *format));
  }
}

}  // namespace opgen::detail
