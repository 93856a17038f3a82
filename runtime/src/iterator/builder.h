// builder.h: IteratorBuilder, which brings an iterator from Unbuilt into one of its forms.
// Internal.
#pragma once

#include "opgen/iterator/iterator_config.h"

namespace opgen::detail {

class IteratorBuilder {
 public:
  // `static_shape` is the shape of the iteration; if it is null, the operands determine the shape.
  IteratorBuilder(TensorIteratorBase& iter, const IteratorSettings& settings,
                  const DimVector* static_shape = nullptr) noexcept
      : iter_(iter),
        state_(iter.state_),
        sink_(iter.opgen_sink_),
        settings_(settings),
        static_shape_(static_shape) {}

  // Builds the iterator in the quickest form that serves the operands, which are given with outputs
  // first. If bit i of `owned` is set, operand i is kept, not borrowed.
  static void build_from(TensorIteratorBase& iter, ArrayRef<const TensorBase*> tensors,
                         int noutputs, unsigned owned, const IteratorSettings& settings,
                         const DimVector* static_shape);
  // Does the same for one output and two to four operands.
  template <const IteratorSettings& settings, unsigned owned, class... T>
  static void build_op(TensorIteratorBase& iter, const T&... operands) {
    const TensorBase* tensors[] = {&operands...};
    constexpr int n = int(sizeof...(operands));
    if constexpr (owned != 0) {
      if (set_up_contiguous(iter, tensors, n, owned, settings)) return;
    } else {
      // The kernels of structured operators build such iterators: the shortest calls.
      if (set_up_contiguous_here(iter, tensors, n, owned, settings)) return;
      if (set_up_small_strided(iter, tensors, settings)) return;
    }
    build_general(iter, tensors, owned, settings);
  }

  // Builds the form General.
  void build(ArrayRef<const TensorBase*> tensors, int noutputs, unsigned owned);
  // Does the same for one output. Not inlined, so that the callers need fewer registers: most of
  // their calls end in set_up_contiguous.
  OPGEN_NOINLINE static void build_general(TensorIteratorBase& iter,
                                           ArrayRef<const TensorBase*> tensors, unsigned owned,
                                           const IteratorSettings& settings);

  // If the only output is a temporary, and element i of the caller's tensor, in memory, belongs to
  // element i of the iteration, returns the caller's tensor, else null.
  [[nodiscard]] static const TensorBase* find_convertible_output(
      const TensorIteratorBase& iter) noexcept;
  // Ends the use of temporaries of outputs; copies them to the tensors that they replace unless
  // the loop has written those.
  static void end_temporaries(TensorIteratorBase& iter, bool copy);

 private:
  // These return false, and leave the iterator Unbuilt, if the operands need another form. They
  // take their data as arguments, for speed, because most calls end here.
  static bool set_up_contiguous_here(TensorIteratorBase& iter, const TensorBase* const* tensors,
                                     int n, unsigned owned, const IteratorSettings& settings);
  static bool set_up_contiguous(TensorIteratorBase& iter, const TensorBase* const* tensors, int n,
                                unsigned owned, const IteratorSettings& settings);
  OPGEN_NOINLINE static bool set_up_small_strided(TensorIteratorBase& iter,
                                                  ArrayRef<const TensorBase*> tensors,
                                                  const IteratorSettings& settings);

  // The steps of build(), in their order.
  OperandInfo& add_operand(const TensorBase& tensor, bool owned, bool output);
  OPGEN_NOINLINE bool set_up_with_numbers();
  void mark_outputs();
  void check_mem_overlaps() const;
  void compute_shape();
  void mark_resize_outputs();
  void check_may_resize(const TensorBase& out) const;
  void compute_types();
  void replace_by_temporary(OperandInfo& op, ScalarType dtype);
  bool set_up_one_dimension();
  void compute_strides();
  void reorder_dimensions(bool linear);
  void permute_dimensions();
  void allocate_or_resize_outputs();
  void coalesce_dimensions();
  [[nodiscard]] TensorOptions output_options(const OperandInfo& op) const;
  void set_output(int i, IntArrayRef sizes, IntArrayRef strides, TensorOptions options);

  [[nodiscard]] const TensorBase& tensor(int i) const noexcept {
    return state_.general->operands[std::size_t(i)].tensor();
  }
  [[nodiscard]] int ntensors() const noexcept {
    return static_cast<int>(state_.general->operands.size());
  }

  TensorIteratorBase& iter_;
  IteratorState& state_;
  OutputSink* const sink_;  // if null, the iterator makes its outputs itself
  const IteratorSettings& settings_;
  const DimVector* const static_shape_;
};

}  // namespace opgen::detail
