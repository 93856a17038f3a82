// searching.cpp: searchsorted, bucketize, bincount, kthvalue, median, isin, and the different
// elements or rows of a tensor.
#include <opgen/kernel.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <aten/ops/_unique2_native.h>
#include <aten/ops/aminmax.h>
#include <aten/ops/bincount_native.h>
#include <aten/ops/bucketize.h>
#include <aten/ops/bucketize_native.h>
#include <aten/ops/index_select.h>
#include <aten/ops/isin_native.h>
#include <aten/ops/kthvalue.h>
#include <aten/ops/kthvalue_native.h>
#include <aten/ops/median.h>
#include <aten/ops/median_native.h>
#include <aten/ops/movedim.h>
#include <aten/ops/nanmedian.h>
#include <aten/ops/nanmedian_native.h>
#include <aten/ops/searchsorted.h>
#include <aten/ops/searchsorted_native.h>
#include <aten/ops/sort.h>
#include <aten/ops/unique_consecutive_native.h>
#include <aten/ops/unique_dim_native.h>
#include <aten/ops/zeros.h>

#include <opgen/cpu/sort.h>

#include "common.h"
#include "devices.h"
#include "optional.h"

using namespace kernels;

// ---- searchsorted, bucketize ----

namespace {

bool goes_right(bool right, std::optional<std::string_view> side) {
  if (!side.has_value()) return right;
  OPGEN_CHECK(*side == "left" || *side == "right",
              "torch.searchsorted(): side can only be 'left' or 'right' but got ", *side);
  OPGEN_CHECK(!right || *side == "right",
              "torch.searchsorted(): side and right can't be set to opposites, got side of ", *side,
              " while right was True");
  return *side == "right";
}

void check_searched(const Tensor& sequence, const Tensor& self, const Tensor& out, bool out_int32,
                    const std::optional<Tensor>& sorter) {
  check_same_device("searchsorted", sequence, self);
  check_same_device("searchsorted", sequence, out);
  if (is_given(sorter)) check_same_device("searchsorted", sequence, *sorter);
  const ScalarType places = out_int32 ? opgen::kInt : opgen::kLong;
  OPGEN_CHECK(out.scalar_type() == places,
              "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
              "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's "
              "dtype ",
              out.scalar_type(), " and out_int32 flag is ", out_int32 ? "True" : "False");
  if (is_given(sorter)) {
    OPGEN_CHECK(same_sizes(sorter->sizes(), sequence.sizes()),
                "torch.searchsorted(): boundary and sorter must have the same size, but got "
                "boundary tensor ",
                sequence.sizes(), " and got sorter tensor ", sorter->sizes());
    OPGEN_CHECK(sorter->scalar_type() == opgen::kLong,
                "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
                sorter->scalar_type());
  }
  OPGEN_CHECK(self.dim() > 0 || sequence.dim() == 1,
              "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
              "dimension is 1, but we got boundaries tensor dim(",
              sequence.dim(), ") and input value's dim(", self.dim(), ") numel(", self.numel(),
              ")");
  OPGEN_CHECK(sequence.dim() > 0,
              "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
              "dimension");
  bool matches = sequence.dim() == self.dim();
  for (int64_t d = 0; matches && d < self.dim() - 1; ++d) {
    matches = sequence.size(d) == self.size(d);
  }
  OPGEN_CHECK(sequence.dim() == 1 || matches,
              "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
              "dimensions of boundaries tensor and input value tensor must match, but we got "
              "boundaries tensor ",
              sequence.sizes(), " and input value tensor ", self.sizes());
  OPGEN_CHECK(!out_int32 || sequence.size(-1) < std::numeric_limits<int32_t>::max(),
              "torch.searchsorted(): the size of boundaries' last dimension should be less than ",
              std::numeric_limits<int32_t>::max(), ", but we got ", sequence.size(-1));
}

// Returns the first place of a sorted line in front of which `x` belongs: before or behind elements
// equal to it. `sorter` gives the order of the line, if it is not null. NaN is larger than all.
template <class T>
int64_t place_in(const T* line, const int64_t* sorter, int64_t size, T x, bool right) {
  const auto wanted = widen(x);
  int64_t first = 0, last = size;
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    const auto element = widen(line[sorter != nullptr ? sorter[middle] : middle]);
    const bool behind = right ? !(element > wanted) : !(element >= wanted);
    (behind ? first : last) = behind ? middle + 1 : middle;
  }
  return first;
}

template <class T, class Place>
void search(const Tensor& sequence, const Tensor& sorter, const Tensor& values, bool right,
            Place* places) {
  const int64_t size = sequence.size(-1), row = values.dim() == 0 ? 1 : values.size(-1);
  const bool one = sequence.dim() == 1;
  const T* line = sequence.const_data_ptr<T>();
  const T* value = values.const_data_ptr<T>();
  const int64_t* order = sorter.defined() ? sorter.const_data_ptr<int64_t>() : nullptr;
  opgen::parallel_for(0, values.numel(), 200, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = one ? 0 : i / row * size;
      places[i] = static_cast<Place>(place_in(
          line + start, order != nullptr ? order + start : nullptr, size, value[i], right));
    }
  });
}

Tensor dense(const Tensor& self, ScalarType dtype) {
  return opgen::contiguous(to_dtype(self, dtype));
}

// A new tensor for places.
Tensor new_places(const Tensor& like, bool out_int32) {
  return opgen::empty({0}, like.options().dtype(out_int32 ? kInt : kLong));
}

void check_boundaries(const Tensor& boundaries) {
  OPGEN_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
              boundaries.dim(), ")");
}

}  // namespace

OPGEN_KERNEL(searchsorted_out)
(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
 std::optional<std::string_view> side, const std::optional<Tensor>& sorter, Tensor& out) {
  check_searched(sorted_sequence, self, out, out_int32, sorter);
  const bool behind = goes_right(right, side);
  resize_out(out, self.sizes());
  if (out.is_meta() || self.numel() == 0) return out;
  const ScalarType common = opgen::result_type_of(sorted_sequence, self);
  const Tensor sequence = dense(sorted_sequence, common), values = dense(self, common);
  const Tensor order = is_given(sorter) ? dense(*sorter, opgen::kLong) : Tensor();
  if (order.defined()) {
    const int64_t* place = order.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < order.numel(); ++i) {
      OPGEN_CHECK(place[i] >= 0 && place[i] < sequence.size(-1),
                  "torch.searchsorted(): sorter index out of range");
    }
  }
  const Tensor result =
      out.is_contiguous() ? out : Tensor(opgen::empty(out.sizes(), out.options()));
  OPGEN_DISPATCH_REAL(common, "searchsorted", [&] {
    if (out_int32) {
      search<scalar_t>(sequence, order, values, behind, result.mutable_data_ptr<int32_t>());
    } else {
      search<scalar_t>(sequence, order, values, behind, result.mutable_data_ptr<int64_t>());
    }
  });
  if (!result.is_same(out)) opgen::copy_(out, result);
  return out;
}
OPGEN_KERNEL(searchsorted)
(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
 std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  Tensor out = new_places(self, out_int32);
  return at::searchsorted_out(out, sorted_sequence, self, out_int32, right, side, sorter);
}
OPGEN_KERNEL(searchsorted_out)
(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
 std::optional<std::string_view> side, const std::optional<Tensor>& sorter, Tensor& out) {
  const Tensor plain = number(self);
  const Tensor value = plain.to(sorted_sequence.device(), plain.scalar_type());
  return at::searchsorted_out(out, sorted_sequence, value, out_int32, right, side, sorter);
}
OPGEN_KERNEL(searchsorted)
(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
 std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  Tensor out = new_places(sorted_sequence, out_int32);
  return at::searchsorted_out(out, sorted_sequence, self, out_int32, right, side, sorter);
}

OPGEN_KERNEL(bucketize_out)
(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right, Tensor& out) {
  check_boundaries(boundaries);
  return at::searchsorted_out(out, boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}
OPGEN_KERNEL(bucketize)
(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  Tensor out = new_places(self, out_int32);
  return at::bucketize_out(out, self, boundaries, out_int32, right);
}
OPGEN_KERNEL(bucketize)
(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  check_boundaries(boundaries);
  return at::searchsorted(boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

// ---- bincount ----

OPGEN_KERNEL(bincount)
(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  OPGEN_CHECK(minlength >= 0, "minlength should be >= 0");
  if (is_given(weights)) check_same_device("bincount", self, *weights);
  if (self.dim() == 1 && self.numel() == 0) {
    return at::zeros({minlength}, self.options().dtype(opgen::kLong));
  }
  const bool fits = self.dim() == 1 && isIntegralType(self.scalar_type(), /*include_bool=*/false);
  const Tensor numbers = dense(self, opgen::kLong);
  const auto [least, most] =
      fits ? at::aminmax(numbers, std::nullopt, false) : std::tuple<Tensor, Tensor>();
  OPGEN_CHECK(fits && least.item().toLong() >= 0,
              "bincount only supports 1-d non-negative integral inputs.");
  OPGEN_CHECK(!is_given(weights) || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  const int64_t bins = std::max<int64_t>(Size(most.item().toLong()) + 1, minlength);
  const int64_t* number = numbers.const_data_ptr<int64_t>();
  const auto count_into = [&]<class T>(Tensor result, const T* weight) {
    T* sum = result.mutable_data_ptr<T>();
    for (int64_t i = 0; i < numbers.numel(); ++i) {
      sum[number[i]] += weight != nullptr ? weight[i] : T(1);
    }
    return result;
  };
  if (!is_given(weights)) {
    return count_into(at::zeros({bins}, self.options().dtype(opgen::kLong)),
                      static_cast<const int64_t*>(nullptr));
  }
  const ScalarType kind = weights->scalar_type() == opgen::kFloat ? opgen::kFloat : opgen::kDouble;
  const Tensor given = dense(*weights, kind);
  const Tensor result = at::zeros({bins}, given.options());
  return kind == opgen::kFloat ? count_into(result, given.const_data_ptr<float>())
                               : count_into(result, given.const_data_ptr<double>());
}

// ---- kthvalue: NaN is the largest number; equal elements count in their order ----

namespace {

// A thread keeps the memory of a line of at most so many elements for the next line.
constexpr int64_t kKeptEntries = 4096;

template <class Key, class T>
int64_t place_by_key(const T* line, int64_t step, int64_t size, int64_t rank) {
  using Entry = opgen::KeyedPlace<Key>;
  thread_local std::vector<Entry> entries;
  entries.resize(static_cast<size_t>(size));
  Entry* entry = entries.data();
  for (int64_t i = 0; i < size; ++i) {
    entry[i] = Entry::of(opgen::sort_key(line[i * step], /*descending=*/false), i);
  }
  std::nth_element(entry, entry + rank, entry + size);
  const int64_t found = entry[rank].place();
  if (size > kKeptEntries) entries = {};  // rather than keep it for the thread's life
  return found;
}

// The same without places, with which keys of 64 bits would be twice as long.
template <class T>
int64_t place_by_long_key(const T* line, int64_t step, int64_t size, int64_t rank) {
  thread_local std::vector<uint64_t> keys;
  keys.resize(static_cast<size_t>(size));
  uint64_t* key = keys.data();
  const auto key_at = [=](int64_t i) {
    return static_cast<uint64_t>(opgen::sort_key(line[i * step], /*descending=*/false));
  };
  for (int64_t i = 0; i < size; ++i) key[i] = key_at(i);
  std::nth_element(key, key + rank, key + size);
  const uint64_t wanted = key[rank];
  // Equal elements that come first have lower ranks.
  int64_t equal = std::count(key, key + rank, wanted), found = 0;
  while (key_at(found) != wanted || equal-- != 0) ++found;
  if (size > kKeptEntries) keys = {};  // rather than keep it for the thread's life
  return found;
}

// Finds the place of the element of a line that comes at `rank`, from 0 on, in ascending order.
template <class T>
int64_t place_of_rank(const T* line, int64_t step, int64_t size, int64_t rank) {
  if constexpr (sizeof(T) == 8) return place_by_long_key(line, step, size, rank);
  return size <= opgen::kMostPlaces ? place_by_key<opgen::SortKey<T>>(line, step, size, rank)
                                    : place_by_key<uint64_t>(line, step, size, rank);
}

}  // namespace

OPGEN_KERNEL(kthvalue)(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  OPGEN_CHECK_INDEX(self.dim() == 0 || size > 0, "kthvalue(): Expected reduction dim ", dim,
                    " to have non-zero size.");
  OPGEN_CHECK(k >= 1 && k <= size, "kthvalue(): selected number k out of range for dimension ",
              dim);
  if (self.dim() == 0) {
    return {self.clone(std::nullopt), at::zeros({}, self.options().dtype(opgen::kLong))};
  }
  OPGEN_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool, "kthvalue is not implemented for Bool");
  // Other devices sort.
  if (!self.is_cpu()) {
    const auto [values, indices] = at::sort(self, /*stable=*/true, dim, /*descending=*/false);
    const Tensor value = values.narrow(dim, k - 1, 1).clone(MemoryFormat::Contiguous);
    const Tensor index = indices.narrow(dim, k - 1, 1).clone(MemoryFormat::Contiguous);
    if (keepdim) return {value, index};
    return {value.squeeze(dim), index.squeeze(dim)};
  }
  DimVector kept(self.sizes());
  kept[static_cast<size_t>(dim)] = 1;
  const Tensor value = opgen::empty(kept, self.options());
  const Tensor index = opgen::empty(kept, self.options().dtype(kLong));
  const int64_t step = self.stride(dim);
  OPGEN_DISPATCH_REAL(self.scalar_type(), "kthvalue", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    scalar_t* to = value.mutable_data_ptr<scalar_t>();
    int64_t* at = index.mutable_data_ptr<int64_t>();
    for_each_index<2>(
        kept, {self.strides(), value.strides()},
        [&](const std::array<int64_t, 2>& offset) {
          const scalar_t* line = from + offset[0];
          const int64_t found = place_of_rank(line, step, size, k - 1);
          to[offset[1]] = line[found * step];
          at[offset[1]] = found;
        },
        4 * size);
  });
  if (keepdim) return {value, index};
  return {value.squeeze(dim), index.squeeze(dim)};
}
OPGEN_KERNEL(kthvalue_out)
(const Tensor& self, int64_t k, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  const auto [value, index] = at::kthvalue(self, k, dim, keepdim);
  // Before values are written.
  OPGEN_CHECK(indices.scalar_type() == kLong, "kthvalue: indices must be of dtype Long, got ",
              indices.scalar_type());
  copy_result(values, value, "kthvalue");
  copy_result(indices, index, "kthvalue");
  return {values, indices};
}

// ---- median, nanmedian: the lower one of two in the middle; the first of equal elements ----

namespace {

// Finds the place of a line's median. A NaN is the median of a line that has one, or, with
// `skip_nan`, does not count.
template <class T>
int64_t median_place(const T* line, int64_t step, int64_t size, bool skip_nan) {
  int64_t numbers = size;
  if constexpr (is_float_v<T>) {
    for (int64_t i = 0; i < size; ++i) {
      if (!is_nan(line[i * step])) continue;
      if (!skip_nan) return i;
      --numbers;
    }
  }
  // NaN is the largest.
  return numbers == 0 ? 0 : place_of_rank(line, step, size, (numbers - 1) / 2);
}

void median_along(const char* name, const Tensor& self, int64_t dim, bool keepdim, bool skip_nan,
                  const Tensor& values, const Tensor& indices) {
  check_same_device(name, self, values);
  check_same_device(name, self, indices);
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  OPGEN_CHECK_INDEX(size > 0, name, "(): Expected reduction dim ", dim, " to have non-zero size.");
  OPGEN_CHECK(values.scalar_type() == self.scalar_type(), name,
              ": Expected out tensor to have dtype ", self.scalar_type(), ", but got ",
              values.scalar_type(), " instead");
  OPGEN_CHECK(indices.scalar_type() == kLong, name, ": indices must be of dtype Long, got ",
              indices.scalar_type());
  const DimMask mask = mask_of(IntArrayRef(dim), self.dim());
  const DimVector kept = reduced_shape(self.sizes(), mask, true);
  const DimVector shape = reduced_shape(self.sizes(), mask, keepdim);
  resize_out(values, shape);
  resize_out(indices, shape);
  if (values.is_meta()) return;
  const Tensor value = opgen::empty(kept, values.options());
  const Tensor place = opgen::empty(kept, indices.options());
  const int64_t step = self.dim() == 0 ? 1 : self.stride(dim);
  OPGEN_DISPATCH_REAL(self.scalar_type(), name, [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    scalar_t* to = value.mutable_data_ptr<scalar_t>();
    int64_t* at = place.mutable_data_ptr<int64_t>();
    for_each_index<2>(
        kept, {self.strides(), value.strides()},
        [&](const std::array<int64_t, 2>& offset) {
          const scalar_t* line = from + offset[0];
          const int64_t found = median_place(line, step, size, skip_nan);
          to[offset[1]] = line[found * step];
          at[offset[1]] = found;
        },
        4 * size);
  });
  opgen::copy_(values, value.view(shape));
  opgen::copy_(indices, place.view(shape));
}

// PyTorch converts NaN to the dtype of a tensor without elements: for wide integers, that is the
// smallest one.
Tensor median_of_nothing(const Tensor& self) {
  const Tensor result = opgen::empty({}, self.options());
  if (self.is_floating_point() || self.is_complex()) {
    opgen::fill_(result, Scalar(std::numeric_limits<double>::quiet_NaN()));
  } else if (self.scalar_type() == kLong) {
    opgen::fill_(result, Scalar(std::numeric_limits<int64_t>::min()));
  } else {
    opgen::fill_(result, Scalar(self.scalar_type() == kInt
                                    ? static_cast<int64_t>(std::numeric_limits<int32_t>::min())
                                    : int64_t(0)));
  }
  return result;
}

Tensor median_of_elements(const char* name, const Tensor& self, bool skip_nan) {
  if (self.is_meta()) return opgen::empty({}, self.options());
  if (self.numel() == 0) return median_of_nothing(self);
  const Tensor value = opgen::empty({}, self.options());
  const Tensor place = opgen::empty({}, self.options().dtype(kLong));
  median_along(name, self.reshape({-1}), 0, false, skip_nan, value, place);
  return value;
}

std::tuple<Tensor, Tensor> new_medians(const Tensor& self) {
  return {opgen::empty({0}, self.options()), opgen::empty({0}, self.options().dtype(kLong))};
}

}  // namespace

OPGEN_KERNEL(median_of_all)(const Tensor& self) {
  return median_of_elements("median", self, false);
}
OPGEN_KERNEL(nanmedian_of_all)(const Tensor& self) {
  return median_of_elements("nanmedian", self, true);
}
OPGEN_KERNEL(median_along_out)
(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  median_along("median", self, dim, keepdim, false, values, indices);
  return {values, indices};
}
OPGEN_KERNEL(nanmedian_along_out)
(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  median_along("nanmedian", self, dim, keepdim, true, values, indices);
  return {values, indices};
}
OPGEN_KERNEL(median)(const Tensor& self, int64_t dim, bool keepdim) {
  auto [values, indices] = new_medians(self);
  at::median_out(values, indices, self, dim, keepdim);
  return {values, indices};
}
OPGEN_KERNEL(nanmedian)(const Tensor& self, int64_t dim, bool keepdim) {
  auto [values, indices] = new_medians(self);
  at::nanmedian_out(values, indices, self, dim, keepdim);
  return {values, indices};
}

// ---- isin ----

namespace {

void check_isin(const TensorBase& self) {
  OPGEN_CHECK(self.scalar_type() != kBool && !self.is_complex(),
              "Unsupported input type encountered for isin(): ", self.scalar_type());
}

// Up to so many elements are compared with each one; more are sorted and searched.
constexpr int64_t kMostCompared = 32;

// An integer as wide as T.
template <class T>
using mask_t = std::conditional_t<
    sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, std::int16_t,
                       std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;

// Writes whether each of n elements is among `wanted`, without NaN, or is not. Masks as wide as the
// numbers let compilers use whole vectors.
template <class T>
OPGEN_ALWAYS_INLINE void compare_with_each_here(const T* element, int64_t n,
                                                const std::vector<wide_t<T>>& wanted, bool invert,
                                                bool* to) {
  using wide = wide_t<T>;
  using Mask = mask_t<wide>;
  constexpr int64_t most = 512;
  wide number[most];
  Mask found[most];
  const auto flip = static_cast<Mask>(invert);
  for (int64_t first = 0; first < n; first += most) {
    const int64_t count = std::min(most, n - first);
    const wide* block;
    if constexpr (std::is_same_v<T, wide>) {
      block = element + first;
    } else {
      for (int64_t i = 0; i < count; ++i) number[i] = static_cast<wide>(element[first + i]);
      block = number;
    }
    std::fill_n(found, count, flip);
    for (const wide x : wanted) {
      // Each element is equal to one of the wanted numbers at most: these differ.
      for (int64_t i = 0; i < count; ++i) {
        found[i] = static_cast<Mask>(found[i] ^ (block[i] == x ? Mask(1) : Mask(0)));
      }
    }
    for (int64_t i = 0; i < count; ++i) to[first + i] = found[i] != 0;
  }
}
template <class T>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void compare_with_each_avx2(const T* element, int64_t n,
                                                             const std::vector<wide_t<T>>& wanted,
                                                             bool invert, bool* to) {
  compare_with_each_here(element, n, wanted, invert, to);
}
template <class T>
void compare_with_each(const T* element, int64_t n, const std::vector<wide_t<T>>& wanted,
                       bool invert, bool* to) {
#if OPGEN_LOOPS_AVX2
  if (opgen::get_cpu_capability() >= opgen::CPUCapability::AVX2) {
    return compare_with_each_avx2(element, n, wanted, invert, to);
  }
#endif
  compare_with_each_here(element, n, wanted, invert, to);
}

// Whether each element is among `tested`, or is not.
void isin_into(const Tensor& elements, const Tensor& tested, bool invert, const Tensor& out) {
  const ScalarType common = opgen::result_type_of(elements, tested);
  const Tensor from = dense(with_plain_bools(elements), common),
               wanted = dense(with_plain_bools(tested), common);
  const Tensor result =
      out.is_contiguous() ? out : Tensor(opgen::empty(out.sizes(), out.options()));
  bool* to = result.mutable_data_ptr<bool>();
  OPGEN_DISPATCH_REAL_AND_BOOL(common, "isin", [&] {
    using wide = wide_t<scalar_t>;
    std::vector<wide> sorted;
    const scalar_t* want = wanted.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < wanted.numel(); ++i) {
      if (!is_nan(want[i])) sorted.push_back(static_cast<wide>(want[i]));
    }
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    const scalar_t* element = from.const_data_ptr<scalar_t>();
    if (static_cast<int64_t>(sorted.size()) <= kMostCompared) {
      return opgen::parallel_for(
          0, from.numel(), opgen::kGrainSize, [&](int64_t begin, int64_t end) {
            compare_with_each(element + begin, end - begin, sorted, invert, to + begin);
          });
    }
    if constexpr (std::is_integral_v<scalar_t>) {
      // Integers that are near each other are looked up in a table.
      const auto least = static_cast<uint64_t>(sorted.front());
      const uint64_t span = static_cast<uint64_t>(sorted.back()) - least;
      if (span < static_cast<uint64_t>(4 * (from.numel() + wanted.numel()))) {
        std::vector<char> table(static_cast<size_t>(span) + 1);
        for (const wide x : sorted)
          table[static_cast<size_t>(static_cast<uint64_t>(x) - least)] = 1;
        return opgen::parallel_for(
            0, from.numel(), opgen::kGrainSize, [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                const uint64_t at = static_cast<uint64_t>(element[i]) - least;
                to[i] = (at <= span && table[static_cast<size_t>(at)] != 0) != invert;
              }
            });
      }
    }
    opgen::parallel_for(0, from.numel(), opgen::kGrainSize / 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto x = static_cast<wide>(element[i]);
        to[i] =
            (!is_nan(element[i]) && std::binary_search(sorted.begin(), sorted.end(), x)) != invert;
      }
    });
  });
  if (!result.is_same(out)) opgen::copy_(out, result);
}

// The number as a tensor. An integer that `like` cannot hold has a dimension, so that both are
// compared in 64 bits.
Tensor number_beside(const Scalar& value, const Tensor& like) {
  const Tensor given = number(value);
  if (!value.isIntegral(/*include_bool=*/false) || like.is_floating_point()) return given;
  const int64_t held = to_dtype(given, like.scalar_type()).item().toLong();
  return held == value.toLong() ? given : given.unsqueeze(0);
}

}  // namespace

OPGEN_META_FUNC2(isin, Tensor_Tensor)
(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool /*invert*/) {
  check_isin(elements);
  check_isin(test_elements);
  check_same_device("isin", elements, test_elements);
  set_output_raw_strided(0, elements.sizes(), {}, elements.options().dtype(kBool));
}
OPGEN_IMPL_FUNC(isin_Tensor_Tensor_out)
(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool invert,
 const Tensor& out) {
  isin_into(elements, test_elements, invert, out);
}
OPGEN_META_FUNC2(isin, Tensor_Scalar)
(const Tensor& elements, const Scalar& test_element, bool /*assume_unique*/, bool /*invert*/) {
  check_isin(elements);
  check_isin(number(test_element));
  set_output_raw_strided(0, elements.sizes(), {}, elements.options().dtype(kBool));
}
OPGEN_IMPL_FUNC(isin_Tensor_Scalar_out)
(const Tensor& elements, const Scalar& test_element, bool /*assume_unique*/, bool invert,
 const Tensor& out) {
  isin_into(elements, number_beside(test_element, elements), invert, out);
}
OPGEN_META_FUNC2(isin, Scalar_Tensor)
(const Scalar& element, const Tensor& test_elements, bool /*assume_unique*/, bool /*invert*/) {
  check_isin(number(element));
  check_isin(test_elements);
  set_output_raw_strided(0, {}, {}, test_elements.options().dtype(kBool));
}
OPGEN_IMPL_FUNC(isin_Scalar_Tensor_out)
(const Scalar& element, const Tensor& test_elements, bool /*assume_unique*/, bool invert,
 const Tensor& out) {
  isin_into(number_beside(element, test_elements), test_elements, invert, out);
}

// ---- unique ----

namespace {

Tensor from_numbers(const std::vector<int64_t>& numbers, const Tensor& like) {
  Tensor result = opgen::empty({static_cast<int64_t>(numbers.size())}, like.options().dtype(kLong));
  if (!numbers.empty()) {
    std::memcpy(result.mutable_data_ptr<int64_t>(), numbers.data(),
                numbers.size() * sizeof(int64_t));
  }
  return result;
}

}  // namespace

// The numbers in order, each once; NaN is equal to no number.
OPGEN_KERNEL(_unique2_cpu)
(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  const auto [sorted, indices] =
      at::sort(with_plain_bools(self.reshape({-1})), /*stable=*/true, 0, false);
  const Tensor values = opgen::contiguous(sorted), order = opgen::contiguous(indices);
  const int64_t* place = order.const_data_ptr<int64_t>();
  std::vector<int64_t> first, count;
  const Tensor none = opgen::empty({0}, self.options().dtype(kLong));
  Tensor inverse = none;
  if (return_inverse) inverse = opgen::empty(self.sizes(), self.options().dtype(kLong));
  int64_t* group = inverse.mutable_data_ptr<int64_t>();
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "unique", [&] {
    const scalar_t* value = values.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      if (i == 0 || !(widen(value[i]) == widen(value[i - 1]))) {
        first.push_back(i);
        count.push_back(0);
      }
      ++count.back();
      if (return_inverse) group[place[i]] = static_cast<int64_t>(count.size()) - 1;
    }
  });
  return {at::index_select(values, 0, from_numbers(first, self)), inverse,
          return_counts ? from_numbers(count, self) : none};
}

// ---- unique_dim, unique_consecutive ----

namespace {

// The rows of a matrix. NaN is equal to no number, and larger than all.
template <class T>
struct RowsOf {
  const T* from;
  int64_t width;

  bool equal(int64_t a, int64_t b) const {
    return std::equal(from + a * width, from + (a + 1) * width, from + b * width,
                      [](T x, T y) { return widen(x) == widen(y); });
  }
  bool less(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i) {
      const T x = from[a * width + i], y = from[b * width + i];
      if (is_nan(x) != is_nan(y)) return is_nan(y);
      if (widen(x) != widen(y) && !is_nan(x)) return widen(x) < widen(y);
    }
    return false;
  }
};

// The numbers of the rows that begin a group of equal ones, the group of each row, and the sizes of
// the groups.
struct Groups {
  std::vector<int64_t> first, group, count;
};

// Returns the elements of a contiguous vector that differ from their predecessors. `group` gets the
// number of each element's group, `count` a new tensor with the sizes of the groups, unless they
// are undefined.
Tensor distinct_neighbours(const Tensor& given, const Tensor& group, Tensor& count) {
  const Tensor flat = with_plain_bools(given);
  const int64_t n = flat.numel();
  Tensor values;
  OPGEN_DISPATCH_REAL_AND_BOOL(flat.scalar_type(), "unique_consecutive", [&] {
    const scalar_t* from = flat.const_data_ptr<scalar_t>();
    const auto begins = [from](int64_t i) {
      return int64_t(!(widen(from[i]) == widen(from[i - 1])));
    };
    const Tensor room = opgen::empty({n}, flat.options());
    scalar_t* to = room.mutable_data_ptr<scalar_t>();
    // From the last element to the first, so that each group ends up with its first element, and
    // without branches.
    int64_t k = std::max<int64_t>(n - 1, 0);
    for (int64_t i = n - 1; i > 0; --i) {
      to[k] = from[i];
      k -= begins(i);
    }
    if (n > 0) to[k] = from[0];
    const int64_t groups = n - k;
    values = room.narrow(0, k, groups).clone(std::nullopt);
    if (group.defined()) {
      int64_t* number = group.mutable_data_ptr<int64_t>();
      int64_t current = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (i > 0) current += begins(i);
        number[i] = current;
      }
    }
    if (count.defined()) {
      count = at::zeros({groups}, count.options());
      int64_t* size = count.mutable_data_ptr<int64_t>();
      int64_t current = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (i > 0) current += begins(i);
        ++size[current];
      }
    }
  });
  return values;
}

// Finds the different rows of `matrix`: in ascending order, or among neighbours only.
Groups groups_of(const char* name, const Tensor& given, bool sorted) {
  const Tensor matrix = with_plain_bools(given);
  std::vector<int64_t> order(static_cast<size_t>(matrix.size(0)));
  std::iota(order.begin(), order.end(), int64_t(0));
  Groups found;
  found.group.resize(order.size());
  OPGEN_DISPATCH_REAL_AND_BOOL(matrix.scalar_type(), name, [&] {
    const RowsOf<scalar_t> rows{matrix.const_data_ptr<scalar_t>(), matrix.size(1)};
    if (sorted) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return rows.less(a, b); });
    }
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || !rows.equal(order[i - 1], order[i])) {
        found.first.push_back(order[i]);
        found.count.push_back(0);
      }
      found.group[static_cast<size_t>(order[i])] = static_cast<int64_t>(found.count.size()) - 1;
      ++found.count.back();
    }
  });
  return found;
}

std::tuple<Tensor, Tensor, Tensor> distinct_along(const char* name, const Tensor& self, int64_t dim,
                                                  bool sorted) {
  OPGEN_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  dim = wrap_dim(dim, self.dim());
  const int64_t rows = self.size(dim);
  if (self.numel() == 0) {
    OPGEN_CHECK(rows == 0,
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                "applied");
    const Tensor none = opgen::empty({0}, self.options().dtype(kLong));
    return {opgen::empty(self.sizes(), self.options()), none, none.clone(std::nullopt)};
  }
  const Tensor moved = opgen::contiguous(at::movedim(self, dim, 0));
  const Groups found = groups_of(name, moved.view({rows, self.numel() / rows}), sorted);
  const Tensor chosen = at::index_select(moved, 0, from_numbers(found.first, self));
  return {at::movedim(chosen, 0, dim), from_numbers(found.group, self),
          from_numbers(found.count, self)};
}

}  // namespace

OPGEN_KERNEL(unique_dim_cpu)
(const Tensor& self, int64_t dim, bool /*sorted*/, bool /*return_inverse*/,
 bool /*return_counts*/) {
  return distinct_along("unique_dim", self, dim, /*sorted=*/true);
}
OPGEN_KERNEL(unique_consecutive_cpu)
(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  // As in PyTorch, a vector counts as flat only for dimension 0, not for -1.
  if (dim.has_value() && (self.dim() != 1 || *dim != 0)) {
    return distinct_along("unique_consecutive", self, *dim, /*sorted=*/false);
  }
  const Tensor flat = Tensor(opgen::contiguous(self)).view({self.numel()});
  const TensorOptions places = self.options().dtype(kLong);
  const Tensor none = opgen::empty({0}, places);
  const Tensor group = return_inverse ? opgen::empty(self.sizes(), places) : Tensor();
  Tensor count = return_counts ? none : Tensor();
  const Tensor values = distinct_neighbours(flat, group, count);
  return {values, return_inverse ? group : none, return_counts ? count : none};
}
