// output_sinks.cpp: outputs of structured operators, by PyTorch's rules and in its words.
#include "opgen/structured/output_sinks.h"

#include "dtype_names.h"

#include "opgen/iterator/tensor_iterator.h"
#include "opgen/structured/meta_base.h"
#include "opgen/symbolic/symbolic.h"
#include "opgen/symbolic/symbolic_sizes.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen {

void MetaBase::set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options, bool exact) {
  OPGEN_INTERNAL_ASSERT(opgen_sink_ != nullptr, "a meta function was called without outputs");
  opgen_sink_->set_output(index, sizes, strides, options, exact);
  if (opgen_is_iterator_) static_cast<TensorIteratorBase*>(this)->opgen_note_output(index);
}
void MetaBase::set_output_strided(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                  const TensorOptions& options) {
  set_output(index, sizes, strides, options, true);
}
void MetaBase::set_output_raw_strided(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                      const TensorOptions& options) {
  set_output(index, sizes, strides, options, false);
}
void MetaBase::set_output_contiguous(std::int64_t index, IntArrayRef sizes,
                                     const TensorOptions& options) {
  set_output(index, sizes, opgen::contiguous_strides(sizes), options, true);
}
const TensorBase& MetaBase::opgen_no_output() noexcept {
  static const TensorBase undefined;
  return undefined;
}

namespace detail {

void SinkGuard::enter_device(Device device) {
  if (!guard_.current_device().has_value()) guard_.reset_device(device);
}

namespace {

void check_like(const TensorBase& given, const TensorOptions& wanted, const char* what) {
  OPGEN_CHECK(wanted.dtype() == given.scalar_type(), "Expected ", what, " tensor to have dtype ",
              cpp_name(wanted.dtype()), ", but got ", cpp_name(given.scalar_type()), " instead");
  OPGEN_CHECK(wanted.device() == given.device(), "Expected ", what, " tensor to have device ",
              wanted.device(), ", but got ", given.device(), " instead");
}

void check_inplace_options(const TensorBase& self, const TensorOptions& options) {
  OPGEN_CHECK(options.dtype() == self.scalar_type(), "Bad in-place call: input tensor dtype ",
              cpp_name(self.scalar_type()), " and output tensor dtype ", cpp_name(options.dtype()),
              " should match");
  OPGEN_CHECK(options.device() == self.device(), "Bad in-place call: input tensor device ",
              self.device(), " and output tensor device ", options.device(), " should match");
}

}  // namespace

void throw_not_built(const char* op) {
  OPGEN_CHECK(false, op,
              ": the meta function (OPGEN_META_FUNC) did not set up the iterator; call "
              "build_borrowing_binary_op(), another build_..._op() or build(config)");
  __builtin_unreachable();
}
void throw_not_set(const char* op, std::size_t index) {
  OPGEN_CHECK(false, op, ": the meta function (OPGEN_META_FUNC) did not set output ", index,
              "; call set_output_raw_strided(", index,
              ", sizes, strides, options) or another set_output function");
  __builtin_unreachable();
}

// ---- Outputs of fakes ----

SymbolicTensor create_symbolic_out(SymIntArrayRef sizes, SymIntArrayRef strides,
                                   const TensorOptions& options) {
  return make_fake(sizes, strides, options.dtype(), options.device(), options.layout(),
                   options.memory_format_opt().value_or(MemoryFormat::Contiguous));
}

void resize_symbolic_out(const Tensor& out, SymIntArrayRef sizes, SymIntArrayRef strides,
                         const TensorOptions& options) {
  check_like(out, options, "out");
  if (!resize_output_symint(out, sizes)) return;
  const std::optional<MemoryFormat> format = options.memory_format_opt();
  if (!strides.empty() || format.has_value()) {
    set_fake_sizes(out, sizes, strides, format.value_or(MemoryFormat::Contiguous));
  }
}

void check_symbolic_inplace(const Tensor& self, SymIntArrayRef sizes,
                            const TensorOptions& options) {
  check_inplace_options(self, options);
  OPGEN_CHECK(expect_equal(sizes, self.sym_sizes()), "Bad in-place call: input tensor size ",
              self.sym_sizes(), " and output tensor size ", sizes, " should match");
}

}  // namespace detail

void OutputSink::throw_not_set(const char* op) const {
  detail::throw_not_set(op, static_cast<std::size_t>(__builtin_ctzll(~set_)));
}

void OutputSink::set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                            const TensorOptions& options, bool exact) {
  note_set(index);
  guard_.enter(options.device());
  if (kind_ == Kind::Fresh) {
    fresh_[index] = strides.empty() ? detail::empty(sizes, options)
                                    : detail::empty_strided(sizes, strides, options);
    return;
  }
  const TensorBase& out = *given_[index];
  if (kind_ == Kind::Inplace) {
    detail::check_inplace_options(out, options);
    OPGEN_CHECK(sizes == out.sizes(), "Bad in-place call: input tensor size ", out.sizes(),
                " and output tensor size ", sizes, " should match");
  } else {
    detail::check_like(out, options, "out");
    if (resize_output(out, sizes)) {
      restride_output(out, sizes, strides,
                      strides.empty() ? options.memory_format_opt() : std::nullopt);
    }
  }
  if (exact && !strides.empty() && out.strides() != strides) {
    fresh_[index] = detail::empty_strided(sizes, strides, options);
  }
}

const TensorBase& OutputSink::set_contiguous(std::int64_t index, IntArrayRef sizes,
                                             ScalarType dtype, Device device) {
  return fresh_[index] = detail::empty_contiguous(sizes, dtype, device);
}

void OutputSink::copy_back(std::size_t index) {
  opgen::copy_(*given_[index], fresh_[index]);
}

}  // namespace opgen
