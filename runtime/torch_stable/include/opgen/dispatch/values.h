// values.h: converts arguments and results between C++ and the words that PyTorch's C functions
// pass (StableIValue).
//
// A word is a number, or the address of an object that the receiver frees. The address of a fake
// tensor has its lowest bit set; only the Python part of the library passes such words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

using Word = std::uint64_t;

struct OPGEN_API Words {
  // Takes ownership of a tensor handle, or of a fake.
  static TensorBase take_tensor(Word handle);
  static Word give_tensor(TensorBase&& tensor);
  // The value of an optional that is not 0; frees it.
  static Word take_optional(Word optional);
  static Word give_optional(Word value);
  // The items of a list; frees the list, but not the items.
  static SmallVector<Word, 8> take_list(Word list);
  static Word give_list(ArrayRef<Word> items);
  static std::string take_string(Word string);
  static Word give_string(std::string_view text);
  static Generator take_generator(Word handle);
  static Word give_generator(const Generator& generator);
  static ScalarType scalar_type_of_code(std::int32_t code);
  static std::int32_t code_of_scalar_type(ScalarType type);
};

// Numbers of the schema: PyTorch's C functions do not pass them, so they are lists of integers.
// Takes the number that begins at `next`, and advances it.
[[nodiscard]] OPGEN_API Scalar take_number(SymIntArrayRef words, std::size_t& next);
OPGEN_API void give_number(const Scalar& number, SmallVector<SymInt, 8>& words);

template <class T>
struct Value;

template <class T>
inline constexpr bool kIsTensor = std::is_base_of_v<TensorBase, T>;

// Numbers and other single words.
template <class T>
struct Value {
  static T take(Word word) {
    if constexpr (kIsTensor<T>) {
      return T(Words::take_tensor(word));
    } else if constexpr (std::is_same_v<T, bool>) {
      return (word & 0xff) != 0;
    } else if constexpr (std::is_same_v<T, SymInt>) {
      return SymInt::of_bits(static_cast<std::int64_t>(word));
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::int64_t>(word));
    } else if constexpr (std::is_same_v<T, double>) {
      double value;
      std::memcpy(&value, &word, sizeof value);
      return value;
    } else if constexpr (std::is_same_v<T, ScalarType>) {
      return Words::scalar_type_of_code(static_cast<std::int32_t>(word & 0xffffffff));
    } else if constexpr (std::is_same_v<T, Layout> || std::is_same_v<T, MemoryFormat>) {
      return static_cast<T>(static_cast<std::int32_t>(word & 0xffffffff));
    } else if constexpr (std::is_same_v<T, Device>) {
      return Device(static_cast<DeviceType>(static_cast<std::int32_t>(word >> 32)),
                    static_cast<DeviceIndex>(static_cast<std::int32_t>(word & 0xffffffff)));
    } else if constexpr (std::is_same_v<T, std::string>) {
      return Words::take_string(word);
    } else if constexpr (std::is_same_v<T, Generator>) {
      return Words::take_generator(word);
    } else {
      static_assert(sizeof(T) == 0, "no argument of an operator for torch-stable has this type");
    }
  }
  static Word give(T value) {
    if constexpr (kIsTensor<T>) {
      return Words::give_tensor(std::move(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      return value ? 1 : 0;
    } else if constexpr (std::is_same_v<T, SymInt>) {
      return static_cast<Word>(value.bits());
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<Word>(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      Word word;
      std::memcpy(&word, &value, sizeof word);
      return word;
    } else if constexpr (std::is_same_v<T, ScalarType>) {
      return static_cast<Word>(static_cast<std::uint32_t>(Words::code_of_scalar_type(value)));
    } else if constexpr (std::is_same_v<T, Layout> || std::is_same_v<T, MemoryFormat>) {
      return static_cast<Word>(value);
    } else if constexpr (std::is_same_v<T, Device>) {
      return static_cast<Word>(static_cast<std::uint8_t>(value.type())) << 32 |
             static_cast<std::uint32_t>(static_cast<std::int32_t>(value.index()));
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
      return Words::give_string(value);
    } else if constexpr (std::is_same_v<T, Generator>) {
      return Words::give_generator(value);
    } else {
      static_assert(sizeof(T) == 0, "no result of an operator for torch-stable has this type");
    }
  }
};

template <class T>
struct Value<std::optional<T>> {
  static std::optional<T> take(Word word) {
    if (word == 0) return std::nullopt;
    return Value<T>::take(Words::take_optional(word));
  }
  static Word give(std::optional<T> value) {
    if (!value.has_value()) return 0;
    return Words::give_optional(Value<T>::give(std::move(*value)));
  }
};
template <class T>
struct Value<OptionalArrayRef<T>> {
  static Word give(OptionalArrayRef<T> value) {
    return Value<std::optional<ArrayRef<T>>>::give(value);
  }
};

// Lists.
template <class T, std::size_t N>
struct Value<SmallVector<T, N>> {
  static SmallVector<T, N> take(Word word) {
    SmallVector<T, N> items;
    for (const Word item : Words::take_list(word)) items.push_back(Value<T>::take(item));
    return items;
  }
};
template <class T>
struct Value<std::vector<T>> {
  static std::vector<T> take(Word word) {
    std::vector<T> items;
    for (const Word item : Words::take_list(word)) items.push_back(Value<T>::take(item));
    return items;
  }
  static Word give(std::vector<T> items) {
    SmallVector<Word, 8> words;
    for (auto&& item : items) words.push_back(Value<T>::give(static_cast<T>(item)));
    return Words::give_list(words);
  }
};
template <class T>
struct Value<List<T>> {
  static List<T> take(Word word) { return List<T>(Value<std::vector<T>>::take(word)); }
  static Word give(List<T> list) { return Value<std::vector<T>>::give(list.vec()); }
};
template <class T>
struct Value<ArrayRef<T>> {
  static Word give(ArrayRef<T> items) {
    SmallVector<Word, 8> words;
    for (const T& item : items) words.push_back(Value<T>::give(item));
    return Words::give_list(words);
  }
};
template <class T, std::size_t N>
struct Value<std::array<T, N>> {
  static std::array<T, N> take(Word word) {
    const SmallVector<Word, 8> words = Words::take_list(word);
    OPGEN_CHECK_TYPE(words.size() == N, "expected a list of ", N, " values, got ", words.size());
    std::array<T, N> items{};
    for (std::size_t i = 0; i < N; ++i) items[i] = Value<T>::take(words[i]);
    return items;
  }
  static Word give(const std::array<T, N>& items) {
    return Value<ArrayRef<T>>::give(ArrayRef<T>(items.data(), N));
  }
};
template <>
struct Value<std::vector<Scalar>> {
  static std::vector<Scalar> take(Word word) {
    const auto words = Value<SmallVector<SymInt, 8>>::take(word);
    std::vector<Scalar> numbers;
    for (std::size_t next = 0; next < words.size();) {
      numbers.push_back(take_number(words, next));
    }
    return numbers;
  }
  static Word give(const std::vector<Scalar>& numbers) {
    SmallVector<SymInt, 8> words;
    for (const Scalar& number : numbers) give_number(number, words);
    return Value<SymIntArrayRef>::give(words);
  }
};
template <>
struct Value<Scalar> {
  static Scalar take(Word word) {
    const auto words = Value<SmallVector<SymInt, 8>>::take(word);
    std::size_t next = 0;
    return take_number(words, next);
  }
  static Word give(const Scalar& number) {
    SmallVector<SymInt, 8> words;
    give_number(number, words);
    return Value<SymIntArrayRef>::give(words);
  }
};
template <>
struct Value<ArrayRef<Scalar>> {
  static Word give(ArrayRef<Scalar> numbers) {
    return Value<std::vector<Scalar>>::give(numbers.vec());
  }
};

// The type that owns an argument during the call: the type itself, or an owning one for types that
// borrow.
template <class T>
struct OwnerOf {
  using type = T;
};
template <class T>
struct OwnerOf<ArrayRef<T>> {
  using type = SmallVector<T, 5>;
};
template <>
struct OwnerOf<ArrayRef<Tensor>> {
  using type = std::vector<Tensor>;
};
template <>
struct OwnerOf<ArrayRef<Scalar>> {
  using type = std::vector<Scalar>;
};
template <>
struct OwnerOf<ArrayRef<std::optional<Tensor>>> {
  using type = std::vector<std::optional<Tensor>>;
};
template <>
struct OwnerOf<std::string_view> {
  using type = std::string;
};
template <class T>
struct OwnerOf<std::optional<T>> {
  using type = std::optional<typename OwnerOf<T>::type>;
};
template <class T>
struct OwnerOf<OptionalArrayRef<T>> : OwnerOf<std::optional<ArrayRef<T>>> {};
template <class P>
using owner_t = typename OwnerOf<std::remove_cvref_t<P>>::type;

// Returns an owner as the parameter `P` of a kernel: itself, or a value that borrows from it.
template <class P, class Owner>
decltype(auto) as_parameter(Owner& owner) {
  using Plain = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<Plain, Owner>) {
    return static_cast<P>(owner);
  } else if constexpr (std::is_convertible_v<Owner&, Plain>) {
    return static_cast<Plain>(owner);
  } else {
    static_assert(requires { owner.has_value(); });
    return owner.has_value() ? Plain(typename Plain::value_type(*owner)) : Plain(std::nullopt);
  }
}

// Writes results to the front of the stack.
template <class R>
void give_results(Word* stack, R&& results) {
  using Plain = std::remove_cvref_t<R>;
  if constexpr (
      requires { std::tuple_size<Plain>::value; } && !requires { results.data(); }) {
    std::apply(
        [stack](auto&... each) mutable {
          std::size_t i = 0;
          ((stack[i++] = Value<std::remove_cvref_t<decltype(each)>>::give(
                std::move(const_cast<std::remove_cvref_t<decltype(each)>&>(each)))),
           ...);
        },
        results);
  } else {
    // A returned reference is one to an argument, which nobody uses after the call.
    stack[0] = Value<Plain>::give(std::move(const_cast<Plain&>(results)));
  }
}

}  // namespace opgen::detail
