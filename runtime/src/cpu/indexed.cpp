// indexed.cpp: the order of dimensions in loops over indexed tensors, and copies of rows.
#include "opgen/cpu/indexed.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "opgen/core/parallel.h"
#include "opgen/cpu/convert_rows.h"
#include "opgen/registration/types.h"

namespace opgen {

namespace {

// Returns a number whose sign is set if an index is outside, without a branch, so that compilers
// vectorise the loop. Unsigned numbers wrap.
OPGEN_ALWAYS_INLINE std::uint64_t signs_here(const std::int64_t* indices, std::int64_t n,
                                             std::int64_t low, std::int64_t size) noexcept {
  const auto lift = std::uint64_t(0) - static_cast<std::uint64_t>(low);
  const auto last = static_cast<std::uint64_t>(size) - 1;
  std::uint64_t signs = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto index = static_cast<std::uint64_t>(indices[i]);
    signs |= (index + lift) | (last - index);
  }
  return signs;
}
#if OPGEN_LOOPS_AVX2
OPGEN_NOINLINE OPGEN_TARGET_AVX2 std::uint64_t signs_avx2(const std::int64_t* indices,
                                                          std::int64_t n, std::int64_t low,
                                                          std::int64_t size) noexcept {
  return signs_here(indices, n, low, size);
}
#endif
std::uint64_t signs_of(const std::int64_t* indices, std::int64_t n, std::int64_t low,
                       std::int64_t size) noexcept {
#if OPGEN_LOOPS_AVX2
  if (detail::use_avx2()) return signs_avx2(indices, n, low, size);
#endif
  return signs_here(indices, n, low, size);
}

}  // namespace

std::int64_t find_bad_index(const std::int64_t* indices, std::int64_t n, std::int64_t stride,
                            std::int64_t low, std::int64_t size) noexcept {
  if (stride == 1 && size > 0 && (signs_of(indices, n, low, size) >> 63) == 0) return -1;
  for (std::int64_t i = 0; i < n; ++i) {
    if (indices[i * stride] < low || indices[i * stride] >= size) return i;
  }
  return -1;
}

namespace {

constexpr std::size_t kMost = Sheet::kOperands;

struct Dimension {
  std::int64_t size = 1;
  std::array<std::int64_t, kMost> strides{};

  // The distance in memory between neighbours, of all operands together.
  [[nodiscard]] std::int64_t distance() const noexcept {
    std::int64_t sum = 0;
    for (std::int64_t stride : strides) sum += std::abs(stride);
    return sum;
  }
  [[nodiscard]] bool continues(const Dimension& inner) const noexcept {
    for (std::size_t k = 0; k < kMost; ++k) {
      if (strides[k] != inner.size * inner.strides[k]) return false;
    }
    return true;
  }
};

// The dimensions other than the indexed one, the slowest first, as few as possible.
using Dimensions = SmallVector<Dimension, 6>;

void add_sorted(Dimensions& dims, const Dimension& added) {
  dims.push_back(added);
  for (std::size_t i = dims.size() - 1; i > 0 && dims[i].distance() > dims[i - 1].distance(); --i) {
    std::swap(dims[i], dims[i - 1]);
  }
}

void coalesce(Dimensions& dims) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < dims.size(); ++i) {
    if (dims[kept].continues(dims[i])) {
      dims[kept].size *= dims[i].size;
      dims[kept].strides = dims[i].strides;
    } else {
      dims[++kept] = dims[i];
    }
  }
  if (!dims.empty()) dims.resize(kept + 1);
}

std::int64_t grain_of(std::int64_t work) {
  return std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, work));
}

}  // namespace

void for_each_sheet(IntArrayRef sizes, std::int64_t dim, std::initializer_list<IntArrayRef> strides,
                    Divide divide, FunctionRef<void(const Sheet&)> f) {
  Dimensions dims;
  Dimension along;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return;
    Dimension found{sizes[d], {}};
    std::size_t k = 0;
    for (IntArrayRef each : strides) found.strides[k++] = each[d];
    if (static_cast<std::int64_t>(d) == dim) {
      along = found;
    } else if (found.size != 1) {
      if (divide == Divide::kNothing) {
        dims.push_back(found);
      } else {
        add_sorted(dims, found);
      }
    }
  }
  coalesce(dims);
  Dimension fastest;
  if (!dims.empty()) {
    fastest = dims.back();
    dims.pop_back();
  }
  std::int64_t outer = 1;
  for (const Dimension& each : dims) outer *= each.size;

  const auto run_sheets = [&](std::int64_t first, std::int64_t last, std::int64_t begin,
                              std::int64_t end, std::int64_t run_begin, std::int64_t run_end) {
    Sheet sheet{{}, along.strides, fastest.strides, begin, end, run_end - run_begin};
    SmallVector<std::int64_t, 6> index(dims.size(), 0);
    std::int64_t rest = first;
    for (std::size_t k = 0; k < kMost; ++k) sheet.offsets[k] = run_begin * fastest.strides[k];
    for (std::size_t d = dims.size(); d-- > 0;) {
      index[d] = rest % dims[d].size;
      rest /= dims[d].size;
      for (std::size_t k = 0; k < kMost; ++k) sheet.offsets[k] += index[d] * dims[d].strides[k];
    }
    for (std::int64_t i = first; i < last; ++i) {
      f(sheet);
      for (std::size_t d = dims.size(); d-- > 0;) {
        for (std::size_t k = 0; k < kMost; ++k) sheet.offsets[k] += dims[d].strides[k];
        if (++index[d] < dims[d].size) break;
        for (std::size_t k = 0; k < kMost; ++k) {
          sheet.offsets[k] -= dims[d].size * dims[d].strides[k];
        }
        index[d] = 0;
      }
    }
  };
  if (divide == Divide::kNothing) return run_sheets(0, outer, 0, along.size, 0, fastest.size);
  const bool splits = divide == Divide::kAll;
  // Threads divide the slowest dimensions if they have enough positions.
  const std::int64_t threads = get_num_threads();
  if (outer >= 4 * threads || (outer > 1 && !splits && fastest.size < 4 * threads)) {
    parallel_for(0, outer, grain_of(along.size * fastest.size), [&](auto first, auto last) {
      run_sheets(first, last, 0, along.size, 0, fastest.size);
    });
  } else if (splits && along.size >= fastest.size) {
    parallel_for(0, along.size, grain_of(outer * fastest.size),
                 [&](auto begin, auto end) { run_sheets(0, outer, begin, end, 0, fastest.size); });
  } else {
    parallel_for(0, fastest.size, grain_of(outer * along.size),
                 [&](auto begin, auto end) { run_sheets(0, outer, 0, along.size, begin, end); });
  }
}

namespace {

struct Bytes16 {
  std::uint64_t parts[2];
};

// Rows of single elements; steps in bytes, strides in elements.
struct Runs {
  char* to;
  std::int64_t to_step, to_stride;
  const char* from;
  std::int64_t from_step, from_stride;
  std::int64_t count, n;

  template <class T, class Copy>
  OPGEN_ALWAYS_INLINE void for_each(const Copy& copy) const {
    for (std::int64_t k = 0; k < count; ++k) {
      copy(reinterpret_cast<T*>(to + k * to_step), reinterpret_cast<const T*>(from + k * from_step),
           n);
    }
  }
};

struct Reverse {
  template <class T>
  OPGEN_ALWAYS_INLINE void operator()(T* to, const T* from, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) to[i] = *(from - i);
  }
};
#if OPGEN_LOOPS_AVX2
template <class T>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void reverse_avx2(const Runs& runs) {
  runs.for_each<T>(Reverse());
}
#endif

template <class T>
void copy_elements(const Runs& runs) {
  const std::int64_t to_stride = runs.to_stride, from_stride = runs.from_stride;
  if (to_stride == 1 && from_stride == -1) {
#if OPGEN_LOOPS_AVX2
    if (detail::use_avx2()) return reverse_avx2<T>(runs);
#endif
    return runs.for_each<T>(Reverse());
  }
  if (to_stride == 1 && from_stride == 2) {
    return runs.for_each<T>([](T* to, const T* from, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
    });
  }
  runs.for_each<T>([=](T* to, const T* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  });
}

// Calls f with a type of `size` bytes.
template <class F>
void with_size(std::size_t size, const F& f) {
  switch (size) {
    case 1:
      return f(std::uint8_t());
    case 2:
      return f(std::uint16_t());
    case 4:
      return f(std::uint32_t());
    case 8:
      return f(std::uint64_t());
    default:
      return f(Bytes16());
  }
}

// Copies at least sizeof(V) bytes; the last vector may overlap the one before.
template <class V>
OPGEN_ALWAYS_INLINE void copy_by(char* to, const char* from, std::size_t length) noexcept {
  const std::size_t last = length - sizeof(V);
  V part;
  for (std::size_t i = 0; i < last; i += sizeof(V)) {
    std::memcpy(&part, from + i, sizeof(V));
    std::memcpy(to + i, &part, sizeof(V));
  }
  std::memcpy(&part, from + last, sizeof(V));
  std::memcpy(to + last, &part, sizeof(V));
}

// Rows of `length` bytes. Row k of a side is at rows[k] * step, or at k * step if `rows` is null.
struct Rows {
  char* to;
  std::int64_t to_step;
  const std::int64_t* to_rows;
  const char* from;
  std::int64_t from_step;
  const std::int64_t* from_rows;
  std::int64_t begin, end;
  std::size_t length;

  template <class Copy>
  OPGEN_ALWAYS_INLINE void for_each(const Copy& copy) const {
    for (std::int64_t k = begin; k < end; ++k) {
      copy(to + (to_rows != nullptr ? to_rows[k] : k) * to_step,
           from + (from_rows != nullptr ? from_rows[k] : k) * from_step);
    }
  }
  template <class V>
  OPGEN_ALWAYS_INLINE void copy_here() const {
    // Not `length` itself, which the compiler would read anew for each row.
    const std::size_t bytes = length;
    for_each([bytes](char* row, const char* other) { copy_by<V>(row, other, bytes); });
  }
};

typedef char Vector16 __attribute__((vector_size(16)));
#if OPGEN_LOOPS_AVX2
typedef char Vector32 __attribute__((vector_size(32)));
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void copy_rows_avx2(const Rows& rows) {
  rows.copy_here<Vector32>();
}
#endif
template <class V>
OPGEN_NOINLINE void copy_rows_by(const Rows& rows) {
  rows.copy_here<V>();
}

void copy_any_rows(const Rows& rows) {
  // Longer rows are worth the call of a function for each.
  constexpr std::size_t most = 2048;
  const std::size_t length = rows.length;
  if (length > most) {
    return rows.for_each(
        [length](char* row, const char* other) { std::memcpy(row, other, length); });
  }
#if OPGEN_LOOPS_AVX2
  if (length >= sizeof(Vector32) && detail::use_avx2()) return copy_rows_avx2(rows);
#endif
  if (length >= 16) return copy_rows_by<Vector16>(rows);
  if (length >= 8) return copy_rows_by<std::uint64_t>(rows);
  if (length >= 4) return copy_rows_by<std::uint32_t>(rows);
  if (length >= 2) return copy_rows_by<std::uint16_t>(rows);
  if (length == 1) return copy_rows_by<std::uint8_t>(rows);
}

}  // namespace

void copy_run(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride,
              std::int64_t n, std::size_t size) noexcept {
  if (to_stride == 1 && from_stride == 1) {
    if (n > 0) std::memcpy(to, from, static_cast<std::size_t>(n) * size);
    return;
  }
  copy_runs(to, 0, to_stride, from, 0, from_stride, 1, n, size);
}

void copy_runs(char* to, std::int64_t to_step, std::int64_t to_stride, const char* from,
               std::int64_t from_step, std::int64_t from_stride, std::int64_t count, std::int64_t n,
               std::size_t size) noexcept {
  const Runs runs{to, to_step, to_stride, from, from_step, from_stride, count, n};
  with_size(size, [&](auto element) { copy_elements<decltype(element)>(runs); });
}

void copy_rows(char* to, std::int64_t to_step, const char* from, std::int64_t from_step,
               std::int64_t count, std::size_t length) noexcept {
  copy_any_rows({to, to_step, nullptr, from, from_step, nullptr, 0, count, length});
}

void gather_sheet(const Sheet& sheet, char* to, const char* from, const std::int64_t* indices,
                  std::size_t size) noexcept {
  const auto bytes = static_cast<std::int64_t>(size);
  to += sheet.offsets[0] * bytes;
  from += sheet.offsets[1] * bytes;
  if (sheet.has_rows(2)) {
    return copy_any_rows({to, sheet.steps[0] * bytes, nullptr, from, sheet.steps[1] * bytes,
                          indices, sheet.begin, sheet.end,
                          static_cast<std::size_t>(sheet.run) * size});
  }
  if (sheet.has_faster_run()) {
    for (std::int64_t k = sheet.begin; k < sheet.end; ++k) {
      copy_run(to + k * sheet.steps[0] * bytes, sheet.run_steps[0],
               from + indices[k] * sheet.steps[1] * bytes, sheet.run_steps[1], sheet.run, size);
    }
    return;
  }
  with_size(size, [&](auto element) {
    using T = decltype(element);
    for (std::int64_t j = 0; j < sheet.run; ++j) {
      T* out = reinterpret_cast<T*>(to) + j * sheet.run_steps[0];
      const T* in = reinterpret_cast<const T*>(from) + j * sheet.run_steps[1];
      const std::int64_t step = sheet.steps[1];
      if (sheet.steps[0] == 1) {
        for (std::int64_t k = sheet.begin; k < sheet.end; ++k) out[k] = in[indices[k] * step];
      } else {
        for (std::int64_t k = sheet.begin; k < sheet.end; ++k) {
          out[k * sheet.steps[0]] = in[indices[k] * step];
        }
      }
    }
  });
}

void scatter_sheet(const Sheet& sheet, char* to, const char* from, const std::int64_t* indices,
                   std::size_t size) noexcept {
  const auto bytes = static_cast<std::int64_t>(size);
  if (sheet.has_rows(2)) {
    return copy_any_rows({to + sheet.offsets[0] * bytes, sheet.steps[0] * bytes, indices,
                          from + sheet.offsets[1] * bytes, sheet.steps[1] * bytes, nullptr,
                          sheet.begin, sheet.end, static_cast<std::size_t>(sheet.run) * size});
  }
  with_size(size, [&](auto element) {
    using T = decltype(element);
    update_sheet(sheet, reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), indices,
                 [](T& a, const T& b) { a = b; });
  });
}

}  // namespace opgen
