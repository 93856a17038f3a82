// error.h: the exceptions of the runtime, OPGEN_CHECK and OPGEN_WARN. Their uses instantiate no
// string type, which takes time to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <type_traits>

#include "opgen/core/atomic.h"
#include "opgen/core/macros.h"

namespace opgen {

// A message under construction. Headers only pass its address, so it can stay incomplete there.
class OPGEN_API Message {
 public:
  virtual void append(const char* text, std::size_t size) = 0;
  void append(const char* text);
  void append_integer(long long value);
  void append_unsigned(unsigned long long value);
  void append_double(double value);

 protected:
  ~Message() = default;
};

// Base of all exceptions of the runtime. Copies share the text, so copying never throws. Each call
// of an operator that an error leaves adds a line with its schema.
class OPGEN_API Error : public std::exception {
 public:
  explicit Error(const char* text, std::size_t size);
  explicit Error(const char* text);
  Error(const Error& other) noexcept;
  Error& operator=(const Error& other) noexcept;
  ~Error() override;
  [[nodiscard]] const char* what() const noexcept override;
  // The text without the operators.
  [[nodiscard]] const char* msg() const noexcept;

  // Change this error, not its copies. Without memory, they do nothing. The first adds to msg().
  void append(const char* text, std::size_t size) noexcept;
  // Adds a line such as "\n  in aten::relu(Tensor self) -> Tensor", unless it is the last one. If
  // the text begins with the name of the innermost operator and a colon, removes the name, because
  // its line follows.
  void add_operator(const char* line, std::size_t size) noexcept;

 private:
  struct Text;
  Text* text_;
};

// Each becomes the Python exception of the same name.
class OPGEN_API IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};
class OPGEN_API ValueError : public Error {
 public:
  using Error::Error;
  ~ValueError() override;
};
class OPGEN_API TypeError : public Error {
 public:
  using Error::Error;
  ~TypeError() override;
};
class OPGEN_API NotImplementedError : public Error {
 public:
  using Error::Error;
  ~NotImplementedError() override;
};
class OPGEN_API OutOfMemoryError : public Error {
 public:
  using Error::Error;
  ~OutOfMemoryError() override;
};

namespace detail {

enum class ErrorKind : std::uint8_t { Error, Index, Value, Type, NotImplemented, OutOfMemory };

template <class T>
concept IntegerRange = requires(const T& range) {
  requires std::is_integral_v<std::remove_cvref_t<decltype(*range.data())>>;
  range.size();
};

template <class T>
void append_any(Message& message, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    message.append(value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, char>) {
    message.append(&value, 1);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    message.append_integer(value);
  } else if constexpr (std::is_integral_v<T>) {
    message.append_unsigned(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    message.append_double(static_cast<double>(value));
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    message.append(static_cast<const char*>(value));
  } else if constexpr (requires {
                         requires std::is_same_v<decltype(value.data()), const char*>;
                         value.size();
                       }) {
    message.append(value.data(), value.size());
  } else if constexpr (std::is_enum_v<T> && requires { toString(value); }) {
    message.append(toString(value));
  } else if constexpr (requires { append_message(message, value); }) {
    append_message(message, value);  // found by argument-dependent lookup
  } else if constexpr (IntegerRange<T>) {
    message.append("[");
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i != 0) message.append(", ");
      append_any(message, value.data()[i]);
    }
    message.append("]");
  } else if constexpr (std::is_enum_v<T>) {
    message.append_integer(static_cast<long long>(value));
  } else {
    static_assert(sizeof(T) == 0,
                  "declare append_message(opgen::Message&, const T&) in the namespace of T");
  }
}

// The address of a value, and the function that writes it. Valid until the end of the full
// expression.
class MessagePart {
 public:
  template <class T>
  MessagePart(const T& value)  // NOLINT(google-explicit-constructor)
      : value_(&value), append_([](Message& message, const void* p) {
          append_any(message, *static_cast<const T*>(p));
        }) {}
  // String literals of all lengths share one writer.
  template <std::size_t N>
  MessagePart(const char (&text)[N])  // NOLINT(google-explicit-constructor)
      : value_(text), append_(&append_literal) {}
  void append_to(Message& message) const { append_(message, value_); }

 private:
  static void append_literal(Message& message, const void* text) {
    message.append(static_cast<const char*>(text));
  }

  const void* value_;
  void (*append_)(Message&, const void*);
};

// `condition` is the message if there are no parts.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_error(ErrorKind kind, const char* condition,
                                                   std::initializer_list<MessagePart> parts);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_internal_error(
    const char* condition, const char* file, int line, std::initializer_list<MessagePart> parts);
OPGEN_API OPGEN_COLD void warn(std::initializer_list<MessagePart> parts);
// Warns again if the handler threw an exception.
OPGEN_API OPGEN_COLD void warn_once(Atomic<bool>& warned, std::initializer_list<MessagePart> parts);

}  // namespace detail

// Receives the text of every OPGEN_WARN; the default writes it to stderr.
using WarningHandler = void (*)(const char* text);
OPGEN_API WarningHandler set_warning_handler(WarningHandler handler) noexcept;

}  // namespace opgen

// The parts of the message are evaluated only if the condition is false.
#define OPGEN_CHECK_KIND(kind, condition, ...)                                                   \
  do {                                                                                           \
    if (OPGEN_UNLIKELY(!(condition))) {                                                          \
      ::opgen::detail::throw_error(::opgen::detail::ErrorKind::kind, #condition, {__VA_ARGS__}); \
    }                                                                                            \
  } while (false)
#define OPGEN_CHECK(condition, ...) OPGEN_CHECK_KIND(Error, condition, __VA_ARGS__)
// For conditions on sizes (sym_int.h). With symbolic sizes, the check may be deferred.
#define OPGEN_SYM_CHECK(condition, ...) OPGEN_CHECK(condition, __VA_ARGS__)
#define OPGEN_CHECK_INDEX(condition, ...) OPGEN_CHECK_KIND(Index, condition, __VA_ARGS__)
#define OPGEN_CHECK_VALUE(condition, ...) OPGEN_CHECK_KIND(Value, condition, __VA_ARGS__)
#define OPGEN_CHECK_TYPE(condition, ...) OPGEN_CHECK_KIND(Type, condition, __VA_ARGS__)
#define OPGEN_CHECK_NOT_IMPLEMENTED(condition, ...) \
  OPGEN_CHECK_KIND(NotImplemented, condition, __VA_ARGS__)

// Checks a condition that only a bug in opgen can break.
#define OPGEN_INTERNAL_ASSERT(condition, ...)                                               \
  do {                                                                                      \
    if (OPGEN_UNLIKELY(!(condition))) {                                                     \
      ::opgen::detail::throw_internal_error(#condition, __FILE__, __LINE__, {__VA_ARGS__}); \
    }                                                                                       \
  } while (false)

#define OPGEN_WARN(...) ::opgen::detail::warn({__VA_ARGS__})
#define OPGEN_WARN_ONCE(...)                                                                   \
  do {                                                                                         \
    static ::opgen::Atomic<bool> opgen_warned = false;                                         \
    if (!opgen_warned.load_relaxed()) ::opgen::detail::warn_once(opgen_warned, {__VA_ARGS__}); \
  } while (false)
