// schemas.h: texts and names that odds.cpp uses.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#define ODDS_PAIR "(Tensor x, Tensor y)"
#define ODDS_KEY CPU
#define ODDS_LIBRARY(NAME, M) TORCH_LIBRARY_FRAGMENT(NAME, M)
#define ODDS_FN(NAME) TORCH_FN(odds::kernels::NAME)
// A macro that a library calls many times. It hides the schemas from readers.
#define ODDS_DEFINE(M, NAME) M.def(#NAME ODDS_PAIR " -> Tensor")

namespace odds {

constexpr const char* kShared = "shared(Tensor x) -> Tensor";

void register_more(torch::Library& library);

namespace kernels {

at::Tensor same(const at::Tensor& x);
at::Tensor first(const at::Tensor& x, const at::Tensor& y);
at::Tensor second(const at::Tensor& x, const at::Tensor& y);

template <typename Number>
at::Tensor times(const at::Tensor& x, const at::Tensor& y);

}  // namespace kernels
}  // namespace odds
