// everywhere.cpp: the kernels, the same for every framework.
#include <everywhere/ops/blend_meta.h>
#include <everywhere/ops/blend_native.h>
#include <everywhere/ops/min_max_meta.h>
#include <everywhere/ops/min_max_native.h>
#include <everywhere/ops/momentum_step__native.h>
#include <everywhere/ops/rms_norm_backward_native.h>
#include <everywhere/ops/rms_norm_native.h>
#include <opgen/kernel.h>

#include <algorithm>
#include <cmath>
#include <optional>

using namespace opgen::types;

OPGEN_META_FUNC(blend)(const Tensor& self, const Tensor& other, double) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_IMPL_FUNC(blend_out_cpu)(const Tensor&, const Tensor&, double weight, const Tensor&) {
  opgen::dispatch<float, double>(common_dtype(), "blend", [&]<class scalar_t> {
    opgen::cpu_kernel(*this, [weight](scalar_t a, scalar_t b) -> scalar_t {
      return static_cast<scalar_t>((1 - weight) * a + weight * b);
    });
  });
}

OPGEN_META_FUNC(min_max)(const Tensor& self, std::int64_t dim) {
  OPGEN_CHECK(self.dim() >= 1, "min_max: self has no dimension");
  dim = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_CHECK(self.size(dim) > 0, "min_max: nothing to compare in dimension ", dim);
  DimVector sizes(self.sizes());
  sizes.erase(sizes.begin() + dim);
  set_output_contiguous(0, sizes, self.options());
  set_output_contiguous(1, sizes, self.options());
}

OPGEN_IMPL_FUNC(min_max_out_cpu)
(const Tensor& self, std::int64_t dim, const Tensor& min, const Tensor& max) {
  dim = opgen::maybe_wrap_dim(dim, self.dim());
  const Tensor from = opgen::contiguous(self);
  std::int64_t inner = 1;
  for (std::int64_t d = dim + 1; d < self.dim(); ++d) inner *= self.size(d);
  const std::int64_t size = self.size(dim);
  opgen::dispatch<float, double, std::int32_t, std::int64_t>(
      self.scalar_type(), "min_max", [&]<class scalar_t> {
        const scalar_t* x = from.const_data_ptr<scalar_t>();
        scalar_t* low = min.mutable_data_ptr<scalar_t>();
        scalar_t* high = max.mutable_data_ptr<scalar_t>();
        for (std::int64_t i = 0; i < min.numel(); ++i) {
          const scalar_t* first = x + i / inner * size * inner + i % inner;
          low[i] = high[i] = *first;
          for (std::int64_t k = 1; k < size; ++k) {
            low[i] = std::min(low[i], first[k * inner]);
            high[i] = std::max(high[i], first[k * inner]);
          }
        }
      });
}

namespace {

void check_weight(const Tensor& input, const std::optional<Tensor>& weight) {
  OPGEN_CHECK(input.dim() >= 1, "rms_norm: input has no dimension");
  if (!weight) return;
  OPGEN_CHECK(weight->dim() == 1 && weight->size(0) == input.size(-1),
              "rms_norm: one weight for each column of input is expected");
  OPGEN_CHECK(weight->scalar_type() == input.scalar_type(), "rms_norm: weight of another dtype");
}

void check_backward(const Tensor& grad, const Tensor& input, const std::optional<Tensor>& weight) {
  check_weight(input, weight);
  OPGEN_CHECK(grad.sizes() == input.sizes() && grad.scalar_type() == input.scalar_type(),
              "rms_norm_backward: grad is not like input");
}

}  // namespace

// y = x r w, where r = (mean(x^2) + eps)^(-1/2) for each row.
OPGEN_KERNEL(rms_norm_cpu)
(const Tensor& input, const std::optional<Tensor>& weight, double eps) {
  check_weight(input, weight);
  const Tensor from = opgen::contiguous(input);
  const Tensor scale = weight ? opgen::contiguous(*weight) : Tensor();
  Tensor result = opgen::empty(input.sizes(), input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "rms_norm", [&]<class scalar_t> {
    const std::int64_t columns = input.size(-1);
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const scalar_t* w = weight ? scale.const_data_ptr<scalar_t>() : nullptr;
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < input.numel(); i += columns) {
      scalar_t squares = 0;
      for (std::int64_t k = i; k < i + columns; ++k) squares += x[k] * x[k];
      const scalar_t mean = squares / static_cast<scalar_t>(columns);
      const scalar_t r = 1 / std::sqrt(mean + static_cast<scalar_t>(eps));
      for (std::int64_t k = 0; k < columns; ++k) y[i + k] = x[i + k] * r * (w ? w[k] : scalar_t(1));
    }
  });
  return result;
}

OPGEN_KERNEL(rms_norm_meta)(const Tensor& input, const std::optional<Tensor>& weight, double) {
  check_weight(input, weight);
  return opgen::empty(input.sizes(), input.options());
}

// dx = r (w g - x r^2 mean(w g x)), and dw is the sum of g x r over the rows.
OPGEN_KERNEL(rms_norm_backward_cpu)
(const Tensor& grad, const Tensor& input, const std::optional<Tensor>& weight, double eps) {
  check_backward(grad, input, weight);
  const Tensor from = opgen::contiguous(input), dy = opgen::contiguous(grad);
  const Tensor scale = weight ? opgen::contiguous(*weight) : Tensor();
  Tensor dinput = opgen::empty(input.sizes(), input.options());
  Tensor dweight = opgen::zeros({input.size(-1)}, input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "rms_norm_backward", [&]<class scalar_t> {
    const std::int64_t columns = input.size(-1);
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const scalar_t* g = dy.const_data_ptr<scalar_t>();
    const scalar_t* w = weight ? scale.const_data_ptr<scalar_t>() : nullptr;
    scalar_t* dx = dinput.mutable_data_ptr<scalar_t>();
    scalar_t* dw = dweight.mutable_data_ptr<scalar_t>();
    const scalar_t n = static_cast<scalar_t>(columns);
    for (std::int64_t i = 0; i < input.numel(); i += columns) {
      scalar_t squares = 0, products = 0;
      for (std::int64_t k = 0; k < columns; ++k) {
        squares += x[i + k] * x[i + k];
        products += g[i + k] * x[i + k] * (w ? w[k] : scalar_t(1));
      }
      const scalar_t r = 1 / std::sqrt(squares / n + static_cast<scalar_t>(eps));
      for (std::int64_t k = 0; k < columns; ++k) {
        const scalar_t wg = g[i + k] * (w ? w[k] : scalar_t(1));
        dx[i + k] = r * (wg - x[i + k] * r * r * products / n);
        dw[k] += g[i + k] * x[i + k] * r;
      }
    }
  });
  return {dinput, weight ? dweight : Tensor()};
}

OPGEN_KERNEL(rms_norm_backward_meta)
(const Tensor& grad, const Tensor& input, const std::optional<Tensor>& weight, double) {
  check_backward(grad, input, weight);
  Tensor dweight;
  if (weight) dweight = opgen::empty(weight->sizes(), weight->options());
  return {opgen::empty(input.sizes(), input.options()), dweight};
}

namespace {

void check_step(const Tensor& parameter, const Tensor& velocity, const Tensor& grad) {
  OPGEN_CHECK(parameter.sizes() == velocity.sizes() && parameter.sizes() == grad.sizes(),
              "momentum_step_: the shapes of parameter, velocity and grad differ");
  OPGEN_CHECK(parameter.scalar_type() == velocity.scalar_type() &&
                  parameter.scalar_type() == grad.scalar_type(),
              "momentum_step_: the dtypes of parameter, velocity and grad differ");
}

}  // namespace

// velocity = momentum velocity + grad, parameter -= lr velocity.
OPGEN_KERNEL(momentum_step_cpu)
(Tensor& parameter, Tensor& velocity, const Tensor& grad, double lr, double momentum) {
  check_step(parameter, velocity, grad);
  OPGEN_CHECK(parameter.is_contiguous() && velocity.is_contiguous(),
              "momentum_step_: parameter and velocity must be contiguous");
  OPGEN_CHECK(!parameter.is_alias_of(velocity) && !parameter.is_alias_of(grad) &&
                  !velocity.is_alias_of(grad),
              "momentum_step_: parameter, velocity and grad must not share memory");
  const Tensor step = opgen::contiguous(grad);
  opgen::dispatch<float, double>(parameter.scalar_type(), "momentum_step_", [&]<class scalar_t> {
    scalar_t* p = parameter.mutable_data_ptr<scalar_t>();
    scalar_t* v = velocity.mutable_data_ptr<scalar_t>();
    const scalar_t* g = step.const_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < parameter.numel(); ++i) {
      v[i] = static_cast<scalar_t>(momentum) * v[i] + g[i];
      p[i] -= static_cast<scalar_t>(lr) * v[i];
    }
  });
}

OPGEN_KERNEL(momentum_step_meta)
(Tensor& parameter, Tensor& velocity, const Tensor& grad, double, double) {
  check_step(parameter, velocity, grad);
}
