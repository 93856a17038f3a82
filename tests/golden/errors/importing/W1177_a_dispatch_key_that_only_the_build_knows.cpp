#include <torch/library.h>

at::Tensor scale_cpu(const at::Tensor& x, double by);
TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
}
TORCH_LIBRARY_IMPL(demo, DEMO_KEY, m) { m.impl("scale", &scale_cpu); }
