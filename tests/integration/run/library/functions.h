// functions.h: functions that existed before their operators, with the types that their authors
// chose.
#pragma once

#include <opgen/tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace functions {

void fill_both(opgen::Tensor x, std::optional<opgen::Tensor> y, double value);
void fill_each(std::vector<opgen::Tensor> xs, const std::vector<double>& values);
std::string describe(std::string text, std::vector<int64_t> sizes, const std::optional<int64_t>& n,
                     std::optional<std::vector<bool>> flags);

}  // namespace functions
