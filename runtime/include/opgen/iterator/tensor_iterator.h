// tensor_iterator.h: TensorIterator iterates over the elements of several tensors with any shapes,
// strides and dtypes.
//
// Building an iterator infers the shape and the dtype of the result, allocates outputs or checks
// the given ones, and reduces the operands to few dimensions with strides in bytes, fastest first.
// The meta function of a struct that derives from TensorIteratorBase builds it. The kernel then
// runs a loop over it: cpu_kernel (cpu/loops.h), cpu_reduce (cpu/reduce.h), or for_each below.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "opgen/core/function_ref.h"
#include "opgen/core/parallel.h"
#include "opgen/core/small_vector.h"
#include "opgen/iterator/iterator_state.h"
#include "opgen/structured/meta_base.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

class TensorIteratorConfig;

namespace detail {
class IteratorBuilder;
}

struct OPGEN_API TensorIteratorBase : MetaBase {
  static constexpr Aliasing opgen_aliasing = Aliasing::Checked;
  using TensorIteratorConfig = opgen::TensorIteratorConfig;  // as in MetaBase
  using PtrVector = SmallVector<char*, 4>;
  // A loop over one dimension of n elements. data[k] is the address of the first element of operand
  // k, and strides[k] the distance in bytes from one element of operand k to the next.
  using loop1d_t = FunctionRef<void(char** data, const std::int64_t* strides, std::int64_t n)>;
  // A loop over two dimensions. strides[k] is the stride of operand k in the inner dimension, and
  // strides[ntensors() + k] in the outer one.
  using loop2d_t = FunctionRef<void(char** data, const std::int64_t* strides, std::int64_t inner,
                                    std::int64_t outer)>;

  TensorIteratorBase() noexcept : MetaBase(IteratorTag{}) {}

  // ---- Build: once per iterator ----
  // An undefined `out` is allocated. The borrowing builders keep references to the tensors: use
  // them unless an operand is a temporary of the meta function, and the "except_last_argument"
  // builders if only the last operand is one. All builders throw Error if shapes do not broadcast,
  // dtypes or devices do not match, or the memory of an output overlaps itself or partially
  // overlaps an input.

  // Inputs are promoted to a common dtype, in which the output is computed.
  void build_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_except_last_argument_binary_op(const TensorBase& out, const TensorBase& a,
                                                      const TensorBase& b);
  void build_ternary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b,
                        const TensorBase& c);
  // Do the same, but convert integers to the default floating dtype.
  void build_binary_float_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_float_op(const TensorBase& out, const TensorBase& a,
                                       const TensorBase& b);
  // Inputs are promoted. The kernel stores bool, which is converted afterwards if an out= tensor
  // has another dtype.
  void build_comparison_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_comparison_op(const TensorBase& out, const TensorBase& a,
                                     const TensorBase& b);
  void build_borrowing_except_last_argument_comparison_op(const TensorBase& out,
                                                          const TensorBase& a, const TensorBase& b);
  // `out` and `a` must have the same dtype.
  void build_unary_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_op(const TensorBase& out, const TensorBase& a);
  void build_output_borrowing_argument_owning_unary_op(const TensorBase& out, const TensorBase& a);
  // Integers become the default floating dtype.
  void build_unary_float_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_float_op(const TensorBase& out, const TensorBase& a);
  // The kernel stores bool.
  void build_unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  void build(TensorIteratorConfig& config);

  // ---- The iteration ----

  // Return the sizes, fastest dimension first, after adjacent dimensions were coalesced.
  [[nodiscard]] std::int64_t ndim() const { return static_cast<std::int64_t>(shape().size()); }
  [[nodiscard]] IntArrayRef shape() const {
    materialize();
    return state_.general->shape;
  }
  [[nodiscard]] std::int64_t numel() const noexcept {
    if (state_.is_quick()) return state_.quick[0]->numel();
    std::int64_t n = 1;
    if (state_.general == nullptr) return n;
    for (std::int64_t size : state_.general->shape) n *= size;
    return n;
  }
  // Returns the number of elements of an output; fewer than numel() in a reduction.
  [[nodiscard]] std::int64_t num_output_elements() const;
  // Returns the start of this part of an iteration, in elements per dimension; empty for the first
  // element.
  [[nodiscard]] IntArrayRef view_offsets() const noexcept {
    return state_.load_form() == Form::General ? IntArrayRef(state_.general->view_offsets)
                                               : IntArrayRef();
  }
  [[nodiscard]] bool is_meta() const noexcept { return state_.is_meta; }
  // Returns whether the iteration has one dimension and the elements of each operand are adjacent.
  [[nodiscard]] bool is_contiguous() const;
  [[nodiscard]] bool is_dim_reduced(std::int64_t dim) const;
  // Returns whether all operands have the same shape, so that nothing is broadcast.
  [[nodiscard]] bool all_ops_same_shape() const noexcept { return state_.all_ops_same_shape; }
  // Returns the promoted dtype of the inputs. Throws Error if they have different dtypes.
  [[nodiscard]] ScalarType common_dtype() const {
    if (OPGEN_UNLIKELY(state_.common_dtype == ScalarType::Undefined)) throw_no_common_dtype();
    return state_.common_dtype;
  }
  [[nodiscard]] std::optional<ScalarType> found_common_dtype() const noexcept {
    if (state_.common_dtype == ScalarType::Undefined) return std::nullopt;
    return state_.common_dtype;
  }

  // ---- The operands, outputs first, as the kernel sees them ----

  [[nodiscard]] int ntensors() const noexcept {
    if (state_.is_quick()) return state_.quick_count;
    return state_.general != nullptr ? static_cast<int>(state_.general->operands.size()) : 0;
  }
  [[nodiscard]] int noutputs() const noexcept { return state_.num_outputs; }
  [[nodiscard]] int ninputs() const noexcept { return ntensors() - state_.num_outputs; }
  [[nodiscard]] const TensorBase& tensor(int i) const noexcept { return state_.tensor(i); }
  [[nodiscard]] const TensorBase& output(int i = 0) const noexcept { return tensor(i); }
  [[nodiscard]] const TensorBase& input(int i = 0) const noexcept {
    return tensor(state_.num_outputs + i);
  }
  [[nodiscard]] void* data_ptr(int i) const noexcept {
    return state_.is_quick() ? state_.quick[i]->data_ptr()
                             : state_.general->operands[std::size_t(i)].data;
  }
  // Returns strides in bytes, fastest dimension first; 0 in dimensions that are broadcast or
  // reduced.
  [[nodiscard]] IntArrayRef strides(int i) const { return operand(i).stride_bytes; }
  [[nodiscard]] ScalarType dtype(int i = 0) const noexcept {
    return state_.is_quick() ? state_.quick[i]->scalar_type()
                             : state_.general->operands[std::size_t(i)].current_dtype;
  }
  [[nodiscard]] ScalarType input_dtype(int i = 0) const noexcept {
    return dtype(state_.num_outputs + i);
  }
  [[nodiscard]] std::int64_t element_size(int i) const noexcept {
    return static_cast<std::int64_t>(elementSize(dtype(i)));
  }
  [[nodiscard]] Device device(int i = 0) const noexcept {
    return state_.is_quick() ? state_.common_device
                             : state_.general->operands[std::size_t(i)].device;
  }
  [[nodiscard]] DeviceType device_type(int i = 0) const noexcept { return device(i).type(); }
  [[nodiscard]] bool is_scalar(int i) const noexcept { return tensor(i).numel() == 1; }
  [[nodiscard]] bool is_cpu_scalar(int i) const noexcept {
    return is_scalar(i) && device(i).is_cpu();
  }
  template <class T>
  [[nodiscard]] T scalar_value(int i) const noexcept {
    return *static_cast<const T*>(data_ptr(i));
  }
  [[nodiscard]] const OperandInfo& operand(int i) const {
    materialize();
    return state_.general->operands[std::size_t(i)];
  }
  // Call it only before the first loop.
  void remove_operand(int i);

  // ---- Run a loop ----

  // Calls `loop`, a loop1d_t or a loop2d_t, until each element was passed once. More than `grain`
  // elements are divided among threads.
  template <class F>
  void for_each(F&& loop, std::int64_t grain = kGrainSize) {
    materialize();
    run(std::forward<F>(loop), [&](loop2d_t f) { for_each_2d(f, grain); });
  }
  // Runs the loop over the elements [begin, end) in the order of the iteration, in this thread.
  template <class F>
  void serial_for_each(F&& loop, std::int64_t begin, std::int64_t end) const {
    materialize();
    run(std::forward<F>(loop), [&](loop2d_t f) { serial_for_each_2d(f, begin, end); });
  }
  // Calls f(iterator) for parts of a reduction that do not share outputs, in parallel if there are
  // enough elements.
  void parallel_for_outputs(FunctionRef<void(TensorIteratorBase&)> f) const;
  // Returns whether each element's index, and its distance in bytes from the first element, fit
  // into 32 bits.
  [[nodiscard]] bool can_use_32bit_indexing() const;
  // Calls f(iterator) for parts that can use 32-bit indexing, halving the dimension that spans the
  // most memory. Reduced dimensions are not split.
  void with_32bit_indexing(FunctionRef<void(TensorIteratorBase&)> f) const;
  // Copies temporaries to the outputs that they replace. Structured operators call it after impl.
  void cast_outputs() {
    if (OPGEN_UNLIKELY(state_.has_temporaries)) copy_temporaries();
  }

  // Restricts the iteration to [start, start + size) of dimension `dim`.
  void narrow(std::int64_t dim, std::int64_t start, std::int64_t size);
  // Makes this an iteration over the operands of `other`, which must outlive it.
  void borrow(const TensorIteratorBase& other);

  // ---- For the runtime's own loops (see iterator_state.h) ----

  // Returns the operands if the form is Contiguous, else null. Elements i of all operands belong
  // together, for 0 <= i < numel().
  [[nodiscard]] OPGEN_ALWAYS_INLINE const TensorBase* const* contiguous_tensors() const noexcept {
    return state_.load_form() == Form::Contiguous ? state_.quick : nullptr;
  }
  // Returns shape and strides if the form is SmallStrided, else null.
  [[nodiscard]] const detail::SmallStrides* small_strides() const noexcept {
    return state_.load_form() == Form::SmallStrided ? &state_.small : nullptr;
  }
  // Returns whether the kernel sees temporaries of another dtype, which were made by build().
  [[nodiscard]] bool has_replaced_operands() const noexcept;
  // Returns whether build() or a build_..._op() was called.
  [[nodiscard]] bool opgen_is_built() const noexcept { return state_.load_form() != Form::Unbuilt; }
  // Returns whether the form is quick: it then has one output, which is set even if the sink does
  // not know it.
  [[nodiscard]] bool opgen_has_its_output() const noexcept { return state_.is_quick(); }
  // Called by MetaBase when its sink has made output `index`.
  void opgen_note_output(std::int64_t index);

 private:
  using Form = detail::IteratorState::Form;

  // Brings the iterator into the form General. Kernels may do so from several threads.
  void materialize() const {
    if (OPGEN_UNLIKELY(state_.load_form() != Form::General)) {
      const_cast<TensorIteratorBase*>(this)->materialize_once();
    }
  }
  void materialize_once();
  void copy_temporaries();
  [[noreturn]] static void throw_no_common_dtype();

  template <class F, class Run>
  void run(F&& loop, const Run& run_2d) const {
    if constexpr (std::is_invocable_v<F&, char**, const std::int64_t*, std::int64_t,
                                      std::int64_t>) {
      run_2d(loop2d_t(loop));
    } else {
      loop1d_t row(loop);
      int n = ntensors();
      run_2d([row, n](char** data, const std::int64_t* strides, std::int64_t inner,
                      std::int64_t outer) { for_rows(row, n, data, strides, inner, outer); });
    }
  }
  static void for_rows(loop1d_t row, int ntensors, char** data, const std::int64_t* strides,
                       std::int64_t inner, std::int64_t outer);
  void for_each_2d(loop2d_t loop, std::int64_t grain);
  void serial_for_each_2d(loop2d_t loop, std::int64_t begin, std::int64_t end) const;

  detail::IteratorState state_;

  friend class detail::IteratorBuilder;
};

// An iterator outside of a structured operator, made as by the build_..._op() with the same name.
// It allocates and resizes its outputs itself, and shares ownership of its operands, except with
// `borrowing_`.
struct OPGEN_API TensorIterator : TensorIteratorBase {
  TensorIterator() noexcept = default;
  TensorIterator(TensorIterator&& other) = delete;

  static TensorIterator binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator binary_float_op(const TensorBase& out, const TensorBase& a,
                                        const TensorBase& b);
  static TensorIterator borrowing_binary_op(const TensorBase& out, const TensorBase& a,
                                            const TensorBase& b);
  static TensorIterator comparison_op(const TensorBase& out, const TensorBase& a,
                                      const TensorBase& b);
  static TensorIterator unary_op(const TensorBase& out, const TensorBase& a);
  static TensorIterator unary_float_op(const TensorBase& out, const TensorBase& a);
  static TensorIterator unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  static TensorIterator ternary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b,
                                   const TensorBase& c);
  // Has no input; `out` keeps its shape.
  static TensorIterator nullary_op(const TensorBase& out);
  // `out` has the shape of `a`, with stride 0 in the reduced dimensions: see make_reduction
  // (cpu/reduce.h).
  static TensorIterator reduce_op(const TensorBase& out, const TensorBase& a);
  static TensorIterator reduce_op(const TensorBase& out1, const TensorBase& out2,
                                  const TensorBase& a);

 private:
  friend opgen::TensorIteratorConfig;
  friend class detail::IteratorBuilder;
  explicit TensorIterator(TensorIteratorConfig& config) { build(config); }
  explicit TensorIterator(FunctionRef<void(TensorIteratorBase&)> build_op) { build_op(*this); }
};

}  // namespace opgen
