// Scaling.h: what meta functions of operators that scale hand on to their kernels.
#pragma once

#include <opgen/meta_base.h>

struct Scaling : opgen::MetaBase {
  double factor = 0;
  bool given = false;

 protected:
  void scale(const opgen::Tensor& self, const opgen::Scalar& by) {
    factor = by.to<double>();
    given = maybe_get_output().defined();
    // Strides are left to the output: a transposed out= tensor stays as it is.
    set_output_raw_strided(0, self.sizes(), {}, self.options());
  }
};
