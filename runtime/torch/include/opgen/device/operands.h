// operands.h: the operands of an iterator as values that a device kernel can take: the address and
// the dtype of each operand, and the numbers that are in the host's memory.
//
// On the CPU an iterator casts operands to the common dtype before a kernel sees them, and casts
// the result to the dtype of out=. On other devices it does not, and a zero-dimensional CPU tensor
// (such as the 2 in Python's `x + 2`) arrives as a pointer to the host's memory. A loop that reads
// operands as common_dtype() silently returns wrong results in both cases.
#pragma once

#include <c10/core/DynamicCast.h>
#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "opgen/core/error.h"
#include "opgen/iterator/iterator.h"
#include "opgen/tensor/tensor.h"

namespace opgen::detail {

inline constexpr int kMaxDeviceDims = 25;

// The distance in bytes from the first element of each of N operands to its element i. The first
// dimension is the fastest.
template <std::size_t N>
struct ElementOffsets {
  struct Bytes {
    std::int64_t of[N];
  };

  void add(std::int64_t size, const std::int64_t (&bytes)[N]) {
    OPGEN_CHECK(dims < kMaxDeviceDims, "a device kernel cannot have more than ", kMaxDeviceDims,
                " dimensions that do not coalesce");
    sizes[dims] = size;
    for (std::size_t n = 0; n < N; ++n) strides[dims][n] = bytes[n];
    count *= size;
    ++dims;
  }

  // The last dimension takes the remaining index, so one dimension needs no division.
  C10_HOST_DEVICE Bytes operator()(std::int64_t i) const {
    Bytes bytes = {};
    for (int d = 0; d < dims; ++d) {
      std::int64_t at = i;
      if (d + 1 < dims) {
        i = at / sizes[d];
        at -= i * sizes[d];
      }
      for (std::size_t n = 0; n < N; ++n) bytes.of[n] += at * strides[d][n];
    }
    return bytes;
  }

  std::int64_t count = 1;
  int dims = 0;
  std::int64_t sizes[kMaxDeviceDims] = {};
  std::int64_t strides[kMaxDeviceDims][N] = {};
};

// c10's casts support these dtypes and abort for others.
inline void check_castable(ScalarType dtype) {
  switch (dtype) {
#define OPGEN_CASTABLE(type, name) case ScalarType::name:
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(OPGEN_CASTABLE)
#undef OPGEN_CASTABLE
    case ScalarType::UInt16:
    case ScalarType::UInt32:
    case ScalarType::UInt64:
      return;
    default:
      OPGEN_CHECK_NOT_IMPLEMENTED(false, "elements of ", dtype, " cannot be cast on a device");
  }
}

// Casts are not inlined: a switch over all dtypes in every loop takes longer to compile than the
// loops.
template <class T>
C10_HOST_DEVICE __attribute__((noinline)) T fetch_other(ScalarType dtype, const char* element) {
  return c10::fetch_and_cast<T>(dtype, element);
}
template <class T>
C10_HOST_DEVICE __attribute__((noinline)) void store_other(ScalarType dtype, char* element,
                                                           T value) {
  c10::cast_and_store<T>(dtype, element, value);
}

// An operand that is read as T, for any dtype of its elements.
template <class T>
struct DeviceInput {
  DeviceInput(const TensorIteratorBase& iter, int operand) : dtype(iter.dtype(operand)) {
    check_castable(dtype);
    by_value = iter.is_cpu_scalar(operand);
    const auto* const first = static_cast<const char*>(iter.data_ptr(operand));
    if (by_value) {
      value = fetch_other<T>(dtype, first);
    } else {
      data = first;
    }
  }

  C10_HOST_DEVICE T load(std::int64_t offset) const {
    if (by_value) return value;
    if (dtype == own) return c10::load<T>(data + offset);
    return fetch_other<T>(dtype, data + offset);
  }

  static constexpr ScalarType own = c10::CppTypeToScalarType<T>::value;
  const char* data = nullptr;
  ScalarType dtype;
  bool by_value;
  T value{};
};

// An operand that stores results of type T.
template <class T>
struct DeviceOutput {
  DeviceOutput(const TensorIteratorBase& iter, int operand)
      : data(static_cast<char*>(iter.data_ptr(operand))), dtype(iter.dtype(operand)) {
    check_castable(dtype);
  }

  C10_HOST_DEVICE void store(std::int64_t offset, T result) const {
    if (dtype == own) {
      *reinterpret_cast<T*>(data + offset) = result;
    } else {
      store_other<T>(dtype, data + offset, result);
    }
  }

  static constexpr ScalarType own = c10::CppTypeToScalarType<T>::value;
  char* data;
  ScalarType dtype;
};

// Several operands, identified by their number. (A std::tuple of them would not be trivially
// copyable, so it could not be the argument of a kernel.)
template <std::size_t n, class Operand>
struct Numbered : Operand {
  explicit Numbered(const TensorIteratorBase& iter) : Operand(iter, static_cast<int>(n)) {}
};

// All outputs of a loop whose function returns R, a value or a std::tuple of several.
template <class R, class Numbers = void>
struct DeviceOutputs : DeviceOutput<R> {
  static constexpr std::size_t count = 1;
  explicit DeviceOutputs(const TensorIteratorBase& iter) : DeviceOutput<R>(iter, 0) {}
  C10_HOST_DEVICE void store(const std::int64_t* offsets, R result) const {
    DeviceOutput<R>::store(offsets[0], result);
  }
};
template <class... R>
struct DeviceOutputs<std::tuple<R...>, void>
    : DeviceOutputs<std::tuple<R...>, std::index_sequence_for<R...>> {
  using DeviceOutputs<std::tuple<R...>, std::index_sequence_for<R...>>::DeviceOutputs;
};
template <class... R, std::size_t... O>
struct DeviceOutputs<std::tuple<R...>, std::index_sequence<O...>>
    : Numbered<O, DeviceOutput<R>>... {
  static constexpr std::size_t count = sizeof...(R);
  explicit DeviceOutputs(const TensorIteratorBase& iter) : Numbered<O, DeviceOutput<R>>(iter)... {}
  C10_HOST_DEVICE void store(const std::int64_t* offsets, const std::tuple<R...>& results) const {
    (Numbered<O, DeviceOutput<R>>::store(offsets[O], std::get<O>(results)), ...);
  }
};

// The inputs of a loop whose function takes A..., which follow `first` outputs.
template <std::size_t first, class Numbers, class... A>
struct DeviceInputs;
template <std::size_t first, std::size_t... I, class... A>
struct DeviceInputs<first, std::index_sequence<I...>, A...>
    : Numbered<first + I, DeviceInput<A>>... {
  explicit DeviceInputs(const TensorIteratorBase& iter)
      : Numbered<first + I, DeviceInput<A>>(iter)... {}
  template <class F>
  C10_HOST_DEVICE auto apply(const F& function, const std::int64_t* offsets) const {
    return function(Numbered<first + I, DeviceInput<A>>::load(offsets[first + I])...);
  }
};

}  // namespace opgen::detail
