// copy.cpp: copies and converts elements on the CPU. Rows are plain loops, which compilers
// vectorise at -O3.
#include "opgen/tensor/copy.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "cpu/copy_row.h"
#include "opgen/cpu/convert_element.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/cpu/indexed.h"
#include "opgen/cpu/loops.h"
#include "opgen/iterator/iterator_config.h"
#include "opgen/tensor/memory_overlap.h"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

namespace opgen::detail {

namespace {

// The unsigned integer of T's size. All dtypes of a size share the loops that only store elements.
template <class T>
struct BitsOf {
  using type = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<
          sizeof(T) == 2, std::uint16_t,
          std::conditional_t<sizeof(T) == 4, std::uint32_t,
                             std::conditional_t<sizeof(T) == 8, std::uint64_t, SixteenBytes>>>>;
};
template <class Bits>
OPGEN_NOINLINE void fill_adjacent(Bits* to, std::int64_t n, Bits value) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = value;
}
#if OPGEN_LOOPS_AVX2
template <class Bits>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void fill_adjacent_avx2(Bits* to, std::int64_t n, Bits value) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = value;
}
// By whole vectors. Returns how many elements these have.
template <class Bits>
OPGEN_NOINLINE OPGEN_TARGET_AVX512 std::int64_t fill_vectors_avx512(Bits* to, std::int64_t n,
                                                                    Bits value) {
  constexpr std::int64_t size = 64 / sizeof(Bits);
  Bits values[size];
  for (Bits& each : values) each = value;
  std::int64_t i = 0;
  Words vector;
  std::memcpy(&vector, values, sizeof vector);
  for (; i + size <= n; i += size) std::memcpy(to + i, &vector, sizeof vector);
  return i;
}
#endif
template <class Bits>
OPGEN_NOINLINE void fill_bits(char* data, std::int64_t stride, std::int64_t n, Bits value) {
  if (stride == std::int64_t(sizeof(Bits))) {
    Bits* to = reinterpret_cast<Bits*>(data);
#if OPGEN_LOOPS_AVX2
    const std::int64_t done = use_avx512() ? fill_vectors_avx512(to, n, value) : 0;
    if (use_avx2()) return fill_adjacent_avx2(to + done, n - done, value);
#endif
    return fill_adjacent(to, n, value);
  }
  for (std::int64_t i = 0; i < n; ++i) *reinterpret_cast<Bits*>(data + i * stride) = value;
}
template <class T>
typename BitsOf<T>::type bits_of(T value) {
  return std::bit_cast<typename BitsOf<T>::type>(value);
}

template <class To, class From>
void convert_row(char** data, const std::int64_t* strides, std::int64_t n) {
  if (strides[0] == std::int64_t(sizeof(To)) && strides[1] == std::int64_t(sizeof(From))) {
    To* to = reinterpret_cast<To*>(data[0]);
    const From* from = reinterpret_cast<const From*>(data[1]);
    OPGEN_IVDEP
    for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(element_at(from + i));
    return;
  }
  if (strides[1] == 0) {
    const From* from = reinterpret_cast<const From*>(data[1]);
    return fill_bits(data[0], strides[0], n, bits_of(convert<To>(element_at(from))));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<To*>(data[0] + i * strides[0]) =
        convert<To>(element_at(reinterpret_cast<const From*>(data[1] + i * strides[1])));
  }
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Half types are converted from and to floats. Others pass through a block of floats, so that the
// compiler sees each conversion of half types once.
OPGEN_NOINLINE void convert_by_floats(CopyRow read, CopyRow write, char** data,
                                      const std::int64_t* strides, std::int64_t n) {
  constexpr std::int64_t most = 512, step = sizeof(float);
  alignas(64) float block[most];
  // One element that is read for all is converted once.
  const bool same = strides[1] == 0;
  const std::int64_t read_strides[2] = {step, strides[1]};
  const std::int64_t write_strides[2] = {strides[0], same ? 0 : step};
  for (std::int64_t i = 0; i < n; i += same ? n : most) {
    const std::int64_t count = same ? n : n - i < most ? n - i : most;
    char* in[2] = {reinterpret_cast<char*>(block), data[1] + i * strides[1]};
    char* out[2] = {data[0] + i * strides[0], reinterpret_cast<char*>(block)};
    read(in, read_strides, same ? 1 : count);
    write(out, write_strides, count);
  }
}
template <class To, class From>
void convert_row_by_floats(char** data, const std::int64_t* strides, std::int64_t n) {
  convert_by_floats(copy_row(kFloat, scalar_type_of<From>), copy_row(scalar_type_of<To>, kFloat),
                    data, strides, n);
}

// Elements are copied as integers of their size, if the dtype does not change.
template <class Bits>
void move_row(char** data, const std::int64_t* strides, std::int64_t n) {
  if (strides[1] == 0) {
    fill_bits(data[0], strides[0], n, *reinterpret_cast<const Bits*>(data[1]));
  } else {
    move_elements(data[0], strides[0], data[1], strides[1], n, sizeof(Bits));
  }
}

// Pairs of types whose conversions give the same bits share a function.
template <class To, class From>
constexpr CopyRow convert_row_of() {
  constexpr bool to_byte = std::is_same_v<To, std::int8_t> || std::is_same_v<To, std::uint8_t>;
  if constexpr (std::is_same_v<To, From>) {
    return nullptr;
  } else if constexpr (std::is_same_v<From, bool>) {
    return &convert_row<To, bool>;
  } else if constexpr (to_byte && std::is_integral_v<From> && sizeof(From) == 1) {
    return &move_row<std::uint8_t>;
  } else if constexpr (std::is_same_v<To, std::int8_t> && std::is_integral_v<From>) {
    return convert_row_of<std::uint8_t, From>();
  } else if constexpr ((is_half<To> && !std::is_same_v<From, float>) ||
                       (is_half<From> && !std::is_same_v<To, float>)) {
    return &convert_row_by_floats<To, From>;
  } else {
    return &convert_row<To, From>;
  }
}

template <class To>
CopyRow find_convert_row(ScalarType from) {
  switch (from) {
#define OPGEN_CASE(type, name, number) \
  case ScalarType::name:               \
    return convert_row_of<To, type>();
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      break;
  }
  return nullptr;
}

CopyRow move_row_of(std::size_t itemsize) {
  switch (itemsize) {
    case 1:
      return &move_row<std::uint8_t>;
    case 2:
      return &move_row<std::uint16_t>;
    case 4:
      return &move_row<std::uint32_t>;
    case 8:
      return &move_row<std::uint64_t>;
    default:
      return &move_row<SixteenBytes>;
  }
}

#if OPGEN_LOOPS_AVX2
// The conversions that programs need most.
template <class To, class From>
void convert_row_fma(char** data, const std::int64_t* strides, std::int64_t n) {
  if (strides[0] == std::int64_t(sizeof(To))) {
    load_row_fma<From, To>(reinterpret_cast<To*>(data[0]), data[1], strides[1], n);
  } else {
    convert_row<To, From>(data, strides, n);
  }
}
// The negative of 0 or 1 has no bit or all bits set.
template <class To>
OPGEN_TARGET_AVX2 void convert_bools_avx2(char** data, const std::int64_t* strides,
                                          std::int64_t n) {
  using Bits = typename BitsOf<To>::type;
  if (strides[0] != std::int64_t(sizeof(To)) || strides[1] != 1) {
    return convert_row<To, bool>(data, strides, n);
  }
  const Bits one = std::bit_cast<Bits>(convert<To>(true));
  Bits* to = reinterpret_cast<Bits*>(data[0]);
  const std::uint8_t* from = reinterpret_cast<const std::uint8_t*>(data[1]);
  OPGEN_IVDEP
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = static_cast<Bits>(Bits(0) - Bits(from[i] != 0)) & one;
}
CopyRow find_convert_bools_avx2(ScalarType to) {
  switch (to) {
    case kFloat:
      return &convert_bools_avx2<float>;
    case kDouble:
      return &convert_bools_avx2<double>;
    case kHalf:
      return &convert_bools_avx2<Half>;
    case kBFloat16:
      return &convert_bools_avx2<BFloat16>;
    case kInt:
      return &convert_bools_avx2<std::int32_t>;
    case kLong:
      return &convert_bools_avx2<std::int64_t>;
    default:
      return nullptr;
  }
}
CopyRow find_convert_row_fma(ScalarType to, ScalarType from) {
  if (from == kBool) return find_convert_bools_avx2(to);
  switch (to) {
    case kFloat:
      switch (from) {
        case kDouble:
          return &convert_row_fma<float, double>;
        case kHalf:
          return &convert_row_fma<float, Half>;
        case kBFloat16:
          return &convert_row_fma<float, BFloat16>;
        default:
          return nullptr;
      }
    case kDouble:
      return from == kFloat ? &convert_row_fma<double, float> : nullptr;
    case kBFloat16:
      return from == kFloat ? &convert_row_fma<BFloat16, float> : nullptr;
    default:
      return nullptr;
  }
}
#endif

}  // namespace

CopyRow copy_row(ScalarType to, ScalarType from) {
  if (to == from) return move_row_of(elementSize(to));
#if OPGEN_LOOPS_AVX2
  if (use_fma()) {
    if (const CopyRow found = find_convert_row_fma(to, from); found != nullptr) return found;
  }
#endif
  switch (to) {
#define OPGEN_CASE(type, name, number) \
  case ScalarType::name:               \
    return find_convert_row<type>(from);
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      break;
  }
  return nullptr;
}

namespace {

void copy_bytes(char* to, const char* from, std::size_t bytes) {
  constexpr std::int64_t grain = 1 << 18;
  parallel_for(0, static_cast<std::int64_t>(bytes), grain,
               [&](std::int64_t begin, std::int64_t end) {
                 std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
               });
}

// Returns whether the elements of both are in the same order in memory, without gaps.
bool same_dense_layout(const TensorBase& a, const TensorBase& b) {
  return a.sizes() == b.sizes() &&
         ((a.is_contiguous() && b.is_contiguous()) ||
          (a.strides() == b.strides() && a.is_non_overlapping_and_dense()));
}

// Whether many rows follow one another that are contiguous memory on both sides.
bool has_short_rows(const TensorIterator& iter) {
  constexpr std::int64_t few = 1024;
  if (iter.small_strides() != nullptr && iter.numel() <= few) return false;
  const std::int64_t item = iter.element_size(0);
  return iter.ndim() >= 2 && iter.strides(0)[0] == item && iter.strides(1)[0] == item;
}

OPGEN_NOINLINE void copy_elements(const TensorBase& dst, const TensorBase& src) {
  if (dst.scalar_type() == src.scalar_type() && same_dense_layout(dst, src)) {
    if (dst.data_ptr() == src.data_ptr()) return;
    assert_no_partial_overlap(dst, src);
    copy_bytes(static_cast<char*>(dst.mutable_data_ptr()),
               static_cast<const char*>(src.const_data_ptr()), dst.nbytes());
    return;
  }
  TensorIteratorConfig config;
  config.add_borrowed_output(dst).add_borrowed_input(src).resize_outputs(false);
  config.check_all_same_dtype(false);
  TensorIterator iter = config.build();
  if (dst.scalar_type() == src.scalar_type() && has_short_rows(iter)) {
    const std::int64_t item = static_cast<std::int64_t>(dst.itemsize());
    return iter.for_each(
        [item](char** data, const std::int64_t* strides, std::int64_t inner, std::int64_t outer) {
          copy_rows(data[0], strides[2], data[1], strides[3], outer,
                    static_cast<std::size_t>(inner * item));
        });
  }
  for_each_row(iter, copy_row(dst.scalar_type(), src.scalar_type()), kGrainSize);
}

void copy_cpu(const TensorBase& dst, const TensorBase& src, bool) {
  if (dst.dim() != 0) return copy_elements(dst, src);
  char* data[2] = {static_cast<char*>(dst.mutable_data_ptr()),
                   static_cast<char*>(const_cast<void*>(src.const_data_ptr()))};
  const std::int64_t strides[2] = {static_cast<std::int64_t>(dst.itemsize()),
                                   static_cast<std::int64_t>(src.itemsize())};
  copy_row(dst.scalar_type(), src.scalar_type())(data, strides, 1);
}

template <class Bits>
OPGEN_NOINLINE void fill_cpu(const TensorBase& self, Bits value) {
  if (self.is_non_overlapping_and_dense()) {
    char* data = static_cast<char*>(self.mutable_data_ptr());
    parallel_for(0, self.numel(), kGrainSize, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t size = sizeof(Bits);
      fill_bits(data + begin * size, size, end - begin, value);
    });
    return;
  }
  // The tensor's elements may share memory, because all receive the same value.
  TensorIteratorConfig config;
  config.add_borrowed_output(self).set_check_mem_overlap(false).resize_outputs(false);
  config.check_all_same_dtype(false);
  TensorIterator iter = config.build();
  for_each_row(
      iter,
      [value](char** data, const std::int64_t* strides, std::int64_t n) {
        fill_bits(data[0], strides[0], n, value);
      },
      kGrainSize);
}

void fill_cpu_with(const TensorBase& self, const Scalar& value) {
  dispatch<NumberTypes, bool>(self.scalar_type(), "fill_", [&]<class T> {
    const T element = value.to<T>();
    if (self.numel() != 0) fill_cpu(self, bits_of(element));
  });
}

constexpr DeviceCopy kCpuCopy = {&copy_cpu, &fill_cpu_with};
const bool is_set = (register_device_copy(DeviceType::CPU, &kCpuCopy), true);

}  // namespace

}  // namespace opgen::detail
