// searching.cpp: searchsorted, bucketize, bincount, kthvalue, median and unique.
#include <opgen/kernel.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <aten/ops/_unique2_native.h>
#include <aten/ops/bincount_native.h>
#include <aten/ops/bucketize.h>
#include <aten/ops/bucketize_native.h>
#include <aten/ops/clamp_min.h>
#include <aten/ops/gather.h>
#include <aten/ops/index_select.h>
#include <aten/ops/isnan.h>
#include <aten/ops/kthvalue.h>
#include <aten/ops/kthvalue_native.h>
#include <aten/ops/median.h>
#include <aten/ops/median_native.h>
#include <aten/ops/nanmedian.h>
#include <aten/ops/nanmedian_native.h>
#include <aten/ops/searchsorted.h>
#include <aten/ops/searchsorted_native.h>
#include <aten/ops/sort.h>
#include <aten/ops/sub.h>
#include <aten/ops/unique_consecutive_native.h>
#include <aten/ops/unique_dim_native.h>
#include <aten/ops/where.h>
#include <aten/ops/zeros.h>

#include "common.h"

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
  const ScalarType places = out_int32 ? opgen::kInt : opgen::kLong;
  OPGEN_CHECK(out.scalar_type() == places,
              "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
              "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's "
              "dtype ",
              out.scalar_type(), " and out_int32 flag is ", out_int32 ? "True" : "False");
  if (sorter.has_value()) {
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
  const Tensor order = sorter.has_value() ? dense(*sorter, opgen::kLong) : Tensor();
  if (order.defined()) {
    const int64_t* place = order.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < order.numel(); ++i) {
      OPGEN_CHECK(place[i] >= 0 && place[i] < sequence.size(-1),
                  "torch.searchsorted(): sorter index out of range");
    }
  }
  const Tensor result = out.is_contiguous() ? out : opgen::empty(out.sizes(), out.options());
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
  Tensor out = opgen::empty({0}, self.options().dtype(out_int32 ? opgen::kInt : opgen::kLong));
  return at::searchsorted_out(out, sorted_sequence, self, out_int32, right, side, sorter);
}
OPGEN_KERNEL(searchsorted_out)
(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
 std::optional<std::string_view> side, const std::optional<Tensor>& sorter, Tensor& out) {
  const Tensor value = number(self).to(sorted_sequence.device(), number(self).scalar_type());
  return at::searchsorted_out(out, sorted_sequence, value, out_int32, right, side, sorter);
}
OPGEN_KERNEL(searchsorted)
(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
 std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  Tensor out =
      opgen::empty({0}, sorted_sequence.options().dtype(out_int32 ? opgen::kInt : opgen::kLong));
  return at::searchsorted_out(out, sorted_sequence, self, out_int32, right, side, sorter);
}

OPGEN_KERNEL(bucketize_out)
(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right, Tensor& out) {
  OPGEN_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
              boundaries.dim(), ")");
  return at::searchsorted_out(out, boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}
OPGEN_KERNEL(bucketize)
(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  Tensor out = opgen::empty({0}, self.options().dtype(out_int32 ? opgen::kInt : opgen::kLong));
  return at::bucketize_out(out, self, boundaries, out_int32, right);
}
OPGEN_KERNEL(bucketize)
(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  OPGEN_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
              boundaries.dim(), ")");
  return at::searchsorted(boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

// ---- bincount ----

OPGEN_KERNEL(bincount)
(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  OPGEN_CHECK(minlength >= 0, "minlength should be >= 0");
  if (self.dim() == 1 && self.numel() == 0) {
    return at::zeros({minlength}, self.options().dtype(opgen::kLong));
  }
  const Tensor numbers = dense(self, opgen::kLong);
  OPGEN_CHECK(self.dim() == 1 && isIntegralType(self.scalar_type(), /*include_bool=*/false) &&
                  numbers.min().item().toLong() >= 0,
              "bincount only supports 1-d non-negative integral inputs.");
  OPGEN_CHECK(!weights.has_value() || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  const int64_t bins = std::max(numbers.max().item().toLong() + 1, minlength);
  const int64_t* number = numbers.const_data_ptr<int64_t>();
  const auto count_into = [&]<class T>(Tensor result, const T* weight) {
    T* sum = result.mutable_data_ptr<T>();
    for (int64_t i = 0; i < numbers.numel(); ++i) {
      sum[number[i]] += weight != nullptr ? weight[i] : T(1);
    }
    return result;
  };
  if (!weights.has_value()) {
    return count_into(at::zeros({bins}, self.options().dtype(opgen::kLong)),
                      static_cast<const int64_t*>(nullptr));
  }
  const ScalarType kind = weights->scalar_type() == opgen::kFloat ? opgen::kFloat : opgen::kDouble;
  const Tensor given = dense(*weights, kind);
  const Tensor result = at::zeros({bins}, given.options());
  return kind == opgen::kFloat ? count_into(result, given.const_data_ptr<float>())
                               : count_into(result, given.const_data_ptr<double>());
}

// ---- kthvalue, median: NaN is the largest number ----

namespace {

std::tuple<Tensor, Tensor> chosen(const Tensor& values, const Tensor& indices, const Tensor& place,
                                  int64_t dim, bool keepdim) {
  const Tensor value = at::gather(values, dim, place, false);
  const Tensor index = at::gather(indices, dim, place, false);
  if (keepdim || values.dim() == 0) return {value, index};
  return {value.squeeze(dim), index.squeeze(dim)};
}

// Returns the lower median of each line. With `skip_nan`, NaNs do not count; otherwise the median
// of a line with one is its first NaN.
std::tuple<Tensor, Tensor> median_along(const char* name, const Tensor& self, int64_t dim,
                                        bool keepdim, bool skip_nan) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(self.dim() == 0 || self.size(dim) > 0, name, "(): Expected reduction dim ", dim,
                    " to have non-zero size.");
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  const auto [values, indices] = at::sort(self, /*stable=*/true, dim, /*descending=*/false);
  const Tensor missing = at::isnan(self).sum(dim, /*keepdim=*/true, opgen::kLong);
  const Tensor numbers = at::sub(number(Scalar(size)), missing, 1);
  Tensor place;
  if (skip_nan) {
    place = at::clamp_min(numbers.sub(1), Scalar(0)).div(Scalar(2), "floor");
  } else {
    place = at::where(missing.gt(0), numbers, number(Scalar((size - 1) / 2)));
  }
  return chosen(values, indices, place, dim, keepdim);
}

Tensor median_of_all(const Tensor& self, bool skip_nan) {
  if (self.numel() == 0) {
    Tensor result = opgen::empty({}, self.options());
    return result.fill_(Scalar(std::numeric_limits<double>::quiet_NaN()));
  }
  return std::get<0>(median_along("median", self.reshape({-1}), 0, /*keepdim=*/false, skip_nan));
}

}  // namespace

OPGEN_KERNEL(kthvalue)(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  OPGEN_CHECK_INDEX(self.dim() == 0 || size > 0, "kthvalue(): Expected reduction dim ", dim,
                    " to have non-zero size.");
  OPGEN_CHECK(k >= 1 && k <= size, "kthvalue(): selected number k out of range for dimension ",
              dim);
  const auto [values, indices] = at::sort(self, /*stable=*/true, dim, /*descending=*/false);
  if (self.dim() == 0) return {values, indices};
  Tensor value = values.narrow(dim, k - 1, 1).clone(MemoryFormat::Contiguous);
  Tensor index = indices.narrow(dim, k - 1, 1).clone(MemoryFormat::Contiguous);
  if (keepdim) return {value, index};
  return {value.squeeze(dim), index.squeeze(dim)};
}
OPGEN_KERNEL(kthvalue_out)
(const Tensor& self, int64_t k, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  const auto [value, index] = at::kthvalue(self, k, dim, keepdim);
  copy_result(values, value, "kthvalue");
  copy_result(indices, index, "kthvalue");
  return {values, indices};
}

OPGEN_KERNEL(median_cpu)(const Tensor& self) {
  return median_of_all(self, /*skip_nan=*/false);
}
OPGEN_KERNEL(nanmedian_cpu)(const Tensor& self) {
  return median_of_all(self, /*skip_nan=*/true);
}
OPGEN_KERNEL(median)(const Tensor& self, int64_t dim, bool keepdim) {
  return median_along("median", self, dim, keepdim, /*skip_nan=*/false);
}
OPGEN_KERNEL(median_along_out)
(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  const auto [value, index] = at::median(self, dim, keepdim);
  copy_result(values, value, "median");
  copy_result(indices, index, "median");
  return {values, indices};
}
OPGEN_KERNEL(nanmedian)(const Tensor& self, int64_t dim, bool keepdim) {
  return median_along("nanmedian", self, dim, keepdim, /*skip_nan=*/true);
}
OPGEN_KERNEL(nanmedian_along_out)
(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  const auto [value, index] = at::nanmedian(self, dim, keepdim);
  copy_result(values, value, "nanmedian");
  copy_result(indices, index, "nanmedian");
  return {values, indices};
}

// ---- unique ----

namespace {

// The rows of a matrix that are equal to none before them, in the order `order`: equal rows follow
// one another there. Returns the rows' places, the number of the group of each row, and the sizes
// of the groups.
struct Groups {
  std::vector<int64_t> first, group, count;
};

template <class Equal>
Groups groups_of(const std::vector<int64_t>& order, Equal equal) {
  Groups found;
  found.group.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !equal(order[i - 1], order[i])) {
      found.first.push_back(order[i]);
      found.count.push_back(0);
    }
    found.group[static_cast<size_t>(order[i])] = static_cast<int64_t>(found.count.size()) - 1;
    ++found.count.back();
  }
  return found;
}

// Compares rows element by element. NaN is equal to no number, and larger than all.
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
      if (is_nan(x) || is_nan(y)) {
        if (is_nan(x) != is_nan(y)) return is_nan(y);
        continue;
      }
      if (widen(x) != widen(y)) return widen(x) < widen(y);
    }
    return false;
  }
};

Tensor from_numbers(const std::vector<int64_t>& numbers, const Tensor& like) {
  Tensor result = opgen::empty({static_cast<int64_t>(numbers.size())}, like.options().dtype(kLong));
  if (!numbers.empty()) {
    std::memcpy(result.mutable_data_ptr<int64_t>(), numbers.data(),
                numbers.size() * sizeof(int64_t));
  }
  return result;
}

// Finds the different rows of `matrix`: in their order, or only among neighbours.
Groups distinct_rows(const char* name, const Tensor& matrix, bool sorted) {
  const int64_t rows = matrix.size(0), width = matrix.size(1);
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t(0));
  if (sorted && width == 1) {
    const Tensor indices = std::get<1>(at::sort(matrix.select(1, 0), /*stable=*/true, 0, false));
    std::copy_n(indices.const_data_ptr<int64_t>(), rows, order.begin());
  }
  Groups found;
  OPGEN_DISPATCH_REAL_AND_BOOL(matrix.scalar_type(), name, [&] {
    const RowsOf<scalar_t> all{matrix.const_data_ptr<scalar_t>(), width};
    if (sorted && width != 1) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return all.less(a, b); });
    }
    found = groups_of(order, [&](int64_t a, int64_t b) { return all.equal(a, b); });
  });
  return found;
}

std::tuple<Tensor, Tensor, Tensor> distinct(const char* name, const Tensor& self,
                                            std::optional<int64_t> dim, bool sorted,
                                            bool return_inverse, bool return_counts) {
  const Tensor none = opgen::empty({0}, self.options().dtype(kLong));
  const Tensor lines = dim.has_value() ? self.transpose(0, *dim) : self.reshape({-1});
  const int64_t rows = lines.size(0);
  const Tensor matrix = opgen::contiguous(lines).view({rows, rows == 0 ? 0 : lines.numel() / rows});
  const Groups found = rows == 0 ? Groups() : distinct_rows(name, matrix, sorted);
  const Tensor first = from_numbers(found.first, self);
  const Tensor inverse = return_inverse ? from_numbers(found.group, self) : none;
  const Tensor counts = return_counts ? from_numbers(found.count, self) : none;
  if (!dim.has_value()) {
    return {at::index_select(lines, 0, first),
            return_inverse ? Tensor(inverse.view(self.sizes())) : inverse, counts};
  }
  return {at::index_select(self, *dim, first), inverse, counts};
}

}  // namespace

OPGEN_KERNEL(_unique2_cpu)
(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  return distinct("unique", self, std::nullopt, /*sorted=*/true, return_inverse, return_counts);
}
OPGEN_KERNEL(unique_dim_cpu)
(const Tensor& self, int64_t dim, bool /*sorted*/, bool return_inverse, bool return_counts) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK(
      self.numel() > 0 || self.size(dim) == 0,
      "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  return distinct("unique_dim", self, dim, /*sorted=*/true, return_inverse, return_counts);
}
OPGEN_KERNEL(unique_consecutive_cpu)
(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  if (dim.has_value()) dim = wrap_dim(*dim, self.dim());
  if (self.dim() == 0) dim = std::nullopt;
  OPGEN_CHECK(
      !dim.has_value() || self.numel() > 0 || self.size(*dim) == 0,
      "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  return distinct("unique_consecutive", self, dim, /*sorted=*/false, return_inverse, return_counts);
}
