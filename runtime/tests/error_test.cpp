// error_test.cpp: an error names the operators that the thread was executing.
#include "opgen/error.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "check.h"
#include "operators.h"
#include "opgen/core/named_operator.h"

using namespace opgen;

namespace {

// Returns the message of the error that the function throws.
template <class F>
Error thrown(F&& statement) {
  try {
    statement();
  } catch (const Error& error) {
    return error;
  }
  check::fail(__FILE__, __LINE__, "nothing was thrown");
  return Error("nothing");
}
std::string text_of(const Error& error) {
  return error.what();
}

[[gnu::noinline]] std::int64_t checked(std::int64_t n) {
  OPGEN_CHECK_VALUE(n > 0, "n must be positive, got ", n);
  OPGEN_CHECK_VALUE(n != 7, "e::inner: seven is refused");
  OPGEN_CHECK_VALUE(n != 8, "inner: eight is refused");
  OPGEN_CHECK_VALUE(n != 9, "e::inner takes no nine");
  OPGEN_CHECK_VALUE(n != 10, "outer: ten is refused");
  OPGEN_CHECK_VALUE(n != 11, "in: eleven is refused");
  return n;
}
Tensor inner(const Tensor& self, std::int64_t n) {
  Tensor copy = self;  // prevents a tail call, which would remove this frame
  checked(n);
  return copy;
}
Tensor outer(const Tensor& self) {
  Tensor copy = self;
  return Dispatcher::singleton()
      .findSchemaOrThrow("e::inner", "")
      .typed<Tensor(const Tensor&, std::int64_t)>()
      .call(copy, -1);
}

OPGEN_LIBRARY(e, m) {
  m.def("inner(Tensor self, int n) -> Tensor");
  m.def("outer(Tensor self) -> Tensor");
  m.impl("inner", DispatchKey::CPU, &inner);
  m.impl("outer", DispatchKey::CompositeImplicitAutograd, &outer);
}

}  // namespace

// Returns the text of a number in a message.
template <class T>
std::string number(T value) {
  return thrown([&] { OPGEN_CHECK(false, value); }).msg();
}

TEST(numbers_in_messages) {
  CHECK_EQ(number(std::int64_t{INT64_MIN}), "-9223372036854775808");
  CHECK_EQ(number(std::uint64_t{UINT64_MAX}), "18446744073709551615");
  // Numbers have the shortest digits that read back as the same value, in the format of printf's
  // %g.
  CHECK_EQ(number(0.0), "0");
  CHECK_EQ(number(-0.0), "-0");
  CHECK_EQ(number(0.1), "0.1");
  CHECK_EQ(number(100000.0), "100000");
  CHECK_EQ(number(1e6), "1e+06");
  CHECK_EQ(number(1234567.5), "1234567.5");
  CHECK_EQ(number(0.0001), "0.0001");
  CHECK_EQ(number(0.00001), "1e-05");
  CHECK_EQ(number(1.7976931348623157e308), "1.7976931348623157e+308");
  CHECK_EQ(number(std::numeric_limits<double>::infinity()), "inf");
  CHECK_EQ(number(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(every_operator_of_the_thread_is_named_from_the_inside) {
  auto op =
      Dispatcher::singleton().findSchemaOrThrow("e::outer", "").typed<Tensor(const Tensor&)>();
  Error error = thrown([&] { static_cast<void>(op.call(tensors::arange({2}))); });
  const std::string message = "n must be positive, got -1";
  CHECK_EQ(error.msg(), message);
  CHECK_EQ(text_of(error), message +
                               "\n  in e::inner(Tensor self, int n) -> Tensor"
                               "\n  in e::outer(Tensor self) -> Tensor");
}

TEST(a_boxed_call_is_named_too) {
  Stack stack{IValue(tensors::arange({2})), IValue(0)};
  OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("e::inner", "");
  CHECK_THROWS(ValueError, "got 0\n  in e::inner(", op.call_boxed(stack));
}

TEST(no_error_names_its_operator_twice) {
  const std::string line = "\n  in e::inner(Tensor self, int n) -> Tensor";
  OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("e::inner", "");
  const auto text = [&](std::int64_t n) {
    Stack stack{IValue(tensors::arange({2})), IValue(n)};
    return text_of(thrown([&] { op.call_boxed(stack); }));
  };
  CHECK_EQ(text(7), "seven is refused" + line);
  CHECK_EQ(text(8), "eight is refused" + line);
  CHECK_EQ(text(9), "e::inner takes no nine");
  CHECK_EQ(text(10), "outer: ten is refused" + line);
  CHECK_EQ(text(11), "in: eleven is refused" + line);
}

TEST(names_by_which_a_text_may_know_an_operator) {
  const auto length = [](const char* text, const char* place) {
    return detail::length_of_operator_before_colon(text, place);
  };
  const char* out = "\n  in photo::blur.out(Tensor image, *, Tensor(a!) out) -> Tensor(a!)";
  CHECK_EQ(length("photo::blur.out: bad", out), 17U);
  CHECK_EQ(length("blur.out: bad", out), 10U);
  CHECK_EQ(length("blur: bad", out), 6U);
  CHECK_EQ(length("blur:bad", out), 5U);
  CHECK_EQ(length("blurred: bad", out), 0U);
  CHECK_EQ(length("blur", out), 0U);
  CHECK_EQ(length("other::blur.out: bad", out), 0U);
  CHECK_EQ(length("paste: bad", "\n  in photo::paste_(Tensor(a!) self) -> Tensor(a!)"), 7U);
  CHECK_EQ(length("paste_: bad", "\n  in photo::paste_(Tensor(a!) self) -> Tensor(a!)"), 8U);
  CHECK_EQ(length(": bad", ""), 0U);
  CHECK_EQ(detail::begins_with_operator("photo::blur.out has no kernel", out), true);
  CHECK_EQ(detail::begins_with_operator("photo::blur has no kernel", out), false);
}

TEST(outside_of_operators_there_is_only_the_text) {
  Error error = thrown([] { checked(-2); });
  CHECK_EQ(text_of(error), "n must be positive, got -2");
  CHECK_EQ(std::strcmp(error.msg(), error.what()), 0);
  Error copy = error;
  error = Error("another", 7, "\n  in an operator");
  CHECK_EQ(text_of(error), "another\n  in an operator");
  CHECK_EQ(std::string(error.msg()), "another");
  CHECK_EQ(text_of(copy), "n must be positive, got -2");
}

TEST(an_error_is_thrown_even_if_the_dispatcher_is_locked) {
  Library m(Library::Kind::Fragment, "e", DispatchKey::Undefined, "x.cpp", 1);
  CHECK_THROWS(Error, "e::inner", m.def("inner(Tensor self) -> Tensor"));
}
