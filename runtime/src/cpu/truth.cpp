// truth.cpp: any and all look at the bits of elements, so that all dtypes of a size share a loop.
#include "opgen/cpu/truth.h"

#include <cstdint>

#include "opgen/core/error.h"
#include "opgen/core/scalar_type.h"
#include "opgen/cpu/reduce.h"

#pragma GCC diagnostic ignored "-Wpsabi"

namespace opgen {

namespace {

// The bits that are not zero in some number other than zero: all but the signs.
template <class Bits>
struct Significant {
  Bits bits;
  OPGEN_ALWAYS_INLINE Bits operator()(Bits x) const { return static_cast<Bits>(x & bits); }
  template <int bytes>
  OPGEN_ALWAYS_INLINE Vec<Bits, bytes> operator()(const Vec<Bits, bytes>& x) const {
    return Vec<Bits, bytes>::of(x.values & bits);
  }
};
// All bits of a number that is not zero.
template <class Bits>
struct NotZero {
  Significant<Bits> significant;
  OPGEN_ALWAYS_INLINE Bits operator()(Bits x) const {
    return significant(x) != 0 ? static_cast<Bits>(-1) : Bits(0);
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE Vec<Bits, bytes> operator()(const Vec<Bits, bytes>& x) const {
    using V = Vec<Bits, bytes>;
    return V::of(significant(x).values != V(Bits(0)).values);
  }
};
struct Or {
  template <class Bits>
  OPGEN_ALWAYS_INLINE Bits operator()(const Bits& a, const Bits& b) const {
    return static_cast<Bits>(a | b);
  }
  template <class Bits, int bytes>
  OPGEN_ALWAYS_INLINE Vec<Bits, bytes> operator()(const Vec<Bits, bytes>& a,
                                                  const Vec<Bits, bytes>& b) const {
    return Vec<Bits, bytes>::of(a.values | b.values);
  }
};
struct And {
  template <class Bits>
  OPGEN_ALWAYS_INLINE Bits operator()(const Bits& a, const Bits& b) const {
    return static_cast<Bits>(a & b);
  }
  template <class Bits, int bytes>
  OPGEN_ALWAYS_INLINE Vec<Bits, bytes> operator()(const Vec<Bits, bytes>& a,
                                                  const Vec<Bits, bytes>& b) const {
    return Vec<Bits, bytes>::of(a.values & b.values);
  }
};

template <class Bits, class Map, class Combine>
void reduce_bits(TensorIteratorBase& iter, Bits identity, const Map& map, const Combine& combine) {
  using Fold = detail::VectorFold<Bits, Bits, Map, Combine>;
  const Fold fold{map, combine, identity};
  const auto truth = [](Bits bits) { return bits != 0; };
  // A bool and a byte that is 0 or 1 are the same in memory.
  detail::run_reduction(
      detail::ReductionPlan(iter),
      detail::VectorLoops<std::uint8_t, Bits, Bits, Bits, Fold, decltype(truth)>(fold, truth));
}

template <bool any, class Bits>
void truth_of_bits(TensorIteratorBase& iter, std::uint64_t significant) {
  const Significant<Bits> bits{static_cast<Bits>(significant)};
  if constexpr (any) {
    reduce_bits<Bits>(iter, Bits(0), bits, Or());
  } else {
    reduce_bits<Bits>(iter, static_cast<Bits>(-1), NotZero<Bits>{bits}, And());
  }
}

template <bool any, class Out>
void truth_of_pairs(TensorIteratorBase& iter) {
  const auto combine = [](bool a, bool b) { return any ? a || b : a && b; };
  cpu_reduce<Out, types::complex<double>>(
      iter, !any,
      [&](bool found, types::complex<double> x) {
        return combine(found, x.real() != 0 || x.imag() != 0);
      },
      combine, [](bool found) { return found; });
}

template <bool any>
void truth(TensorIteratorBase& iter) {
  const ScalarType result = iter.dtype(0), dtype = iter.dtype(1);
  OPGEN_CHECK(iter.ntensors() == 2 && (result == kBool || result == kByte),
              any ? "cpu_any" : "cpu_all", ": expected an output of dtype Bool or Byte, got ",
              result);
  constexpr std::uint64_t all = ~std::uint64_t(0), half = all >> 33;
  switch (dtype) {
    case kComplexDouble:
      return result == kBool ? truth_of_pairs<any, bool>(iter)
                             : truth_of_pairs<any, std::uint8_t>(iter);
    case kComplexFloat:
      return truth_of_bits<any, std::int64_t>(iter, half << 32 | half);
    case kDouble:
      return truth_of_bits<any, std::int64_t>(iter, all >> 1);
    case kFloat:
      return truth_of_bits<any, std::int32_t>(iter, all >> 33);
    case kHalf:
    case kBFloat16:
      return truth_of_bits<any, std::int16_t>(iter, all >> 49);
    default:
      break;
  }
  switch (elementSize(dtype)) {
    case 1:
      return truth_of_bits<any, std::int8_t>(iter, all);
    case 2:
      return truth_of_bits<any, std::int16_t>(iter, all);
    case 4:
      return truth_of_bits<any, std::int32_t>(iter, all);
    default:
      return truth_of_bits<any, std::int64_t>(iter, all);
  }
}

}  // namespace

void cpu_any(TensorIteratorBase& iter) {
  truth<true>(iter);
}
void cpu_all(TensorIteratorBase& iter) {
  truth<false>(iter);
}

}  // namespace opgen
