// table.h: the tables of a generated Python module: functions, overloads, arguments. They are
// constant data; the parser in opgen::python reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

struct _object;

namespace opgen {
struct OperatorSlot;
}

namespace opgen::python {

struct Call;

enum class Type : std::uint8_t {
  Tensor,
  Scalar,
  Int,
  Float,
  Bool,
  Str,
  ScalarType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Tensors,          // Tensor[]
  OptionalTensors,  // Tensor?[]
  Ints,
  Floats,
  Scalars,
  Bools,
  Outs,  // as many tensors as the operator has out arguments; each takes a slot
};

// The value of an argument that a call leaves out.
struct Default {
  enum class Kind : std::uint8_t { Required, None, Integer, Real, Text, Integers };
  Kind kind = Kind::Required;
  std::uint8_t count = 0;
  union {
    std::int64_t integer = 0;
    double real;
    const char* text;
    const std::int64_t* integers;
  };
};

constexpr Default required() {
  return {};
}
constexpr Default none() {
  Default value;
  value.kind = Default::Kind::None;
  return value;
}
// The value of an int, a bool or an enumeration.
template <class T>
constexpr Default integer(T number) {
  Default value;
  value.kind = Default::Kind::Integer;
  value.integer = static_cast<std::int64_t>(number);
  return value;
}
constexpr Default real(double number) {
  Default value;
  value.kind = Default::Kind::Real;
  value.real = number;
  return value;
}
constexpr Default text(const char* words) {
  Default value;
  value.kind = Default::Kind::Text;
  value.text = words;
  return value;
}
template <std::int64_t... N>
inline constexpr std::int64_t integer_list[] = {N..., 0};
template <std::int64_t... N>
constexpr Default integers() {
  Default value;
  value.kind = Default::Kind::Integers;
  value.count = sizeof...(N);
  value.integers = integer_list<N...>;
  return value;
}

enum Flags : std::uint8_t {
  kPlain = 0,
  kOptional = 1,      // takes None
  kNumbers = 2,       // a tensor argument that also takes a number
  kRequiresGrad = 4,  // a bool: whether the result requires a gradient
  kIsTrue = 8,        // a bool that must be true: no argument of the operator, but selects it
  kIsFalse = 16,      // a bool that must be false
};

struct Argument {
  std::string_view name;
  Type type;
  std::uint8_t flags = kPlain;
  std::uint8_t size = 0;  // of a list such as int[2]; for outs, their number
  Default value = {};     // if the call leaves it out
};

// Calls the operator with parsed arguments. Returns a new reference; throws what the operator
// throws.
using Thunk = _object* (*)(const Call& call);

// An operator and the function that calls it.
struct Operation {
  Thunk thunk = nullptr;
  const OperatorSlot* slot = nullptr;
};

enum class Returns : std::uint8_t { Result, Self };

struct Overload {
  const char* signature;  // for messages: "add(Tensor input, Tensor other, *, Scalar alpha=1)"
  const char* facts;      // for help(): its schemas, and notes on them
  const char* doc = "";   // the author's documentation: lines, each with its end
  const char* result;     // the class of named results, in return_types; null if there is none
  const Argument* arguments;
  std::uint8_t count;
  std::uint8_t positional;  // number of arguments that may be positional
  std::int8_t self;         // index of the argument that a method is called on; -1: none
  std::int8_t out;          // index of the argument `out`; -1: none
  Returns returns;          // for operators that return nothing
  Operation base;
  Operation with_out;  // empty if there is no out variant
};

struct Function {
  const char* name;
  const char* module;  // the submodule; "" is the module itself
  const Overload* const* overloads;
  std::uint8_t count;
  bool method;
};

}  // namespace opgen::python
