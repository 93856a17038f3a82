// shape_utils.cpp: arithmetic on sizes and strides.
#include "opgen/tensor/shape_utils.h"

#include "opgen/tensor/storage_bytes.h"
#include "tensor/stride_order.h"

namespace opgen::tensor_functions {

using namespace detail;  // NOLINT(google-build-using-namespace)

DimVector maybe_wrap_dims(IntArrayRef dims, std::int64_t ndim, bool wrap_scalar) {
  DimVector wrapped;
  for (std::int64_t dim : dims) wrapped.push_back(maybe_wrap_dim(dim, ndim, wrap_scalar));
  return wrapped;
}

}  // namespace opgen::tensor_functions

namespace opgen::detail {

DimVector infer_size(IntArrayRef a, IntArrayRef b) {
  std::size_t ndim = a.size() > b.size() ? a.size() : b.size();
  DimVector shape(ndim);
  for (std::size_t i = 1; i <= ndim; ++i) {
    std::int64_t size_a = i <= a.size() ? a[a.size() - i] : 1;
    std::int64_t size_b = i <= b.size() ? b[b.size() - i] : 1;
    if (OPGEN_UNLIKELY(size_a != size_b && size_a != 1 && size_b != 1)) {
      throw_no_broadcast(a, b, ndim - i);
    }
    shape[ndim - i] = size_a == 1 ? size_b : size_a;
  }
  return shape;
}

DimVector infer_size(IntArrayRef shape, std::int64_t numel) {
  DimVector result(shape);
  std::int64_t known = 1;
  std::size_t unknown = shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      OPGEN_CHECK(unknown == shape.size(), "only one size of a shape can be -1, got ", shape);
      unknown = i;
    } else {
      OPGEN_CHECK(shape[i] >= 0, "negative size ", shape[i], " in shape ", shape);
      OPGEN_CHECK(!__builtin_mul_overflow(known, shape[i], &known), "shape ", shape,
                  " has too many elements");
    }
  }
  if (unknown == shape.size()) {
    OPGEN_CHECK(known == numel, "shape ", shape, " does not match a tensor of ", numel,
                " elements");
    return result;
  }
  OPGEN_CHECK(known != 0, "the -1 of shape ", shape,
              " could be any size, because another size is 0");
  OPGEN_CHECK(numel % known == 0, "shape ", shape, " does not match a tensor of ", numel,
              " elements");
  result[unknown] = numel / known;
  return result;
}

}  // namespace opgen::detail

namespace opgen::tensor_functions {

bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) noexcept {
  if (shape.size() > desired.size()) return false;
  for (std::size_t i = 1; i <= shape.size(); ++i) {
    std::int64_t size = shape[shape.size() - i];
    if (size != 1 && size != desired[desired.size() - i]) return false;
  }
  return true;
}

Geometry infer_expand_geometry(IntArrayRef sizes, IntArrayRef strides, IntArrayRef desired) {
  OPGEN_CHECK(desired.size() >= sizes.size(), "cannot expand a tensor of sizes ", sizes, " to ",
              desired, ": the new shape has fewer dimensions");
  Geometry result{DimVector(desired), DimVector(desired.size(), 0)};
  std::size_t added = desired.size() - sizes.size();
  for (std::size_t i = desired.size(); i-- > 0;) {
    bool is_new = i < added;
    std::int64_t size = is_new ? 1 : sizes[i - added];
    std::int64_t target = desired[i];
    if (target == -1) {
      OPGEN_CHECK(!is_new, "cannot expand a tensor of sizes ", sizes, " to ", desired,
                  ": -1 keeps a size, but dimension ", i, " is new");
      target = size;
    }
    OPGEN_CHECK(target >= 0, "negative size ", target, " in shape ", desired);
    OPGEN_CHECK(size == target || size == 1, "cannot expand a tensor of sizes ", sizes, " to ",
                desired, ": size ", size, " of dimension ", i, " is not 1");
    result.sizes[i] = target;
    if (size != target || sizes.empty()) continue;
    result.strides[i] = is_new ? result.sizes[i + 1] * result.strides[i + 1] : strides[i - added];
  }
  return result;
}

std::int64_t multiply_integers(IntArrayRef sizes) {
  std::int64_t product = 1;
  for (std::int64_t size : sizes) {
    OPGEN_CHECK(!__builtin_mul_overflow(product, size, &product), "shape ", sizes,
                " has too many elements");
  }
  return product;
}

void check_sizes_nonnegative(IntArrayRef sizes) {
  for (std::int64_t size : sizes) {
    OPGEN_CHECK_VALUE(size >= 0, "negative size ", size, " in shape ", sizes);
  }
}

std::size_t checked_storage_bytes(IntArrayRef sizes, IntArrayRef strides,
                                  std::int64_t storage_offset, std::size_t itemsize) {
  return storage_bytes(sizes, strides, storage_offset, itemsize);
}

std::int64_t storage_elements(IntArrayRef sizes, IntArrayRef strides, std::int64_t storage_offset) {
  return static_cast<std::int64_t>(checked_storage_bytes(sizes, strides, storage_offset, 1));
}

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides;
  detail::contiguous_strides(sizes, strides);
  return strides;
}

}  // namespace opgen::tensor_functions

namespace opgen::detail {

DimVector strides_for_format(IntArrayRef sizes, MemoryFormat format) {
  DimVector strides;
  strides_for_format(sizes, format, strides);
  return strides;
}

}  // namespace opgen::detail

namespace opgen::tensor_functions {

DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides) {
  std::size_t ndim = sizes.size();
  SmallVector<std::size_t, 5> order;  // fastest dimension first
  for (std::size_t i = 0; i < ndim; ++i) order.push_back(ndim - 1 - i);
  // Returns 1 if dimension a comes after b, -1 if before, and 0 if undecided, so that the search
  // continues.
  auto compare = [&](std::size_t a, std::size_t b) {
    if (strides[a] == 0 || strides[b] == 0) return 0;
    if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
    return sizes[a] > sizes[b] ? 1 : 0;
  };
  for (std::size_t i = 1; i < ndim; ++i) {
    std::size_t at = i;
    for (std::size_t j = i; j-- > 0;) {
      int order_of = compare(order[j], order[at]);
      if (order_of > 0) {
        std::swap(order[j], order[at]);
        at = j;
      } else if (order_of < 0) {
        break;
      }
    }
  }
  DimVector dense(ndim, 0);
  std::int64_t stride = 1;
  for (std::size_t d : order) {
    dense[d] = stride;
    stride *= sizes[d] > 1 ? sizes[d] : 1;
  }
  return dense;
}

std::optional<DimVector> computeStride(IntArrayRef old_sizes, IntArrayRef old_strides,
                                       IntArrayRef new_sizes) {
  if (old_sizes.empty()) return DimVector(new_sizes.size(), 1);
  std::int64_t numel = multiply_integers(old_sizes);
  if (numel == 0 && old_sizes == new_sizes) return DimVector(old_strides);
  if (numel == 0) return contiguous_strides(new_sizes);

  DimVector strides(new_sizes.size());
  // Goes through both shapes from the back in chunks: a run of old dimensions that are contiguous
  // in memory, and the new dimensions with the same number of elements.
  std::size_t next = new_sizes.size();
  std::int64_t base = old_strides.back();
  std::int64_t old_chunk = 1;
  std::int64_t new_chunk = 1;
  for (std::size_t d = old_sizes.size(); d-- > 0;) {
    old_chunk *= old_sizes[d];
    bool chunk_ends = d == 0 || (old_sizes[d - 1] != 1 && old_strides[d - 1] != old_chunk * base);
    if (!chunk_ends) continue;
    while (next > 0 && (new_chunk < old_chunk || new_sizes[next - 1] == 1)) {
      --next;
      strides[next] = new_chunk * base;
      new_chunk *= new_sizes[next];
    }
    if (new_chunk != old_chunk) return std::nullopt;
    if (d > 0) {
      base = old_strides[d - 1];
      old_chunk = 1;
      new_chunk = 1;
    }
  }
  if (next != 0) return std::nullopt;
  return strides;
}

}  // namespace opgen::tensor_functions
