// kernels.cpp: every function of docs/reference/kernels-api.md, compiled for both targets. Results
// that are not tensors are returned as tensors of int64.
#include <opgen/kernel.h>

#include <functions/NativeFunctions.h>

#include <memory>
#include <vector>

namespace {

using namespace opgen::types;

Tensor numbers(IntArrayRef values) {
  Tensor result = opgen::empty({static_cast<int64_t>(values.size())}, TensorOptions(opgen::kLong));
  int64_t* to = result.mutable_data_ptr<int64_t>();
  for (const int64_t value : values) *to++ = value;
  return result;
}

// Its sizes, strides and dtype are compared: no values were written to it.
Tensor unwritten(const Tensor& tensor) {
  opgen::zero_(tensor);
  return tensor;
}

int64_t blobs_deleted = 0;

std::vector<Tensor> blob() {
  static float elements[] = {1, 2, 3, 4, 5, 6};
  const Tensor transposed = opgen::from_blob(elements, {3, 2}, {1, 3});
  const auto count = [](void* counter) { ++*static_cast<int64_t*>(counter); };
  Tensor counted = opgen::from_blob(elements, {2}, {3}, opgen::kFloat, &blobs_deleted, count);
  const std::vector<Tensor> copies{opgen::clone(transposed), opgen::clone(counted)};
  const int64_t before = blobs_deleted;
  counted.reset();
  const int64_t freed = blobs_deleted;
  // Errors are returned, too.
  int64_t refused = 0;
  try {
    (void)opgen::from_blob(elements, {-1}, {1}, opgen::kFloat, &blobs_deleted, count);
  } catch (const std::exception&) {
    refused = blobs_deleted - freed;
  }
  return {copies[0], copies[1], numbers({freed - before, refused})};
}

}  // namespace

OPGEN_KERNEL(made)(const Tensor& self) {
  const TensorOptions options = self.options();
  auto strided = opgen::empty_strided({2, 3}, {1, 4}, options);
  std::vector<Tensor> results{
      unwritten(opgen::empty({2, 3})),
      unwritten(opgen::empty({1, 2, 3, 4}, options, MemoryFormat::ChannelsLast)),
      unwritten(opgen::empty({1, 2, 3, 4}, options.memory_format(MemoryFormat::ChannelsLast))),
      unwritten(strided),
      unwritten(opgen::empty_symint(self.sym_sizes(), options)),
      unwritten(opgen::empty_strided_symint(self.sym_sizes(), self.sym_strides(), options)),
      opgen::full({2}, 7),
      opgen::full({2}, 1.5),
      opgen::full({2}, true),
      opgen::full({2}, 1.5, options),
      opgen::full_symint(self.sym_sizes(), 3, options),
      opgen::zeros({2, 0}),
      opgen::zeros({2}, options),
      opgen::zeros_symint(self.sym_sizes()),
      opgen::ones({2}),
      opgen::ones({2}, options),
      opgen::scalar_tensor(3),
      opgen::scalar_tensor(3, opgen::kLong),
      opgen::clone(opgen::wrapped_scalar_tensor(2.5)),
      opgen::clone(opgen::wrapped_scalar_tensor(true)),
  };
  for (const Tensor& tensor : blob()) results.push_back(tensor);
  return results;
}

OPGEN_KERNEL(alike)(const Tensor& dense) {
  const TensorOptions longs = opgen::kLong;
  std::vector<Tensor> results;
  // Row-major, transposed, with gaps, and with several elements at one address.
  for (const Tensor& self : {dense, opgen::as_strided(dense, {3, 2}, {1, 3}),
                             opgen::as_strided_symint(dense, {2, 2}, {3, 2}),
                             opgen::as_strided(dense, {2, 2, 2}, {0, 1, 2})}) {
    for (const Tensor& tensor :
         {unwritten(opgen::empty_like(self)), unwritten(opgen::empty_like(self, longs)),
          unwritten(opgen::empty_like(self, {}, MemoryFormat::Contiguous)),
          opgen::full_like(self, 2), opgen::full_like(self, 2.5, longs), opgen::zeros_like(self),
          opgen::zeros_like(self, longs, MemoryFormat::Contiguous), opgen::ones_like(self),
          unwritten(opgen::new_empty(self, {3})), unwritten(opgen::new_empty(self, {3}, longs)),
          unwritten(opgen::new_empty_strided(self, {2, 2}, {1, 2})), opgen::new_full(self, {3}, 4),
          opgen::new_zeros(self, {0, 3}), opgen::new_ones(self, {3}, longs),
          unwritten(opgen::new_empty_symint(self, self.sym_sizes())), opgen::clone(self),
          opgen::clone(self, MemoryFormat::Contiguous), opgen::contiguous(self)}) {
      results.push_back(tensor);
    }
  }
  return results;
}

OPGEN_KERNEL(moved)(const Tensor& self) {
  auto copied = opgen::empty({2, 2, 3}, opgen::kDouble);
  opgen::copy_(copied, self);
  auto filled = opgen::clone(self);
  opgen::fill_(filled, 3);
  auto zeroed = opgen::clone(self, MemoryFormat::Contiguous);
  opgen::zero_(zeroed);
  const Tensor dense = opgen::contiguous(self), same = opgen::to_dtype(self, self.scalar_type());
  const Tensor here = opgen::to_device(self, self.device());
  const Scalar last = opgen::item(opgen::as_strided(dense, {}, {}, dense.numel() - 1));
  auto grown = opgen::empty({0}, self.options());
  const Tensor corner = opgen::as_strided(dense, {2, 2}, {3, 1});
  const int64_t resized = opgen::resize_output(grown, {2, 2});
  const int64_t again = opgen::resize_output_symint(grown, corner.sym_sizes());
  auto channels = opgen::empty({0}, self.options());
  opgen::resize_(channels, {1, 2, 1, 2}, MemoryFormat::ChannelsLast);
  return {copied,
          opgen::clone(self),
          filled,
          zeroed,
          dense,
          opgen::to_dtype(self, opgen::kLong),
          opgen::full({}, last),
          unwritten(grown),
          unwritten(channels),
          numbers({same.is_same(self), here.is_same(self), resized, again})};
}

OPGEN_KERNEL(shaped)(const Tensor& self) {
  const auto strides = [](const std::optional<DimVector>& found) {
    return numbers(found.has_value() ? IntArrayRef(*found) : IntArrayRef({-1}));
  };
  const opgen::DimMask mask = opgen::make_dim_mask(IntArrayRef({-1}), 3);
  const auto overlap = [](auto status) { return static_cast<int64_t>(status); };
  const Tensor spread = opgen::expand(self, {2, -1, 3});
  return {
      opgen::clone(opgen::as_strided(self, {2}, {1})),
      opgen::clone(spread),
      numbers(opgen::infer_size({2, 1}, {3})),
      numbers(opgen::infer_view_size({2, -1}, 6)),
      numbers(opgen::contiguous_strides({2, 0, 3})),
      numbers(opgen::infer_dense_strides({2, 3}, {1, 10})),
      strides(opgen::computeStride({2, 3}, {3, 1}, {3, 2})),
      strides(opgen::computeStride({2, 3}, {1, 2}, {6})),
      numbers(opgen::maybe_wrap_dims({-1, 0}, 3)),
      numbers(opgen::shape_from_dim_mask({2, 3, 4}, mask, true)),
      numbers(opgen::shape_from_dim_mask({2, 3, 4}, mask, false)),
      numbers({opgen::is_expandable_to({1, 3}, {2, 3}), opgen::is_expandable_to({2}, {3}),
               opgen::multiply_integers({2, 3}), opgen::storage_elements({2, 3}, {3, 1}, 1),
               static_cast<int64_t>(opgen::checked_storage_bytes({2, 3}, {3, 1}, 1, 4)),
               opgen::maybe_wrap_dim(-1, 3), opgen::has_dim(mask, 2), opgen::has_dim(mask, 1),
               static_cast<int64_t>(opgen::make_dim_mask(std::nullopt, 3)),
               static_cast<int64_t>(opgen::make_dim_mask(IntArrayRef(), 3, true))}),
      numbers({overlap(opgen::has_internal_overlap(spread)),
               overlap(opgen::has_internal_overlap(self)),
               overlap(opgen::get_overlap_status(self, self)),
               overlap(opgen::get_overlap_status(self, opgen::clone(self))),
               opgen::MemOverlap::Yes == opgen::has_internal_overlap(spread),
               opgen::MemOverlapStatus::Full == opgen::get_overlap_status(self, self)}),
      numbers({opgen::equal(self, opgen::clone(self)), opgen::equal(self, spread),
               opgen::allclose(self, opgen::ones_like(self), 0, 5),
               opgen::allclose(self, opgen::ones_like(self))}),
  };
}

OPGEN_KERNEL(dtypes)(const Tensor& self, const Tensor& other, const Scalar& number) {
  opgen::assert_no_internal_overlap(self);
  opgen::assert_no_partial_overlap(self, self);
  opgen::check_sizes_nonnegative(self.sizes());
  const auto of = [](ScalarType dtype) { return static_cast<int64_t>(dtype); };
  return numbers({of(opgen::promote_types(self.scalar_type(), other.scalar_type())),
                  of(opgen::result_type_of(self, other)), of(opgen::result_type_of(self, number)),
                  of(opgen::result_type_of(opgen::to_dtype(self, opgen::kByte), number)),
                  of(opgen::result_type_of(self, opgen::wrapped_scalar_tensor(number))),
                  of(opgen::get_default_dtype())});
}

OPGEN_KERNEL(refused)(const Tensor& self, int64_t which) {
  switch (which) {
    case 0:
      return opgen::empty({-1});
    case 1:
      return opgen::empty_strided({2}, {1, 2});
    case 2:
      return opgen::empty({2}, TensorOptions(MemoryFormat::Contiguous), MemoryFormat::Contiguous);
    case 3:
      opgen::copy_(self, opgen::zeros({7}));
      return self;
    case 4:
      return opgen::full({}, opgen::item(self));
    case 5:
      return opgen::as_strided(self, {1000}, {1});
    case 6:
      return opgen::as_strided(self, {2}, {-1});
    case 7:
      return opgen::expand(self, {5, 7});
    case 8:
      return numbers(opgen::infer_size({2}, {3}));
    case 9:
      return numbers(opgen::infer_view_size({-1, 4}, 6));
    case 10:
      return numbers({opgen::maybe_wrap_dim(4, 3)});
    case 11:
      return numbers({static_cast<int64_t>(opgen::make_dim_mask(IntArrayRef({0, -3}), 3))});
    case 12:
      opgen::assert_no_internal_overlap(opgen::expand(self, {2, -1, -1}));
      return self;
    case 13:
      opgen::assert_no_overlap(self, self);
      return self;
    case 14:
      opgen::check_sizes_nonnegative({2, -1});
      return self;
    case 15:
      return numbers({opgen::multiply_integers({int64_t(1) << 40, int64_t(1) << 40})});
    case 16:
      opgen::fill_(opgen::empty({1}, opgen::kByte), 300);
      return self;
    default:
      OPGEN_CHECK(false, "there is no case ", which);
  }
}
