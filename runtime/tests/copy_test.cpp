// copy_test.cpp: copies between all dtypes and layouts, fills, clones, resizing and overlap.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "check.h"
#include "opgen/composite.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/convert_element.h"
#include "opgen/cpu/dim_mask.h"
#include "opgen/tensor/memory_overlap.h"
#include "opgen/tensor/resize.h"
#include "tensors.h"

using namespace tensors;

namespace {

using Sizes = std::initializer_list<std::int64_t>;
bool is(IntArrayRef actual, Sizes expected) {
  return actual == IntArrayRef(expected);
}

std::string last_warning;
void keep_warning(const char* text) {
  last_warning = text;
}

constexpr ScalarType kAllTypes[] = {
#define OPGEN_NAME(type, name, number) ScalarType::name,
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_NAME)
#undef OPGEN_NAME
};

}  // namespace

TEST(every_pair_of_dtypes) {
  for (ScalarType from : kAllTypes) {
    for (ScalarType to : kAllTypes) {
      Tensor src = arange({2, 5}, from);
      std::vector<double> expected = values(src);
      if (to == kBool) {
        for (double& v : expected) v = v != 0;
      }
      Tensor dst = empty({2, 5}, to);
      opgen::copy_(dst, src);
      CHECK(values(dst) == expected);
      // Both sides are strided; and one number is copied to many elements.
      Tensor gaps = strided(empty({40}, to), {2, 5}, {20, 3});
      opgen::copy_(gaps, t(detail::clone(t(src))));
      CHECK(values(gaps) == expected);
      opgen::copy_(dst, scalar(1, from));
      CHECK(values(dst) == std::vector<double>(10, 1.0));
    }
  }
}

TEST(conversions) {
  CHECK_EQ(convert<std::uint8_t>(-1.0f), 255);
  CHECK_EQ(convert<std::int64_t>(complex<float>(2.9f, 1.0f)), 2);
  CHECK(convert<bool>(complex<double>(0, 1)));
  CHECK(convert<bool>(std::nan("")));
  CHECK(!convert<bool>(-0.0f));
  CHECK_EQ(static_cast<float>(convert<BFloat16>(Half(1.5f))), 1.5f);
  CHECK_EQ(convert<complex<double>>(true).real(), 1.0);
  CHECK_EQ(convert<std::int8_t>(std::int64_t(300)), 44);
}

TEST(copy_broadcasts) {
  Tensor dst = empty({2, 3});
  opgen::copy_(dst, arange({3}));
  CHECK_EQ(values(dst), (std::vector<double>{0, 1, 2, 0, 1, 2}));
  CHECK_THROWS(Error, "cannot copy", opgen::copy_(dst, arange({2})));
  CHECK_THROWS(Error, "cannot copy", opgen::copy_(dst, arange({1, 2, 3})));
}

TEST(copy_transposed) {
  for (ScalarType dtype : {kByte, kHalf, kFloat, kDouble, kComplexDouble}) {
    for (int threads : {1, 3}) {
      set_num_threads(threads);
      Tensor src = arange({129, 83}, dtype == kByte ? kDouble : dtype);
      src = detail::to_dtype(src, dtype);
      Tensor dst = empty({83, 129}, dtype);
      opgen::copy_(dst, t(src));
      CHECK(values(dst) == values(t(src)));
      Tensor back = empty({129, 83}, dtype);
      opgen::copy_(t(back), dst);
      CHECK(values(back) == values(src));
    }
  }
  set_num_threads(1);
}

TEST(copy_overlap) {
  Tensor base = arange({10});
  opgen::copy_(base, base);
  CHECK_THROWS(Error, "overlap",
               opgen::copy_(strided(base, {5}, {1}, 1), strided(base, {5}, {1}, 0)));
  CHECK_THROWS(Error, "share memory", opgen::copy_(expand(arange({1}), {3}), arange({3})));
  opgen::copy_(strided(base, {5}, {1}, 5), strided(base, {5}, {1}, 0));
  CHECK_EQ(values(base), (std::vector<double>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

TEST(copy_meta) {
  opgen::copy_(meta({2, 3}), arange({3}));
  CHECK_THROWS(NotImplementedError, "no data", opgen::copy_(arange({2}), meta({2})));
  CHECK_THROWS(Error, "cannot copy", opgen::copy_(meta({2}), arange({3})));
}

TEST(fills) {
  for (ScalarType dtype : kAllTypes) {
    Tensor a = empty({3, 4}, dtype);
    opgen::fill_(a, 1);
    CHECK(values(a) == std::vector<double>(12, 1.0));
    opgen::zero_(t(a));
    CHECK(values(a) == std::vector<double>(12, 0.0));
    opgen::fill_(strided(a, {2, 2}, {5, 2}, 1), 1);
    CHECK_EQ(values(a), (std::vector<double>{0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0}));
  }
  Tensor shared = expand(empty({1}), {5});
  opgen::fill_(shared, 2.5);
  CHECK_EQ(values(shared)[4], 2.5);
  CHECK_THROWS(Error, "", opgen::fill_(empty({1}, kByte), 300));
}

TEST(clone_formats) {
  Tensor a = permute(arange({2, 3, 4}), {2, 0, 1});
  CHECK(is(detail::clone(a).strides(), {1, 12, 4}));
  CHECK(values(detail::clone(a)) == values(a));
  CHECK(is(detail::clone(a, MemoryFormat::Contiguous).strides(), {6, 3, 1}));
  Tensor gaps = strided(arange({64}), {2, 3}, {1, 8});
  CHECK(is(detail::clone(gaps).strides(), {1, 2}));
  Tensor shared = expand(arange({3, 1}), {3, 4});
  CHECK(is(detail::clone(shared).strides(), {4, 1}));
  CHECK(is(channels_last(arange({2, 3, 4, 5})).strides(), {60, 1, 15, 3}));
  Tensor kept = arange({2, 3});
  CHECK(Tensor(detail::contiguous(kept)).is_same(kept));
  CHECK(Tensor(detail::contiguous(t(kept))).is_contiguous());
  CHECK(Tensor(detail::to_dtype(kept, kFloat)).is_same(kept));
}

TEST(items) {
  CHECK(opgen::item(scalar(3, kLong)).equal(3));
  CHECK(opgen::item(full({1, 1}, 2.5)).equal(2.5));
  CHECK(opgen::item(full({1}, true, kBool)).isBoolean());
  CHECK_THROWS(Error, "2 elements", static_cast<void>(opgen::item(arange({2}))));
}

TEST(resizing) {
  Tensor a = arange({2, 3});
  Tensor view = strided(a, {3}, {1}, 3);
  opgen::resize_(a, {3, 4});
  CHECK(is(a.strides(), {4, 1}));
  CHECK_EQ(values(strided(a, {6}, {1})), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  CHECK_EQ(values(view), (std::vector<double>{3, 4, 5}));
  opgen::resize_(a, {2});
  CHECK_EQ(values(a), (std::vector<double>{0, 1}));
  Tensor strides_stay = t(arange({2, 3}));
  opgen::resize_(strides_stay, {3, 2});
  CHECK(is(strides_stay.strides(), {1, 3}));
  Tensor formatted = empty({0});
  opgen::resize_(formatted, {1, 2, 3, 4}, MemoryFormat::ChannelsLast);
  CHECK(is(formatted.strides(), {24, 1, 8, 2}));
  CHECK_THROWS(ValueError, "negative", opgen::resize_(a, {-1}));
}

struct NoMemory final : Allocator {
  DataPtr allocate(std::size_t bytes, Device) override {
    OPGEN_CHECK_KIND(OutOfMemory, false, "cannot allocate ", bytes, " bytes");
    return {};
  }
};

TEST(a_failed_resize_does_not_change_the_tensor) {
  NoMemory none;
  const std::int64_t huge = std::int64_t(1) << 62;
  float bytes[6] = {};
  Tensor fresh = arange({2, 3}, kLong);
  Tensor borrowed =
      detail::from_blob(bytes, {2, 3}, {3, 1}, TensorOptions(kFloat), nullptr, nullptr);
  for (const Tensor& a : {fresh, borrowed}) {
    const std::size_t there = a.storage().nbytes();
    auto unchanged = [&] {
      return is(a.sizes(), {2, 3}) && is(a.strides(), {3, 1}) && a.numel() == 6 &&
             a.storage().nbytes() == there;
    };
    CHECK_THROWS(Error, "fit into any memory", opgen::resize_(a, {huge}));
    CHECK(unchanged());
    CHECK_THROWS(Error, "", opgen::resize_(a, {huge, huge}));
    CHECK(unchanged());
    set_allocator(DeviceType::CPU, &none);
    CHECK_THROWS(Error, "",
                 opgen::resize_(a, {100}));  // out of memory, or memory that is not owned
    set_allocator(DeviceType::CPU, nullptr);
    CHECK(unchanged());
    CHECK_THROWS(Error, "dimensions", opgen::resize_(a, {7}, MemoryFormat::ChannelsLast));
    CHECK(unchanged());
    CHECK_THROWS(Error, "preserve", opgen::resize_(a, {7}, MemoryFormat::Preserve));
    CHECK(unchanged());
    CHECK_THROWS(Error, "64 bits", a.unsafeGetTensorImpl()->set_sizes_contiguous({huge, huge}));
    CHECK(unchanged());
    CHECK_THROWS(Error, "64 bits",
                 a.unsafeGetTensorImpl()->set_sizes_and_strides({huge, huge}, {1, 1}));
    CHECK(unchanged());
  }
  CHECK_THROWS(Error, "the runtime does not own", opgen::resize_(borrowed, {7}));
  CHECK(is(borrowed.sizes(), {2, 3}));
  opgen::resize_(borrowed, {3});  // within the capacity
  CHECK(is(borrowed.sizes(), {3}));
}

TEST(resize_output_warns_only_when_elements_are_lost) {
  WarningHandler old = set_warning_handler(&keep_warning);
  last_warning.clear();
  CHECK(!opgen::resize_output(arange({2}), {2}));
  CHECK(opgen::resize_output(empty({0}), {2}));
  CHECK(last_warning.empty());
  CHECK(opgen::resize_output(arange({2}), {3}));
  CHECK(last_warning.find("was resized") != std::string::npos);
  set_warning_handler(old);
}

TEST(overlap_status) {
  using opgen::MemOverlap;
  using opgen::MemOverlapStatus;
  Tensor base = arange({12});
  Tensor a = strided(base, {2, 3}, {3, 1});
  CHECK(opgen::has_internal_overlap(a) == MemOverlap::No);
  CHECK(opgen::has_internal_overlap(expand(arange({1}), {2})) == MemOverlap::Yes);
  CHECK_THROWS(Error, "several elements share memory",
               opgen::assert_no_internal_overlap(strided(base, {3, 3}, {1, 1})));
  CHECK_THROWS(Error, "several elements share memory",
               opgen::assert_no_internal_overlap(strided(base, {2, 3}, {2, 1})));
  opgen::assert_no_internal_overlap(strided(base, {2, 2}, {3, 1}));  // gaps, no overlap
  opgen::assert_no_internal_overlap(strided(base, {2, 3}, {3, 2}));  // interleaved: 0 2 4, 3 5 7
  CHECK(opgen::has_internal_overlap(strided(base, {3, 3}, {1, 1})) == MemOverlap::TooHard);
  CHECK(opgen::get_overlap_status(a, strided(base, {2, 3}, {3, 1})) == MemOverlapStatus::Full);
  CHECK(opgen::get_overlap_status(a, strided(base, {2, 3}, {1, 2})) == MemOverlapStatus::Partial);
  CHECK(opgen::get_overlap_status(a, strided(base, {6}, {1}, 6)) == MemOverlapStatus::No);
  CHECK(opgen::get_overlap_status(a, arange({2, 3})) == MemOverlapStatus::No);
  CHECK(opgen::get_overlap_status(a, strided(base, {3}, {2})) == MemOverlapStatus::TooHard);
  CHECK_THROWS(Error, "share memory", opgen::assert_no_overlap(a, a));
}

TEST(shared_elements) {
  Tensor base = arange({12});
  auto view = [&](IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
    return strided(base, sizes, strides, offset);
  };
  const std::vector<Tensor> views = {base,
                                     view({6}, {2}, 0),
                                     view({6}, {2}, 1),
                                     view({2, 3}, {6, 1}, 0),
                                     view({2, 3}, {6, 1}, 3),
                                     view({3, 2}, {1, 6}, 2),
                                     view({4}, {3}, 1),
                                     view({2, 2}, {0, 7}, 0),
                                     view({}, {}, 11),
                                     view({3, 0}, {4, 1}, 0),
                                     view({3, 2}, {4, 1}, 0),
                                     view({3, 2}, {4, 1}, 2),
                                     view({2, 2}, {4, 1}, 3),
                                     view({2, 3}, {4, 1}, 3),
                                     view({2, 2}, {6, 2}, 1),
                                     view({2, 2, 2}, {6, 2, 1}, 0)};
  for (const Tensor& a : views) {
    for (const Tensor& b : views) {
      std::vector<double> of_a = values(a), of_b = values(b);  // each element holds its own offset
      bool shared = false;
      for (double x : of_a) shared |= std::find(of_b.begin(), of_b.end(), x) != of_b.end();
      CHECK_EQ(opgen::share_elements(a, b), shared);
      CHECK_EQ(opgen::are_same_elements(a, b), a.is_same(b));
      CHECK(!opgen::share_elements(a, detail::clone(b)));
    }
    CHECK(opgen::are_same_elements(a, strided(a, a.sizes(), a.strides(), a.storage_offset())));
  }
  CHECK(opgen::are_same_elements(view({1, 2}, {5, 1}, 0), view({1, 2}, {9, 1}, 0)));
}

TEST(shapes) {
  CHECK(is(detail::infer_size(IntArrayRef({2, 1, 3}), IntArrayRef({4, 1})), {2, 4, 3}));
  CHECK(is(detail::infer_size(IntArrayRef({-1, 2}), 6), {3, 2}));
  CHECK_THROWS(Error, "only one size",
               static_cast<void>(detail::infer_size(IntArrayRef({-1, -1}), 6)));
  CHECK_THROWS(Error, "does not match",
               static_cast<void>(detail::infer_size(IntArrayRef({4, -1}), 6)));
  CHECK_THROWS(Error, "any size", static_cast<void>(detail::infer_size(IntArrayRef({0, -1}), 0)));
  CHECK(is(
      *opgen::computeStride(IntArrayRef({2, 3, 4}), IntArrayRef({12, 4, 1}), IntArrayRef({6, 4})),
      {4, 1}));
  CHECK(!opgen::computeStride(IntArrayRef({3, 2}), IntArrayRef({1, 3}), IntArrayRef({6}))
             .has_value());
  CHECK(is(*opgen::computeStride(IntArrayRef({3, 2}), IntArrayRef({1, 3}), IntArrayRef({3, 1, 2})),
           {1, 6, 3}));
  CHECK(is(*opgen::computeStride(IntArrayRef({2, 1}), IntArrayRef({1, 5}), IntArrayRef({1, 2, 1})),
           {2, 1, 5}));
  CHECK(is(expand(arange({3, 1}), {2, -1, 4}).strides(), {0, 1, 0}));
  CHECK(is(expand(arange({3, 1}), {1, -1, 4}).strides(), {3, 1, 0}));
  CHECK(is(expand(scalar(1, kFloat), {2, 2}).strides(), {0, 0}));
  CHECK_THROWS(Error, "is not 1", static_cast<void>(expand(arange({3}), {4})));
  CHECK_EQ(opgen::make_dim_mask(IntArrayRef({0, -1}), 3), 5u);
  CHECK_EQ(opgen::make_dim_mask(std::nullopt, 3), 7u);
  CHECK_EQ(opgen::make_dim_mask(IntArrayRef(), 3, true), 0u);
  CHECK_THROWS(Error, "twice", static_cast<void>(opgen::make_dim_mask(IntArrayRef({0, -3}), 3)));
  CHECK_EQ(opgen::storage_elements(IntArrayRef({2, 3}), IntArrayRef({10, 2}), 1), 16);
  CHECK_EQ(opgen::storage_elements(IntArrayRef({0, 3}), IntArrayRef({10, 2}), 1), 0);
}

TEST(storage_bytes) {
  const std::int64_t big = std::int64_t(1) << 61;
  auto bytes = [](IntArrayRef sizes, IntArrayRef strides, std::int64_t offset, std::size_t item) {
    return opgen::checked_storage_bytes(sizes, strides, offset, item);
  };
  CHECK_EQ(bytes({2, 3}, {10, 2}, 1, 4), 64u);
  CHECK_EQ(bytes({}, {}, 3, 8), 32u);
  CHECK_EQ(bytes({4, 0}, {big, big}, big, 8), 0u);
  CHECK_EQ(bytes({1, 2}, {INT64_MAX, 1}, 0, 8),
           16u);  // the stride of a dimension of size 1 does not matter
  CHECK_EQ(bytes({3}, {-1}, 2, 8), 24u);
  CHECK_EQ(bytes({big}, {1}, 0, 3), 3 * static_cast<std::size_t>(big));
  CHECK_THROWS(Error, "fit into any memory",
               bytes({2}, {big - 1}, 0, 8));  // this once read out of bounds
  CHECK_THROWS(Error, "fit into any memory", bytes({2 * big}, {1}, 0, 8));
  CHECK_THROWS(Error, "fit into any memory", bytes({INT64_MAX}, {1}, 1, 1));
  CHECK_THROWS(Error, "fit into any memory", bytes({2, 2}, {INT64_MAX, INT64_MAX}, 0, 1));
  CHECK_THROWS(Error, "fit into any memory", bytes({}, {}, INT64_MAX, 1));
  CHECK_THROWS(ValueError, "before the first byte", bytes({4}, {-1}, 2, 8));
  CHECK_THROWS(ValueError, "negative size", bytes({-1}, {1}, 0, 8));
  CHECK_THROWS(ValueError, "offset -1 is negative", bytes({1}, {1}, -1, 8));
  CHECK_THROWS(Error, "differ in number", bytes({1}, {}, 0, 8));
  CHECK_THROWS(Error, "fit into any memory",
               static_cast<void>(detail::as_strided(arange({4}, kLong), {2}, {big - 1}, 0)));
}

TEST(composite_helpers) {
  Tensor a = arange({2, 3});
  Tensor copy = clone_view(t(a));
  CHECK(copy.is_contiguous());
  CHECK(!copy.is_alias_of(a));
  CHECK_EQ(clone_view(std::vector<Tensor>{a, a}).size(), 2u);
  CHECK(!clone_arg(Tensor()).defined());
  CHECK(!clone_arg(std::optional<Tensor>()).has_value());
  CHECK_EQ(clone_arg(TensorList(a)).size(), 1u);
  CHECK_EQ(clone_arg(List<std::optional<Tensor>>{a, std::nullopt}).size(), 2u);
  Tensor out1 = empty({0});
  Tensor out2 = empty({0});
  assign_outputs(std::tuple<Tensor, Tensor>(a, arange({2})), out1, out2);
  CHECK(values(out1) == values(a));
  CHECK_EQ(values(out2)[1], 1.0);
  std::vector<Tensor> outs = {empty({0}), empty({0})};
  assign_outputs(std::vector<Tensor>{a, a}, TensorList(outs));
  CHECK(values(outs[1]) == values(a));
  assign_outputs(a, out1);
  CHECK_THROWS(Error, "Expected out tensor to have dtype Float, but got Long instead",
               assign_outputs(a, empty({0}, kLong)));
  CHECK_THROWS(Error, "expected 1", assign_outputs(std::vector<Tensor>{a}, TensorList(outs)));
}
