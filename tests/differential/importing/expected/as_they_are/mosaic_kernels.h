// The kernels that mosaic.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Dict.h>
#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/util/complex.h>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace opgen_kernels::mosaic_cpp {

at::Tensor mosaic_random_tiles(at::Generator generator,
    std::optional<at::Generator> other,
    std::vector<double> weights);
at::Tensor mosaic_by_name(const c10::Dict<std::string, at::Tensor>& tiles);
c10::List<std::optional<at::Tensor>> mosaic_indexed(const c10::List<std::optional<at::Tensor>>& tiles);
std::tuple<> mosaic_nothing();
at::SymInt mosaic_symbolic(at::SymInt a, const at::SymInt& b);
at::Tensor mosaic_nested(std::vector<std::vector<int64_t>> rows,
    std::tuple<at::Tensor, int64_t> pair,
    c10::complex<double> z);

}  // namespace opgen_kernels::mosaic_cpp
