// meta.cpp: functions::meta::f with tensors on the CPU and on Meta, of more elements than any
// memory holds.
#include <opgen/kernel.h>

#include <functions/Functions.h>
#include <functions/MetaFunctions.h>
#include <functions/NativeFunctions.h>

#include <vector>

OPGEN_META_FUNC(plus)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(plus_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_ALL(common_dtype(), "plus", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
  });
}

OPGEN_KERNEL(joined_cpu)
(TensorList, const List<std::optional<Tensor>>&, const std::optional<Tensor>&) {
  OPGEN_CHECK(false, "only its shape is computed");
}
OPGEN_KERNEL(joined_meta)
(TensorList parts, const List<std::optional<Tensor>>& others, const std::optional<Tensor>& last) {
  OPGEN_CHECK(last.has_value(), "the last part is missing");
  opgen::DimVector sizes(last->sizes().begin(), last->sizes().end());
  for (const Tensor& part : parts) {
    OPGEN_CHECK(part.is_meta(), "a part is on another device than Meta");
    sizes.push_back(part.dim());
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::optional<Tensor> other = others.get(i);
    OPGEN_CHECK(!other.has_value() || other->is_meta(), "a part is on another device than Meta");
  }
  return opgen::new_empty(*last, sizes);
}

OPGEN_KERNEL(fresh)
(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool>) {
  return opgen::empty(size, opgen::TensorOptions().dtype(dtype).layout(layout).device(device));
}

OPGEN_KERNEL(double_)(Tensor& self) {
  if (!self.is_meta()) opgen::copy_(self, functions::plus(self, self));
  return self;
}
OPGEN_KERNEL(doubled)(const Tensor& self) {
  Tensor result = opgen::empty_like(self);
  return functions::plus_out(result, self, self);
}
OPGEN_KERNEL(fourfold)(const Tensor& self) {
  return functions::plus(functions::doubled(self), functions::doubled(self));
}

OPGEN_KERNEL(on_meta)(const Tensor& self) {
  namespace meta = functions::meta;
  constexpr int64_t most = int64_t(1) << 40, more = int64_t(1) << 16;
  const auto wide = [&](const Tensor& tensor) {
    return opgen::expand(opgen::as_strided(tensor, {1, 1}, {1, 1}), {most, more});
  };
  const Tensor floats = wide(self), longs = wide(opgen::to_dtype(self, opgen::kLong));
  Tensor out = opgen::empty({most, more}, opgen::TensorOptions().device(opgen::kMeta));
  Tensor none = opgen::empty({0}, opgen::TensorOptions().device(opgen::kMeta));
  const List<std::optional<Tensor>> others(
      std::vector<std::optional<Tensor>>{floats, std::nullopt});
  std::vector<Tensor> results;
  for (const Tensor& tensor : {
           meta::ramp(floats, 0.5),
           meta::ramp(longs, 0.5),
           meta::plus(floats, longs),
           meta::plus(longs, opgen::wrapped_scalar_tensor(2)),
           meta::plus_out(out, floats, longs),
           meta::plus_out(none, floats, longs),
           meta::plus_(out, longs),
           meta::double_(out),
           meta::joined({self, floats}, others, floats),
           meta::fresh({most, more}),
           meta::fresh({most, more}, opgen::TensorOptions(opgen::kLong).device(opgen::kCPU)),
           // Composite kernels have no function of their own for Meta; the dispatcher finds them.
           functions::doubled(out),
           functions::fourfold(out),
       }) {
    const Tensor told = opgen::empty({4}, opgen::kLong);
    int64_t* to = told.mutable_data_ptr<int64_t>();
    *to++ = tensor.is_meta();
    *to++ = tensor.size(0);
    *to++ = tensor.size(1);
    *to++ = static_cast<int64_t>(tensor.scalar_type());
    results.push_back(told);
  }
  // A tensor that is written must be on Meta already.
  int64_t refused = 0;
  const auto refuse = [&](const auto& call) {
    try {
      call();
    } catch (const opgen::ValueError& error) {
      refused += std::string_view(error.what()).find("is on cpu") != std::string_view::npos;
    }
  };
  Tensor written = opgen::clone(self);
  refuse([&] { meta::plus_(written, self); });
  refuse([&] { meta::plus_out(written, self, self); });
  refuse([&] { meta::double_(written); });
  results.push_back(opgen::full({}, refused));
  return results;
}
