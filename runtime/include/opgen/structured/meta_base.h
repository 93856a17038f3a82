// meta_base.h: MetaBase, the interface through which a structured operator's meta function declares
// its outputs.
//
// A meta struct derives from MetaBase or from TensorIteratorBase and has one method, meta(...),
// which declares each output. The base class also declares whether an output of the kernel may
// share memory with an input: see Aliasing.
#pragma once

#include <cstdint>

#include "opgen/kernel_macros.h"
#include "opgen/structured/output_sinks.h"

namespace opgen {

struct OPGEN_API MetaBase {
  static constexpr Aliasing opgen_aliasing = Aliasing::Apart;

  // Meta functions use these names. For symbolic sizes, they name other types.
  using Tensor = opgen::Tensor;
  using Int = std::int64_t;
  using IntArrayRef = opgen::IntArrayRef;
  using DimVector = opgen::DimVector;

  MetaBase() noexcept = default;
  MetaBase(const MetaBase&) = delete;
  MetaBase& operator=(const MetaBase&) = delete;

  // These are not virtual, so that no operator needs a vtable. If `opgen_is_iterator_` is set, they
  // cast to TensorIteratorBase to notify it.
  // The kernel relies on exactly these strides, row-major ones for `contiguous`: an out= tensor
  // with other strides is filled from a temporary. With `raw`, the result may have other strides,
  // which the kernel takes from `out`.
  void set_output_strided(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options);
  void set_output_raw_strided(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                              const TensorOptions& options);
  void set_output_contiguous(std::int64_t index, IntArrayRef sizes, const TensorOptions& options);
  // Output i is a view of the argument that the schema says it aliases, for operators without an
  // out= variant; for an in-place view, self gets these sizes and strides.
  void set_output_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                       std::int64_t storage_offset);

  // Returns the tensor given for out= or in-place, or an undefined tensor.
  [[nodiscard]] const TensorBase& maybe_get_output(std::int64_t index = 0) const noexcept {
    return OPGEN_LIKELY(opgen_sink_ != nullptr) ? opgen_sink_->output(index) : opgen_no_output();
  }

  // The class templates of structured.h call it before meta().
  void opgen_bind(OutputSink& sink) noexcept { opgen_sink_ = &sink; }

 protected:
  struct IteratorTag {};
  explicit MetaBase(IteratorTag) noexcept : opgen_is_iterator_(true) {}
  ~MetaBase() = default;

  OutputSink* opgen_sink_ = nullptr;

 private:
  [[nodiscard]] static const TensorBase& opgen_no_output() noexcept;
  void set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                  const TensorOptions& options, bool exact);

  bool opgen_is_iterator_ = false;
};

// The base of a meta class whose kernel is correct if an output is exactly its first tensor
// argument: it reads each element before it writes to the same address.
struct OPGEN_API InplaceMetaBase : MetaBase {
  static constexpr Aliasing opgen_aliasing = Aliasing::Inplace;

 protected:
  ~InplaceMetaBase() = default;
};

}  // namespace opgen
