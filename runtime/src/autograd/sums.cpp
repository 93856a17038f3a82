// sums.cpp: sums of gradients.
#include "autograd/sums.h"

#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/primitives.h"
#include "opgen/core/small_vector.h"
#include "opgen/cpu/loops.h"
#include "opgen/cpu/reduce.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen::primitive {

namespace {

// The dtypes that have their own loops. Integers and bools, which are seldom added here, are added
// as Long, which gives the same bits when it is converted back.
#define OPGEN_SUM_DTYPES OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES, OPGEN_COMPLEX_DTYPES, Long
ScalarType sum_dtype(ScalarType dtype) {
  return isIntegralType(dtype, /*include_bool=*/true) ? kLong : dtype;
}

// One loop for add and add_in_place.
template <class T>
OPGEN_NOINLINE void add_elements(TensorIterator& iter) {
  cpu_kernel(iter, [](T x, T y) { return static_cast<T>(x + y); });
}

}  // namespace

TensorBase add_kernel(const TensorBase& a, const TensorBase& b) {
  TensorBase out;
  TensorIterator iter = TensorIterator::binary_op(out, a, b);
  const ScalarType dtype = iter.common_dtype();
  if (sum_dtype(dtype) != dtype) {
    const TensorBase sum =
        add_kernel(opgen::detail::to_dtype(a, kLong), opgen::detail::to_dtype(b, kLong));
    return opgen::detail::to_dtype(sum, dtype);
  }
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH(dtype, "add", OPGEN_WRAP([&] { add_elements<scalar_t>(iter); }),
                   OPGEN_SUM_DTYPES);
  }
  return iter.output();
}

TensorBase sum_to_kernel(const TensorBase& self, IntArrayRef sizes) {
  OPGEN_CHECK(opgen::is_expandable_to(sizes, self.sizes()), "a tensor of sizes ", self.sizes(),
              " cannot be summed to ", sizes);
  DimVector dims;
  DimVector kept(self.sizes());
  std::int64_t lead = self.dim() - static_cast<std::int64_t>(sizes.size());
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    bool sums = d < lead || (sizes[static_cast<std::size_t>(d - lead)] == 1 && self.size(d) != 1);
    if (!sums) continue;
    dims.push_back(d);
    kept[static_cast<std::size_t>(d)] = 1;
  }
  const ScalarType dtype = sum_dtype(self.scalar_type());
  TensorBase out = opgen::detail::full(kept, 0, self.options().dtype(dtype));
  if (dims.empty()) {
    opgen::copy_(out, self);
  } else if (!out.is_meta()) {
    const TensorBase in = opgen::detail::to_dtype(self, dtype);
    TensorIterator iter = make_reduction(out, in, OptionalIntArrayRef(IntArrayRef(dims)), true);
    OPGEN_DISPATCH(dtype, "sum_to", OPGEN_WRAP([&] { cpu_sum<scalar_t>(iter); }), OPGEN_SUM_DTYPES);
  }
  out = opgen::detail::to_dtype(out, self.scalar_type());
  const DimVector strides = opgen::contiguous_strides(sizes);
  return opgen::detail::alias_with_sizes_and_strides(out, sizes, strides, 0);
}

bool add_in_place(const TensorBase& sum, const TensorBase& more) {
  constexpr DispatchKeySet tracked = kAutogradKeys.add(DispatchKey::ADInplaceOrView);
  static const DispatchKeySet plain = opgen::detail::default_key_set(DispatchKey::CPU) - tracked;
  const auto is_plain = [&](const TensorBase& tensor) {
    return tensor.key_set() - tracked == plain && tensor.has_storage() &&
           !autograd::requires_grad(tensor) && !autograd::has_tangent(tensor);
  };
  // Gradients are not integers.
  if (isIntegralType(sum.scalar_type(), /*include_bool=*/true)) return false;
  if (sum.scalar_type() != more.scalar_type() || sum.sizes() != more.sizes() || !is_plain(sum) ||
      !is_plain(more) || !sum.is_non_overlapping_and_dense()) {
    return false;
  }
  // For fewer elements, an iterator would cost more than the sum.
  constexpr std::int64_t kFew = 64;
  const bool is_short = sum.numel() <= kFew && sum.is_contiguous() && more.is_contiguous();
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(sum.scalar_type(), "add", [&] {
    if (is_short) {
      scalar_t* to = sum.mutable_data_ptr<scalar_t>();
      const scalar_t* from = more.const_data_ptr<scalar_t>();
      for (std::int64_t i = 0; i < sum.numel(); ++i) to[i] = static_cast<scalar_t>(to[i] + from[i]);
      return;
    }
    TensorIterator iter = TensorIterator::binary_op(sum, sum, more);
    add_elements<scalar_t>(iter);
  });
  if (!sum.is_inference()) sum.bump_version();
  return true;
}

}  // namespace opgen::primitive
