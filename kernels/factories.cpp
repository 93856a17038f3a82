// factories.cpp: new tensors, which are empty or have values computed from the indices.
#include <opgen/kernel.h>

#include <algorithm>
#include <limits>

#include <aten/ops/arange.h>
#include <aten/ops/arange_native.h>
#include <aten/ops/empty.h>
#include <aten/ops/empty_like.h>
#include <aten/ops/empty_like_native.h>
#include <aten/ops/empty_native.h>
#include <aten/ops/empty_strided.h>
#include <aten/ops/empty_strided_native.h>
#include <aten/ops/eye.h>
#include <aten/ops/eye_native.h>
#include <aten/ops/full.h>
#include <aten/ops/full_like_native.h>
#include <aten/ops/full_native.h>
#include <aten/ops/linspace.h>
#include <aten/ops/linspace_native.h>
#include <aten/ops/logspace.h>
#include <aten/ops/logspace_native.h>
#include <aten/ops/new_empty_native.h>
#include <aten/ops/new_full_native.h>
#include <aten/ops/new_ones_native.h>
#include <aten/ops/new_zeros_native.h>
#include <aten/ops/ones_like_native.h>
#include <aten/ops/ones_native.h>
#include <aten/ops/scalar_tensor_native.h>
#include <aten/ops/tril_indices_native.h>
#include <aten/ops/zeros_like_native.h>
#include <aten/ops/zeros_native.h>

#include "common.h"

using namespace kernels;

namespace {

TensorOptions options_of(OPGEN_OPTIONS) {
  OPGEN_CHECK_NOT_IMPLEMENTED(!layout.has_value() || *layout == kStrided,
                              "only strided tensors are supported");
  OPGEN_CHECK_NOT_IMPLEMENTED(!pin_memory.value_or(false),
                              "memory cannot be pinned on this device");
  return TensorOptions().dtype(dtype).layout(layout).device(device);
}

// Takes options that are not given from `self`.
TensorOptions options_like(const Tensor& self, OPGEN_OPTIONS) {
  return self.options().merge_in(options_of(dtype, layout, device, pin_memory));
}

// Wide enough for sums and products of 64-bit sizes.
__extension__ using Wide = __int128;

ScalarType dtype_of_number(const Scalar& value) {
  if (value.isFloatingPoint()) return opgen::get_default_dtype();
  if (value.isComplex()) return opgen::get_default_complex_dtype();
  return value.isBoolean() ? kBool : kLong;
}

}  // namespace

// ---- Memory ----

OPGEN_KERNEL(empty)(IntArrayRef size, OPGEN_OPTIONS, std::optional<MemoryFormat> memory_format) {
  // The most frequent call is handled without building TensorOptions.
  if (!memory_format.has_value() && (!layout.has_value() || *layout == opgen::kStrided) &&
      (!pin_memory.has_value() || !*pin_memory)) {
    return opgen::empty_contiguous(size, dtype.has_value() ? *dtype : opgen::get_default_dtype(),
                                   device.has_value() ? *device : Device(opgen::kCPU));
  }
  OPGEN_CHECK(memory_format != MemoryFormat::Preserve,
              "empty has no tensor whose memory format could be preserved");
  return opgen::empty(size, options_of(dtype, layout, device, pin_memory), memory_format);
}
OPGEN_KERNEL(empty_out)(IntArrayRef size, std::optional<MemoryFormat> memory_format, Tensor& out) {
  OPGEN_CHECK(!memory_format.has_value(),
              "'memory_format' argument is incompatible with 'out' tensor argument");
  resize_factory_out(out, size);
  return out;
}
OPGEN_KERNEL(empty_strided)(IntArrayRef size, IntArrayRef stride, OPGEN_OPTIONS) {
  return opgen::empty_strided(size, stride, options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(empty_like)
(const Tensor& self, OPGEN_OPTIONS, std::optional<MemoryFormat> memory_format) {
  return opgen::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format);
}
OPGEN_KERNEL(new_empty_symint)(const Tensor& self, SymIntArrayRef size, OPGEN_OPTIONS) {
  return at::empty(size, options_like(self, dtype, layout, device, pin_memory));
}

// ---- One value ----

namespace {

// Converts a value that is out of a half type's range to infinity, as PyTorch does for new tensors;
// fill_ would throw.
Scalar rounded(const Scalar& value, ScalarType dtype) {
  if (value.isComplex() || (dtype != opgen::kHalf && dtype != opgen::kBFloat16)) return value;
  const auto wide = static_cast<float>(value.to<double>());
  return dtype == opgen::kHalf ? static_cast<double>(static_cast<float>(opgen::Half(wide)))
                               : static_cast<double>(static_cast<float>(opgen::BFloat16(wide)));
}

Tensor filled(Tensor out, const Scalar& value) {
  opgen::fill_(out, rounded(value, out.scalar_type()));
  return out;
}

Tensor& fill_out(Tensor& out, IntArrayRef size, const Scalar& value) {
  resize_factory_out(out, size);
  opgen::fill_(out, value);
  return out;
}

}  // namespace

OPGEN_KERNEL(full)(IntArrayRef size, const Scalar& fill_value, OPGEN_OPTIONS) {
  const TensorOptions options =
      options_of(dtype.value_or(dtype_of_number(fill_value)), layout, device, pin_memory);
  return filled(at::empty(size, options), fill_value);
}
OPGEN_KERNEL(full_out)(IntArrayRef size, const Scalar& fill_value, Tensor& out) {
  return fill_out(out, size, fill_value);
}
OPGEN_KERNEL(full_like)
(const Tensor& self, const Scalar& fill_value, OPGEN_OPTIONS,
 std::optional<MemoryFormat> memory_format) {
  return filled(at::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format),
                fill_value);
}
OPGEN_KERNEL(new_full)
(const Tensor& self, IntArrayRef size, const Scalar& fill_value, OPGEN_OPTIONS) {
  return filled(at::empty(size, options_like(self, dtype, layout, device, pin_memory)), fill_value);
}
OPGEN_KERNEL(scalar_tensor)(const Scalar& s, OPGEN_OPTIONS) {
  return filled(at::empty(IntArrayRef(), options_of(dtype, layout, device, pin_memory)), s);
}

OPGEN_KERNEL(zeros_symint)(IntArrayRef size, OPGEN_OPTIONS) {
  return filled(at::empty(size, options_of(dtype, layout, device, pin_memory)), Scalar(0));
}
OPGEN_KERNEL(zeros_out)(IntArrayRef size, Tensor& out) {
  return fill_out(out, size, Scalar(0));
}
OPGEN_KERNEL(new_zeros)(const Tensor& self, IntArrayRef size, OPGEN_OPTIONS) {
  return filled(at::empty(size, options_like(self, dtype, layout, device, pin_memory)), Scalar(0));
}
OPGEN_KERNEL(zeros_like)
(const Tensor& self, OPGEN_OPTIONS, std::optional<MemoryFormat> memory_format) {
  return filled(at::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format),
                Scalar(0));
}

OPGEN_KERNEL(ones)(IntArrayRef size, OPGEN_OPTIONS) {
  return filled(at::empty(size, options_of(dtype, layout, device, pin_memory)), Scalar(1));
}
OPGEN_KERNEL(ones_out)(IntArrayRef size, Tensor& out) {
  return fill_out(out, size, Scalar(1));
}
OPGEN_KERNEL(new_ones)(const Tensor& self, IntArrayRef size, OPGEN_OPTIONS) {
  return filled(at::empty(size, options_like(self, dtype, layout, device, pin_memory)), Scalar(1));
}
OPGEN_KERNEL(ones_like)
(const Tensor& self, OPGEN_OPTIONS, std::optional<MemoryFormat> memory_format) {
  return filled(at::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format),
                Scalar(1));
}

// ---- Ranges ----

namespace {

bool is_integral_range(const Scalar& start, const Scalar& end, const Scalar& step) {
  return start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true);
}

Tensor new_range(const Scalar& start, const Scalar& end, const Scalar& step, OPGEN_OPTIONS) {
  TensorOptions options = options_of(dtype, layout, device, pin_memory);
  if (!dtype.has_value() && is_integral_range(start, end, step)) options = options.dtype(kLong);
  Tensor out = at::empty({0}, options);
  return at::arange_out(out, start, end, step);
}

// Returns the number of elements from start to end, without end.
int64_t range_size(const Scalar& start, const Scalar& end, const Scalar& step, ScalarType dtype) {
  const double first = start.toDouble(), last = end.toDouble(), by = step.toDouble();
  OPGEN_CHECK(by != 0, "step must be nonzero");
  OPGEN_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ",
              last);
  OPGEN_CHECK((by > 0 && last >= first) || (by < 0 && last <= first),
              "upper bound and lower bound inconsistent with step sign");
  if (dtype == kLong) {
    // Doubles do not represent every int64, so the bounds are truncated to integers, like the
    // elements. Their distance may not fit into int64 either.
    const int64_t stride = step.toLong();
    OPGEN_CHECK(stride != 0, "step must be nonzero");
    const auto low = static_cast<uint64_t>(start.toLong()),
               high = static_cast<uint64_t>(end.toLong()), width = static_cast<uint64_t>(stride);
    const uint64_t span = stride > 0 ? high - low : low - high;
    const uint64_t steps = stride > 0 ? width : uint64_t(0) - width;
    const uint64_t count = span / steps + (span % steps != 0 ? 1 : 0);
    OPGEN_CHECK(count <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
                "invalid size, possible overflow?");
    return static_cast<int64_t>(count);
  }
  const double count = std::ceil((last - first) / by);
  OPGEN_CHECK(count < 0x1p63, "invalid size, possible overflow?");
  return static_cast<int64_t>(count);
}

}  // namespace

namespace {

// Writes f(i) to each place i, on several threads.
template <class T, class F>
void fill_places(T* to, int64_t count, const F& f) {
  opgen::parallel_for(0, count, opgen::kGrainSize, [&](int64_t begin, int64_t end) {
    // Copies, which the elements that are written cannot change.
    const F held = f;
    T* const here = to;
    for (int64_t i = begin; i < end; ++i) here[i] = held(i);
  });
}

}  // namespace

OPGEN_KERNEL(arange)(const Scalar& end, OPGEN_OPTIONS) {
  return new_range(Scalar(0), end, Scalar(1), dtype, layout, device, pin_memory);
}
OPGEN_KERNEL(arange)(const Scalar& start, const Scalar& end, OPGEN_OPTIONS) {
  return new_range(start, end, Scalar(1), dtype, layout, device, pin_memory);
}
OPGEN_KERNEL(arange)(const Scalar& start, const Scalar& end, const Scalar& step, OPGEN_OPTIONS) {
  return new_range(start, end, step, dtype, layout, device, pin_memory);
}
OPGEN_KERNEL(arange_out)(const Scalar& end, Tensor& out) {
  return at::arange_out(out, Scalar(0), end, Scalar(1));
}
OPGEN_KERNEL(arange_out)(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const int64_t count = range_size(start, end, step, out.scalar_type());
  if (out.numel() != count) resize_out(out, {count});
  if (out.is_meta()) return out;
  Tensor target = out.is_contiguous() ? out : Tensor(opgen::contiguous(out));
  OPGEN_DISPATCH_REAL(out.scalar_type(), "arange", [&] {
    scalar_t* to = target.mutable_data_ptr<scalar_t>();
    if constexpr (std::is_integral_v<scalar_t>) {
      const auto first = static_cast<uint64_t>(start.to<int64_t>()),
                 by = static_cast<uint64_t>(step.to<int64_t>());
      fill_places(to, count, [first, by](int64_t i) {
        return static_cast<scalar_t>(first + static_cast<uint64_t>(i) * by);
      });
    } else {
      const double first = start.toDouble(), by = step.toDouble();
      // The index counts in 32 bits, because processors do not convert vectors of 64-bit integers.
      constexpr int64_t block = 1 << 20;
      opgen::parallel_for(0, count, opgen::kGrainSize, [&](int64_t begin, int64_t stop) {
        for (int64_t done = begin; done < stop; done += block) {
          const auto n = static_cast<int32_t>(std::min(block, stop - done));
          const double before = static_cast<double>(done), start_here = first, by_here = by;
          scalar_t* const here = to + done;
          for (int32_t i = 0; i < n; ++i) {
            here[i] = static_cast<scalar_t>(static_cast<wide_t<scalar_t>>(
                start_here + by_here * (before + static_cast<double>(i))));
          }
        }
      });
    }
  });
  if (!target.is_same(out)) opgen::copy_(out, target);
  return out;
}

// Computes values from the nearer end, so that the last is exactly `end`.
OPGEN_KERNEL(linspace_out)(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  OPGEN_CHECK(steps >= 0, "number of steps must be non-negative");
  if (out.numel() != steps) resize_factory_out(out, {steps});
  if (out.is_meta() || steps == 0) return out;
  if (steps == 1) return out.fill_(start);
  Tensor target = out.is_contiguous() ? out : Tensor(opgen::contiguous(out));
  OPGEN_DISPATCH_ALL_BUT_BOOL(out.scalar_type(), "linspace", [&] {
    scalar_t* to = target.mutable_data_ptr<scalar_t>();
    // Integers step by the distance rounded down, in double; half types step in float.
    using wide = std::conditional_t<std::is_integral_v<scalar_t>, double, wide_t<scalar_t>>;
    const wide first =
        std::is_integral_v<scalar_t> ? wide(start.to<scalar_t>()) : wide(start.to<wide>());
    const wide last =
        std::is_integral_v<scalar_t> ? wide(end.to<scalar_t>()) : wide(end.to<wide>());
    using part = real_t<wide>;
    const wide by = (last - first) / wide(static_cast<part>(steps - 1));
    fill_places(to, steps, [first, last, by, steps](int64_t i) {
      return static_cast<scalar_t>(i < steps / 2
                                       ? first + by * wide(static_cast<part>(i))
                                       : last - by * wide(static_cast<part>(steps - i - 1)));
    });
  });
  if (!target.is_same(out)) opgen::copy_(out, target);
  return out;
}
OPGEN_KERNEL(linspace)(const Scalar& start, const Scalar& end, int64_t steps, OPGEN_OPTIONS) {
  OPGEN_CHECK(steps >= 0, "number of steps must be non-negative");
  TensorOptions options = options_of(dtype, layout, device, pin_memory);
  if (start.isComplex() || end.isComplex()) {
    const ScalarType inferred = opgen::get_default_complex_dtype();
    OPGEN_CHECK(!dtype.has_value() || isComplexType(*dtype), "linspace(): inferred dtype ",
                inferred, " can't be safely cast to passed dtype ", *dtype);
    if (!dtype.has_value()) options = options.dtype(inferred);
  }
  Tensor out = at::empty({steps}, options);
  return at::linspace_out(out, start, end, steps);
}

namespace {

Scalar end_point(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 0,
              "only 0-dimensional start and end tensors are supported, but got a tensor of ",
              self.dim(), " dimensions");
  return self.item();
}

}  // namespace

OPGEN_KERNEL(linspace)(const Tensor& start, const Tensor& end, int64_t steps, OPGEN_OPTIONS) {
  return at::linspace(end_point(start), end_point(end), steps,
                      options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(linspace)(const Tensor& start, const Scalar& end, int64_t steps, OPGEN_OPTIONS) {
  return at::linspace(end_point(start), end, steps, options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(linspace)(const Scalar& start, const Tensor& end, int64_t steps, OPGEN_OPTIONS) {
  return at::linspace(start, end_point(end), steps, options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(linspace_out)(const Tensor& start, const Tensor& end, int64_t steps, Tensor& out) {
  return at::linspace_out(out, end_point(start), end_point(end), steps);
}
OPGEN_KERNEL(linspace_out)(const Tensor& start, const Scalar& end, int64_t steps, Tensor& out) {
  return at::linspace_out(out, end_point(start), end, steps);
}
OPGEN_KERNEL(linspace_out)(const Scalar& start, const Tensor& end, int64_t steps, Tensor& out) {
  return at::linspace_out(out, start, end_point(end), steps);
}

namespace {

// A power of a real number; real powers are computed in double.
template <class T>
double power_of(double base, T exponent) {
  return std::pow(base, static_cast<double>(exponent));
}
template <class T>
complex<T> power_of(double base, complex<T> exponent) {
  return narrowed<complex<T>>(std::pow(std::complex<T>(static_cast<T>(base)), widen(exponent)));
}

}  // namespace

OPGEN_KERNEL(logspace_out)
(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  OPGEN_CHECK(steps >= 0, "number of steps must be non-negative");
  if (out.numel() != steps) resize_factory_out(out, {steps});
  if (out.is_meta() || steps == 0) return out;
  if (steps == 1) {
    return out.fill_(start.isComplex() ? Scalar(power_of(base, start.to<complex<double>>()))
                                       : Scalar(power_of(base, start.toDouble())));
  }
  Tensor target = out.is_contiguous() ? out : Tensor(opgen::contiguous(out));
  OPGEN_DISPATCH_ALL_BUT_BOOL(out.scalar_type(), "logspace", [&] {
    scalar_t* to = target.mutable_data_ptr<scalar_t>();
    using exponent = std::conditional_t<std::is_integral_v<scalar_t>, double, wide_t<scalar_t>>;
    const auto read = [](const Scalar& x) {
      return std::is_integral_v<scalar_t> ? exponent(x.to<scalar_t>()) : x.to<exponent>();
    };
    const exponent first = read(start), last = read(end);
    using part = real_t<exponent>;
    const exponent by = (last - first) / exponent(static_cast<part>(steps - 1));
    fill_places(to, steps, [first, last, by, base, steps](int64_t i) {
      const exponent power = i < steps / 2 ? first + by * exponent(static_cast<part>(i))
                                           : last - by * exponent(static_cast<part>(steps - i - 1));
      return static_cast<scalar_t>(power_of(base, power));
    });
  });
  if (!target.is_same(out)) opgen::copy_(out, target);
  return out;
}
OPGEN_KERNEL(logspace)
(const Scalar& start, const Scalar& end, int64_t steps, double base, OPGEN_OPTIONS) {
  OPGEN_CHECK(steps >= 0, "number of steps must be non-negative");
  TensorOptions options = options_of(dtype, layout, device, pin_memory);
  if (start.isComplex() || end.isComplex()) {
    const ScalarType inferred = opgen::get_default_complex_dtype();
    OPGEN_CHECK(!dtype.has_value() || isComplexType(*dtype), "logspace(): inferred dtype ",
                inferred, " can't be safely cast to passed dtype ", *dtype);
    if (!dtype.has_value()) options = options.dtype(inferred);
  }
  Tensor out = at::empty({steps}, options);
  return at::logspace_out(out, start, end, steps, base);
}
OPGEN_KERNEL(logspace)
(const Tensor& start, const Tensor& end, int64_t steps, double base, OPGEN_OPTIONS) {
  return at::logspace(end_point(start), end_point(end), steps, base,
                      options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(logspace)
(const Tensor& start, const Scalar& end, int64_t steps, double base, OPGEN_OPTIONS) {
  return at::logspace(end_point(start), end, steps, base,
                      options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(logspace)
(const Scalar& start, const Tensor& end, int64_t steps, double base, OPGEN_OPTIONS) {
  return at::logspace(start, end_point(end), steps, base,
                      options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(logspace_out)
(const Tensor& start, const Tensor& end, int64_t steps, double base, Tensor& out) {
  return at::logspace_out(out, end_point(start), end_point(end), steps, base);
}
OPGEN_KERNEL(logspace_out)
(const Tensor& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  return at::logspace_out(out, end_point(start), end, steps, base);
}
OPGEN_KERNEL(logspace_out)
(const Scalar& start, const Tensor& end, int64_t steps, double base, Tensor& out) {
  return at::logspace_out(out, start, end_point(end), steps, base);
}

// ---- Matrices ----

OPGEN_KERNEL(eye)(int64_t n, OPGEN_OPTIONS) {
  return at::eye(n, n, options_of(dtype, layout, device, pin_memory));
}
OPGEN_KERNEL(eye)(int64_t n, int64_t m, OPGEN_OPTIONS) {
  Tensor out = at::empty({0}, options_of(dtype, layout, device, pin_memory));
  return at::eye_out(out, n, m);
}
OPGEN_KERNEL(eye_out)(int64_t n, Tensor& out) {
  return at::eye_out(out, n, n);
}
OPGEN_KERNEL(eye_out)(int64_t n, int64_t m, Tensor& out) {
  OPGEN_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  OPGEN_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  // Resizes a new output, or the caller's without a warning about its old shape.
  opgen::resize_(out, {n, m});
  opgen::assert_no_internal_overlap(out);
  opgen::zero_(out);
  const int64_t count = std::min(n, m);
  if (count > 0) {
    const Tensor diagonal =
        out.as_strided({count}, {out.stride(0) + out.stride(1)}, out.storage_offset());
    opgen::fill_(diagonal, Scalar(1));
  }
  return out;
}

// Writes the indices on and below a diagonal, row by row: first all rows, then all columns.
OPGEN_KERNEL(tril_indices)(int64_t row, int64_t col, int64_t offset, OPGEN_OPTIONS) {
  OPGEN_CHECK(row >= 0, "row must be non-negative, got ", row);
  OPGEN_CHECK(col >= 0, "col must be non-negative, got ", col);
  // Offsets beyond these have the same result.
  offset = std::clamp(offset, -row, col);
  const Wide first = std::max<Wide>(0, -Wide(offset));
  const Wide full = std::clamp<Wide>(Wide(col) - offset - 1, first, row);
  const auto width = [=](Wide i) {
    return static_cast<int64_t>(std::min<Wide>(i + offset + 1, col));
  };
  const Wide wide_count =
      (full - first) * (Wide(offset) + offset + first + full + 1) / 2 + (Wide(row) - full) * col;
  OPGEN_CHECK(wide_count <= std::numeric_limits<int64_t>::max() / 16, "tril_indices of ", row,
              " rows and ", col, " columns has more indices than fit in memory");
  const int64_t count = static_cast<int64_t>(wide_count);
  Tensor out =
      opgen::empty({2, count}, options_of(dtype.value_or(kLong), layout, device, pin_memory));
  if (out.is_meta()) return out;
  OPGEN_CHECK(out.scalar_type() == kLong || out.scalar_type() == kInt,
              "\"tril_indices\" not implemented for '", out.scalar_type(), "'");
  OPGEN_DISPATCH_INTEGRAL(out.scalar_type(), "tril_indices", [&] {
    scalar_t* rows = out.mutable_data_ptr<scalar_t>();
    scalar_t* columns = rows + count;
    for (int64_t i = static_cast<int64_t>(first), k = 0; k < count; ++i) {
      for (int64_t j = 0, end = width(i); j < end; ++j, ++k) {
        rows[k] = static_cast<scalar_t>(i);
        columns[k] = static_cast<scalar_t>(j);
      }
    }
  });
  return out;
}
