// mosaic.cpp: operators that are defined by a name and a function.
#include "mosaic.h"

#include <torch/library.h>
#include <torch/types.h>

#include <stdexcept>

using at::Tensor;
using torch::Generator;

namespace mosaic {

namespace {

using Numbers = std::vector<double>;
typedef c10::Dict<std::string, Tensor> Named;

[[noreturn]] void unwritten() {
  throw std::runtime_error("not written");
}

Tensor random_tiles(Generator generator, std::optional<Generator> other, Numbers weights) {
  unwritten();
}

auto by_name(const Named& tiles) -> Tensor {
  unwritten();
}

static c10::List<std::optional<Tensor>> indexed(const c10::List<std::optional<Tensor>>& tiles) {
  unwritten();
}

std::tuple<> nothing() {
  return {};
}

c10::SymInt symbolic(c10::SymInt a, const c10::SymInt& b) {
  unwritten();
}

Tensor nested(std::vector<std::vector<int64_t>> rows, std::tuple<Tensor, int64_t> pair,
              c10::complex<double> z) {
  unwritten();
}

}  // namespace

Tensor lay(const Tensor& tiles, int64_t rows, double gap, bool mirrored) {
  unwritten();
}
Tensor lay_in_order(at::TensorList tiles, at::IntArrayRef order, const std::string& name) {
  unwritten();
}
Tensors cut(const Tensor& image, const std::vector<int64_t>& sizes) {
  unwritten();
}
std::tuple<Tensor, Tensor> edges(Tensor image, std::optional<Tensor> mask) {
  unwritten();
}
void paint(Tensor& image, const at::Scalar& colour) {
  unwritten();
}
int64_t count(const Tensor& image) {
  unwritten();
}
bool fits(const Tensor& image, c10::SymIntArrayRef shape, c10::SymInt margin) {
  unwritten();
}
double ratio(const Tensor& image, at::OptionalIntArrayRef dims) {
  unwritten();
}
std::string label(const Tensor& image, std::string_view prefix, c10::string_view suffix) {
  unwritten();
}

TORCH_LIBRARY(mosaic, m) {
  m.def("lay", &lay);
  m.def("lay_in_order", lay_in_order);
  m.def("cut", TORCH_FN(cut));
  m.def("edges", &mosaic::edges);
  m.def("mosaic::paint", &::mosaic::paint);
  m.def("count.image", count);
  m.def("fits", &fits, {at::Tag::pt2_compliant_tag});
  m.def("ratio", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, &ratio));
  m.def(TORCH_SELECTIVE_NAME("mosaic::label"), TORCH_FN(label));
  m.def("mixed", colours::mixed);
  m.def("split", &colours::split).def("converted", &colours::converted);
  m.def("random_tiles", &random_tiles);
  m.def("by_name", &by_name);
  m.def("indexed", &indexed);
  m.def("nothing", &nothing);
  m.def("symbolic", &symbolic);
  m.def("nested", &nested);
  m.def("scaled", &scaled<double>);
  m.def("inverted", [](const Tensor& image, int64_t bits) -> Tensor { unwritten(); });
  m.def("cleared", [](Tensor image, std::optional<std::string> why) { image.zero_(); });
  m.def("counted",
        torch::dispatch(torch::kCPU, [](const Tensor& image) -> int64_t { return image.numel(); }));
}

}  // namespace mosaic

namespace mosaic::colours {

Tensor mixed(const Tensor& image, const std::optional<at::Scalar>& by, std::optional<double> gain) {
  unwritten();
}

std::tuple<Tensor, int64_t, std::vector<Tensor>> split(const Tensor& image,
                                                       std::array<bool, 3> channels) {
  unwritten();
}

Tensor converted(const Tensor& image, at::ScalarType dtype, std::optional<at::ScalarType> other,
                 at::Layout layout, std::optional<c10::Device> device,
                 std::optional<at::MemoryFormat> format) {
  unwritten();
}

}  // namespace mosaic::colours
