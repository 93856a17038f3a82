// Kernels of ../native_functions.yaml: each is as short as its form allows.
#include <forms/ops/buffered_native.h>
#include <forms/ops/count_native.h>
#include <forms/ops/counted__native.h>
#include <forms/ops/describe_native.h>
#include <forms/ops/doubled_native.h>
#include <forms/ops/first_of_native.h>
#include <forms/ops/front_native.h>
#include <forms/ops/halves_native.h>
#include <forms/ops/length_native.h>
#include <forms/ops/liar_native.h>
#include <forms/ops/noise_native.h>
#include <forms/ops/outgrown_native.h>
#include <forms/ops/positives_native.h>
#include <forms/ops/scale_native.h>
#include <forms/ops/total_native.h>
#include <opgen/kernel.h>

#include <algorithm>
#include <array>
#include <cmath>

using namespace opgen::types;

namespace {

Tensor doubles(const std::vector<double>& values) {
  Tensor result =
      opgen::empty({static_cast<std::int64_t>(values.size())}, opgen::TensorOptions(opgen::kFloat));
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<float>());
  return result;
}
Tensor like(const Tensor& x) {
  return opgen::empty(x.sizes(), x.options());
}
Tensor scaled(const Tensor& x, float by) {
  Tensor result = like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    result.mutable_data_ptr<float>()[i] = x.const_data_ptr<float>()[i] * by;
  }
  return result;
}

}  // namespace

OPGEN_KERNEL(describe_cpu)
(const Tensor& x, const Scalar& s, std::int64_t i, double f, bool b, std::string_view t,
 IntArrayRef pair, opgen::ArrayRef<double> numbers, std::optional<std::array<bool, 2>> mask,
 std::optional<std::int64_t> n, std::optional<ScalarType> dtype) {
  std::vector<double> all{
      static_cast<double>(x.numel()), s.toDouble(), static_cast<double>(i), f, b ? 1.0 : 0.0,
      static_cast<double>(t.size())};
  for (std::int64_t one : pair) all.push_back(static_cast<double>(one));
  all.push_back(static_cast<double>(numbers.size()));
  all.push_back(mask ? static_cast<double>(std::count(mask->begin(), mask->end(), true)) : -1);
  all.push_back(static_cast<double>(n.value_or(-1)));
  all.push_back(dtype ? static_cast<double>(*dtype) : -1);
  return doubles(all);
}
OPGEN_KERNEL(describe_meta)
(const Tensor& x, const Scalar&, std::int64_t, double, bool, std::string_view, IntArrayRef,
 opgen::ArrayRef<double>, std::optional<std::array<bool, 2>>, std::optional<std::int64_t>,
 std::optional<ScalarType>) {
  return opgen::empty({12}, x.options().dtype(opgen::kFloat));
}

OPGEN_KERNEL(total_cpu)(opgen::ArrayRef<Tensor> parts) {
  double sum = 0;
  for (const Tensor& one : parts) {
    for (std::int64_t i = 0; i < one.numel(); ++i) sum += one.const_data_ptr<float>()[i];
  }
  return doubles({sum});
}
OPGEN_KERNEL(total_meta)(opgen::ArrayRef<Tensor> parts) {
  return opgen::empty({1}, parts[0].options());
}

OPGEN_KERNEL(first_of_cpu)(const opgen::List<std::optional<Tensor>>& parts) {
  for (const std::optional<Tensor>& one : parts) {
    if (one) return scaled(*one, 1);
  }
  return doubles({});
}
OPGEN_KERNEL(first_of_meta)(const opgen::List<std::optional<Tensor>>& parts) {
  for (const std::optional<Tensor>& one : parts) {
    if (one) return like(*one);
  }
  return doubles({});
}

OPGEN_KERNEL(halves_cpu)(const Tensor& x) {
  return {scaled(x, 0.5F), scaled(x, 0.25F)};
}
OPGEN_KERNEL(halves_meta)(const Tensor& x) {
  return {like(x), like(x)};
}

OPGEN_KERNEL(scale_tensor_cpu)(const Tensor& x, const Tensor& by) {
  return scaled(x, *by.const_data_ptr<float>());
}
OPGEN_KERNEL(scale_tensor_meta)(const Tensor& x, const Tensor&) {
  return like(x);
}
OPGEN_KERNEL(scale_scalar_cpu)(const Tensor& x, const Scalar& by) {
  return scaled(x, -by.to<float>());
}
OPGEN_KERNEL(scale_scalar_meta)(const Tensor& x, const Scalar&) {
  return like(x);
}

// int64, which JAX narrows without jax_enable_x64.
OPGEN_KERNEL(count_cpu)(const Tensor& x) {
  Tensor result = opgen::empty({}, opgen::TensorOptions(opgen::kLong));
  *result.mutable_data_ptr<std::int64_t>() = x.numel();
  return result;
}
OPGEN_KERNEL(count_meta)(const Tensor& x) {
  return opgen::empty({}, x.options().dtype(opgen::kLong));
}

OPGEN_KERNEL(counted_cpu)(Tensor& x, const Tensor& by) {
  float* values = x.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i) values[i] += *by.const_data_ptr<float>();
  return doubles({static_cast<double>(x.numel())});
}
OPGEN_KERNEL(counted_meta)(Tensor& x, const Tensor&) {
  return opgen::empty({1}, x.options());
}

OPGEN_KERNEL(liar_cpu)(const Tensor&) {
  return doubles(std::vector<double>(1000, 7));
}
OPGEN_KERNEL(liar_meta)(const Tensor& x) {
  return like(x);
}
OPGEN_KERNEL(outgrown_cpu)(const Tensor& x) {
  return like(x);
}
OPGEN_KERNEL(outgrown_meta)(const Tensor& x) {
  return like(x);
}
OPGEN_KERNEL(outgrown_out_cpu)(const Tensor&, Tensor& out) {
  opgen::resize_output(out, {1000});
  std::fill_n(out.mutable_data_ptr<float>(), 1000, 7.0F);
  return out;
}

OPGEN_KERNEL(front)(const Tensor& x) {
  return x;
}
OPGEN_KERNEL(length_cpu)(const Tensor& x) {
  return x.numel();
}
OPGEN_KERNEL(noise_cpu)(const Tensor& x, opgen::Device) {
  return like(x);
}
OPGEN_KERNEL(noise_meta)(const Tensor& x, opgen::Device) {
  return like(x);
}
OPGEN_KERNEL(positives_cpu)(const Tensor& x) {
  return like(x);
}

OPGEN_KERNEL(doubled_cpu)(const Tensor& x) {
  Tensor result = like(x);
  opgen::dispatch<float, double>(x.scalar_type(), "doubled", [&]<class scalar_t> {
    const Tensor from = opgen::contiguous(x);
    const scalar_t* values = from.const_data_ptr<scalar_t>();
    scalar_t* doubles = result.mutable_data_ptr<scalar_t>();
    std::transform(values, values + x.numel(), doubles, [](scalar_t one) { return 2 * one; });
  });
  return result;
}
OPGEN_KERNEL(doubled_meta)(const Tensor& x) {
  return like(x);
}

OPGEN_KERNEL(buffered_cpu)(const Tensor& x) {
  static std::array<float, 1 << 20> buffer;
  OPGEN_CHECK(x.numel() <= std::int64_t{1} << 20, "buffered: x is too large");
  const Tensor from = opgen::contiguous(x);
  Tensor result = opgen::empty(x.sizes(), x.options());
  const float* values = from.const_data_ptr<float>();
  std::transform(values, values + x.numel(), buffer.data(),
                 [](float one) { return std::cbrt(one); });
  std::copy(buffer.data(), buffer.data() + x.numel(), result.mutable_data_ptr<float>());
  return result;
}
