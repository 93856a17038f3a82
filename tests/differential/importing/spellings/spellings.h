// spellings.h: declares the functions of spellings.cpp in a header, as projects do.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace spelt {

at::Tensor add_reference(const at::Tensor& a, const at::Tensor& b);
at::Tensor add_value(at::Tensor a, at::Tensor b);
at::Tensor add_mutable(at::Tensor& a, at::Tensor& b);

}  // namespace spelt
