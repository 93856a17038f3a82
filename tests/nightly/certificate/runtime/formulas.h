// formulas.h: functions of derivatives.yaml.

#pragma once

#include <array>
#include <tuple>

#include <cert_runtime/TensorBody.h>
#include <opgen/autograd/formulas.h>

namespace cert_runtime {

std::tuple<opgen::Tensor, opgen::Tensor> mul_pair_grads(const opgen::Tensor& grad,
                                                        const opgen::Tensor& x,
                                                        const opgen::Tensor& y,
                                                        std::array<bool, 2> mask);
opgen::Tensor triple_backward(const opgen::Tensor& grad);

}  // namespace cert_runtime
