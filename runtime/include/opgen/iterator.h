// iterator.h: TensorIterator: elementwise operations and reductions over operands of any shapes,
// strides and dtypes.
//
// Building one infers the result's shape and dtype, allocates or checks outputs, and reduces the
// operands to few dimensions with strides in bytes, fastest first. In a meta function, whose struct
// derives from TensorIteratorBase:
//   build_[borrowing_]binary_op(out, a, b)            same dtype for all, after promotion
//   build_[borrowing_]binary_float_op(out, a, b)      and integers become the default floating type
//   build_[borrowing_]comparison_op(out, a, b)        operands promoted; output computed as Bool
//   build_borrowing_except_last_argument_comparison_op(out, a, b)    b may be a temporary
//   build_[borrowing_]unary_op(out, a)                dtypes of out and a must be equal
//   build_[borrowing_]unary_float_op(out, a)          integers become the default floating type
//   build_[borrowing_]unary_force_boolean_op(out, a)  output computed as Bool
//   build_ternary_op(out, a, b, c), build(config)
// "borrowing" keeps references: use it unless an operand is a temporary of the meta function.
// "computed as Bool": kernels store bool; an out= tensor of another dtype is converted afterwards.
// Elsewhere: auto iter = TensorIterator::binary_op(out, a, b);
//            auto iter = TensorIteratorConfig().add_output(out)….build();
// Kernels then call cpu_kernel(*this, …) (cpu/loops.h) or for_each.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "opgen/function_ref.h"
#include "opgen/meta_base.h"
#include "opgen/parallel.h"
#include "opgen/small_vector.h"
#include "opgen/tensor.h"

namespace opgen {

class TensorIteratorConfig;

// One tensor of an iteration.
struct OperandInfo {
  std::int64_t stride(std::size_t dim) const noexcept { return stride_bytes[dim]; }
  [[nodiscard]] const TensorBase& tensor() const noexcept {
    return borrowed != nullptr ? *borrowed : owned;
  }
  // What the caller gave, where tensor() is a temporary of another dtype.
  [[nodiscard]] const TensorBase& original_tensor() const noexcept {
    return replaced ? (original_borrowed != nullptr ? *original_borrowed : original_owned)
                    : tensor();
  }
  [[nodiscard]] bool is_type_defined() const noexcept {
    return target_dtype != ScalarType::Undefined;
  }
  [[nodiscard]] bool is_device_defined() const noexcept { return has_device; }

  // Bytes from one element to the next, per dimension of the iteration. 0 where broadcast or
  // reduced.
  SmallVector<std::int64_t, 5> stride_bytes;
  void* data = nullptr;
  const TensorBase* borrowed = nullptr;
  TensorBase owned;
  const TensorBase* original_borrowed = nullptr;
  TensorBase original_owned;
  Device device;
  // What the kernel shall see, and what the tensor has now.
  ScalarType target_dtype = ScalarType::Undefined;
  ScalarType current_dtype = ScalarType::Undefined;
  bool has_device = false;
  bool is_output = false;
  bool is_const = false;
  bool is_read_write = false;
  bool will_resize = false;
  bool replaced = false;
};

namespace detail {

// What TensorIteratorConfig collects and the build_*_op functions have as constants.
struct IteratorSettings {
  bool check_mem_overlap = true;
  bool allow_cpu_scalars = false;
  bool is_reduction = false;
  bool resize_outputs = true;
  bool check_all_same_dtype = true;
  bool check_all_same_device = true;
  bool enforce_safe_casting_to_output = false;
  bool enforce_linear_iteration = false;
  bool promote_inputs_to_common_dtype = false;
  bool promote_integer_inputs_to_float = false;
  bool cast_common_dtype_to_outputs = false;
  bool compute_outputs_as_static_dtype = false;
  ScalarType static_dtype = ScalarType::Undefined;
  bool has_static_device = false;
  Device static_device{};
};

// Shape and strides of a few operands of few dimensions, fastest first, neighbours that are one in
// memory joined. Row by row: what a loop over one dimension is given lies side by side.
struct FewOperands {
  static constexpr std::size_t kDims = 5;
  static constexpr std::size_t kOperands = 4;

  std::size_t ndim;
  std::int64_t shape[kDims];
  std::int64_t strides[kDims][kOperands];  // bytes
  std::uint8_t perm[kDims];                // as many as the result has dimensions
  std::uint8_t result_ndim;
  bool is_read_write;  // the output is an input
};

}  // namespace detail

struct OPGEN_API TensorIteratorBase : MetaBase {
  static constexpr Aliasing opgen_aliasing = Aliasing::Checked;
  using TensorIteratorConfig = opgen::TensorIteratorConfig;  // as in MetaBase
  using StrideVector = SmallVector<std::int64_t, 5>;
  using PtrVector = SmallVector<char*, 4>;
  // data[k]: operand k at the first element. strides[k]: bytes. n: elements.
  using loop1d_t = FunctionRef<void(char** data, const std::int64_t* strides, std::int64_t n)>;
  // strides[0..ntensors): inner, strides[ntensors..2*ntensors): outer.
  using loop2d_t = FunctionRef<void(char** data, const std::int64_t* strides, std::int64_t inner,
                                    std::int64_t outer)>;

  TensorIteratorBase() noexcept : MetaBase(IteratorTag{}) {}
  ~TensorIteratorBase() {
    if (OPGEN_UNLIKELY(general_ != nullptr)) destroy_general();
  }

  // -- building, see the top of the file. `out` undefined: allocated.
  void build(TensorIteratorConfig& config);
  void build_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_binary_float_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_float_op(const TensorBase& out, const TensorBase& a,
                                       const TensorBase& b);
  void build_comparison_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_comparison_op(const TensorBase& out, const TensorBase& a,
                                     const TensorBase& b);
  void build_borrowing_except_last_argument_comparison_op(const TensorBase& out,
                                                          const TensorBase& a, const TensorBase& b);
  void build_borrowing_except_last_argument_binary_op(const TensorBase& out, const TensorBase& a,
                                                      const TensorBase& b);
  void build_unary_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_op(const TensorBase& out, const TensorBase& a);
  void build_unary_float_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_float_op(const TensorBase& out, const TensorBase& a);
  void build_unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  void build_ternary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b,
                        const TensorBase& c);

  // -- what was built
  [[nodiscard]] std::int64_t ndim() const { return static_cast<std::int64_t>(shape().size()); }
  // Coalesced and reordered: fastest dimension first.
  [[nodiscard]] IntArrayRef shape() const {
    settle();
    return general_->shape;
  }
  [[nodiscard]] std::int64_t numel() const noexcept {
    if (is_few()) return few_[0]->numel();
    std::int64_t n = 1;
    if (general_ == nullptr) return n;
    for (std::int64_t size : general_->shape) n *= size;
    return n;
  }
  [[nodiscard]] int ntensors() const noexcept {
    if (is_few()) return few_count_;
    return general_ != nullptr ? static_cast<int>(general_->operands.size()) : 0;
  }
  [[nodiscard]] int noutputs() const noexcept { return num_outputs_; }
  [[nodiscard]] int ninputs() const noexcept { return ntensors() - num_outputs_; }
  [[nodiscard]] const OperandInfo& operand(int i) const {
    settle();
    return general_->operands[std::size_t(i)];
  }
  // Where this part of an iteration begins; empty: at the first element.
  [[nodiscard]] IntArrayRef view_offsets() const noexcept {
    return form() == Form::General ? IntArrayRef(general_->view_offsets) : IntArrayRef();
  }
  [[nodiscard]] std::int64_t num_output_elements() const;

  // Operand i as the kernel sees it: outputs first.
  [[nodiscard]] const TensorBase& tensor(int i) const noexcept {
    return is_few() ? *few_[i] : general_->operands[std::size_t(i)].tensor();
  }
  [[nodiscard]] const TensorBase& output(int i = 0) const noexcept { return tensor(i); }
  [[nodiscard]] const TensorBase& input(int i = 0) const noexcept {
    return tensor(num_outputs_ + i);
  }
  [[nodiscard]] IntArrayRef strides(int i) const { return operand(i).stride_bytes; }
  [[nodiscard]] void* data_ptr(int i) const noexcept {
    return is_few() ? few_[i]->data_ptr() : general_->operands[std::size_t(i)].data;
  }
  [[nodiscard]] ScalarType dtype(int i = 0) const noexcept {
    return is_few() ? few_[i]->scalar_type() : general_->operands[std::size_t(i)].current_dtype;
  }
  [[nodiscard]] ScalarType input_dtype(int i = 0) const noexcept { return dtype(num_outputs_ + i); }
  // The promoted dtype of the inputs.
  [[nodiscard]] ScalarType common_dtype() const {
    if (OPGEN_UNLIKELY(common_dtype_ == ScalarType::Undefined)) throw_no_common_dtype();
    return common_dtype_;
  }
  [[nodiscard]] Device device(int i = 0) const noexcept {
    return is_few() ? common_device_ : general_->operands[std::size_t(i)].device;
  }
  [[nodiscard]] DeviceType device_type(int i = 0) const noexcept { return device(i).type(); }
  [[nodiscard]] std::int64_t element_size(int i) const noexcept {
    return static_cast<std::int64_t>(elementSize(dtype(i)));
  }
  [[nodiscard]] bool is_meta() const noexcept { return is_meta_; }
  [[nodiscard]] bool is_scalar(int i) const noexcept { return tensor(i).numel() == 1; }
  [[nodiscard]] bool is_cpu_scalar(int i) const noexcept {
    return is_scalar(i) && device(i).is_cpu();
  }
  // The only element of operand i.
  template <class T>
  [[nodiscard]] T scalar_value(int i) const noexcept {
    return *static_cast<const T*>(data_ptr(i));
  }
  // One dimension, elements of every operand side by side.
  [[nodiscard]] bool is_contiguous() const;
  // All tensors are alike: one dtype, device and shape, contiguous. Elements i of all of them
  // belong together, for 0 <= i < numel().
  [[nodiscard]] bool is_simple() const noexcept { return form() == Form::Alike; }
  // The operands of a simple iteration, else null.
  [[nodiscard]] OPGEN_ALWAYS_INLINE const TensorBase* const* simple_tensors() const noexcept {
    return is_simple() ? few_ : nullptr;
  }
  // Strides of few tensors that are not alike, while nobody has asked for more than a loop; else
  // null.
  [[nodiscard]] const detail::FewOperands* few_operands() const noexcept {
    return form() == Form::Few ? &strides_ : nullptr;
  }
  // All operands have the same shape.
  [[nodiscard]] bool all_ops_same_shape() const noexcept { return all_ops_same_shape_; }
  // Whether a kernel sees temporaries of another dtype, made when this was built.
  [[nodiscard]] bool has_replaced_operands() const noexcept;
  [[nodiscard]] bool is_dim_reduced(std::int64_t dim) const;
  // Before the first loop only; e.g. an operand that the kernel took by value.
  void remove_operand(int i);
  void unsafe_replace_operand(int i, void* data) {
    settle();
    general_->operands[std::size_t(i)].data = data;
  }

  // -- running. Large iterations are split over threads unless `grain` says otherwise.
  template <class F>
  void for_each(F&& loop, std::int64_t grain = kGrainSize) {
    settle();
    run(std::forward<F>(loop), [&](loop2d_t f) { for_each_2d(f, grain); });
  }
  // Elements [begin, end) in iteration order, in this thread.
  template <class F>
  void serial_for_each(F&& loop, std::int64_t begin, std::int64_t end) const {
    settle();
    run(std::forward<F>(loop), [&](loop2d_t f) { serial_for_each_2d(f, begin, end); });
  }
  // Calls f(iterator) for parts of a reduction that do not share outputs, in parallel where that
  // pays.
  void parallel_for_outputs(FunctionRef<void(TensorIteratorBase&)> f) const;
  // Whether 32 bits hold every element's number and its distance in bytes from the first one.
  [[nodiscard]] bool can_use_32bit_indexing() const;
  // Calls f(iterator) for parts for which they do, halving the dimension that reaches farthest.
  // Dimensions that fold are not cut.
  void with_32bit_indexing(FunctionRef<void(TensorIteratorBase&)> f) const;
  // Copies temporaries to the outputs they stand for. Structured operators do so by themselves.
  void cast_outputs() {
    if (OPGEN_UNLIKELY(has_temporaries_)) copy_temporaries();
  }

  // Restricts the iteration to [start, start + size) of dimension `dim`.
  void narrow(std::int64_t dim, std::int64_t start, std::int64_t size);
  // Makes this an iteration over the same operands as `other`, which must outlive it.
  void borrow(const TensorIteratorBase& other);

  // Whether build() or a build_..._op() was called.
  [[nodiscard]] bool opgen_is_built() const noexcept { return form() != Form::Unbuilt; }
  // In the quick forms, which have one output, that one is set, though the sink may not know it.
  [[nodiscard]] bool opgen_has_its_output() const noexcept { return is_few(); }
  // Used by MetaBase: output `index` is now as its sink made it.
  void opgen_note_output(std::int64_t index);

 protected:
  // Outputs first. Bit i of `owned`: operand i is kept, not borrowed.
  void build_operands(ArrayRef<const TensorBase*> tensors, int noutputs, unsigned owned,
                      const detail::IteratorSettings& settings, const DimVector* static_shape);

 private:
  void for_each_2d(loop2d_t loop, std::int64_t grain);
  void serial_for_each_2d(loop2d_t loop, std::int64_t begin, std::int64_t end) const;
  // A loop of one dimension is called once per row.
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

  [[noreturn]] static void throw_no_common_dtype();
  OperandInfo& add_operand(const TensorBase& tensor, bool owned, bool output);
  bool simple_set_up(const TensorBase* const* tensors, int n, unsigned owned,
                     const detail::IteratorSettings& settings);
  bool strided_set_up(ArrayRef<const TensorBase*> tensors,
                      const detail::IteratorSettings& settings);
  bool number_set_up(const detail::IteratorSettings& settings);
  // An iteration is written down in full when someone asks for more than the quick set-ups keep.
  // Kernels may ask from several threads.
  enum class Form : std::uint8_t { General, Unbuilt, Alike, Few };
  [[nodiscard]] Form form() const noexcept {
    Form now;  // clang's __atomic_load_n takes no enumerations
    __atomic_load(&form_, &now, __ATOMIC_ACQUIRE);
    return now;
  }
  [[nodiscard]] bool is_few() const noexcept { return form() >= Form::Alike; }
  void settle() const {
    if (OPGEN_UNLIKELY(form() != Form::General)) {
      const_cast<TensorIteratorBase*>(this)->settle_few();
    }
  }
  void settle_few();
  void write_few_operands(unsigned owned);
  void make_general();
  void destroy_general() noexcept;
  void mark_outputs();
  void check_mem_overlaps() const;
  void check_may_resize(const TensorBase& out) const;
  void compute_shape(const detail::IteratorSettings& settings, const DimVector* static_shape);
  void mark_resize_outputs(const detail::IteratorSettings& settings, const DimVector* static_shape);
  void compute_types(const detail::IteratorSettings& settings);
  void replace_by_temporary(OperandInfo& op, ScalarType dtype);
  bool fast_set_up(const detail::IteratorSettings& settings);
  void copy_temporaries();
  void compute_strides(const DimVector* static_shape);
  void reorder_dimensions(bool linear);
  void permute_dimensions();
  void allocate_or_resize_outputs();
  void coalesce_dimensions();
  TensorOptions output_options(const OperandInfo& op) const;
  void set_iterator_output(int i, IntArrayRef sizes, IntArrayRef strides, TensorOptions options);

  // Of any number of operands and dimensions, with temporaries.
  struct General {
    DimVector shape;
    // perm[i]: the dimension of the result that became dimension i.
    SmallVector<std::int64_t, 5> perm;
    DimVector view_offsets;
    SmallVector<OperandInfo, 4> operands;
  };

  // The operands while the form is Alike or Few.
  const TensorBase* few_[detail::FewOperands::kOperands];
  std::int32_t few_count_ = 0;
  int num_outputs_ = 0;
  // Null until the iteration is written down there. Most never are: it is not even initialised.
  General* general_ = nullptr;
  Form form_ = Form::Unbuilt;
  ScalarType common_dtype_ = ScalarType::Undefined;
  Device common_device_;
  bool is_reduction_ = false;
  bool is_meta_ = false;
  bool all_ops_same_shape_ = false;
  bool coalesced_ = false;
  bool has_temporaries_ = false;
  detail::FewOperands strides_;  // of the form Few
  alignas(General) unsigned char general_bytes_[sizeof(General)];

  friend opgen::TensorIteratorConfig;
};

// An iterator that allocates and resizes its outputs itself.
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
  // No input; `out` keeps its shape.
  static TensorIterator nullary_op(const TensorBase& out);
  // `out` has the shape of `a` with stride 0 where it is reduced: see make_reduction (reduce.h).
  static TensorIterator reduce_op(const TensorBase& out, const TensorBase& a);
  static TensorIterator reduce_op(const TensorBase& out1, const TensorBase& out2,
                                  const TensorBase& a);

 private:
  friend opgen::TensorIteratorConfig;
  explicit TensorIterator(TensorIteratorConfig& config) { build(config); }
  explicit TensorIterator(FunctionRef<void(TensorIteratorBase&)> build_op) { build_op(*this); }
  TensorIterator(std::initializer_list<const TensorBase*> operands, int noutputs,
                 const detail::IteratorSettings& settings);
};

// Operands and rules, one call each: outputs first. Tensors are kept; *_borrowed_* keeps references
// only.
class OPGEN_API TensorIteratorConfig {
 public:
  TensorIteratorConfig() = default;
  TensorIteratorConfig(const TensorIteratorConfig&) = delete;
  TensorIteratorConfig& operator=(const TensorIteratorConfig&) = delete;

  TensorIteratorConfig& add_output(const TensorBase& tensor) { return add(tensor, true, true); }
  TensorIteratorConfig& add_input(const TensorBase& tensor) { return add(tensor, false, true); }
  TensorIteratorConfig& add_const_input(const TensorBase& tensor) { return add_input(tensor); }
  TensorIteratorConfig& add_owned_output(const TensorBase& tensor) { return add_output(tensor); }
  TensorIteratorConfig& add_owned_input(const TensorBase& tensor) { return add_input(tensor); }
  TensorIteratorConfig& add_owned_const_input(const TensorBase& tensor) {
    return add_input(tensor);
  }
  TensorIteratorConfig& add_borrowed_output(const TensorBase& tensor) {
    return add(tensor, true, false);
  }
  TensorIteratorConfig& add_borrowed_input(const TensorBase& tensor) {
    return add(tensor, false, false);
  }
  TensorIteratorConfig& add_borrowed_const_input(const TensorBase& tensor) {
    return add_borrowed_input(tensor);
  }
  TensorIteratorConfig& add_borrowed_output(TensorBase&& tensor) = delete;
  TensorIteratorConfig& add_borrowed_input(TensorBase&& tensor) = delete;
  TensorIteratorConfig& add_borrowed_const_input(TensorBase&& tensor) = delete;

  // Outputs may not overlap themselves, nor inputs in part. On at start.
  TensorIteratorConfig& set_check_mem_overlap(bool value);
  // Zero-dim CPU tensors may accompany tensors of another device.
  TensorIteratorConfig& allow_cpu_scalars(bool value);
  TensorIteratorConfig& is_reduction(bool value);
  // Outputs that are no inputs take the shape of the result. On at start.
  TensorIteratorConfig& resize_outputs(bool value);
  // On at start; off once promotion or casting is asked for.
  TensorIteratorConfig& check_all_same_dtype(bool value);
  TensorIteratorConfig& check_all_same_device(bool value);
  TensorIteratorConfig& enforce_safe_casting_to_output(bool value);
  // Keeps the order of dimensions, so that elements come in row-major order.
  TensorIteratorConfig& enforce_linear_iteration(bool value = true);
  // Inputs are converted to their common dtype (on CPU, through temporaries).
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool value);
  TensorIteratorConfig& promote_integer_inputs_to_float(bool value);
  // Outputs are computed in the common dtype and converted at the end.
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool value);
  // Outputs are computed in the declared dtype and converted at the end.
  TensorIteratorConfig& cast_static_dtype_to_outputs(bool value);
  // For undefined outputs.
  TensorIteratorConfig& declare_static_dtype(ScalarType dtype);
  TensorIteratorConfig& declare_static_device(Device device);
  TensorIteratorConfig& declare_static_dtype_and_device(ScalarType dtype, Device device);
  // The shape of the iteration instead of the broadcast one; `squash_dims` get size 1.
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape);
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, IntArrayRef squash_dims);

  [[nodiscard]] TensorIterator build();

 private:
  struct Operand {
    const TensorBase* borrowed;
    TensorBase owned;
  };
  TensorIteratorConfig& add(const TensorBase& tensor, bool output, bool owned);

  SmallVector<Operand, 4> operands_;
  int num_outputs_ = 0;
  detail::IteratorSettings settings_;
  std::optional<DimVector> static_shape_;

  friend struct TensorIteratorBase;
};

}  // namespace opgen
