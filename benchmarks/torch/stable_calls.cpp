// stable_calls.cpp: a library that stable_calls.py loads, because the generated operators have
// kernels in Python: calls of two operators, generated and written by hand, alternately, and calls
// that are recorded: see calls.h.
#include <Python.h>

#include "calls.h"

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/autograd.h>

namespace {

using at::Tensor;
using calls::call;
using calls::Call;
using calls::handle;

void add_calls(std::vector<Call>& calls, const std::string& library, const std::string& side) {
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4}), row = at::ones({4}),
               whole = at::ones({4, 4}, at::kInt);
  const auto add32 = handle<Tensor(const Tensor&, const Tensor&)>(library + "::add32");
  const auto add = handle<Tensor(const Tensor&, const Tensor&)>(library + "::add");
  const auto add_ = handle<Tensor&(Tensor&, const Tensor&)>(library + "::add_");
  const auto add_out =
      handle<Tensor&(const Tensor&, const Tensor&, Tensor&)>(library + "::add", "out");
  const auto name = [&](const char* what) { return side + "::" + what; };
  calls.push_back(call(name("add32"), [=] { add32.call(a, b); }));
  calls.push_back(call(name("add"), [=] { add.call(a, b); }));
  calls.push_back(call(name("add:promotion"), [=] { add.call(a, whole); }));
  calls.push_back(call(name("add:broadcast"), [=] { add.call(a, row); }));
  calls.push_back(call(name("add_"), [=, x = at::ones({4, 4})]() mutable { add_.call(x, b); }));
  calls.push_back(
      call(name("add.out"), [=, out = at::empty({4, 4})]() mutable { add_out.call(a, b, out); }));
}

bool is_constant = false;

void add_all(std::vector<Call>& calls) {
  add_calls(calls, "stable", "stable");
  add_calls(calls, is_constant ? "hand_constant" : "hand", "hand");
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4});
  calls.push_back(call("at::add", [=] { at::add(a, b); }));
}

void add_recorded(std::vector<Call>& calls) {
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4}), ones = at::ones({4, 4}),
               x = at::ones({4, 4}).set_requires_grad(true);
  const auto times = handle<Tensor(const Tensor&, const Tensor&)>("stable::times");
  const auto times_ = handle<Tensor&(Tensor&, const Tensor&)>("stable::times_");
  calls.push_back(call("times.plain", [=] { times.call(a, b); }));
  calls.push_back(call("times", [=] { times.call(x, b); }));
  calls.push_back(call("times.backward", [=] {
    const Tensor y = times.call(x, b);
    // The engine refuses to run while its caller has the lock of the interpreter.
    PyThreadState* const python = PyEval_SaveThread();
    torch::autograd::grad({y}, {x}, {ones});
    PyEval_RestoreThread(python);
  }));
  calls.push_back(
      call("times_.plain", [=, to = at::ones({4, 4})]() mutable { times_.call(to, b); }));
  calls.push_back(call("at::mul,times_", [=] {
    Tensor to = at::mul(x, b);
    times_.call(to, b);
  }));
}

}  // namespace

extern "C" int run_calls(int given, char** arguments, const char* kind) {
  is_constant = std::string_view(kind) == "constant";
  const bool recorded = std::string_view(kind) == "recorded";
  return calls::run(given, arguments, recorded ? &add_recorded : &add_all);
}
