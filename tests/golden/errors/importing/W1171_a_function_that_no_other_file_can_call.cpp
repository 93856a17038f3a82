#include <torch/library.h>

static at::Tensor scale_cpu(const at::Tensor& x, double by);
TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
}
TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &scale_cpu); }
