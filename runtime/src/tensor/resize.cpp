// resize.cpp: resizes out= tensors with the wrong shape; resize_().
#include "opgen/tensor/resize.h"

#include <utility>

#include "opgen/tensor/memory_overlap.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/tensor/tensor.h"

namespace opgen::tensor_functions {

using namespace detail;  // NOLINT(google-build-using-namespace)

namespace {

// Sets sizes and strides, and grows the storage if needed. If that throws, the tensor is unchanged.
void lay_out(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides) {
  TensorImpl* impl = self.unsafeGetTensorImpl();
  if (OPGEN_UNLIKELY(impl->is_stand_in())) {
    throw_stand_in(*impl, "calls resize_() on memory");
  }
  const std::size_t bytes =
      checked_storage_bytes(sizes, strides, self.storage_offset(), self.itemsize());
  StorageImpl* storage = impl->storage();
  if (storage != nullptr && storage->nbytes() < bytes) storage->resize(bytes);
  Storage fresh = storage == nullptr && bytes != 0 ? Storage(bytes, self.device()) : Storage();
  impl->set_sizes_and_strides(sizes, strides);
  if (fresh) impl->set_storage(std::move(fresh));
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
  OPGEN_CHECK(format != MemoryFormat::Preserve, "a resized tensor cannot preserve a memory format");
  const DimVector strides = strides_for_format(sizes, format.value_or(MemoryFormat::Contiguous));
  if (self.sizes() != sizes || (format.has_value() && !self.is_contiguous(*format))) {
    lay_out(self, sizes, strides);
  }
  return self;
}

void restride_output(const TensorBase& output, IntArrayRef sizes, IntArrayRef strides,
                     std::optional<MemoryFormat> format) {
  if (!strides.empty()) {
    OPGEN_INTERNAL_ASSERT(!format.has_value(), "strides and a memory format were both given");
    lay_out(output, sizes, strides);
  } else if (format.has_value() && *format != MemoryFormat::Preserve) {
    lay_out(output, sizes, strides_for_format(sizes, *format));
  }
}

}  // namespace opgen::tensor_functions
