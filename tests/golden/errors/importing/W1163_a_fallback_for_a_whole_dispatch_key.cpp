#include <torch/library.h>

TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}
