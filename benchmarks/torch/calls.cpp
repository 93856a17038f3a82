// calls.cpp: call a generated operator, the same operator written by hand, and at::add,
// alternately: see calls.h.
#include "calls.h"

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

namespace {

using at::Tensor;
using calls::call;
using calls::Call;
using calls::handle;

// The calls of one of the two libraries.
void add_calls(std::vector<Call>& calls, const std::string& library) {
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4}), v = at::ones({8});
  const auto axpy =
      handle<Tensor(const Tensor&, const Tensor&, const at::Scalar&)>(library + "::axpy");
  const auto axpy_out = handle<Tensor&(const Tensor&, const Tensor&, const at::Scalar&, Tensor&)>(
      library + "::axpy", "out");
  const auto axpy_ =
      handle<Tensor&(Tensor&, const Tensor&, const at::Scalar&)>(library + "::axpy_");
  const auto span = handle<Tensor(const Tensor&, int64_t)>(library + "::span");
  const auto ends = handle<std::tuple<Tensor, Tensor>(const Tensor&)>(library + "::ends");
  const auto name = [&](const char* op) { return library + "::" + op; };
  const at::Scalar one(1);
  calls.push_back(call(name("axpy"), [=] { axpy.call(a, b, one); }));
  calls.push_back(call(name("axpy.out"),
                       [=, out = at::empty({4, 4})]() mutable { axpy_out.call(a, b, one, out); }));
  calls.push_back(
      call(name("axpy_"), [=, x = at::ones({4, 4})]() mutable { axpy_.call(x, b, one); }));
  calls.push_back(call(name("span"), [=] { span.call(a, 1); }));
  calls.push_back(call(name("ends"), [=] { ends.call(v); }));
}

void add_reference(std::vector<Call>& calls) {
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4});
  calls.push_back(call("at::add", [=] { at::add(a, b); }));
  calls.push_back(
      call("at::add.out", [=, out = at::empty({4, 4})]() mutable { at::add_out(out, a, b); }));
  calls.push_back(call("at::add_", [=, x = at::ones({4, 4})]() mutable { x.add_(b); }));
}

void add_all(std::vector<Call>& calls) {
  for (const char* library : {"five", "hand"}) add_calls(calls, library);
  add_reference(calls);
}

}  // namespace

int main(int given, char** arguments) {
  return calls::run(given, arguments, &add_all);
}
