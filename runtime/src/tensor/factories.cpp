// factories.cpp: empty_like, full, and zero-dim tensors that wrap numbers.
#include "opgen/tensor/factories.h"

#include "opgen/tensor/copy.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen::detail {

TensorBase empty_like(const TensorBase& self, const TensorOptions& options,
                      std::optional<MemoryFormat> format) {
  TensorOptions merged = self.options().merge_in(options);
  if (!format.has_value()) format = merged.memory_format_opt();
  merged = merged.memory_format(std::nullopt);
  if (format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve) {
    return empty(self.sizes(), merged, format);
  }
  if (self.layout() != kStrided) return empty(self.sizes(), merged);
  // Strides of dimensions of size 1 are kept, too.
  if (self.is_non_overlapping_and_dense()) {
    return empty_strided(self.sizes(), self.strides(), merged);
  }
  return empty_strided(self.sizes(), infer_dense_strides(self.sizes(), self.strides()), merged);
}

TensorBase full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) {
  TensorBase result = empty(sizes, options.has_dtype() ? options : options.dtype(value.type()));
  fill_(result, value);
  return result;
}

TensorOptions options_for_number(const Scalar& value, const TensorOptions& options) {
  if (options.has_dtype()) return options;
  if (value.isComplex()) return options.dtype(get_default_complex_dtype());
  return options.dtype(value.isFloatingPoint() ? get_default_dtype() : value.type());
}

TensorBase scalar_tensor(const Scalar& value, const TensorOptions& options) {
  return full({}, value, options);
}

TensorBase wrapped_scalar_tensor(const Scalar& value, Device device) {
  TensorBase result = scalar_tensor(value, TensorOptions().dtype(value.type()).device(device));
  result.unsafeGetTensorImpl()->set_wrapped_number(true);
  return result;
}

}  // namespace opgen::detail
