// reduction_loops.h: the engine of all reductions. A ReductionPlan says where the elements of each
// output lie; ReductionLoops fold rows of elements into states; run_reduction divides the work.
//
// Outputs whose elements lie next to each other are folded together, down the columns of a matrix;
// others are folded row by row. Elements that are not adjacent or have another type than the one
// they are computed in are collected in blocks. Long folds are combined pairwise. Where it is split
// depends only on shape and strides, not on the number of threads.
#pragma once

#include <cstdint>

#include "opgen/iterator/tensor_iterator.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen::detail {

// The dimensions of a reduction: those of the output, and those that are folded (reduced).
// Strides are in bytes.
struct ReductionPlan {
  char* out = nullptr;
  const char* in = nullptr;
  DimVector out_sizes;
  DimVector out_strides;
  DimVector in_strides;
  // The folded dimensions, fastest first. The first of them forms the rows.
  DimVector fold_sizes;
  DimVector fold_strides;
  std::int64_t outputs = 1;
  std::int64_t row = 1;
  std::int64_t row_stride = 0;
  std::int64_t rows = 1;

  OPGEN_API explicit ReductionPlan(const TensorIteratorBase& iter);
  [[nodiscard]] std::int64_t folded() const noexcept { return row * rows; }
  // Finds the address of output i and that of the first element that is folded into it.
  void locate_output(std::int64_t i, char*& out_at, const char*& in_at) const noexcept;
  // Returns the address of element i of those that are folded into the output of `first`.
  [[nodiscard]] const char* locate(const char* first, std::int64_t i) const noexcept;
  // Returns whether adjacent outputs are folded together.
  [[nodiscard]] bool folds_columns() const noexcept;
};

// One kind of reduction, by functions of whole rows. A state holds what is known of an output after
// some of its elements. `first` is the number of the first element in the order of the fold.
class ReductionLoops {
 public:
  std::int64_t item;         // bytes of an element in memory
  std::int64_t loaded;       // bytes of an element of a row
  std::int64_t state_size;   // bytes of a state
  bool direct;               // rows may lie where the elements are
  std::int64_t row_leaf;     // the most elements that `rows` folds into one state
  std::int64_t column_leaf;  // the most rows that `columns` folds
  bool takes_every_second = false;

  // Collects n elements, `stride` bytes apart, in a row.
  virtual void load(void* to, const char* from, std::int64_t stride, std::int64_t n) const = 0;
  // Sets states[k] to the fold of the n > 0 elements at `at + k * step`.
  virtual void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count,
                    std::int64_t first, void* states) const = 0;
  // If takes_every_second: folds n elements, a multiple of 64, which lie 2 * item bytes apart. May
  // also read the element between the last one and the next.
  virtual void every_second(const char* /*at*/, std::int64_t /*n*/, void* /*state*/) const {}
  // Sets states[k] to the fold of element k of n > 0 rows.
  virtual void columns(const char* const* rows, std::int64_t n, std::int64_t count,
                       std::int64_t first, void* states) const = 0;
  // Folds later[k] into states[k].
  virtual void combine(void* states, const void* later, std::int64_t count) const = 0;
  // Sets the states of outputs without elements.
  virtual void clear(void* states, std::int64_t count) const = 0;
  // Writes the outputs, `stride` bytes apart.
  virtual void store(char* out, std::int64_t stride, const void* states,
                     std::int64_t count) const = 0;

 protected:
  ReductionLoops() = default;
  ~ReductionLoops() = default;
};

OPGEN_API void run_reduction(const ReductionPlan& plan, const ReductionLoops& loops);

}  // namespace opgen::detail
