// iterator_state.h: the state of a TensorIterator. Kernels need only tensor_iterator.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/atomic.h"
#include "opgen/core/small_vector.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// One tensor of an iteration.
struct OperandInfo {
  std::int64_t stride(std::size_t dim) const noexcept { return stride_bytes[dim]; }
  [[nodiscard]] const TensorBase& tensor() const noexcept {
    return borrowed != nullptr ? *borrowed : owned;
  }
  // Returns the caller's tensor if tensor() is a temporary of another dtype.
  [[nodiscard]] const TensorBase& original_tensor() const noexcept {
    return replaced ? (original_borrowed != nullptr ? *original_borrowed : original_owned)
                    : tensor();
  }
  [[nodiscard]] bool is_type_defined() const noexcept {
    return target_dtype != ScalarType::Undefined;
  }

  // The distance in bytes from one element to the next, for each dimension of the iteration. 0 in
  // dimensions that are broadcast or reduced.
  SmallVector<std::int64_t, 5> stride_bytes;
  void* data = nullptr;
  const TensorBase* borrowed = nullptr;
  TensorBase owned;
  const TensorBase* original_borrowed = nullptr;
  TensorBase original_owned;
  Device device;
  // The dtype that the kernel sees, and the dtype that tensor() has now.
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

// The rules that TensorIteratorConfig sets; in the build_*_op functions they are constants.
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

// The shape and strides of a few operands with few dimensions: the fastest dimension is first, and
// adjacent dimensions are coalesced. strides[d] contains the strides of all operands in dimension
// d, so that it can be passed to a loop over that dimension.
struct SmallStrides {
  static constexpr std::size_t kDims = 5;
  static constexpr std::size_t kOperands = 4;

  std::size_t ndim;
  std::int64_t shape[kDims];
  std::int64_t strides[kDims][kOperands];  // bytes
  // perm[i] is the dimension of the result that became dimension i, for result_ndim dimensions.
  std::uint8_t perm[kDims];
  std::uint8_t result_ndim;
  bool is_read_write;  // the output is also an input
};

// The state of an iterator. Building an iterator chooses its form: Contiguous and SmallStrided are
// quick and serve most calls; General serves all calls. An iterator in a quick form becomes General
// when a caller needs more than the quick form stores (TensorIteratorBase::materialize()). This
// happens at most once, under a lock, and in any thread that runs the kernel. The fields of General
// are complete before `form` becomes General, and the fields of the quick form do not change.
struct IteratorState {
  enum class Form : std::uint8_t {
    General,       // any number of operands and dimensions, with temporaries: `general`
    Unbuilt,       // not built yet
    Contiguous,    // one output, inputs of one dtype; all operands have the same device and shape,
                   // and are contiguous: `quick`
    SmallStrided,  // one output, inputs of one dtype, operands on one device: `quick` and `small`
  };

  struct General {
    DimVector shape;
    // perm[i] is the dimension of the result that became dimension i.
    SmallVector<std::int64_t, 5> perm;
    DimVector view_offsets;  // in elements, per dimension; empty: none
    SmallVector<OperandInfo, 4> operands;
  };

  IteratorState() noexcept = default;
  IteratorState(const IteratorState&) = delete;
  IteratorState& operator=(const IteratorState&) = delete;
  ~IteratorState() {
    if (OPGEN_UNLIKELY(general != nullptr)) destroy_general();
  }

  [[nodiscard]] Form load_form() const noexcept { return form.load_acquire(); }
  [[nodiscard]] bool is_quick() const noexcept { return load_form() >= Form::Contiguous; }
  [[nodiscard]] const TensorBase& tensor(int i) const noexcept {
    return is_quick() ? *quick[i] : general->operands[std::size_t(i)].tensor();
  }
  // Makes an empty `general` if it does not exist.
  void make_general();
  // Fills `general` from the quick form. If bit i of `owned` is set, operand i is kept, not
  // borrowed.
  void write_general(unsigned owned);

  const TensorBase* quick[SmallStrides::kOperands];  // borrowed, outputs first
  std::int32_t quick_count = 0;
  int num_outputs = 0;
  // Points into general_bytes, which most iterators never initialise, or is null.
  General* general = nullptr;
  Atomic<Form> form = Form::Unbuilt;
  ScalarType common_dtype = ScalarType::Undefined;
  Device common_device;
  bool is_reduction = false;
  bool is_meta = false;
  bool all_ops_same_shape = false;
  bool has_temporaries = false;  // whether an output is a temporary
  SmallStrides small;            // only for the form SmallStrided
  alignas(General) unsigned char general_bytes[sizeof(General)];

 private:
  OPGEN_API void destroy_general() noexcept;
};

}  // namespace detail
}  // namespace opgen
