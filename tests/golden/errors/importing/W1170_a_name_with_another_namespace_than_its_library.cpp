#include <torch/library.h>

TORCH_LIBRARY(demo, m) {
  m.def("dmeo::scale(Tensor x, float by) -> Tensor");
}
