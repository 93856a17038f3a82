// hand.h: pairs of operators of seeded_hand, one with a defect and one without.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <string>

namespace seeded {

using at::Tensor;

// Defines `name` and its twin `name_ok`; `schema` starts with the overload, as in ".out(Tensor x)
// -> Tensor".
inline void define(torch::Library& m, const std::string& name, const std::string& schema,
                   const std::vector<at::Tag>& tags = {},
                   const std::vector<at::Tag>& tags_ok = {}) {
  const bool in_place = name.back() == '_';
  const std::string twin = in_place ? name.substr(0, name.size() - 1) + "_ok_" : name + "_ok";
  m.def((name + schema).c_str(), tags);
  m.def((twin + schema).c_str(), tags_ok.empty() ? tags : tags_ok);
}

// Registers the kernels of `name` and of its twin. `overload` is "" or ".out".
template <auto kBroken, auto kGood>
void kernels(torch::Library& m, const std::string& name, const std::string& overload = "") {
  const bool in_place = name.back() == '_';
  const std::string twin = in_place ? name.substr(0, name.size() - 1) + "_ok_" : name + "_ok";
  m.impl((name + overload).c_str(), TORCH_FN(kBroken));
  m.impl((twin + overload).c_str(), TORCH_FN(kGood));
}

// One kernel, of which both are right.
template <auto kGood>
void kernel(torch::Library& m, const std::string& name, const std::string& overload = "") {
  kernels<kGood, kGood>(m, name, overload);
}

// Calls f with a value of the element type: float or double.
template <class F>
void floating(const Tensor& x, const char* name, F f) {
  if (x.scalar_type() == at::kDouble) return f(double{});
  TORCH_CHECK(x.scalar_type() == at::kFloat, name, ": expected float or double, got ",
              x.scalar_type());
  f(float{});
}

}  // namespace seeded
