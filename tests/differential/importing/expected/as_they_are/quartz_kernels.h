// The kernels that quartz.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <torch/csrc/stable/tensor.h>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace quartz {

void decay(const torch::stable::Tensor& param,
    const torch::stable::Tensor& grad,
    double weight,
    int64_t step);
torch::stable::Tensor identity(const torch::stable::Tensor& t);
torch::stable::Tensor absolute(const torch::stable::Tensor& t);
void fill_with_zero(const torch::stable::Tensor& t);
torch::stable::Tensor stacked(std::vector<torch::stable::Tensor> tensors, int64_t dim);
std::tuple<torch::stable::Tensor, torch::stable::Tensor> pair(const torch::stable::Tensor& x);
torch::stable::Tensor maybe(const std::optional<torch::stable::Tensor>& x, double y);
std::vector<int64_t> shape_of(const torch::stable::Tensor& x);
bool is_wide(const torch::stable::Tensor& x, int64_t dim);
torch::stable::Tensor scaled_rows(const torch::stable::Tensor& x,
    std::vector<double> factors,
    std::optional<bool> exact);
torch::stable::Tensor named(const torch::stable::Tensor& x, std::string name);
torch::stable::Tensor slice_rows(const torch::stable::Tensor& x, int64_t start, int64_t length);

}  // namespace quartz
