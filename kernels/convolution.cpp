// convolution.cpp: convolutions and their gradients. conv1d to conv3d and conv_transpose1d to
// conv_transpose3d are composites of convolution.
#include <opgen/kernel.h>

#include <aten/ops/constant_pad_nd.h>
#include <aten/ops/conv1d_native.h>
#include <aten/ops/conv2d_native.h>
#include <aten/ops/conv3d_native.h>
#include <aten/ops/conv_transpose1d_native.h>
#include <aten/ops/conv_transpose2d_native.h>
#include <aten/ops/conv_transpose3d_native.h>
#include <aten/ops/convolution.h>
#include <aten/ops/convolution_backward_native.h>
#include <aten/ops/convolution_native.h>
#include <aten/ops/flip.h>
#include <aten/ops/isfinite.h>
#include <aten/ops/matmul.h>
#include <aten/ops/stack.h>
#include <aten/ops/zeros.h>
#include <opgen/cpu/convolve.h>

#include "common.h"
#include "devices.h"
#include "optional.h"

using namespace kernels;

namespace {

// The numbers of each spatial dimension.
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

Window window_of(IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, size_t spatial) {
  const DimVector pad = per_dim(padding, spatial, "padding");
  return {per_dim(stride, spatial, "stride"), pad, pad, per_dim(dilation, spatial, "dilation")};
}

// Checks sizes, dtypes and devices. The weight's first dimension has the channels that are made, or
// those that are read if the convolution is transposed.
void check_convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                       int64_t groups, bool transposed) {
  OPGEN_CHECK(weight.dim() >= 3, "weight should have at least three dimensions");
  OPGEN_CHECK(input.dim() == weight.dim(), "Expected ", weight.dim(), "-dimensional input for ",
              weight.dim(), "-dimensional weight ", weight.sizes(), ", but got ", input.dim(),
              "-dimensional input of size ", input.sizes(), " instead");
  OPGEN_CHECK(groups > 0, "non-positive groups is not supported");
  const int64_t first = weight.size(0), second = weight.size(1), channels = input.size(1);
  const int64_t joined = Size(second) * groups;
  const int64_t read = transposed ? first : joined, made = transposed ? joined : first;
  OPGEN_CHECK(read == channels, "Given groups=", groups, ", weight of size ", weight.sizes(),
              ", expected input", input.sizes(), " to have ", read, " channels, but got ", channels,
              " channels instead");
  OPGEN_CHECK(first >= groups && first % groups == 0, "Given groups=", groups,
              ", expected weight to be divisible by ", groups,
              " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  OPGEN_CHECK(!is_given(bias) || (bias->dim() == 1 && bias->size(0) == made),
              "Given weight of size ", weight.sizes(), ", expected bias to be 1-dimensional with ",
              made, " elements, but got bias of size ",
              is_given(bias) ? bias->sizes() : IntArrayRef(), " instead");
  OPGEN_CHECK(input.scalar_type() == weight.scalar_type(), "Input type (", input.scalar_type(),
              ") and weight type (", weight.scalar_type(), ") should be the same");
  OPGEN_CHECK(!is_given(bias) || input.scalar_type() == bias->scalar_type(), "Input type (",
              input.scalar_type(), ") and bias type (",
              is_given(bias) ? bias->scalar_type() : input.scalar_type(), ") should be the same");
  check_same_device("convolution", input, weight);
  if (is_given(bias)) check_same_device("convolution", input, *bias);
}

// Returns the sizes of the result's spatial dimensions.
DimVector convolved_sizes(const Tensor& input, const Tensor& weight, const Window& window) {
  DimVector out;
  for (size_t d = 0; d < window.stride.size(); ++d) {
    const auto dim = static_cast<int64_t>(d) + 2;
    const int64_t size = input.size(dim) + Size(window.padding_front[d]) + window.padding_back[d];
    const int64_t width = Size(window.dilation[d]) * (weight.size(dim) - 1) + 1;
    OPGEN_CHECK(window.stride[d] > 0, "non-positive stride is not supported");
    OPGEN_CHECK(window.dilation[d] > 0, "dilation should be greater than zero");
    OPGEN_CHECK(weight.size(dim) > 0 && size >= width,
                "Calculated padded input size per channel: ", size, ". Kernel size: ", width,
                ". Kernel size can't be greater than actual input size");
    out.push_back((Size(size) - width) / window.stride[d] + 1);
  }
  return out;
}

// Returns batch x channels x the spatial dimensions.
DimVector result_sizes(const Tensor& input, const Tensor& weight, IntArrayRef out) {
  DimVector sizes = {input.size(0), weight.size(0)};
  for (int64_t size : out) sizes.push_back(size);
  return sizes;
}

Tensor padded(const Tensor& input, const Window& window) {
  DimVector pad;
  for (size_t d = window.stride.size(); d-- > 0;) {
    pad.push_back(window.padding_front[d]);
    pad.push_back(window.padding_back[d]);
  }
  if (std::all_of(pad.begin(), pad.end(), [](int64_t each) { return each == 0; })) return input;
  return at::constant_pad_nd(input, pad, Scalar(0));
}

// Calls f(index) for each index of `sizes` in row-major order.
template <class F>
void for_each_place(IntArrayRef sizes, const F& f) {
  DimVector index(sizes.size(), 0);
  for (int64_t i = opgen::multiply_integers(sizes); i > 0; --i) {
    f(index);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

// Returns batch x groups x (channels of a group x elements of the kernel) x places: for each place
// of the result, the elements of the input that the kernel meets there.
Tensor columns_of(const Tensor& given, IntArrayRef kernel, IntArrayRef out, const Window& window,
                  int64_t groups) {
  const Tensor input = padded(given, window);
  std::vector<Tensor> parts;
  for_each_place(kernel, [&](const DimVector& at) {
    Tensor part = input;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t first = at[d] * window.dilation[d];
      part = part.slice(static_cast<int64_t>(d) + 2, first,
                        first + (out[d] - 1) * window.stride[d] + 1, window.stride[d]);
    }
    parts.push_back(part);
  });
  const auto elements = static_cast<int64_t>(parts.size());
  const int64_t batch = input.size(0), inner = input.size(1) / groups * elements;
  return (elements == 1 ? parts[0] : at::stack(parts, 2))
      .reshape({batch, groups, inner, opgen::multiply_integers(out)});
}

Tensor with_bias(const Tensor& result, const std::optional<Tensor>& bias) {
  if (!is_given(bias)) return result;
  DimVector ones(static_cast<size_t>(result.dim() - 1), 1);
  ones[0] = bias->numel();
  return result.add(bias->reshape(ones));
}

Tensor convolved_by_products(const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, const Window& window,
                             int64_t groups, IntArrayRef out) {
  const int64_t made = weight.size(0);
  const Tensor columns = columns_of(input, weight.sizes().slice(2), out, window, groups);
  const Tensor matrices = weight.reshape({groups, made / groups, columns.size(2)});
  const Tensor result = at::matmul(matrices, columns).reshape(result_sizes(input, weight, out));
  return with_bias(result, bias);
}

// The input as direct convolutions read it: padded, and in each row first the elements 0, stride,
// 2 * stride, ..., then 1, 1 + stride, .... Rows may be read kConvolutionSlack elements beyond
// their end.
struct PreparedInput {
  Tensor memory;
  DimVector strides;  // of the batch, the channels and the spatial dimensions but the last
  int64_t phase;      // the elements of a row with the same remainder

  PreparedInput(const Tensor& input, const Window& window, ScalarType dtype) {
    const size_t spatial = window.stride.size(), last = spatial - 1;
    const int64_t step = window.stride[last], dim = input.dim() - 1;
    DimVector sizes(input.sizes());
    bool pads = false;
    for (size_t d = 0; d < spatial; ++d) {
      sizes[d + 2] = sizes[d + 2] + Size(window.padding_front[d]) + window.padding_back[d];
      pads |= window.padding_front[d] != 0 || window.padding_back[d] != 0;
    }
    phase = (Size(sizes.back()) + step - 1) / step;
    sizes.back() = Size(phase) * step;
    strides = opgen::contiguous_strides(sizes);
    const int64_t count = opgen::multiply_integers(sizes);
    memory = opgen::empty({Size(count) + opgen::kConvolutionSlack}, input.options().dtype(dtype));
    if (pads || step > 1) memory.zero_();
    Tensor inner = input;
    Tensor rows = memory.slice(0, 0, count).view(sizes);
    for (size_t d = 0; d < spatial; ++d) {
      const auto at = static_cast<int64_t>(d) + 2;
      const int64_t front = window.padding_front[d];
      // Negative padding leaves out elements.
      inner = inner.slice(at, std::max<int64_t>(0, -front),
                          input.size(at) + std::min<int64_t>(0, window.padding_back[d]));
      if (d != last)
        rows = rows.slice(at, std::max<int64_t>(0, front)).slice(at, 0, inner.size(at));
    }
    if (inner.numel() == 0) return;
    const int64_t front = std::max<int64_t>(0, window.padding_front[last]);
    for (int64_t first = 0; first < std::min(step, inner.size(dim)); ++first) {
      const Tensor part = inner.slice(dim, first, inner.size(dim), step);
      const int64_t begin = (front + first) % step * phase + (front + first) / step;
      rows.slice(dim, begin, begin + part.size(dim)).copy_(part);
    }
  }
};

template <class W>
Tensor convolved_directly(const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, const Window& window, int64_t groups,
                          IntArrayRef out) {
  const ScalarType dtype = opgen::scalar_type_of<W>;
  const size_t last = out.size() - 1;
  const PreparedInput prepared(input, window, dtype);
  const Tensor factors = opgen::contiguous(to_dtype(weight, dtype));
  const Tensor added = is_given(bias) ? opgen::contiguous(to_dtype(*bias, dtype)) : Tensor();
  const Tensor result =
      opgen::empty(result_sizes(input, weight, out), input.options().dtype(dtype));

  opgen::DirectConvolution<W> work;
  work.input = prepared.memory.template const_data_ptr<W>();
  work.weight = factors.template const_data_ptr<W>();
  work.bias = added.defined() ? added.template const_data_ptr<W>() : nullptr;
  work.output = result.template mutable_data_ptr<W>();
  work.batch = input.size(0);
  work.groups = groups;
  work.made = weight.size(0) / groups;
  work.width = out[last];
  work.input_batch = prepared.strides[0];
  work.input_group = prepared.strides[1] * weight.size(1);
  for_each_place(weight.sizes().slice(1), [&](const DimVector& at) {
    int64_t offset = at[0] * prepared.strides[1];
    for (size_t d = 0; d < last; ++d)
      offset += at[d + 1] * window.dilation[d] * prepared.strides[d + 2];
    const int64_t x = at[last + 1] * window.dilation[last], step = window.stride[last];
    work.offsets.push_back(offset + x % step * prepared.phase + x / step);
  });
  for_each_place(out.slice(0, last), [&](const DimVector& at) {
    int64_t offset = 0;
    for (size_t d = 0; d < last; ++d) offset += at[d] * window.stride[d] * prepared.strides[d + 2];
    work.rows.push_back(offset);
  });
  work.run();
  return to_dtype(result, input.scalar_type());
}

// Puts stride - 1 zeros between the elements of the spatial dimensions.
Tensor spread(const Tensor& input, IntArrayRef stride) {
  if (std::all_of(stride.begin(), stride.end(), [](int64_t each) { return each == 1; })) {
    return input;
  }
  DimVector apart(input.sizes().slice(0, 2)), joined = apart, pad;
  for (size_t d = 0; d < stride.size(); ++d) {
    const int64_t size = input.size(static_cast<int64_t>(d) + 2);
    apart.push_back(size);
    apart.push_back(1);
    joined.push_back(Size(size) * stride[d]);
  }
  for (size_t d = stride.size(); d-- > 0;) {
    for (int64_t each : {int64_t(0), stride[d] - 1, int64_t(0), int64_t(0)}) pad.push_back(each);
  }
  Tensor result = at::constant_pad_nd(input.reshape(apart), pad, Scalar(0)).reshape(joined);
  for (size_t d = 0; d < stride.size(); ++d) {
    const auto dim = static_cast<int64_t>(d) + 2;
    result = result.slice(dim, 0, std::max<int64_t>(0, result.size(dim) - stride[d] + 1));
  }
  return result;
}

// Returns the weight of the convolution that a transposed one is.
Tensor turned(const Tensor& weight, int64_t groups) {
  DimVector shape = {groups, weight.size(0) / groups}, dims;
  for (int64_t d = 1; d < weight.dim(); ++d) shape.push_back(weight.size(d));
  for (int64_t d = 2; d < weight.dim(); ++d) dims.push_back(d);
  DimVector joined(weight.sizes());
  joined[0] = groups * weight.size(1);
  joined[1] = weight.size(0) / groups;
  return at::flip(weight.reshape(shape).transpose(1, 2).reshape(joined), dims);
}

// Whether a weight times 0 is 0.
bool is_finite(const Tensor& weight) {
  return at::isfinite(weight).all().item().toBool();
}

// A transposed convolution as the sum of what each element of the kernel adds. No zeros are put
// between or around the elements of the input: their products with an infinite weight would be NaN.
Tensor transposed_by_products(const Tensor& input, const Tensor& weight,
                              const std::optional<Tensor>& bias, const Window& window,
                              IntArrayRef padding, int64_t groups, IntArrayRef out) {
  const ScalarType dtype = opgen::toOpMathType(input.scalar_type());
  const int64_t batch = input.size(0), read = input.size(1) / groups, made = weight.size(1);
  const IntArrayRef places = input.sizes().slice(2);
  const Tensor rows =
      to_dtype(input, dtype).reshape({batch, groups, read, opgen::multiply_integers(places)});
  DimVector whole = {batch, groups * made}, product(whole);
  for (size_t d = 0; d < out.size(); ++d) {
    whole.push_back(out[d] + 2 * Size(padding[d]));
    product.push_back(places[d]);
  }
  Tensor sum = at::zeros(whole, rows.options());
  for_each_place(weight.sizes().slice(2), [&](const DimVector& at) {
    Tensor factors = to_dtype(weight, dtype), part = sum;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t first = at[d] * window.dilation[d];
      factors = factors.select(2, at[d]);
      part = part.slice(static_cast<int64_t>(d) + 2, first,
                        first + (places[d] - 1) * window.stride[d] + 1, window.stride[d]);
    }
    factors = factors.reshape({groups, read, made}).transpose(1, 2);
    part.add_(at::matmul(factors, rows).reshape(product));
  });
  for (size_t d = 0; d < out.size(); ++d) {
    sum = sum.narrow(static_cast<int64_t>(d) + 2, padding[d], out[d]);
  }
  return to_dtype(with_bias(sum, bias), input.scalar_type());
}

// Returns the gradient of the weight of a convolution of `input`.
Tensor weight_gradient(const Tensor& grad, const Tensor& input, const Tensor& weight,
                       const Window& window, int64_t groups) {
  const IntArrayRef out = grad.sizes().slice(2);
  const Tensor columns = columns_of(input, weight.sizes().slice(2), out, window, groups);
  const Tensor grads =
      grad.reshape({grad.size(0), groups, weight.size(0) / groups, columns.size(3)});
  return at::matmul(grads, columns.conj().transpose(-1, -2))
      .sum({0}, false, grad.scalar_type())
      .reshape(weight.sizes());
}

// conv1d to conv3d, and conv_transpose1d to conv_transpose3d.
Tensor composed(const char* name, const Tensor& given, const Tensor& weight,
                const std::optional<Tensor>& bias, int64_t spatial, IntArrayRef stride,
                IntArrayRef padding, IntArrayRef dilation, bool transposed,
                IntArrayRef output_padding, int64_t groups) {
  OPGEN_CHECK(given.dim() == spatial + 1 || given.dim() == spatial + 2, "Expected ", spatial + 1,
              "D (unbatched) or ", spatial + 2, "D (batched) input to ", name,
              ", but got input of size: ", given.sizes());
  OPGEN_CHECK(weight.dim() == spatial + 2, "Expected ", spatial + 2, "-dimensional weight for ",
              name, ", but got weight of size ", weight.sizes());
  const bool alone = given.dim() == spatial + 1;
  const Tensor result = at::convolution(alone ? given.unsqueeze(0) : given, weight, bias, stride,
                                        padding, dilation, transposed, output_padding, groups);
  return alone ? result.squeeze(0) : result;
}

// "same" keeps the size of the input; of an odd number of zeros, the greater half is at the end.
Tensor composed(const char* name, const Tensor& given, const Tensor& weight,
                const std::optional<Tensor>& bias, int64_t spatial, IntArrayRef stride,
                std::string_view padding, IntArrayRef dilation, int64_t groups) {
  OPGEN_CHECK(padding == "same" || padding == "valid", "Invalid padding string: '", padding, "'");
  OPGEN_CHECK(weight.dim() == spatial + 2, "Expected ", spatial + 2, "-dimensional weight for ",
              name, ", but got weight of size ", weight.sizes());
  const auto dims = static_cast<size_t>(spatial);
  const DimVector steps = per_dim(stride, dims, "stride"),
                  apart = per_dim(dilation, dims, "dilation");
  DimVector even(dims, 0), odd(2 * dims, 0);
  bool uneven = false;
  for (size_t d = 0; padding == "same" && d < dims; ++d) {
    OPGEN_CHECK(steps[d] == 1, "padding='same' is not supported for strided convolutions");
    const int64_t zeros = Size(apart[d]) * (weight.size(static_cast<int64_t>(d) + 2) - 1);
    even[d] = zeros / 2;
    odd[2 * (dims - 1 - d) + 1] = zeros % 2;
    uneven |= zeros % 2 != 0;
  }
  return composed(name, uneven ? at::constant_pad_nd(given, odd, Scalar(0)) : given, weight, bias,
                  spatial, steps, even, apart, false, DimVector(dims, 0), groups);
}

}  // namespace

OPGEN_KERNEL(convolution)
(const Tensor& given, const Tensor& given_weight, const std::optional<Tensor>& bias,
 IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
 IntArrayRef output_padding, int64_t groups) {
  check_convolution(given, given_weight, bias, groups, transposed);
  const auto spatial = static_cast<size_t>(given.dim() - 2);
  Window window = window_of(stride, padding, dilation, spatial);
  const DimVector pad = window.padding_front;
  const DimVector more = per_dim(output_padding, spatial, "output_padding");
  Tensor input = given, weight = given_weight;
  for (size_t d = 0; d < spatial; ++d) {
    OPGEN_CHECK(pad[d] >= 0, "negative padding is not supported");
    OPGEN_CHECK(more[d] >= 0, "negative output_padding is not supported");
    if (!transposed) continue;
    OPGEN_CHECK(window.stride[d] > 0, "non-positive stride is not supported");
    OPGEN_CHECK(more[d] < std::max(window.stride[d], window.dilation[d]),
                "output padding must be smaller than either stride or dilation, but got "
                "output_padding: ",
                more, ", stride: ", window.stride, " and dilation: ", window.dilation);
    const int64_t zeros =
        Size(window.dilation[d]) * (weight.size(static_cast<int64_t>(d) + 2) - 1) - pad[d];
    window.padding_front[d] = zeros;
    window.padding_back[d] = Size(zeros) + more[d];
  }
  if (transposed) {
    input = spread(given, window.stride);
    weight = turned(given_weight, groups);
    window.stride.assign(spatial, 1);
  }
  const DimVector out = convolved_sizes(input, weight, window);
  const DimVector shape = result_sizes(input, weight, out);
  if (input.is_meta() || opgen::multiply_integers(shape) == 0) {
    return opgen::empty(shape, input.options());
  }
  if (transposed && !is_finite(weight)) {
    const Window apart = window_of(stride, padding, dilation, spatial);
    return transposed_by_products(given, given_weight, bias, apart, pad, groups, out);
  }
  const bool narrow = opgen::multiply_integers(weight.sizes().slice(2)) == 1;
  const ScalarType dtype = input.scalar_type();
  if (!narrow && dtype == kDouble) {
    return convolved_directly<double>(input, weight, bias, window, groups, out);
  }
  if (!narrow && (dtype == kFloat || opgen::isReducedFloatingType(dtype))) {
    return convolved_directly<float>(input, weight, bias, window, groups, out);
  }
  return convolved_by_products(input, weight, bias, window, groups, out);
}

OPGEN_KERNEL(convolution_backward)
(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
 OptionalIntArrayRef /*bias_sizes*/, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
 bool transposed, IntArrayRef /*output_padding*/, int64_t groups, std::array<bool, 3> output_mask) {
  check_same_device("convolution_backward", input, weight);
  check_same_device("convolution_backward", input, grad_output);
  const auto spatial = static_cast<size_t>(input.dim() - 2);
  const Window window = window_of(stride, padding, dilation, spatial);
  std::tuple<Tensor, Tensor, Tensor> grads;
  if (output_mask[0]) {
    // The sizes that the input has beyond those that the transposed convolution makes.
    DimVector beyond(spatial, 0);
    for (size_t d = 0; !transposed && d < spatial; ++d) {
      const auto dim = static_cast<int64_t>(d) + 2;
      beyond[d] = input.size(dim) + 2 * Size(window.padding_front[d]) -
                  Size(grad_output.size(dim) - 1) * window.stride[d] -
                  Size(window.dilation[d]) * (weight.size(dim) - 1) - 1;
    }
    Tensor grad = at::convolution(grad_output, weight.conj(), std::nullopt, stride, padding,
                                  dilation, !transposed, beyond, groups);
    for (int64_t d = 2; d < input.dim(); ++d) grad = grad.slice(d, 0, input.size(d));
    std::get<0>(grads) = grad;
  }
  if (output_mask[1]) {
    std::get<1>(grads) = transposed
                             ? weight_gradient(input, grad_output, weight, window, groups).conj()
                             : weight_gradient(grad_output, input, weight, window, groups);
  }
  if (output_mask[2]) {
    DimVector dims = {0};
    for (int64_t d = 2; d < grad_output.dim(); ++d) dims.push_back(d);
    std::get<2>(grads) = grad_output.sum(dims, false, grad_output.scalar_type());
  }
  return grads;
}

OPGEN_KERNEL(conv1d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return composed("conv1d", input, weight, bias, 1, stride, padding, dilation, false, {0}, groups);
}
OPGEN_KERNEL(conv1d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return composed("conv1d", input, weight, bias, 1, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv_transpose1d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  return composed("conv_transpose1d", input, weight, bias, 1, stride, padding, dilation, true,
                  output_padding, groups);
}

OPGEN_KERNEL(conv2d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return composed("conv2d", input, weight, bias, 2, stride, padding, dilation, false, {0}, groups);
}
OPGEN_KERNEL(conv2d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return composed("conv2d", input, weight, bias, 2, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv_transpose2d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  return composed("conv_transpose2d", input, weight, bias, 2, stride, padding, dilation, true,
                  output_padding, groups);
}

OPGEN_KERNEL(conv3d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return composed("conv3d", input, weight, bias, 3, stride, padding, dilation, false, {0}, groups);
}
OPGEN_KERNEL(conv3d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return composed("conv3d", input, weight, bias, 3, stride, padding, dilation, groups);
}
OPGEN_KERNEL(conv_transpose3d)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  return composed("conv_transpose3d", input, weight, bias, 3, stride, padding, dilation, true,
                  output_padding, groups);
}
