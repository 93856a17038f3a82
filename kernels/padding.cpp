// padding.cpp: constant_pad_nd, and pad with its modes.
#include <opgen/kernel.h>

#include <aten/ops/constant_pad_nd.h>
#include <aten/ops/constant_pad_nd_native.h>
#include <aten/ops/empty.h>
#include <aten/ops/index_select.h>
#include <aten/ops/pad_native.h>

#include "common.h"

using namespace kernels;

namespace {

// The elements that are added in front of dimension `dim` and behind it; negative ones are removed.
// `pad` begins with the last dimension.
struct Ends {
  int64_t front = 0, back = 0;
};

Ends ends_of(IntArrayRef pad, int64_t ndim, int64_t dim) {
  const auto at = static_cast<size_t>(2 * (ndim - 1 - dim));
  return at < pad.size() ? Ends{pad[at], pad[at + 1]} : Ends();
}

}  // namespace

OPGEN_KERNEL(constant_pad_nd)(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  OPGEN_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  const int64_t ndim = self.dim();
  OPGEN_CHECK(static_cast<int64_t>(pad.size() / 2) <= ndim,
              "Length of pad should be no more than twice the number of dimensions of the input. "
              "Pad length is ",
              pad.size(), " while the input has ", ndim, " dimensions.");
  DimVector shape;
  Tensor kept = self;
  bool grows = false;
  for (int64_t d = 0; d < ndim; ++d) {
    const auto [front, back] = ends_of(pad, ndim, d);
    shape.push_back(self.size(d) + Size(front) + back);
    OPGEN_CHECK(shape.back() >= 0, "The input size ", self.size(d), ", plus negative padding ",
                front, " and ", back,
                ", resulted in a negative output size, which is invalid. Check dimension ", d,
                " of your input.");
    grows = grows || front > 0 || back > 0;
    const int64_t first = std::max<int64_t>(0, -Size(front)),
                  cut = first + Size(std::max<int64_t>(0, -Size(back)));
    if (cut > 0) kept = kept.narrow(d, first, self.size(d) - cut);
  }
  if (!grows) return kept.clone(std::nullopt);
  Tensor result = at::empty(shape, self.options(), self.suggest_memory_format());
  result.fill_(value);
  Tensor middle = result;
  for (int64_t d = 0; d < ndim; ++d) {
    middle = middle.narrow(d, std::max<int64_t>(0, ends_of(pad, ndim, d).front), kept.size(d));
  }
  middle.copy_(kept);
  return result;
}

namespace {

enum class Mode { kReflect, kReplicate, kCircular };

// Returns the element of a line of `size` elements that place `i` of the padded line repeats.
// Places in front of the line are negative.
int64_t source_of(Mode mode, int64_t i, int64_t size) {
  switch (mode) {
    case Mode::kReflect:
      return i < 0 ? -i : i < size ? i : 2 * (size - 1) - i;
    case Mode::kReplicate:
      return std::clamp<int64_t>(i, 0, size - 1);
    default:
      return i < 0 ? i + size : i < size ? i : i - size;
  }
}

void check_ends(Mode mode, const Tensor& self, int64_t dim, const Ends& ends) {
  const int64_t size = self.size(dim), most = mode == Mode::kReflect ? size - 1 : size;
  OPGEN_CHECK(mode == Mode::kReplicate || (ends.front <= most && ends.back <= most),
              "Padding size should be ", mode == Mode::kReflect ? "less than" : "at most",
              " the corresponding input dimension, but got: padding (", ends.front, ", ", ends.back,
              ") at dimension ", dim, " of input ", self.sizes());
  OPGEN_CHECK(size > 0 && size + Size(ends.front) + ends.back > 0, "input (size ", size,
              ") at dimension ", dim, " is too small for padding (", ends.front, ", ", ends.back,
              ")");
}

Tensor pad_line(Mode mode, const Tensor& self, int64_t dim, const Ends& ends) {
  const int64_t size = self.size(dim), length = size + Size(ends.front) + ends.back;
  Tensor places = opgen::empty({length}, opgen::TensorOptions(opgen::kLong));
  int64_t* place = places.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < length; ++i) place[i] = source_of(mode, i - ends.front, size);
  return at::index_select(self, dim, places.to(self.device(), opgen::kLong));
}

}  // namespace

OPGEN_KERNEL(pad)
(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
  if (mode == "constant") return at::constant_pad_nd(self, pad, Scalar(value.value_or(0)));
  OPGEN_CHECK(!value.has_value() || *value == 0, "Padding mode \"", mode,
              "\" doesn't take in value argument");
  OPGEN_CHECK_NOT_IMPLEMENTED(mode == "reflect" || mode == "replicate" || mode == "circular",
                              "Unrecognised padding mode ", mode);
  const Mode kind = mode == "reflect"     ? Mode::kReflect
                    : mode == "replicate" ? Mode::kReplicate
                                          : Mode::kCircular;
  const auto padded = static_cast<int64_t>(pad.size() / 2);
  OPGEN_CHECK_NOT_IMPLEMENTED(
      pad.size() % 2 == 0 && padded >= 1 && padded <= 3 &&
          (self.dim() == padded + 2 || self.dim() == padded + 1),
      "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
  Tensor result = self;
  for (int64_t d = self.dim() - padded; d < self.dim(); ++d) {
    const Ends ends = ends_of(pad, self.dim(), d);
    check_ends(kind, self, d, ends);
    result = pad_line(kind, result, d, ends);
  }
  return result;
}
