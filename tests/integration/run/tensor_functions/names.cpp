// names.cpp: what docs/reference/loops.md lists for both targets and the other
// files do not use; compiled, not called.
#include <opgen/kernel.h>

#include <functions/NativeFunctions.h>

#include <type_traits>

namespace {

using namespace opgen::types;

[[maybe_unused]] void iterators(const Tensor& a, const Tensor& b, Tensor& out) {
  using opgen::TensorIterator;
  TensorIterator made[] = {
      TensorIterator::unary_op(out, a),         TensorIterator::unary_float_op(out, a),
      TensorIterator::binary_op(out, a, b),     TensorIterator::binary_float_op(out, a, b),
      TensorIterator::comparison_op(out, a, b), TensorIterator::borrowing_binary_op(out, a, b),
      TensorIterator::nullary_op(out),
  };
  TensorIterator& iter = made[0];
  auto by_rules = opgen::TensorIteratorConfig()
                      .add_owned_output(out)
                      .add_owned_input(a)
                      .add_owned_const_input(a)
                      .add_const_input(b)
                      .add_borrowed_input(b)
                      .add_borrowed_const_input(b)
                      .promote_inputs_to_common_dtype(true)
                      .promote_integer_inputs_to_float(true)
                      .cast_common_dtype_to_outputs(true)
                      .enforce_safe_casting_to_output(true)
                      .check_all_same_device(true)
                      .allow_cpu_scalars(true)
                      .declare_static_dtype(opgen::kFloat)
                      .declare_static_device(opgen::kCPU)
                      .declare_static_dtype_and_device(opgen::kFloat, opgen::kCPU)
                      .declare_static_shape({2, 3})
                      .declare_static_shape({2, 3}, {1})
                      .resize_outputs(false)
                      .is_reduction(false)
                      .set_check_mem_overlap(true)
                      .enforce_linear_iteration(true)
                      .build();
  iter.remove_operand(1);
  iter.for_each([](char**, const int64_t*, int64_t) {}, opgen::kGrainSize);
  static_cast<void>(by_rules.scalar_value<float>(1));
  static_cast<void>(iter.common_dtype() == iter.dtype(0) || iter.input_dtype(0) == iter.dtype(1));
  static_cast<void>(iter.numel() + iter.ndim() + iter.ntensors() + iter.noutputs() +
                    iter.ninputs() + iter.shape()[0] + iter.strides(0)[0]);
  static_cast<void>(iter.tensor(0).is_same(iter.output(0)) || iter.input(0).is_alias_of(a));
  static_cast<void>(iter.data_ptr(0));
  static_cast<void>(iter.is_scalar(0) || iter.is_cpu_scalar(0) || iter.is_contiguous() ||
                    iter.device(0).is_cpu() || iter.device_type(0) == opgen::kCPU);
}

[[maybe_unused]] void tensors(const Tensor& a, const Scalar& number) {
  static_cast<void>(a.defined() || a.is_floating_point() || a.is_complex() || a.is_signed());
  static_cast<void>(a.is_cpu() || a.is_cuda() || a.is_meta());
  static_cast<void>(a.layout() == opgen::kStrided || a.is_contiguous(MemoryFormat::ChannelsLast));
  static_cast<void>(a.storage_offset() + a.element_size() + int64_t(a.nbytes() + a.itemsize()));
  static_cast<void>(a.storage().nbytes());
  static_cast<void>(number.to<double>());
  static_cast<void>(number.isIntegral(true) || number.isFloatingPoint() || number.isComplex() ||
                    number.isBoolean() || number.type() == opgen::kLong);
  DimVector sizes(a.sizes().begin(), a.sizes().end());
  sizes.insert(sizes.begin(), 1);
  sizes.erase(sizes.begin());
  const IntArrayRef all(sizes);
  static_cast<void>(all.empty() || all.front() == all.back() || all.slice(0, 1) == a.sizes());
  static_cast<void>(TensorOptions()
                        .dtype(opgen::kFloat)
                        .device(opgen::kCPU)
                        .layout(opgen::kStrided)
                        .pinned_memory(false)
                        .memory_format(MemoryFormat::Contiguous));
  opgen::CPUGeneratorImpl own(7);
  static_cast<void>(own.random() + own.random64());
  static_cast<void>(opgen::get_num_threads() + opgen::get_thread_num() +
                    opgen::in_parallel_region());
  opgen::set_num_threads(opgen::get_num_threads());
  using V = opgen::Vec<float>;
  const V v = min(max(V(1), -V(2)), V(3) / V(4));
  static_cast<void>(v[V::size - 1]);
  OPGEN_WARN("a warning of ", a.sizes());
  OPGEN_WARN_ONCE("once");
  OPGEN_CHECK_INDEX(true, "an index");
  OPGEN_CHECK_TYPE(true, "a type");
  OPGEN_CHECK_NOT_IMPLEMENTED(true, "not implemented");
  static_assert(std::is_same_v<opgen::cpp_type_of<opgen::kHalf>, opgen::Half>);
  OPGEN_DISPATCH(a.scalar_type(), "every", OPGEN_WRAP([&] { return sizeof(scalar_t); }), Float,
                 OPGEN_INTEGRAL_DTYPES, OPGEN_HALF_DTYPES, OPGEN_COMPLEX_DTYPES);
}

}  // namespace

OPGEN_META_FUNC(built)(const Tensor& self, const Tensor& other, int64_t which) {
  const Tensor& out = maybe_get_output();
  switch (which) {
    case 0:
      return build_unary_op(out, self);
    case 1:
      return build_unary_float_op(out, self);
    case 3:
      return build_binary_op(out, self, other);
    case 4:
      return build_binary_float_op(out, self, other);
    case 5:
      return build_comparison_op(out, self, other);
    case 6:
      return build_ternary_op(out, self, other, other);
    case 7:
      return build_borrowing_unary_op(out, self);
    case 8:
      return build_borrowing_unary_force_boolean_op(out, self);
    case 9:
      return build_borrowing_binary_float_op(out, self, other);
    case 10:
      return build_borrowing_comparison_op(out, self, other);
    default:
      return build_borrowing_except_last_argument_comparison_op(out, self, other);
  }
}
OPGEN_IMPL_FUNC(built_cpu)
(const Tensor&, const Tensor&, int64_t, const Tensor&) {}
