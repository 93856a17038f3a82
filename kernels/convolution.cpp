// convolution.cpp: conv1d, conv2d and conv3d by one product of matrices, as composites: the
// gradients are those of the operators that they call.
#include <opgen/kernel.h>

#include <aten/ops/constant_pad_nd.h>
#include <aten/ops/conv1d.h>
#include <aten/ops/conv1d_native.h>
#include <aten/ops/conv2d.h>
#include <aten/ops/conv2d_native.h>
#include <aten/ops/conv3d.h>
#include <aten/ops/conv3d_native.h>
#include <aten/ops/matmul.h>
#include <aten/ops/stack.h>

#include "common.h"

using namespace kernels;

namespace {

struct Window {
  DimVector stride, padding_front, padding_back, dilation;
};

// One number per dimension; one alone is for all.
DimVector per_dim(IntArrayRef given, size_t spatial, const char* what) {
  OPGEN_CHECK(given.size() == 1 || given.size() == spatial, "expected ", what,
              " to be a single integer value or a list of ", spatial, " values, but got ", given);
  DimVector all(given);
  while (all.size() < spatial) all.push_back(given[0]);
  return all;
}

void check_convolution(const char* name, const Tensor& input, const Tensor& weight,
                       const std::optional<Tensor>& bias, int64_t spatial, int64_t groups) {
  OPGEN_CHECK(input.dim() == spatial + 1 || input.dim() == spatial + 2, "Expected ", spatial + 1,
              "D (unbatched) or ", spatial + 2, "D (batched) input to ", name,
              ", but got input of size: ", input.sizes());
  OPGEN_CHECK(weight.dim() == spatial + 2, "Expected ", spatial + 2, "-dimensional weight for ",
              name, ", but got weight of size ", weight.sizes());
  const int64_t channels = input.size(-spatial - 1);
  OPGEN_CHECK(groups > 0, "non-positive groups is not supported");
  OPGEN_CHECK(weight.size(1) * groups == channels, "Given groups=", groups, ", weight of size ",
              weight.sizes(), ", expected input", input.sizes(), " to have ",
              weight.size(1) * groups, " channels, but got ", channels, " channels instead");
  OPGEN_CHECK(weight.size(0) >= groups && weight.size(0) % groups == 0, "Given groups=", groups,
              ", expected weight to be divisible by ", groups,
              " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  OPGEN_CHECK(!bias.has_value() || (bias->dim() == 1 && bias->size(0) == weight.size(0)),
              "Given weight of size ", weight.sizes(), ", expected bias to be 1-dimensional with ",
              weight.size(0), " elements, but got bias of size ",
              bias.has_value() ? bias->sizes() : IntArrayRef(), " instead");
  OPGEN_CHECK(input.scalar_type() == weight.scalar_type(), "Input type (", input.scalar_type(),
              ") and weight type (", weight.scalar_type(), ") should be the same");
  OPGEN_CHECK(!bias.has_value() || input.scalar_type() == bias->scalar_type(), "Input type (",
              input.scalar_type(), ") and bias type (",
              bias.has_value() ? bias->scalar_type() : input.scalar_type(), ") should be the same");
}

Tensor convolved(const char* name, const Tensor& given, const Tensor& weight,
                 const std::optional<Tensor>& bias, const Window& window, int64_t groups) {
  const auto spatial = static_cast<int64_t>(window.stride.size());
  check_convolution(name, given, weight, bias, spatial, groups);
  const bool alone = given.dim() == spatial + 1;
  Tensor input = alone ? given.unsqueeze(0) : given;
  const int64_t batch = input.size(0), channels = input.size(1), made = weight.size(0);
  DimVector pad, out, kernel;
  for (int64_t i = 0; i < spatial; ++i) {
    const auto d = static_cast<size_t>(i);
    const int64_t size = input.size(2 + i) + window.padding_front[d] + window.padding_back[d];
    const int64_t width = window.dilation[d] * (weight.size(2 + i) - 1) + 1;
    OPGEN_CHECK(window.stride[d] > 0, "non-positive stride is not supported");
    OPGEN_CHECK(window.padding_front[d] >= 0, "negative padding is not supported");
    OPGEN_CHECK(window.dilation[d] > 0, "dilation should be greater than zero");
    OPGEN_CHECK(weight.size(2 + i) > 0 && size >= width,
                "Calculated padded input size per channel: ", size, ". Kernel size: ", width,
                ". Kernel size can't be greater than actual input size");
    out.push_back((size - width) / window.stride[d] + 1);
    kernel.push_back(weight.size(2 + i));
    pad.insert(pad.begin(), window.padding_back[d]);
    pad.insert(pad.begin(), window.padding_front[d]);
  }
  if (std::any_of(pad.begin(), pad.end(), [](int64_t each) { return each != 0; })) {
    input = at::constant_pad_nd(input, pad, Scalar(0));
  }
  // One view of the input for each element of the kernel; together they are the columns.
  std::vector<Tensor> parts;
  DimVector at(static_cast<size_t>(spatial), 0);
  const int64_t elements = opgen::multiply_integers(kernel), places = opgen::multiply_integers(out);
  for (int64_t k = 0; k < elements; ++k) {
    Tensor part = input;
    int64_t rest = k;
    for (int64_t i = spatial - 1; i >= 0; --i) {
      const auto d = static_cast<size_t>(i);
      const int64_t first = rest % kernel[d] * window.dilation[d];
      rest /= kernel[d];
      part =
          part.slice(2 + i, first, first + (out[d] - 1) * window.stride[d] + 1, window.stride[d]);
    }
    parts.push_back(part);
  }
  const int64_t inner = channels / groups * elements;
  const Tensor columns =
      (elements == 1 ? parts[0] : at::stack(parts, 2)).reshape({batch, groups, inner, places});
  const Tensor matrices = weight.reshape({groups, made / groups, inner});
  DimVector shape = {batch, made};
  for (int64_t size : out) shape.push_back(size);
  Tensor result = at::matmul(matrices, columns).reshape(shape);
  if (bias.has_value()) {
    DimVector ones(static_cast<size_t>(spatial), 1);
    ones.insert(ones.begin(), made);
    result = result.add(bias->reshape(ones));
  }
  return alone ? result.squeeze(0) : result;
}

Tensor convolved(const char* name, const Tensor& input, const Tensor& weight,
                 const std::optional<Tensor>& bias, size_t spatial, IntArrayRef stride,
                 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const DimVector pad = per_dim(padding, spatial, "padding");
  const Window window{per_dim(stride, spatial, "stride"), pad, pad,
                      per_dim(dilation, spatial, "dilation")};
  return convolved(name, input, weight, bias, window, groups);
}

// "same" keeps the size of the input; of an odd number of zeros, the greater half is at the end.
Tensor convolved(const char* name, const Tensor& input, const Tensor& weight,
                 const std::optional<Tensor>& bias, size_t spatial, IntArrayRef stride,
                 std::string_view padding, IntArrayRef dilation, int64_t groups) {
  OPGEN_CHECK(padding == "same" || padding == "valid", "Invalid padding string: '", padding, "'");
  Window window{per_dim(stride, spatial, "stride"), DimVector(spatial, 0), DimVector(spatial, 0),
                per_dim(dilation, spatial, "dilation")};
  OPGEN_CHECK(weight.dim() == static_cast<int64_t>(spatial) + 2, "Expected ", spatial + 2,
              "-dimensional weight for ", name, ", but got weight of size ", weight.sizes());
  for (size_t d = 0; padding == "same" && d < spatial; ++d) {
    OPGEN_CHECK(window.stride[d] == 1, "padding='same' is not supported for strided convolutions");
    const int64_t zeros = window.dilation[d] * (weight.size(static_cast<int64_t>(d) + 2) - 1);
    window.padding_front[d] = zeros / 2;
    window.padding_back[d] = zeros - zeros / 2;
  }
  return convolved(name, input, weight, bias, window, groups);
}

}  // namespace

OPGEN_KERNEL(conv1d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return convolved("conv1d", input, weight, bias, 1, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv1d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return convolved("conv1d", input, weight, bias, 1, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv2d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return convolved("conv2d", input, weight, bias, 2, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv2d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return convolved("conv2d", input, weight, bias, 2, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv3d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return convolved("conv3d", input, weight, bias, 3, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv3d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return convolved("conv3d", input, weight, bias, 3, stride, padding, dilation, groups);
}
