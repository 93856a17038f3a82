// truth.cpp: any and all look at the bits of elements, so that all dtypes of a size share a loop.
#include "opgen/cpu/truth.h"

#include <cstdint>

#include "opgen/core/error.h"
#include "opgen/core/scalar_type.h"
#include "opgen/cpu/reduce.h"

#pragma GCC diagnostic ignored "-Wpsabi"

namespace opgen {

namespace {

// All bits, for a number that is what is looked for: one that is not zero, or, if `flip` has all
// bits, zero. `significant` has the bits that are not zero in some number other than zero: all but
// the signs.
template <class Bits>
struct Found {
  Bits significant;
  Bits flip;
  OPGEN_ALWAYS_INLINE Bits operator()(Bits x) const {
    return static_cast<Bits>(((x & significant) != 0 ? Bits(-1) : Bits(0)) ^ flip);
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE Vec<Bits, bytes> operator()(const Vec<Bits, bytes>& x) const {
    using V = Vec<Bits, bytes>;
    return V::of(((x.values & significant) != V(Bits(0)).values) ^ V(flip).values);
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

// Stores whether some element is found, or its opposite for `all`: all elements are other than zero
// if no zero is found. A bool and a byte that is 0 or 1 are the same in memory.
template <class Bits>
void truth_of_bits(TensorIteratorBase& iter, bool all, std::uint64_t significant) {
  using Fold = detail::VectorFold<Bits, Bits, Found<Bits>, Or>;
  const Fold fold{{static_cast<Bits>(significant), all ? Bits(-1) : Bits(0)}, Or(), Bits(0)};
  const auto result = [all](Bits found) { return (found != 0) != all; };
  detail::run_reduction(
      detail::ReductionPlan(iter),
      detail::VectorLoops<std::uint8_t, Bits, Bits, Bits, Fold, decltype(result)>(fold, result));
}

void truth_of_pairs(TensorIteratorBase& iter, bool all) {
  using Pair = types::complex<double>;
  const auto step = [all](bool found, Pair x) {
    return found || (x.real() != 0 || x.imag() != 0) != all;
  };
  const auto combine = [](bool a, bool b) { return a || b; };
  const auto result = [all](bool found) { return found != all; };
  detail::run_reduction(
      detail::ReductionPlan(iter),
      detail::StepLoops<std::uint8_t, Pair, bool, decltype(step), decltype(combine),
                        decltype(result)>(false, step, combine, result));
}

void truth(TensorIteratorBase& iter, bool all) {
  const ScalarType result = iter.dtype(0), dtype = iter.dtype(1);
  OPGEN_CHECK(iter.ntensors() == 2 && (result == kBool || result == kByte),
              all ? "cpu_all" : "cpu_any", ": expected an output of dtype Bool or Byte, got ",
              result);
  constexpr std::uint64_t bits = ~std::uint64_t(0), half = bits >> 33;
  switch (dtype) {
    case kComplexDouble:
      return truth_of_pairs(iter, all);
    case kComplexFloat:
      return truth_of_bits<std::int64_t>(iter, all, half << 32 | half);
    case kDouble:
      return truth_of_bits<std::int64_t>(iter, all, bits >> 1);
    case kFloat:
      return truth_of_bits<std::int32_t>(iter, all, bits >> 33);
    case kHalf:
    case kBFloat16:
      return truth_of_bits<std::int16_t>(iter, all, bits >> 49);
    default:
      break;
  }
  switch (elementSize(dtype)) {
    case 1:
      return truth_of_bits<std::int8_t>(iter, all, bits);
    case 2:
      return truth_of_bits<std::int16_t>(iter, all, bits);
    case 4:
      return truth_of_bits<std::int32_t>(iter, all, bits);
    default:
      return truth_of_bits<std::int64_t>(iter, all, bits);
  }
}

}  // namespace

void cpu_any(TensorIteratorBase& iter) {
  truth(iter, false);
}
void cpu_all(TensorIteratorBase& iter) {
  truth(iter, true);
}

}  // namespace opgen
