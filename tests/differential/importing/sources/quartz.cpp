// quartz.cpp: operators on the stable ABI. Kernels are boxed by TORCH_BOX.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace quartz {

void decay(const torch::stable::Tensor& param, const torch::stable::Tensor& grad, double weight,
           int64_t step) {
  throw std::runtime_error("not written");
}

torch::stable::Tensor identity(const torch::stable::Tensor& t) {
  throw std::runtime_error("not written");
}

torch::stable::Tensor absolute(const torch::stable::Tensor& t) {
  throw std::runtime_error("not written");
}

void fill_with_zero(const torch::stable::Tensor& t) {
  throw std::runtime_error("not written");
}

torch::stable::Tensor stacked(std::vector<torch::stable::Tensor> tensors, int64_t dim) {
  throw std::runtime_error("not written");
}

std::tuple<torch::stable::Tensor, torch::stable::Tensor> pair(const torch::stable::Tensor& x) {
  throw std::runtime_error("not written");
}

torch::stable::Tensor maybe(const std::optional<torch::stable::Tensor>& x, double y) {
  throw std::runtime_error("not written");
}

std::vector<int64_t> shape_of(const torch::stable::Tensor& x) {
  throw std::runtime_error("not written");
}

bool is_wide(const torch::stable::Tensor& x, int64_t dim) {
  throw std::runtime_error("not written");
}

torch::stable::Tensor scaled_rows(const torch::stable::Tensor& x, std::vector<double> factors,
                                  std::optional<bool> exact) {
  throw std::runtime_error("not written");
}

torch::stable::Tensor named(const torch::stable::Tensor& x, std::string name) {
  throw std::runtime_error("not written");
}

torch::stable::Tensor slice_rows(const torch::stable::Tensor& x, int64_t start, int64_t length) {
  throw std::runtime_error("not written");
}

}  // namespace quartz

STABLE_TORCH_LIBRARY(quartz, m) {
  m.def("decay(Tensor! param, Tensor grad, float weight, int step) -> ()");
  m.def("identity(Tensor t) -> Tensor");
  m.def("absolute(Tensor t) -> Tensor");
  m.def("fill_with_zero(Tensor! t) -> ()");
  m.def("stacked(Tensor[] tensors, int dim=0) -> Tensor");
  m.def("pair(Tensor x) -> (Tensor, Tensor)");
  m.def("maybe(Tensor? x, float y=1.5) -> Tensor");
  m.def("shape_of(Tensor x) -> int[]");
}

STABLE_TORCH_LIBRARY_FRAGMENT(quartz, lib) {
  lib.def("is_wide(Tensor x, int dim) -> bool");
  lib.def("scaled_rows(Tensor x, float[] factors, bool? exact=None) -> Tensor");
  lib.def("named(\n  Tensor x, str name) -> Tensor");
  lib.def("slice_rows(Tensor x, int start, int length) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(quartz, CPU, m) {
  m.impl("decay", TORCH_BOX(quartz::decay));
  m.impl("identity", TORCH_BOX(&quartz::identity));
  m.impl("absolute", TORCH_BOX(quartz::absolute));
  m.impl("fill_with_zero", TORCH_BOX(&quartz::fill_with_zero));
  m.impl("stacked", TORCH_BOX(quartz::stacked));
  m.impl("pair", TORCH_BOX(&quartz::pair));
  m.impl("maybe", TORCH_BOX(quartz::maybe));
  m.impl("shape_of", TORCH_BOX(&quartz::shape_of));
  m.impl("is_wide", TORCH_BOX(quartz::is_wide));
  m.impl("scaled_rows", TORCH_BOX(&quartz::scaled_rows));
  m.impl("named", TORCH_BOX(quartz::named));
  m.impl("slice_rows", TORCH_BOX(&quartz::slice_rows));
}

STABLE_TORCH_LIBRARY_IMPL(quartz, CompositeExplicitAutograd, m) {
  m.impl("decay", TORCH_BOX(&quartz::decay));
  m.impl("identity", TORCH_BOX(&quartz::identity));
  m.impl("absolute", TORCH_BOX(&quartz::absolute));
}
