// formulas.h: functions of derivatives.yaml.

#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include <cert_runtime/TensorBody.h>
#include <opgen/autograd/formulas.h>

namespace cert_runtime {

std::tuple<opgen::Tensor, opgen::Tensor> mul_pair_grads(const opgen::Tensor& grad,
                                                        const opgen::Tensor& x,
                                                        const opgen::Tensor& y,
                                                        std::array<bool, 2> mask);
std::vector<opgen::Tensor> ranked_sum_grads(const opgen::Tensor& grad, opgen::TensorList xs);
opgen::Tensor scaled_grad(const opgen::Tensor& grad, const std::optional<opgen::Tensor>& scale);
opgen::Tensor triple_backward(const opgen::Tensor& grad);

}  // namespace cert_runtime
