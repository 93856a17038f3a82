// error_test.cpp: what an error says of the operators that the thread was in.
#include "opgen/error.h"

#include <cstring>

#include "check.h"
#include "operators.h"

using namespace opgen;

namespace {

// What the statement throws.
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
  return n;
}
Tensor inner(const Tensor& self, std::int64_t n) {
  Tensor copy = self;  // a frame that stays
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

TEST(a_boxed_call_is_seen_as_well) {
  Stack stack{IValue(tensors::arange({2})), IValue(0)};
  OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("e::inner", "");
  CHECK_THROWS(ValueError, "got 0\n  in e::inner(", op.call_boxed(stack));
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

TEST(an_error_under_the_lock_of_the_dispatcher_is_thrown_all_the_same) {
  Library m(Library::Kind::Fragment, "e", DispatchKey::Undefined, "x.cpp", 1);
  CHECK_THROWS(Error, "e::inner", m.def("inner(Tensor self) -> Tensor"));
}
