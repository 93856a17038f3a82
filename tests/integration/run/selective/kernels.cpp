// kernels.cpp: the kernels of all operators; those of thrice call operators that are not in the
// library.
#include <opgen/kernel.h>

#include <cstdio>

#include <aten/ops/scale.h>
#include <aten/ops/scale_meta.h>
#include <aten/ops/scale_native.h>
#include <aten/ops/thrice.h>
#include <aten/ops/thrice_native.h>
#include <aten/ops/twice_native.h>

namespace {

template <class T>
void doubled(const opgen::TensorBase& out, const opgen::TensorBase& self) {
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    out.mutable_data_ptr<T>()[i] = static_cast<T>(self.const_data_ptr<T>()[i] + self.const_data_ptr<T>()[i]);
  }
}
// The name of this dispatch is only known at run time.
void multiply(const char* name, const opgen::TensorBase& a, const opgen::TensorBase& b, const opgen::TensorBase& out) {
  opgen::dispatch<opgen::RealTypes>(a.scalar_type(), name, [&]<class scalar_t> {
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      out.mutable_data_ptr<scalar_t>()[i] =
          static_cast<scalar_t>(a.const_data_ptr<scalar_t>()[i] * b.const_data_ptr<scalar_t>()[i]);
    }
  });
}
// At -O0 the compiler keeps this even if it is never called.
template <class F>
at::Tensor helper(const at::Tensor& self, F f) {
  return f(at::thrice(self.thrice()));
}

}  // namespace

OPGEN_KERNEL(twice_cpu)(const Tensor& self) {
  Tensor out(opgen::empty(self.sizes(), self.options()));
  const char* name = OPGEN_DISPATCH_ALL_BUT_BOOL(self.scalar_type(), "twice_cpu", [&] {
    doubled<scalar_t>(out, self);
    return opgen::toString(self.scalar_type());
  });
  std::printf("(kernel for %s) ", name);
  return out;
}
OPGEN_KERNEL(thrice_cpu)(const Tensor& self) {
  return helper(self, [](const Tensor& t) { return at::scale_out(*const_cast<Tensor*>(&t), t, t); });
}
OPGEN_META_FUNC(scale)(const Tensor& self, const Tensor&) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scale_out_cpu)(const Tensor& self, const Tensor& other, const Tensor& out) {
  multiply("scale_cpu", self, other, out);
}
