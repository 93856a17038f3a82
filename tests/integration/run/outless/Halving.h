// Halving.h: shared by the meta functions of operators that halve a tensor.
#pragma once

#include <opgen/meta_base.h>

struct Halving : opgen::MetaBase {
  std::int64_t half = 0;

 protected:
  void set_half(const opgen::Tensor& self) {
    OPGEN_CHECK(self.dim() == 1, "expected one dimension but got ", self.dim());
    half = self.size(0) / 2;
    set_output_contiguous(0, {half}, self.options());
  }
};
