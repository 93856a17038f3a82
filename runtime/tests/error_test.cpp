// error_test.cpp: an error names the operators whose calls it left.
#include "opgen/core/error.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "check.h"
#include "operators.h"
#include "opgen/core/named_operator.h"
#include "opgen/core/parallel.h"
#include "opgen/register.h"

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
struct inner_op : Operator<inner_op, Tensor(const Tensor&, std::int64_t)> {
  static OperatorSlot slot;
};
OperatorSlot inner_op::slot{"e::inner", "", &boxing<inner_op::schema>};

Tensor inner(const Tensor& self, std::int64_t n) {
  checked(n);
  return self;
}
Tensor outer(const Tensor& self) {
  return Dispatcher::singleton()
      .findSchemaOrThrow("e::inner", "")
      .typed<Tensor(const Tensor&, std::int64_t)>()
      .call(self, -1);
}
Tensor threaded(const Tensor& self) {
  parallel_for(0, 4, 1, [&](std::int64_t i, std::int64_t) {
    if (i != 0) inner_op::call(self, -i);
  });
  return self;
}
std::int64_t last(const Tensor&) {
  return checked(-3);
}

const SchemaRow kSchemas[] = {{&inner_op::slot, "inner(Tensor self, int n) -> Tensor", ""}};
const SchemaTable schemas("e", "generated", kSchemas);

OPGEN_LIBRARY(e, m) {
  m.def("outer(Tensor self) -> Tensor");
  m.def("threaded(Tensor self) -> Tensor");
  m.def("last(Tensor self) -> int");
  m.impl("threaded", DispatchKey::CPU, &threaded);
  m.impl("last", DispatchKey::CPU, &last);
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

const std::string kInner = "\n  in e::inner(Tensor self, int n) -> Tensor";

TEST(every_operator_is_named_from_the_inside) {
  auto op =
      Dispatcher::singleton().findSchemaOrThrow("e::outer", "").typed<Tensor(const Tensor&)>();
  Error error = thrown([&] { static_cast<void>(op.call(tensors::arange({2}))); });
  const std::string message = "n must be positive, got -1";
  CHECK_EQ(error.msg(), message);
  CHECK_EQ(text_of(error), message + kInner + "\n  in e::outer(Tensor self) -> Tensor");
}

TEST(operators_that_another_thread_runs_are_named) {
  set_num_threads(4);
  auto op =
      Dispatcher::singleton().findSchemaOrThrow("e::threaded", "").typed<Tensor(const Tensor&)>();
  for (int i = 0; i < 10; ++i) {
    Error error = thrown([&] { static_cast<void>(op.call(tensors::arange({2}))); });
    CHECK_EQ(text_of(error), error.msg() + kInner + "\n  in e::threaded(Tensor self) -> Tensor");
  }
}

TEST(a_kernel_that_ends_with_the_call_of_a_function_is_named) {
  auto op =
      Dispatcher::singleton().findSchemaOrThrow("e::last", "").typed<std::int64_t(const Tensor&)>();
  CHECK_THROWS(ValueError, "got -3\n  in e::last(Tensor self) -> int",
               op.call(tensors::arange({2})));
}

TEST(calls_of_every_kind_are_named) {
  const Tensor self = tensors::arange({2});
  const DirectKernel<inner_op> direct(&inner);
  CHECK_EQ(text_of(thrown([&] { inner_op::call(self, -1); })),
           "n must be positive, got -1" + kInner);
  CHECK_EQ(text_of(thrown([&] { direct(self, -1); })), "n must be positive, got -1" + kInner);
}

TEST(a_boxed_call_is_named_too) {
  Stack stack{IValue(tensors::arange({2})), IValue(0)};
  OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("e::inner", "");
  CHECK_THROWS(ValueError, "got 0\n  in e::inner(", op.call_boxed(stack));
}

TEST(no_error_names_its_operator_twice) {
  OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("e::inner", "");
  const auto text = [&](std::int64_t n) {
    Stack stack{IValue(tensors::arange({2})), IValue(n)};
    return text_of(thrown([&] { op.call_boxed(stack); }));
  };
  CHECK_EQ(text(7), "seven is refused" + kInner);
  CHECK_EQ(text(8), "eight is refused" + kInner);
  CHECK_EQ(text(9), "e::inner takes no nine");
  CHECK_EQ(text(10), "outer: ten is refused" + kInner);
  CHECK_EQ(text(11), "in: eleven is refused" + kInner);
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
  error.add_operator("\n  in an operator", 17);
  error.append(", again", 7);
  CHECK_EQ(text_of(error), "n must be positive, got -2, again\n  in an operator");
  CHECK_EQ(std::string(error.msg()), "n must be positive, got -2, again");
  CHECK_EQ(text_of(copy), "n must be positive, got -2");
}

TEST(an_error_is_thrown_even_if_the_dispatcher_is_locked) {
  Library m(Library::Kind::Fragment, "e", DispatchKey::Undefined, "x.cpp", 1);
  CHECK_THROWS(Error, "e::inner", m.def("inner(Tensor self) -> Tensor"));
}
