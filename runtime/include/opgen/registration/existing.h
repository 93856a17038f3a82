// existing.h: registers existing C++ functions as kernels. Their parameters and results may have
// all types that PyTorch's registry accepts for a schema.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/core/error.h"
#include "opgen/dispatch/operator.h"

namespace opgen {

namespace detail {

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<List<T>> = true;
template <class T>
inline constexpr std::size_t kArraySize = 0;
template <class T, std::size_t n>
inline constexpr std::size_t kArraySize<std::array<T, n>> = n;
template <class T>
concept HoldsOptional = requires(const T& value) {
  { value.has_value() } -> std::convertible_to<bool>;
  *value;
};
template <class T>
concept IsNumber = std::is_integral_v<T> || std::is_enum_v<T>;

template <class T>
inline constexpr bool kNoConversion = false;

// Whether a function may have `Own` for a number that the dispatcher passes as `T`, both possibly
// absent. The rule is PyTorch's: int(2**32 + 1) is 1, and float(0.1) is not 0.1. An index of a
// device may be an int8_t.
template <class Own, class T>
inline constexpr bool kKeepsNumber =
    !std::is_arithmetic_v<Own> || !std::is_arithmetic_v<T> || std::is_same_v<Own, T> ||
    (std::is_same_v<Own, std::int8_t> && std::is_same_v<T, std::int64_t>);
template <class Own, class T>
inline constexpr bool kKeepsNumber<std::optional<Own>, std::optional<T>> = kKeepsNumber<Own, T>;
template <class Own, class T>
inline constexpr bool kKeepsNumber<List<Own>, ArrayRef<T>> = kKeepsNumber<Own, T>;
template <class Own, std::size_t n, class T>
inline constexpr bool kKeepsNumber<std::array<Own, n>, ArrayRef<T>> = kKeepsNumber<Own, T>;

template <class T>
concept HasElements = requires(const T& value) {
  value.size();
  value.empty();
};
// Numbers, of lists and of optionals too, are of one kind: [1.5] is not a list of integers.
enum class Kind : std::uint8_t { other, boolean, integer, floating, scalar };
template <class T>
constexpr Kind kind_of() {
  if constexpr (HoldsOptional<T>) {
    return kind_of<std::remove_cvref_t<decltype(*std::declval<const T&>())>>();
  } else if constexpr (HasElements<T> && requires { typename T::value_type; }) {
    return kind_of<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return Kind::boolean;
  } else if constexpr (IsNumber<T> || std::is_same_v<T, SymInt>) {
    return Kind::integer;
  } else if constexpr (std::is_floating_point_v<T>) {
    return Kind::floating;
  } else {
    return std::is_same_v<T, Scalar> ? Kind::scalar : Kind::other;
  }
}
template <class T>
inline constexpr std::tuple<bool, bool, Kind> kForm = {HoldsOptional<T>, HasElements<T>,
                                                       kind_of<T>()};
template <class Own, class T>
inline constexpr bool kSameForm = kForm<Own> == kForm<T>;
template <class T>
inline constexpr bool kSameForm<Generator, std::optional<T>> = true;
// PyTorch takes neither: a std::vector<bool> has no array of bool.
template <class T>
inline constexpr bool kSameForm<std::vector<bool>, T> = false;
template <class T>
inline constexpr bool kSameForm<ArrayRef<bool>, T> = false;

// Own is the type of a function's parameter or result, and T the dispatcher's.
template <class Own, class T>
constexpr void check_type() {
  static_assert(kKeepsNumber<Own, T>,
                "the function has a number of another type than its schema: an int is an int64_t, "
                "a float is a double");
  static_assert(kSameForm<Own, T>,
                "the function's parameter or result has a type that its schema does not allow");
}

// Calls `f` with every element of a list, an array or an ArrayRef.
template <class From, class F>
void for_each_element(const From& from, const F& f) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if constexpr (kIsList<From>) {
      f(from.get(i));
    } else {
      f(from[i]);
    }
  }
}

// Converts `from`, an argument of the dispatcher or a result of a function, to type To.
template <class To, class From>
To as_value(const From& from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (HoldsOptional<To>) {
    using Inner = std::remove_cvref_t<decltype(*std::declval<const To&>())>;
    if constexpr (HoldsOptional<From>) {
      return from.has_value() ? To(as_value<Inner>(*from)) : To(std::nullopt);
    } else {
      return To(as_value<Inner>(from));
    }
  } else if constexpr (HoldsOptional<From> && std::is_same_v<To, Generator>) {
    // PyTorch's schema of a function that takes a Generator says `Generator?`.
    OPGEN_CHECK(from.has_value(), "expected a Generator, got None");
    return *from;
  } else if constexpr (requires { concrete_as<To>(from); }) {
    return concrete_as<To>(from);
  } else if constexpr (kIsVector<To>) {
    To found;
    found.reserve(from.size());
    for_each_element(from, [&](const auto& element) {
      found.push_back(as_value<typename To::value_type>(element));
    });
    return found;
  } else if constexpr (kIsList<To>) {
    To found;
    for_each_element(from, [&](const auto& element) {
      found.push_back(as_value<typename To::value_type>(element));
    });
    return found;
  } else if constexpr (kArraySize<To> != 0) {
    OPGEN_CHECK(from.size() == kArraySize<To>, "expected a list of ", kArraySize<To>, ", got ",
                from.size());
    To found{};
    std::size_t i = 0;
    for_each_element(from, [&](const auto& element) {
      found[i++] = as_value<typename To::value_type>(element);
    });
    return found;
  } else if constexpr (std::is_integral_v<To> && std::is_same_v<From, std::int64_t>) {
    const auto narrow = static_cast<To>(from);  // of a list, or the index of a device
    OPGEN_CHECK_VALUE(static_cast<From>(narrow) == from && (narrow < To(0)) == (from < 0), from,
                      " does not fit into the function's type of integers");
    return narrow;
  } else if constexpr (IsNumber<To> && IsNumber<From>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_constructible_v<To, const From&>) {
    return To(from);
  } else {
    static_assert(kNoConversion<To>,
                  "the function's parameter or result has a type that its schema does not allow");
  }
}

// Owns the elements of a parameter that borrows them, if they must be converted.
template <class To, class From>
struct StoredAs {
  using type = To;
};
template <class T, class From>
requires(!std::is_constructible_v<ArrayRef<T>, const From&>) struct StoredAs<ArrayRef<T>, From> {
  using type = std::vector<T>;
};

// Converts an argument of the dispatcher's type From to a parameter of type To. Valid until the
// call returns.
template <class To, class From, class Plain = std::remove_cvref_t<To>>
class Given {
  using Source = std::remove_cvref_t<From>;
  static constexpr bool kIsSame = std::is_same_v<Plain, Source> && !std::is_rvalue_reference_v<To>;
  static_assert(
      !std::is_lvalue_reference_v<To> || std::is_const_v<std::remove_reference_t<To>> ||
          std::is_same_v<To, From> || requires(const Plain& value) { value.numel(); },
      "a parameter of type T& must be a Tensor");
  using Stored = typename StoredAs<Plain, Source>::type;

 public:
  explicit Given(const Source& from) : value_(from) { check_type<Plain, Source>(); }
  operator To() {  // NOLINT(google-explicit-constructor)
    if constexpr (kIsSame && std::is_lvalue_reference_v<To>) {
      // A function may take `Tensor&` for an argument that it does not write.
      return const_cast<Plain&>(value_);
    } else if constexpr (kIsSame) {
      return value_;
    } else {
      stored_.emplace(as_value<Stored>(value_));
      if constexpr (std::is_lvalue_reference_v<To>) {
        return *stored_;
      } else if constexpr (std::is_same_v<Stored, Plain>) {
        return std::move(*stored_);
      } else {
        return Plain(*stored_);
      }
    }
  }

 private:
  const Source& value_;
  std::optional<std::conditional_t<kIsSame, bool, Stored>> stored_;
};

// Converts the elements of a tuple to those of the tuple R. (A generic lambda that unpacks both at
// once is an internal error of g++ 12.)
template <class R, class From, std::size_t... i>
R elements_as(const From& from, std::index_sequence<i...>) {
  (check_type<std::tuple_element_t<i, From>, std::tuple_element_t<i, R>>(), ...);
  return R(as_value<std::tuple_element_t<i, R>>(std::get<i>(from))...);
}

// Converts a result to the dispatcher's type R.
template <class R, class From>
R returned_as(From&& from) {
  using Source = std::remove_cvref_t<From>;
  if constexpr (std::is_same_v<R, Source>) {
    return std::forward<From>(from);
  } else if constexpr (requires {
                         std::tuple_size<R>::value;
                         std::tuple_size<Source>::value;
                       }) {
    static_assert(std::tuple_size_v<R> == std::tuple_size_v<Source>,
                  "the function must return as many results as the operator");
    return elements_as<R>(static_cast<const Source&>(from),
                          std::make_index_sequence<std::tuple_size_v<R>>());
  } else if constexpr (requires { std::tuple_size<Source>::value; }) {
    static_assert(std::tuple_size_v<Source> == 1, "the function must return one result");
    return as_value<R>(std::get<0>(from));
  } else {
    check_type<Source, R>();
    return as_value<R>(static_cast<const Source&>(from));
  }
}

}  // namespace detail

// Makes `function` a kernel of `Op`. `Returned` are the positions of the arguments that Op returns
// by reference.
template <class Op, auto function, class Returned = std::index_sequence<>,
          class Schema = typename Op::schema, class Function = decltype(function)>
struct Existing;
template <class Op, auto function, std::size_t... returned, class R, class... A, class NR,
          class... NA>
struct Existing<Op, function, std::index_sequence<returned...>, R(A...), NR (*)(NA...)> {
  static_assert(sizeof...(NA) == sizeof...(A),
                "the function must take as many arguments as the operator");
  static R call(A... arguments) {
    if constexpr (std::is_void_v<R>) {
      static_assert(std::is_void_v<NR> || std::is_same_v<NR, std::tuple<>>,
                    "the function must return nothing, like the operator");
      static_cast<void>(function(detail::Given<NA, A>(arguments)...));
    } else if constexpr (sizeof...(returned) != 0) {
      static_cast<void>(function(detail::Given<NA, A>(arguments)...));
      const std::tuple<A&...> all(arguments...);
      return R(std::get<returned>(all)...);
    } else {
      return detail::returned_as<R>(function(detail::Given<NA, A>(arguments)...));
    }
  }
};
// The same for a function whose first parameter is the key set of the call.
template <class Op, auto function, class Returned, class R, class... A, class NR, class... NA>
struct Existing<Op, function, Returned, R(A...), NR (*)(DispatchKeySet, NA...)> {
  static_assert(sizeof...(NA) == sizeof...(A),
                "the function must take the keys, and then as many arguments as the operator");
  static R call(DispatchKeySet keys, A... arguments) {
    if constexpr (std::is_void_v<R>) {
      function(keys, detail::Given<NA, A>(arguments)...);
    } else {
      static_assert(Returned::size() == 0 || std::is_same_v<R, NR>,
                    "a function that takes the keys must have the operator's return type");
      return detail::returned_as<R>(function(keys, detail::Given<NA, A>(arguments)...));
    }
  }
};
// The same for a noexcept function.
template <class Op, auto function, class Returned, class R, class... A, class NR, class... NA>
struct Existing<Op, function, Returned, R(A...), NR (*)(NA...) noexcept>
    : Existing<Op, static_cast<NR (*)(NA...)>(function), Returned, R(A...), NR (*)(NA...)> {};

}  // namespace opgen
