// shapes.cpp: our own metas for operators of ATen with special rules for shapes, and kernels that
// call its out= operators.
#include <ATen/native/TypeProperties.h>
#include <opgen/kernel.h>

#include <slice/ops/_log_softmax_native.h>
#include <slice/ops/_softmax_native.h>
#include <slice/ops/addmm_native.h>
#include <slice/ops/avg_pool2d_native.h>
#include <slice/ops/bmm_native.h>
#include <slice/ops/cat_native.h>
#include <slice/ops/gather_native.h>
#include <slice/ops/mm_native.h>
#include <slice/ops/renorm_native.h>
#include <slice/ops/scatter_native.h>
#include <slice/ops/topk_native.h>
#include <slice/ops/tril_native.h>
#include <slice/ops/triu_native.h>
#include <slice/ops/upsample_nearest1d_native.h>
#include <slice/ops/upsample_nearest2d_native.h>

#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/renorm.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>
#include <ATen/ops/upsample_nearest1d.h>
#include <ATen/ops/upsample_nearest2d.h>

#include "forward.h"

// ---- matrices ----

OPGEN_META_FUNC(mm)(const Tensor& self, const Tensor& mat2) {
  OPGEN_CHECK(self.dim() == 2, "self must be a matrix");
  OPGEN_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  OPGEN_CHECK(self.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (",
              self.size(0), "x", self.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  set_output_raw_strided(0, {self.size(0), mat2.size(1)}, {}, self.options());
}
OPGEN_IMPL_FUNC(mm_out_cpu)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  at::mm_out(writable(out), self, mat2);
}

OPGEN_META_FUNC(bmm)(const Tensor& self, const Tensor& mat2) {
  OPGEN_CHECK(self.dim() == 3, "batch1 must be a 3D tensor");
  OPGEN_CHECK(mat2.dim() == 3, "batch2 must be a 3D tensor");
  OPGEN_CHECK(self.size(0) == mat2.size(0) && self.size(2) == mat2.size(1),
              "Expected size for first two dimensions of batch2 tensor to be: [", self.size(0),
              ", ", self.size(2), "] but got: [", mat2.size(0), ", ", mat2.size(1), "].");
  set_output_raw_strided(0, {self.size(0), self.size(1), mat2.size(2)}, {}, mat2.options());
}
OPGEN_IMPL_FUNC(bmm_out_cpu)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  at::bmm_out(writable(out), self, mat2);
}

OPGEN_META_FUNC(addmm)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& /*beta*/,
 const Scalar& /*alpha*/) {
  OPGEN_CHECK(self.scalar_type() == mat2.scalar_type(),
              "self and mat2 must have the same dtype, but got ", self.scalar_type(), " and ",
              mat2.scalar_type());
  OPGEN_CHECK(mat1.scalar_type() == mat2.scalar_type(),
              "mat1 and mat2 must have the same dtype, but got ", mat1.scalar_type(), " and ",
              mat2.scalar_type());
  OPGEN_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got ", mat1.dim(), "-D tensor");
  OPGEN_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  OPGEN_CHECK(mat1.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (",
              mat1.size(0), "x", mat1.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  set_output_raw_strided(0, {mat1.size(0), mat2.size(1)}, {}, mat1.options());
}
OPGEN_IMPL_FUNC(addmm_out_cpu)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
 const Scalar& alpha, const Tensor& out) {
  at::addmm_out(writable(out), self, mat1, mat2, beta, alpha);
}

#define TRIANGLE(op)                                                                       \
  OPGEN_META_FUNC(op)(const Tensor& self, Int /*diagonal*/) {                              \
    OPGEN_CHECK(self.dim() >= 2, #op ": input tensor must have at least 2 dimensions");    \
    set_output_raw_strided(0, self.sizes(), {}, self.options());                           \
  }                                                                                        \
  OPGEN_IMPL_FUNC(op##_out_cpu)(const Tensor& self, int64_t diagonal, const Tensor& out) { \
    at::op##_out(writable(out), self, diagonal);                                           \
  }
TRIANGLE(tril)
TRIANGLE(triu)

// ---- along one dimension ----

#define SOFTMAX(op)                                                                            \
  OPGEN_META_FUNC(op)(const Tensor& self, int64_t dim, bool half_to_float) {                   \
    OPGEN_CHECK(!half_to_float, #op " with half to float conversion is not supported on CPU"); \
    static_cast<void>(opgen::maybe_wrap_dim(dim, self.dim()));                                 \
    set_output_raw_strided(0, self.sizes(), {},                                                \
                           self.options().memory_format(MemoryFormat::Contiguous));            \
  }                                                                                            \
  OPGEN_IMPL_FUNC(op##_out_cpu)                                                                \
  (const Tensor& self, int64_t dim, bool half_to_float, const Tensor& out) {                   \
    at::op##_out(writable(out), self, dim, half_to_float);                                     \
  }
SOFTMAX(_softmax)
SOFTMAX(_log_softmax)

OPGEN_META_FUNC(renorm)
(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  OPGEN_CHECK(!p.isComplex(), "renorm: p must be real-valued");
  OPGEN_CHECK(p.toDouble() > 0.0, "renorm: non-positive-norm not supported");
  OPGEN_CHECK(!maxnorm.isComplex(), "renorm: maxnorm must be real-valued");
  OPGEN_CHECK(maxnorm.toDouble() >= 0.0, "renorm: expected maxnorm to be >= 0 but got ",
              maxnorm.toDouble());
  OPGEN_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
              " dimensions");
  static_cast<void>(opgen::maybe_wrap_dim(dim, self.dim()));
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(renorm_out_cpu)
(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm, const Tensor& out) {
  at::renorm_out(writable(out), self, p, dim, maxnorm);
}

OPGEN_META_FUNC(topk)(const Tensor& self, Int k, int64_t dim, bool /*largest*/, bool /*sorted*/) {
  const int64_t along = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.size(along) : 1),
              "selected index k out of range");
  DimVector shape(self.sizes());
  if (!shape.empty()) shape[static_cast<size_t>(along)] = k;
  set_output_raw_strided(0, shape, {}, self.options());
  set_output_raw_strided(1, shape, {}, self.options().dtype(kLong));
}
OPGEN_IMPL_FUNC(topk_values_cpu)
(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, const Tensor& values,
 const Tensor& indices) {
  at::topk_out(writable(values), writable(indices), self, k, dim, largest, sorted);
}

OPGEN_META_FUNC(gather)
(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
  const int64_t along = opgen::maybe_wrap_dim(dim, self.dim());
  set_output_raw_strided(0, index.sizes(), {}, self.options());
  if (index.numel() == 0) return;
  OPGEN_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt,
              "gather(): Expected dtype int32/int64 for index");
  OPGEN_CHECK(std::max<int64_t>(self.dim(), 1) == std::max<int64_t>(index.dim(), 1),
              "Index tensor must have the same number of dimensions as input tensor");
  for (int64_t d = 0; d < std::min(self.dim(), index.dim()); ++d) {
    OPGEN_CHECK(d == along || index.size(d) <= self.size(d), "Size does not match at dimension ", d,
                " expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
                " apart from dimension ", along);
  }
}
OPGEN_IMPL_FUNC(gather_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad, const Tensor& out) {
  at::gather_out(writable(out), self, dim, index, sparse_grad);
}

OPGEN_META_FUNC2(scatter, src)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  const int64_t along = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_CHECK(self.scalar_type() == src.scalar_type(),
              "scatter(): Expected self.dtype to be equal to src.dtype");
  OPGEN_CHECK(index.numel() == 0 || index.scalar_type() == kLong || index.scalar_type() == kInt,
              "scatter(): Expected dtype int32/int64 for index");
  if (index.numel() > 0) {
    OPGEN_CHECK(std::max<int64_t>(self.dim(), 1) == std::max<int64_t>(index.dim(), 1),
                "Index tensor must have the same number of dimensions as self tensor");
    for (int64_t d = 0; d < index.dim(); ++d) {
      OPGEN_CHECK(src.dim() == 0 || index.size(d) <= src.size(d), "Expected index ", index.sizes(),
                  " to be no larger than src ", src.sizes());
      OPGEN_CHECK(self.dim() == 0 || d == along || index.size(d) <= self.size(d), "Expected index ",
                  index.sizes(), " to be no larger than self ", self.sizes(),
                  " apart from dimension ", along);
    }
    OPGEN_CHECK(std::max<int64_t>(src.dim(), 1) == std::max<int64_t>(index.dim(), 1),
                "Index tensor must have the same number of dimensions as src tensor");
  }
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_src_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  at::scatter_out(writable(out), self, dim, index, src);
}

// ---- lists of tensors ----

OPGEN_PRECOMPUTE_META_FUNC(cat)(const ITensorListRef& tensors, int64_t dim) {
  const auto all = tensors.materialize();
  OPGEN_CHECK_VALUE(!all.empty(), "torch.cat(): expected a non-empty list of Tensors");
  // An empty vector may stand among tensors of any number of dimensions.
  const auto skipped = [](const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; };
  size_t valid = 0;
  while (valid < all.size() && skipped(all[valid])) ++valid;
  at::native::ResultTypeState state{};
  bool same_dtype = true, contiguous = true, same_layout = true;
  for (const Tensor& tensor : all) {
    OPGEN_CHECK(tensor.dim() > 0, "zero-dimensional tensor cannot be concatenated");
    state = at::native::update_result_type_state(tensor, state);
    same_dtype = same_dtype && tensor.dtype() == all[0].get().dtype();
  }
  const int64_t along =
      valid < all.size() ? opgen::maybe_wrap_dim(dim, Tensor(all[valid]).dim()) : dim;
  const bool given = maybe_get_output().defined();
  const ScalarType kind = given ? maybe_get_output().scalar_type() : at::native::result_type(state);
  OPGEN_CHECK_TYPE(!given || canCast(at::native::result_type(state), kind),
                   "torch.cat(): input types can't be cast to the desired output type ", kind);
  DimVector shape{0};
  MemoryFormat format = MemoryFormat::Contiguous;
  if (valid < all.size()) {
    const Tensor& first = all[valid];
    shape = DimVector(first.sizes());
    format = first.suggest_memory_format();
    shape[static_cast<size_t>(along)] = 0;
    for (const Tensor& tensor : all) {
      if (skipped(tensor)) {
        contiguous = false;
        continue;
      }
      OPGEN_CHECK(tensor.dim() == first.dim(), "Tensors must have same number of dimensions: got ",
                  first.dim(), " and ", tensor.dim());
      for (int64_t d = 0; d < first.dim(); ++d) {
        OPGEN_CHECK(d == along || tensor.size(d) == first.size(d),
                    "Sizes of tensors must match except in dimension ", along);
      }
      shape[static_cast<size_t>(along)] += tensor.size(along);
      if (tensor.suggest_memory_format() != format) format = MemoryFormat::Contiguous;
      contiguous = contiguous && tensor.is_contiguous(format);
      same_layout =
          same_layout && tensor.sizes() == first.sizes() && tensor.strides() == first.strides();
    }
  }
  const auto options = all[0].get().options().dtype(kind).memory_format(format);
  set_output_raw_strided(0, shape, {}, options);
  return precompute_out<>()
      .set_dim(along)
      .set_valid(static_cast<int64_t>(valid))
      .set_all_contiguous(contiguous)
      .set_all_same_dtype(same_dtype)
      .set_all_same_sizes_and_stride(same_layout)
      .set_memory_format(format);
}
OPGEN_IMPL_FUNC(cat_out_cpu)
(const ITensorListRef& tensors, int64_t dim, int64_t /*valid*/, bool /*all_contiguous*/,
 bool /*all_same_dtype*/, bool /*all_same_sizes_and_stride*/, MemoryFormat /*memory_format*/,
 const Tensor& out) {
  at::cat_out(writable(out), tensors, dim);
}

// ---- images ----

namespace {

// The number of windows; with ceil_mode also one that begins inside and ends outside.
template <class T>
T windows(const T& size, int64_t kernel, int64_t pad, int64_t step, bool ceil_mode) {
  const T room = size + 2 * pad - kernel + (ceil_mode ? step - 1 : 0);
  // Floor division, for a kernel that is larger than the image.
  T count = (room < 0 ? (room - step + 1) / step : room / step) + 1;
  if (ceil_mode && (count - 1) * step >= size + pad) count = count - 1;
  return count;
}

int64_t one_of(IntArrayRef values, size_t i) {
  return values.size() == 1 ? values[0] : values[i];
}

}  // namespace

OPGEN_PRECOMPUTE_META_FUNC(avg_pool2d)
(const Tensor& self, at::IntArrayRef kernel_size, at::IntArrayRef stride, at::IntArrayRef padding,
 bool ceil_mode, bool /*count_include_pad*/, std::optional<int64_t> divisor_override) {
  OPGEN_CHECK(kernel_size.size() == 1 || kernel_size.size() == 2,
              "avg_pool2d: kernel_size must either be a single int, or a tuple of two ints");
  const int64_t kH = kernel_size[0], kW = one_of(kernel_size, 1);
  OPGEN_CHECK(stride.size() <= 2,
              "avg_pool2d: stride must either be omitted, a single int, or a tuple of two ints");
  const int64_t dH = stride.empty() ? kH : stride[0], dW = stride.empty() ? kW : one_of(stride, 1);
  OPGEN_CHECK(padding.size() == 1 || padding.size() == 2,
              "avg_pool2d: padding must either be a single int, or a tuple of two ints");
  const int64_t padH = padding[0], padW = one_of(padding, 1);
  OPGEN_CHECK(!divisor_override.has_value() || *divisor_override != 0, "divisor must be not zero");
  static_cast<void>(self.size(-3));
  OPGEN_CHECK(kH > 0 && kW > 0, "kernel size should be greater than zero");
  OPGEN_CHECK(dH > 0 && dW > 0, "stride should be greater than zero");
  OPGEN_CHECK(padH >= 0 && padW >= 0 && kH / 2 >= padH && kW / 2 >= padW,
              "pad should be at most half of effective kernel size");
  const int64_t ndim = self.dim();
  OPGEN_CHECK(ndim == 3 || ndim == 4, "Expected 3D or 4D (batch mode) tensor");
  for (int64_t d = ndim == 4 ? 1 : 0; d < ndim; ++d) {
    OPGEN_CHECK(self.size(d) != 0,
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim "
                "batch size for input, but got: ",
                self.sizes());
  }
  const auto height = windows(self.size(-2), kH, padH, dH, ceil_mode);
  const auto width = windows(self.size(-1), kW, padW, dW, ceil_mode);
  OPGEN_CHECK(height >= 1 && width >= 1, "Output size is too small");
  DimVector shape(self.sizes());
  shape[static_cast<size_t>(ndim - 2)] = height;
  shape[static_cast<size_t>(ndim - 1)] = width;
  set_output_raw_strided(0, shape, {}, self.options().memory_format(self.suggest_memory_format()));
  return precompute_out<>().set_kH(kH).set_kW(kW).set_dH(dH).set_dW(dW).set_padH(padH).set_padW(
      padW);
}
OPGEN_IMPL_FUNC(avg_pool2d_out_cpu)
(const Tensor& self, int64_t kH, int64_t kW, int64_t dH, int64_t dW, int64_t padH, int64_t padW,
 bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override,
 const Tensor& out) {
  at::avg_pool2d_out(writable(out), self, {kH, kW}, {dH, dW}, {padH, padW}, ceil_mode,
                     count_include_pad, divisor_override);
}

OPGEN_META_FUNC(upsample_nearest1d)
(const Tensor& self, IntArrayRef output_size, std::optional<double> /*scales*/) {
  OPGEN_CHECK(output_size.size() == 1, "It is expected output_size equals to 1, but got size ",
              output_size.size());
  OPGEN_CHECK(self.dim() == 3, "It is expected input_size equals to 3, but got size ", self.dim());
  OPGEN_CHECK(self.size(2) > 0 && output_size[0] > 0,
              "Input and output sizes should be greater than 0");
  OPGEN_CHECK(self.size(1) != 0, "Non-empty 3D data tensor expected but got a tensor with sizes ",
              self.sizes());
  set_output_raw_strided(0, {self.size(0), self.size(1), output_size[0]}, {}, self.options());
}
OPGEN_IMPL_FUNC(upsample_nearest1d_out_cpu)
(const Tensor& self, IntArrayRef output_size, std::optional<double> scales, const Tensor& out) {
  at::upsample_nearest1d_out(writable(out), self, output_size, scales);
}

OPGEN_META_FUNC(upsample_nearest2d)
(const Tensor& self, IntArrayRef output_size, std::optional<double> /*scales_h*/,
 std::optional<double> /*scales_w*/) {
  OPGEN_CHECK(output_size.size() == 2, "It is expected output_size equals to 2, but got size ",
              output_size.size());
  OPGEN_CHECK(self.dim() == 4, "It is expected input_size equals to 4, but got size ", self.dim());
  OPGEN_CHECK(self.size(2) > 0 && self.size(3) > 0 && output_size[0] > 0 && output_size[1] > 0,
              "Input and output sizes should be greater than 0");
  OPGEN_CHECK(self.size(1) != 0, "Non-empty 4D data tensor expected but got a tensor with sizes ",
              self.sizes());
  set_output_raw_strided(0, {self.size(0), self.size(1), output_size[0], output_size[1]}, {},
                         self.options().memory_format(self.suggest_memory_format()));
}
OPGEN_IMPL_FUNC(upsample_nearest2d_out_cpu)
(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h,
 std::optional<double> scales_w, const Tensor& out) {
  at::upsample_nearest2d_out(writable(out), self, output_size, scales_h, scales_w);
}
