// forms_calls.cpp: call all operators of forms.yaml, generated and written by hand, alternately:
// see calls.h.
#include "calls.h"

#include <ATen/ops/ones.h>

#include <optional>
#include <tuple>

namespace {

using at::Tensor;
using calls::call;
using calls::Call;
using calls::handle;

// The operators of one library. Their handles are looked up once.
struct Library {
  std::vector<Call>& calls;
  std::string name;

  template <class Signature, class F>
  void add(const char* op, F once, const char* overload = "") {
    const auto found = handle<Signature>(name + "::" + op, overload);
    std::string named = name + "::" + op;
    if (*overload != 0) named += std::string(".") + overload;
    calls.push_back(call(std::move(named), [=]() mutable { once(found); }));
  }
};

void add_calls(std::vector<Call>& calls, const std::string& name) {
  Library library{calls, name};
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4});
  Tensor x = at::ones({4, 4}), y = at::ones({4, 4});
  const std::vector<Tensor> list{at::ones({4, 4}), at::ones({4, 4}), at::ones({4, 4})};
  const std::vector<c10::SymInt> sizes{4, 4};
  const std::optional<Tensor> some(b);
  library.add<Tensor(const Tensor&, double)>("scaled", [=](auto& op) { op.call(a, 1.0); });
  library.add<Tensor&(Tensor&, double)>("scaled_", [=](auto& op) mutable { op.call(x, 1.0); });
  library.add<Tensor&(const Tensor&, double, Tensor&)>(
      "scaled", [=](auto& op) mutable { op.call(a, 1.0, x); }, "out");
  library.add<Tensor(const Tensor&, const Tensor&)>("implicit", [=](auto& op) { op.call(a, b); });
  library.add<Tensor&(Tensor&, const Tensor&)>("implicit_",
                                               [=](auto& op) mutable { op.call(x, b); });
  library.add<Tensor(const Tensor&, const Tensor&)>("composed", [=](auto& op) { op.call(a, b); });
  library.add<void(Tensor&, const Tensor&, double)>("write",
                                                    [=](auto& op) mutable { op.call(x, a, 2.0); });
  library.add<void(Tensor&, Tensor&, const Tensor&)>("write_two",
                                                     [=](auto& op) mutable { op.call(x, y, a); });
  library.add<Tensor(Tensor&, const Tensor&)>("write_new",
                                              [=](auto& op) mutable { op.call(x, a); });
  library.add<Tensor(at::TensorList)>("first_of", [=](auto& op) { op.call(list); });
  library.add<std::vector<Tensor>(const Tensor&, int64_t)>("parts",
                                                           [=](auto& op) { op.call(a, 2); });
  library.add<void(at::TensorList, double)>("foreach_", [=](auto& op) { op.call(list, 1.0); });
  library.add<Tensor(const Tensor&, const std::optional<Tensor>&)>(
      "biased", [=](auto& op) { op.call(a, some); });
  library.add<Tensor(const Tensor&, c10::SymInt)>("sized", [=](auto& op) { op.call(a, 3); });
  library.add<Tensor(const Tensor&, c10::SymIntArrayRef, std::string_view, bool)>(
      "shaped", [=](auto& op) { op.call(a, sizes, "double", false); });
  library.add<Tensor(const Tensor&, int64_t)>("row", [=](auto& op) { op.call(a, 1); });
  library.add<Tensor(int64_t, std::optional<at::ScalarType>, std::optional<at::Layout>,
                     std::optional<at::Device>, std::optional<bool>)>("filled", [](auto& op) {
    op.call(16, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  });
}

void add_all(std::vector<Call>& calls) {
  for (const char* library : {"forms", "by_hand"}) add_calls(calls, library);
}

}  // namespace

int main(int given, char** arguments) {
  return calls::run(given, arguments, &add_all);
}
