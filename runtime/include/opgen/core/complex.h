// complex.h: complex<T>, laid out as two T in a row. <complex> costs 0.28 s to include, so it is
// not used here.
#pragma once

#include <type_traits>

namespace opgen {

template <class T>
struct alignas(2 * sizeof(T)) complex {
  using value_type = T;

  T real_ = T(0);
  T imag_ = T(0);

  constexpr complex() noexcept = default;
  constexpr complex(T real, T imag = T(0)) noexcept : real_(real), imag_(imag) {}  // NOLINT
  template <class U>
  requires(!std::is_same_v<T, U>) explicit(sizeof(U) > sizeof(T)) constexpr complex(
      const complex<U>& other) noexcept
      : real_(static_cast<T>(other.real_)), imag_(static_cast<T>(other.imag_)) {}

  [[nodiscard]] constexpr T real() const noexcept { return real_; }
  [[nodiscard]] constexpr T imag() const noexcept { return imag_; }
  constexpr void real(T value) noexcept { real_ = value; }
  constexpr void imag(T value) noexcept { imag_ = value; }

  constexpr complex& operator+=(complex o) noexcept { return *this = *this + o; }
  constexpr complex& operator-=(complex o) noexcept { return *this = *this - o; }
  constexpr complex& operator*=(complex o) noexcept { return *this = *this * o; }
  constexpr complex& operator/=(complex o) noexcept { return *this = *this / o; }

  friend constexpr complex operator+(complex a) noexcept { return a; }
  friend constexpr complex operator-(complex a) noexcept { return {-a.real_, -a.imag_}; }
  friend constexpr complex operator+(complex a, complex b) noexcept {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  friend constexpr complex operator-(complex a, complex b) noexcept {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  friend constexpr complex operator*(complex a, complex b) noexcept {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  // Scaled by the larger part of the divisor, so that squares neither overflow nor vanish.
  friend constexpr complex operator/(complex a, complex b) noexcept {
    T re = b.real_ < T(0) ? -b.real_ : b.real_;
    T im = b.imag_ < T(0) ? -b.imag_ : b.imag_;
    if (re >= im) {
      if (re == T(0) && im == T(0)) return {a.real_ / re, a.imag_ / re};
      T ratio = b.imag_ / b.real_;
      T scale = b.real_ + b.imag_ * ratio;
      return {(a.real_ + a.imag_ * ratio) / scale, (a.imag_ - a.real_ * ratio) / scale};
    }
    T ratio = b.real_ / b.imag_;
    T scale = b.real_ * ratio + b.imag_;
    return {(a.real_ * ratio + a.imag_) / scale, (a.imag_ * ratio - a.real_) / scale};
  }
  friend constexpr bool operator==(complex a, complex b) noexcept {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
};

template <class T>
struct is_complex_type : std::false_type {};
template <class T>
struct is_complex_type<complex<T>> : std::true_type {};

}  // namespace opgen
