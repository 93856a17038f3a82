// loops.cpp: the parts of cpu_kernel that do not depend on its function.
#include "opgen/cpu/loops.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cpu/copy_row.h"
#include "cpu/transpose_tile.h"
#include "iterator/builder.h"

namespace opgen::detail {

void throw_kernel_dtypes(const TensorIteratorBase& iter, std::initializer_list<ScalarType> dtypes,
                         int noutputs) {
  OPGEN_INTERNAL_ASSERT(
      iter.ntensors() == static_cast<int>(dtypes.size()) && iter.noutputs() == noutputs,
      "a kernel with ", dtypes.size() - static_cast<std::size_t>(noutputs), " inputs and ",
      noutputs, " outputs runs over an iterator with ", iter.ninputs(), " inputs and ",
      iter.noutputs(), " outputs");
  int i = 0;
  for (ScalarType dtype : dtypes) {
    OPGEN_INTERNAL_ASSERT(iter.dtype(i) == dtype, "operand ", i, " has dtype ", iter.dtype(i),
                          ", but the kernel's function takes ", dtype);
    ++i;
  }
}

namespace {

// Runs a row function over blocks that fit the first-level cache if an operand is transposed: its
// inner stride is longer than its outer stride. A block of such an input is first copied row by
// row, so that the row function reads contiguous elements.
class TiledRows {
 public:
  static constexpr int kMostOperands = 8;

  TiledRows(const TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row)
      : row_(row), n_(iter.ntensors()) {
    if (iter.ndim() < 2 || n_ > kMostOperands) return;
    for (int k = 0; k < n_; ++k) {
      std::int64_t item = iter.element_size(k);
      std::int64_t inner = std::abs(iter.strides(k)[0]);
      std::int64_t outer = iter.strides(k)[1];
      if (inner < 64 || outer == 0 || std::abs(outer) > 16) continue;
      wanted_ = true;
      // At most two, because a block of each is on the stack.
      if (k < iter.noutputs() || outer != item || staged_ == kMostStaged) continue;
      transpose_[k] = transpose_tile_of(static_cast<std::size_t>(item));
      if (transpose_[k] == nullptr) continue;
      place_[k] = staged_++;
      item_[k] = item;
    }
  }
  [[nodiscard]] bool wanted(std::int64_t inner, std::int64_t outer) const noexcept {
    return wanted_ && inner >= 16 && outer >= 16;
  }

  void run(char** data, const std::int64_t* strides, std::int64_t inner, std::int64_t outer) const {
    alignas(64) char blocks[kMostStaged][kRows * kColumns * 16];
    char* at[kMostOperands];
    std::int64_t steps[kMostOperands];
    for (std::int64_t i = 0; i < outer; i += kRows) {
      std::int64_t rows = std::min(kRows, outer - i);
      for (std::int64_t j = 0; j < inner; j += kColumns) {
        std::int64_t columns = std::min(kColumns, inner - j);
        for (int k = 0; k < n_; ++k) {
          at[k] = data[k] + i * strides[n_ + k] + j * strides[k];
          steps[k] = strides[k];
          if (transpose_[k] == nullptr) continue;
          transpose_[k](blocks[place_[k]], at[k], strides[k], rows, columns);
          at[k] = blocks[place_[k]];
          steps[k] = item_[k];
        }
        for (std::int64_t y = 0; y < rows; ++y) {
          row_(at, steps, columns);
          for (int k = 0; k < n_; ++k) {
            at[k] += transpose_[k] != nullptr ? columns * item_[k] : strides[n_ + k];
          }
        }
      }
    }
  }

 private:
  static constexpr std::int64_t kRows = 32;
  static constexpr std::int64_t kColumns = 64;
  static constexpr int kMostStaged = 2;

  TensorIteratorBase::loop1d_t row_;
  int n_;
  int staged_ = 0;
  bool wanted_ = false;
  TransposeTile transpose_[kMostOperands] = {};
  int place_[kMostOperands] = {};
  std::int64_t item_[kMostOperands] = {};
};

}  // namespace

namespace {

// Rows of at most so many elements are visited column by column, if there are enough of them.
constexpr std::int64_t kFewElements = 4, kManyRows = 16;

// Runs a few hundred elements in one or two dimensions, without the set-up of TiledRows.
void for_each_small_row(TensorIteratorBase::loop1d_t row, char** data, int n,
                        const std::int64_t* inner_strides, const std::int64_t* outer_strides,
                        std::int64_t inner, std::int64_t outer) {
  if (inner <= kFewElements && outer >= kManyRows) {
    std::swap(inner_strides, outer_strides);
    std::swap(inner, outer);
  }
  for (std::int64_t i = 0;;) {
    row(data, inner_strides, inner);
    if (++i >= outer) return;
    for (int k = 0; k < n; ++k) data[k] += outer_strides[k];
  }
}

// Runs the row function along the outer dimension, for rows that are too short for it. In blocks,
// so that the next column finds them in the cache.
void run_columns(TensorIteratorBase::loop1d_t row, int n, char** data, const std::int64_t* strides,
                 std::int64_t inner, std::int64_t outer) {
  constexpr std::int64_t block = 512;
  TensorIteratorBase::PtrVector at(data, data + n);
  for (std::int64_t first = 0; first < outer; first += block) {
    const std::int64_t count = std::min(block, outer - first);
    for (std::int64_t i = 0; i < inner; ++i) {
      for (int k = 0; k < n; ++k) {
        at[std::size_t(k)] = data[k] + first * strides[n + k] + i * strides[k];
      }
      row(at.data(), strides + n, count);
    }
  }
}

// Runs several short rows as one. The operands continue from row to row, except one or two inputs:
// those that are the same row each time, as in a matrix plus a vector, and those whose rows have
// gaps between them are copied to blocks.
class JoinedRows {
 public:
  JoinedRows(const TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row)
      : row_(row), n_(iter.ntensors()), outputs_(iter.noutputs()) {
    for (int k = 0; k < std::min(n_, kMostOperands); ++k) item_[k] = iter.element_size(k);
  }
  [[nodiscard]] bool wanted(const std::int64_t* strides, std::int64_t inner,
                            std::int64_t outer) const noexcept {
    if (inner > kMost / 4 || outer < 8 || n_ > kMostOperands) return false;
    int copied = 0;
    for (int k = 0; k < n_; ++k) {
      const std::int64_t item = item_[k], next = strides[n_ + k];
      if (strides[k] != item || item > kLargest) return false;
      if (next == inner * item) continue;
      if (k < outputs_ || ++copied > kMostCopied) return false;
      if (next != 0 && inner * item > kShort) return false;
    }
    return copied > 0;
  }
  void run(char** data, const std::int64_t* strides, std::int64_t inner, std::int64_t outer) const {
    alignas(64) char blocks[kMostCopied][kMost * kLargest];
    char* at[kMostOperands];
    char* block_of[kMostOperands] = {};
    const std::int64_t together = std::min(outer, kMost / inner);
    int used = 0;
    for (int k = 0; k < n_; ++k) {
      const std::int64_t length = inner * item_[k];
      at[k] = data[k];
      if (strides[n_ + k] == length) continue;
      block_of[k] = blocks[used++];
      if (strides[n_ + k] == 0) copy_rows(block_of[k], data[k], 0, together, length);
    }
    for (std::int64_t i = 0; i < outer; i += together) {
      const std::int64_t rows = std::min(together, outer - i);
      for (int k = 0; k < n_; ++k) {
        const std::int64_t length = inner * item_[k], next = strides[n_ + k];
        if (block_of[k] == nullptr) {
          at[k] = data[k] + i * next;
          continue;
        }
        at[k] = block_of[k];
        if (next != 0) copy_rows(block_of[k], data[k] + i * next, next, rows, length);
      }
      row_(at, strides, rows * inner);
    }
  }

 private:
  static void copy_rows(char* to, const char* from, std::int64_t step, std::int64_t rows,
                        std::int64_t length) {
    constexpr std::int64_t part = 16;
    if (length % part != 0) {
      for (; rows > 0; --rows, to += length, from += step) {
        std::memcpy(to, from, static_cast<std::size_t>(length));
      }
      return;
    }
    for (; rows > 0; --rows, from += step) {
      for (std::int64_t i = 0; i < length; i += part, to += part) std::memcpy(to, from + i, part);
    }
  }

  static constexpr int kMostOperands = 8, kMostCopied = 2;
  // Elements that a block has, bytes that an element has at most, and bytes of rows that are worth
  // a copy each time.
  static constexpr std::int64_t kMost = 512, kLargest = 16, kShort = 128;

  TensorIteratorBase::loop1d_t row_;
  int n_, outputs_;
  std::int64_t item_[kMostOperands] = {};
};

OPGEN_NOINLINE void for_each_general_row(TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row,
                                         std::int64_t grain, bool small) {
  int n = iter.ntensors();
  IntArrayRef shape = iter.shape();
  if (small && shape.size() <= 2) {
    char* data[4];
    std::int64_t strides[4];
    std::int64_t outer_strides[4];
    for (int k = 0; k < n; ++k) {
      const OperandInfo& op = iter.operand(k);
      data[k] = static_cast<char*>(op.data);
      strides[k] = shape.size() >= 1 ? op.stride_bytes[0] : 0;
      outer_strides[k] = shape.size() == 2 ? op.stride_bytes[1] : 0;
    }
    return for_each_small_row(row, data, n, strides, outer_strides,
                              shape.size() >= 1 ? shape[0] : 1, shape.size() == 2 ? shape[1] : 1);
  }
  TiledRows tiled(iter, row);
  JoinedRows joined(iter, row);
  iter.for_each(
      [row, n, &tiled, &joined](char** data, const std::int64_t* strides, std::int64_t inner,
                                std::int64_t outer) {
        if (outer == 1) {
          row(data, strides, inner);
        } else if (tiled.wanted(inner, outer)) {
          tiled.run(data, strides, inner, outer);
        } else if (joined.wanted(strides, inner, outer)) {
          joined.run(data, strides, inner, outer);
        } else if (inner <= kFewElements && outer >= kManyRows) {
          run_columns(row, n, data, strides, inner, outer);
        } else {
          TensorIteratorBase::PtrVector at(data, data + n);
          for (std::int64_t i = 0; i < outer; ++i) {
            row(at.data(), strides, inner);
            for (int k = 0; k < n; ++k) at[std::size_t(k)] += strides[n + k];
          }
        }
      },
      grain);
}

// Runs an iteration of one dimension whose output is a temporary: each block of results is stored
// in the caller's tensor, `to`, while it is in the cache, and the temporary is not touched.
OPGEN_NOINLINE void for_each_converted_row(TensorIteratorBase& iter, const TensorBase& to,
                                           CopyRow convert, TensorIteratorBase::loop1d_t row,
                                           std::int64_t grain) {
  constexpr std::int64_t block_bytes = 8192, most = 2048;
  const std::int64_t item = iter.element_size(0);
  const std::int64_t block_size = std::min(most, block_bytes / item);
  const std::int64_t to_item = static_cast<std::int64_t>(to.itemsize());
  char* const first = static_cast<char*>(to.data_ptr());
  const auto in_blocks = [&](char** data, const std::int64_t* strides, std::int64_t n) {
    alignas(64) char block[block_bytes];
    TensorIteratorBase::PtrVector at(data, data + iter.ntensors());
    // The temporary's element tells which one this is.
    char* out = first + (data[0] - static_cast<char*>(iter.data_ptr(0))) / item * to_item;
    for (std::int64_t i = 0; i < n; i += block_size) {
      const std::int64_t count = std::min(block_size, n - i);
      at[0] = block;
      row(at.data(), strides, count);
      char* pair[2] = {out + i * to_item, block};
      const std::int64_t steps[2] = {to_item, item};
      convert(pair, steps, count);
      for (std::size_t k = 1; k < at.size(); ++k) at[k] += count * strides[k];
    }
  };
  iter.for_each(in_blocks, grain);
  IteratorBuilder::end_temporaries(iter, /*copy=*/false);
}

}  // namespace

const TensorBase* find_output_of(const TensorIteratorBase& iter, ScalarType dtype) noexcept {
  const TensorBase* found = IteratorBuilder::find_convertible_output(iter);
  return found != nullptr && found->scalar_type() == dtype ? found : nullptr;
}
void drop_temporary_output(TensorIteratorBase& iter) {
  IteratorBuilder::end_temporaries(iter, /*copy=*/false);
}

void for_each_row(TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row, std::int64_t grain) {
  if (const TensorBase* to = IteratorBuilder::find_convertible_output(iter);
      OPGEN_UNLIKELY(to != nullptr)) {
    const CopyRow convert = copy_row(to->scalar_type(), iter.dtype(0));
    if (convert != nullptr) return for_each_converted_row(iter, *to, convert, row, grain);
  }
  int n = iter.ntensors();
  std::int64_t numel = iter.numel();
  bool small = n <= 4 && numel <= grain && numel <= 1024 && numel != 0;
  const SmallStrides* few = iter.small_strides();
  if (OPGEN_LIKELY(small && few != nullptr && few->ndim <= 2)) {
    static constexpr std::int64_t none[SmallStrides::kOperands] = {};
    char* data[SmallStrides::kOperands];
    for (int k = 0; k < n; ++k) data[k] = static_cast<char*>(iter.tensor(k).data_ptr());
    return for_each_small_row(row, data, n, few->ndim != 0 ? few->strides[0] : none,
                              few->strides[1], few->ndim != 0 ? few->shape[0] : 1,
                              few->ndim == 2 ? few->shape[1] : 1);
  }
  for_each_general_row(iter, row, grain, small);
}

}  // namespace opgen::detail
