// sorting.cpp: sort, argsort, topk. Equal elements keep their order; NaN counts as the largest.
#include <opgen/kernel.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <aten/ops/argsort.h>
#include <aten/ops/argsort_native.h>
#include <aten/ops/sort.h>
#include <aten/ops/sort_native.h>
#include <aten/ops/topk_native.h>

#include <opgen/cpu/indexed.h>
#include <opgen/cpu/sort.h>

#include "common.h"

using namespace kernels;

namespace {

// Sorts lines by `Key`, or selects the first `count` elements of each. Neighbouring lines whose
// elements alternate in memory are read together, a block of rows after the other. `in_place`: an
// output has the memory of the input.
template <class T, class Key>
void sort_sheet(const opgen::Sheet& sheet, const T* from, int64_t size, bool descending,
                int64_t count, T* values, int64_t* places, bool in_place) {
  using Entry = opgen::KeyedPlace<Key>;
  const int64_t step = sheet.steps[0], run_step = sheet.run_steps[0];
  const bool alternates = std::abs(run_step) < std::abs(step);
  const int64_t together = alternates ? std::clamp<int64_t>(65536 / size, 1, 16) : 1;
  const auto entries = std::make_unique_for_overwrite<Entry[]>(
      static_cast<size_t>((std::min(together, sheet.run) + 1) * size));
  Entry* spare = entries.get() + std::min(together, sheet.run) * size;
  const auto kept = std::make_unique_for_overwrite<T[]>(
      static_cast<size_t>(in_place ? std::min(together, sheet.run) * size : 0));
  from += sheet.offsets[0];
  values += sheet.offsets[1];
  places += sheet.offsets[2];
  for (int64_t first = 0; first < sheet.run; first += together) {
    const int64_t lines = std::min(together, sheet.run - first);
    const T* block = from + first * run_step;
    for (int64_t k = 0; k < size; ++k) {
      const T* row = block + k * step;
      for (int64_t j = 0; j < lines; ++j) {
        entries[j * size + k] =
            Entry::of(opgen::sort_key(opgen::element_at(row + j * run_step), descending), k);
        if (in_place) kept[j * size + k] = opgen::element_at(row + j * run_step);
      }
    }
    for (int64_t j = 0; j < lines; ++j) {
      opgen::select_keyed(entries.get() + j * size, spare, size, count);
    }
    T* value = values + first * sheet.run_steps[1];
    int64_t* place = places + first * sheet.run_steps[2];
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < lines; ++j) {
        const int64_t k = entries[j * size + i].place();
        value[i * sheet.steps[1] + j * sheet.run_steps[1]] =
            in_place ? kept[j * size + k] : opgen::element_at(block + k * step + j * run_step);
        place[i * sheet.steps[2] + j * sheet.run_steps[2]] = k;
      }
    }
  }
}

// Adjacent keys of the elements of a line.
template <class T>
OPGEN_ALWAYS_INLINE void keys_here(opgen::SortKey<T>* keys, const T* line, int64_t step, int64_t n,
                                   bool descending) {
  if (step == 1) {
    for (int64_t k = 0; k < n; ++k)
      keys[k] = opgen::sort_key(opgen::element_at(line + k), descending);
  } else {
    for (int64_t k = 0; k < n; ++k)
      keys[k] = opgen::sort_key(opgen::element_at(line + k * step), descending);
  }
}
template <class T>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void keys_of(opgen::SortKey<T>* keys, const T* line, int64_t step,
                                              int64_t n, bool descending) {
  keys_here(keys, line, step, n, descending);
}

// Writes the entries of kLines lines from `keys`, which has their keys, line by line. Returns false
// if keys of 64 bits have no room in entries, because they are too different.
template <class Key>
bool entries_of(int64_t* entries, const Key* keys, int64_t size) {
  namespace together = opgen::sort_together;
  Key least = 0;
  if constexpr (sizeof(Key) == 8) {
    const auto [low, high] = std::minmax_element(keys, keys + together::kLines * size);
    if (*high - *low > 0xffffffffu) return false;
    least = *low;
  }
  for (int64_t k = 0; k < size; ++k) {
    for (int64_t j = 0; j < together::kLines; ++j) {
      entries[k * together::kLines + j] =
          together::entry_of(static_cast<uint32_t>(keys[j * size + k] - least), k);
    }
  }
  return true;
}

// As sort_sheet, for lines that sort_together sorts faster. Returns false if lines are left, and
// leaves these lines in `sheet`.
template <class T>
bool sort_lines_together(opgen::Sheet& sheet, const T* from, int64_t size, bool descending,
                         int64_t count, T* values, int64_t* places, bool in_place) {
  namespace together = opgen::sort_together;
  constexpr int64_t width = together::kLines;
  using Key = opgen::SortKey<T>;
  // Few doubles have keys that fit entries.
  if (std::is_same_v<T, double> || sheet.run == 1 || !together::pays(size)) return false;
  // So few are found faster by insertion.
  if (count < 16 && size > 256) return false;
  const int64_t step = sheet.steps[0], run_step = sheet.run_steps[0];
  const auto room = static_cast<size_t>(width * size);
  const auto keys = std::make_unique_for_overwrite<Key[]>(room);
  const auto entries = std::make_unique_for_overwrite<int64_t[]>(room);
  const auto kept = std::make_unique_for_overwrite<T[]>(in_place ? room : 0);
  from += sheet.offsets[0];
  values += sheet.offsets[1];
  places += sheet.offsets[2];
  for (int64_t first = 0; first < sheet.run; first += width) {
    const int64_t lines = std::min(width, sheet.run - first);
    const T* block = from + first * run_step;
    for (int64_t j = 0; j < width; ++j) {
      keys_of(keys.get() + j * size, block + std::min(j, lines - 1) * run_step, step, size,
              descending);
    }
    if (!entries_of(entries.get(), keys.get(), size)) {
      for (size_t k = 0; k < opgen::Sheet::kOperands; ++k) {
        sheet.offsets[k] += first * sheet.run_steps[k];
      }
      sheet.run -= first;
      return false;
    }
    if (in_place) {
      for (int64_t j = 0; j < lines; ++j) {
        for (int64_t k = 0; k < size; ++k) kept[j * size + k] = block[k * step + j * run_step];
      }
    }
    together::sort(entries.get(), size);
    T* value = values + first * sheet.run_steps[1];
    int64_t* place = places + first * sheet.run_steps[2];
    const int64_t value_step = sheet.steps[1], place_step = sheet.steps[2];
    for (int64_t j = 0; j < lines; ++j) {
      const T* line = in_place ? kept.get() + j * size : block + j * run_step;
      const int64_t line_step = in_place ? 1 : step;
      const int64_t* entry = entries.get() + j;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t k = together::place_of(entry[i * width]);
        value[i * value_step] = opgen::element_at(line + k * line_step);
        place[i * place_step] = k;
      }
      value += sheet.run_steps[1];
      place += sheet.run_steps[2];
    }
  }
  return true;
}

// Writes the first `count` values and indices of each line of `self`, in order.
template <class T>
void sort_lines(const Tensor& self, int64_t dim, bool descending, int64_t count,
                const Tensor& values, const Tensor& indices) {
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  const T* from = self.const_data_ptr<T>();
  T* value = values.mutable_data_ptr<T>();
  int64_t* place = indices.mutable_data_ptr<int64_t>();
  const bool in_place = self.is_alias_of(values) || self.is_alias_of(indices);
  opgen::for_each_sheet(
      self.sizes(), dim, {self.strides(), values.strides(), indices.strides()},
      opgen::Divide::kOthers, [&](opgen::Sheet sheet) {
        if (sort_lines_together(sheet, from, size, descending, count, value, place, in_place)) {
          return;
        }
        if (size <= opgen::kMostPlaces) {
          sort_sheet<T, opgen::SortKey<T>>(sheet, from, size, descending, count, value, place,
                                           in_place);
        } else {
          sort_sheet<T, uint64_t>(sheet, from, size, descending, count, value, place, in_place);
        }
      });
}

}  // namespace

OPGEN_META_FUNC2(sort, stable)
(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool /*descending*/) {
  wrap_dim(dim, self.dim());
  OPGEN_CHECK(!self.is_complex(), "Sort does not support complex dtypes on CPU");
  // Use the same strides as empty_like, so that the order of dimensions in memory is kept.
  const DimVector strides = self.is_non_overlapping_and_dense()
                                ? DimVector(self.strides())
                                : opgen::infer_dense_strides(self.sizes(), self.strides());
  set_output_raw_strided(0, self.sizes(), strides, self.options());
  set_output_raw_strided(1, self.sizes(), strides, self.options().dtype(kLong));
}
OPGEN_IMPL_FUNC(sort_stable_out)
(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool descending,
 const Tensor& values, const Tensor& indices) {
  if (self.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  const int64_t count = self.dim() == 0 ? 1 : self.size(dim);
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "sort", [&] {
    sort_lines<scalar_t>(self, dim, descending, count, values, indices);
  });
}
OPGEN_KERNEL(sort)(const Tensor& self, int64_t dim, bool descending) {
  return at::sort(self, /*stable=*/false, dim, descending);
}
OPGEN_KERNEL(sort_out)
(const Tensor& self, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  return at::sort_out(values, indices, self, /*stable=*/false, dim, descending);
}
OPGEN_KERNEL(argsort)(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, dim, descending));
}
OPGEN_KERNEL(argsort)(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, stable, dim, descending));
}
OPGEN_KERNEL(argsort_out)
(const Tensor& self, bool stable, int64_t dim, bool descending, Tensor& out) {
  Tensor values = opgen::empty({0}, self.options());
  at::sort_out(values, out, self, stable, dim, descending);
  return out;
}

OPGEN_META_FUNC(topk)(const Tensor& self, Int k, int64_t dim, bool /*largest*/, bool /*sorted*/) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.size(dim) : 1),
              "selected index k out of range");
  OPGEN_CHECK(self.scalar_type() != kBool, "topk does not support bool dtypes on CPU");
  OPGEN_CHECK(!self.is_complex(), "topk does not support complex dtypes on CPU");
  DimVector shape(self.sizes());
  if (self.dim() > 0) shape[dim] = k;
  set_output_raw_strided(0, shape, {}, self.options());
  set_output_raw_strided(1, shape, {}, self.options().dtype(kLong));
}
OPGEN_IMPL_FUNC(topk_out_cpu)
(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/, const Tensor& values,
 const Tensor& indices) {
  if (values.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  // A zero-dim tensor has one result, for any k.
  const int64_t count = self.dim() == 0 ? 1 : k;
  OPGEN_DISPATCH_REAL(self.scalar_type(), "topk",
                      [&] { sort_lines<scalar_t>(self, dim, largest, count, values, indices); });
}
