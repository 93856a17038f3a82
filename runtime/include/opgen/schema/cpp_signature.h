// cpp_signature.h: CppSignature describes a C++ function type in terms of the schema language, to
// infer a schema from it or to check a kernel against one. It is constant data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "opgen/registration/list.h"
#include "opgen/registration/types.h"
#include "opgen/schema/function_schema.h"

namespace opgen {

struct CppType {
  TypeKind kind;
  const CppType* element = nullptr;  // for Optional and List
  std::int64_t size = 0;             // for List; 0 means any length
  bool any = false;                  // an IValue, which can have any type of the schema
  // For Tuple and Dict; terminated by null.
  const CppType* const* members = nullptr;
};

struct CppSignature {
  const CppType* const* arguments;
  std::size_t argument_count;
  const CppType* const* returns;
  std::size_t return_count;
  std::uint64_t written;   // bit i: argument i is a Tensor&
  std::uint64_t returned;  // bit i: result i is a Tensor&

  // Infers a schema: "f" gives "f(Tensor _0, int _1) -> Tensor". A returned Tensor& is assumed to
  // be the last Tensor& argument, as in in-place and out= operators.
  [[nodiscard]] OPGEN_API std::string infer_schema(std::string_view name) const;
  // Returns, for example, "(Tensor, int) -> Tensor".
  [[nodiscard]] OPGEN_API std::string str() const;
  // Returns a message that describes where the two disagree; empty if the function fits the schema.
  [[nodiscard]] OPGEN_API std::string mismatch(const FunctionSchema& schema) const;
};

namespace detail {

template <class T>
struct ElementOf {};
template <class T>
struct ElementOf<ArrayRef<T>> {
  using type = T;
};
template <class T>
struct ElementOf<List<T>> {
  using type = T;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = T;
};
template <class T, std::size_t N>
struct ElementOf<SmallVector<T, N>> {
  using type = T;
};
template <class T, std::size_t N>
struct ElementOf<std::array<T, N>> {
  using type = T;
  static constexpr std::int64_t size = static_cast<std::int64_t>(N);
};

template <class T>
constexpr std::optional<TypeKind> plain_kind() noexcept {
  if constexpr (std::is_base_of_v<TensorBase, T>) return TypeKind::Tensor;
  if constexpr (std::is_same_v<T, bool>) return TypeKind::Bool;
  if constexpr (std::is_same_v<T, std::int64_t>) return TypeKind::Int;
  if constexpr (std::is_same_v<T, DeviceIndex>) return TypeKind::DeviceIndexType;
  if constexpr (std::is_same_v<T, double>) return TypeKind::Float;
  if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>)
    return TypeKind::Str;
  if constexpr (std::is_same_v<T, Scalar>) return TypeKind::Scalar;
  if constexpr (std::is_same_v<T, complex<double>>) return TypeKind::Complex;
  if constexpr (std::is_same_v<T, Device>) return TypeKind::Device;
  if constexpr (std::is_same_v<T, ScalarType>) return TypeKind::ScalarType;
  if constexpr (std::is_same_v<T, Layout>) return TypeKind::Layout;
  if constexpr (std::is_same_v<T, MemoryFormat>) return TypeKind::MemoryFormat;
  if constexpr (std::is_same_v<T, QScheme>) return TypeKind::QScheme;
  if constexpr (std::is_same_v<T, Generator>) return TypeKind::Generator;
  if constexpr (std::is_same_v<T, Storage>) return TypeKind::Storage;
  if constexpr (std::is_same_v<T, Stream>) return TypeKind::Stream;
  return std::nullopt;
}

template <class T>
constexpr CppType make_cpp_type() noexcept;
template <class T>
inline constexpr CppType cpp_type = make_cpp_type<T>();

template <class T>
struct MembersOf {};
template <class... T>
struct MembersOf<std::tuple<T...>> {
  static constexpr TypeKind kind = TypeKind::Tuple;
  static constexpr const CppType* list[] = {&cpp_type<T>..., nullptr};
};
template <class K, class V>
struct MembersOf<Dict<K, V>> {
  static constexpr TypeKind kind = TypeKind::Dict;
  static constexpr const CppType* list[] = {&cpp_type<K>, &cpp_type<V>, nullptr};
};

template <class T>
constexpr CppType make_cpp_type() noexcept {
  if constexpr (std::is_same_v<T, IValue>) {
    return {TypeKind::CustomClass, nullptr, 0, true};
  } else if constexpr (plain_kind<T>().has_value()) {
    return {*plain_kind<T>()};
  } else if constexpr (requires(const T& value) { value.has_value(); }) {
    using Value = std::remove_cvref_t<decltype(*std::declval<const T&>())>;
    return {TypeKind::Optional, &cpp_type<Value>};
  } else if constexpr (requires { ElementOf<T>::size; }) {
    return {TypeKind::List, &cpp_type<typename ElementOf<T>::type>, ElementOf<T>::size};
  } else if constexpr (requires { typename ElementOf<T>::type; }) {
    return {TypeKind::List, &cpp_type<typename ElementOf<T>::type>};
  } else if constexpr (requires { MembersOf<T>::kind; }) {
    return {MembersOf<T>::kind, nullptr, 0, false, MembersOf<T>::list};
  } else {
    static_assert(sizeof(T) == 0,
                  "no schema type corresponds to this C++ type: int is std::int64_t, float is "
                  "double, str is std::string_view");
    return {TypeKind::CustomClass};
  }
}

template <class... A>
constexpr std::uint64_t tensor_references() noexcept;

template <class... T>
struct CppTypes {
  static constexpr std::uint64_t references = tensor_references<T...>();
  static constexpr std::size_t count = sizeof...(T);
  static constexpr const CppType* list[count + 1] = {&cpp_type<std::remove_cvref_t<T>>..., nullptr};
};
template <class R>
struct CppReturns : CppTypes<R> {};
template <>
struct CppReturns<void> : CppTypes<> {};
template <class... T>
struct CppReturns<std::tuple<T...>> : CppTypes<T...> {};

template <class... A>
constexpr std::uint64_t tensor_references() noexcept {
  std::uint64_t bits = 0;
  std::uint64_t bit = 1;
  ((bits |= std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>> &&
                    plain_kind<std::remove_cvref_t<A>>() == TypeKind::Tensor
                ? bit
                : 0,
    bit <<= 1),
   ...);
  return bits;
}

template <class Signature>
struct CppSignatureOf;
template <class R, class... A>
struct CppSignatureOf<R(A...)> {
  static constexpr CppSignature value{CppTypes<A...>::list,       CppTypes<A...>::count,
                                      CppReturns<R>::list,        CppReturns<R>::count,
                                      CppTypes<A...>::references, CppReturns<R>::references};
};

}  // namespace detail

template <class Signature>
inline constexpr const CppSignature* cpp_signature = &detail::CppSignatureOf<Signature>::value;

}  // namespace opgen
