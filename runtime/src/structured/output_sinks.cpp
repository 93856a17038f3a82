// output_sinks.cpp: allocates the outputs of structured operators, or checks and resizes given
// ones.
#include "opgen/structured/output_sinks.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opgen/device/device_guard.h"
#include "opgen/dispatch/schema_text.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/memory_overlap.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/shape_utils.h"
#include "tensor/negative_strides.h"

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

void MetaBase::set_output_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                               std::int64_t storage_offset) {
  OPGEN_INTERNAL_ASSERT(opgen_sink_ != nullptr, "a meta function was called without outputs");
  opgen_sink_->set_view(index, sizes, strides, storage_offset);
}

const TensorBase& MetaBase::opgen_no_output() noexcept {
  static const TensorBase undefined;
  return undefined;
}

namespace detail {

void SinkGuard::enter_device(Device device) {
  if (device.is_cpu() || device.is_meta()) return;
  if (find_device_guard_impl(device.type()) == nullptr) return;
  const std::optional<Device> current = guard_.current_device();
  OPGEN_CHECK(!current.has_value() || *current == device, "one operator cannot have outputs on ",
              *current, " and on ", device);
  guard_.reset_device(device);
}

namespace {

void check_out(const TensorBase& out, std::int64_t index, const TensorOptions& options) {
  OPGEN_CHECK(out.defined(), "out= tensor ", index, " is undefined");
  OPGEN_CHECK(out.scalar_type() == options.dtype(), "expected an out= tensor of dtype ",
              options.dtype(), " but got ", out.scalar_type());
  OPGEN_CHECK(out.device() == options.device(), "expected an out= tensor on ", options.device(),
              " but got one on ", out.device());
}

// An argument, for messages: its name, which the schema contains.
struct ArgumentName {
  const WrittenCall& call;
  std::size_t position;
};
void append_message(Message& message, const ArgumentName& name) {
  const char* schema = name.call.schema != nullptr ? name.call.schema : "";
  const std::string_view found = schema_argument(schema, name.position).name;
  if (!found.empty()) return opgen::detail::append_any(message, found);
  message.append("argument ");
  opgen::detail::append_any(message, name.position);
}
std::string_view operator_name(const WrittenCall& call) {
  if (call.schema == nullptr) return "an operator";
  const std::string_view text = call.schema;
  return text.substr(0, text.find('('));
}

[[noreturn]] OPGEN_COLD void throw_resized(const WrittenCall& call, std::size_t out,
                                           std::size_t input, IntArrayRef from, IntArrayRef to) {
  OPGEN_CHECK(false, operator_name(call), ": ", ArgumentName{call, out}, " would be resized from ",
              from, " to ", to, " while it shares its storage with ", ArgumentName{call, input},
              "; pass an output with its own storage");
  __builtin_unreachable();
}
[[noreturn]] OPGEN_COLD void throw_shared(const WrittenCall& call, std::size_t out,
                                          std::size_t other, bool is_input) {
  OPGEN_CHECK(!is_input, operator_name(call), ": ", ArgumentName{call, out}, " shares memory with ",
              ArgumentName{call, other},
              ", which is still read after elements of it are overwritten; clone() it first");
  OPGEN_CHECK(false, operator_name(call), ": the outputs ", ArgumentName{call, other}, " and ",
              ArgumentName{call, out}, " share memory");
  __builtin_unreachable();
}

// Compares one output with all inputs.
struct InputChecks {
  const WrittenCall& call;
  const TensorBase& out;
  std::size_t out_position;
  IntArrayRef sizes;  // sizes of the output after the call
  bool is_first = true;

  void look_at(const TensorBase& input, std::size_t position) {
    if (position == call.skipped) return;
    const bool may_be_same = std::exchange(is_first, false) && call.aliasing == Aliasing::Inplace;
    if (!out.is_alias_of(input)) return;
    if (out.sizes() != sizes) throw_resized(call, out_position, position, out.sizes(), sizes);
    if (may_be_same && are_same_elements(out, input)) return;
    if (share_elements(out, input)) throw_shared(call, out_position, position, true);
  }
  static void visit(void* self, const TensorBase& input, std::size_t position) {
    static_cast<InputChecks*>(self)->look_at(input, position);
  }
};

// Throws Error if two outputs share elements: a value written to one would be overwritten through
// the other.
void check_apart(const TensorBase& a, const TensorBase& b, std::int64_t i, std::int64_t j) {
  MemOverlapStatus status = get_overlap_status(a, b);
  OPGEN_CHECK(status != MemOverlapStatus::Full && status != MemOverlapStatus::Partial,
              "out= tensors ", i, " and ", j, " share memory");
}

void check_inplace(const TensorBase& self, IntArrayRef sizes, const TensorOptions& options) {
  OPGEN_CHECK(self.defined(), "an in-place operator was called on an undefined tensor");
  OPGEN_CHECK(self.scalar_type() == options.dtype(),
              "an in-place operator cannot change the dtype: self is ", self.scalar_type(),
              " but the result is ", options.dtype());
  OPGEN_CHECK(self.device() == options.device(),
              "an in-place operator cannot change the device: self is on ", self.device(),
              " but the result is on ", options.device());
  OPGEN_CHECK(self.sizes() == sizes,
              "an in-place operator cannot change the shape: self has sizes ", self.sizes(),
              " but the result has ", sizes);
}

void check_view(const TensorBase& base, std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                std::int64_t storage_offset) {
  OPGEN_CHECK(base.defined(), "output ", index, " cannot be a view of an undefined tensor");
  OPGEN_CHECK(sizes.size() == strides.size(), "output ", index, " cannot be a view with ",
              sizes.size(), " sizes and ", strides.size(), " strides");
  check_sizes_nonnegative(sizes);
  OPGEN_CHECK(storage_offset >= 0, "output ", index, " cannot be a view at the storage offset ",
              storage_offset);
  for (std::int64_t stride : strides) {
    OPGEN_CHECK(stride >= 0, "output ", index, " is a view: ", detail::kNoNegativeStrides, strides);
  }
  const std::size_t bytes = checked_storage_bytes(sizes, strides, storage_offset, base.itemsize());
  OPGEN_CHECK(bytes <= base.storage().nbytes(), "output ", index, " cannot be a view of sizes ",
              sizes, ", strides ", strides, " and storage offset ", storage_offset,
              ", which needs ", bytes / base.itemsize(), " elements, but the storage has ",
              base.storage().nbytes() / base.itemsize());
}

}  // namespace
}  // namespace detail

namespace detail {

namespace {

struct OutputsAndInputs {
  const WrittenCall& inputs;
  std::vector<std::pair<const TensorBase*, std::size_t>> outputs;
  DimVector broadcast;
  bool shares = false;
  bool shares_in_part = false;
  bool does_broadcast = true;

  static void add_output(void* self, const TensorBase& tensor, std::size_t position) {
    auto& all = *static_cast<OutputsAndInputs*>(self);
    for (auto& [other, at] : all.outputs) {
      if (share_elements(*other, tensor)) throw_shared(all.inputs, position, at, false);
    }
    all.outputs.emplace_back(&tensor, position);
  }
  static void look_at(void* self, const TensorBase& input, std::size_t) {
    auto& all = *static_cast<OutputsAndInputs*>(self);
    for (auto& [output, at] : all.outputs) {
      if (!output->is_alias_of(input)) continue;
      all.shares = true;
      if (!are_same_elements(*output, input)) all.shares_in_part = true;
    }
  }
  static void add_sizes(void* self, const TensorBase& input, std::size_t) {
    auto& all = *static_cast<OutputsAndInputs*>(self);
    if (!input.defined() || !all.does_broadcast) return;
    all.does_broadcast = is_expandable_to(input.sizes(), all.outputs.front().first->sizes());
    if (all.does_broadcast) all.broadcast = infer_size(all.broadcast, input.sizes());
  }
};

// Finds out whether two tensors of a call share a storage. Calls have few tensors, so the usual
// case takes one pass.
struct Storages {
  const StorageImpl* seen[16];
  std::size_t count = 0;
  bool repeats = false;

  static void add(void* self, const TensorBase& tensor, std::size_t) noexcept {
    auto& all = *static_cast<Storages*>(self);
    const StorageImpl* storage = tensor.unsafeGetTensorImpl()->storage();
    if (storage == nullptr) return;
    if (all.count == std::size(all.seen)) all.repeats = true;
    for (std::size_t i = 0; i < all.count; ++i) all.repeats |= all.seen[i] == storage;
    if (!all.repeats) all.seen[all.count++] = storage;
  }
  static void look_at(void* self, const TensorBase& tensor, std::size_t) noexcept {
    auto& all = *static_cast<Storages*>(self);
    const StorageImpl* storage = tensor.unsafeGetTensorImpl()->storage();
    for (std::size_t i = 0; i < all.count; ++i) all.repeats |= all.seen[i] == storage;
  }
};

}  // namespace

bool needs_stand_ins(const WrittenCall& inputs, VisitTensors* outputs, const void* arguments,
                     bool elementwise) {
  Storages storages;
  outputs(arguments, &Storages::add, &storages);
  if (!storages.repeats) inputs.visit(arguments, &Storages::look_at, &storages);
  if (OPGEN_LIKELY(!storages.repeats)) return false;

  OutputsAndInputs all{inputs, {}, {}};
  outputs(arguments, &OutputsAndInputs::add_output, &all);
  inputs.visit(arguments, &OutputsAndInputs::look_at, &all);
  if (!all.shares || !elementwise || all.shares_in_part || all.outputs.size() != 1) {
    return all.shares;
  }
  inputs.visit(arguments, &OutputsAndInputs::add_sizes, &all);
  return !all.does_broadcast || all.outputs.front().first->sizes() != IntArrayRef(all.broadcast);
}

TensorBase make_stand_in(const TensorBase& output) {
  if (!output.defined()) return output;
  assert_no_internal_overlap(output);
  return empty_strided(output.sizes(), output.strides(), output.options());
}

void copy_stand_in(const WrittenCall& inputs, std::size_t position, const TensorBase& output,
                   const TensorBase& stand_in) {
  if (!output.defined()) return;
  OPGEN_CHECK(output.sizes() == stand_in.sizes(), operator_name(inputs), ": ",
              ArgumentName{inputs, position}, " would be resized from ", output.sizes(), " to ",
              stand_in.sizes(),
              " while it shares its storage with an input; give it a storage of "
              "its own");
  copy_(output, stand_in);
}

}  // namespace detail

void CheckedSink::check_out(std::int64_t index, IntArrayRef sizes) const {
  const TensorBase& out = *given_[index];
  const std::size_t position = call_->first_out + static_cast<std::size_t>(index);
  detail::InputChecks checks{*call_, out, position, sizes};
  call_->visit(arguments_, &detail::InputChecks::visit, &checks);
  for (std::int64_t i = 0; i < index; ++i) {
    if (!opgen::share_elements(*given_[i], out)) continue;
    detail::throw_shared(*call_, position, call_->first_out + static_cast<std::size_t>(i), false);
  }
}

bool CheckedSink::check_inplace(std::int64_t index) const {
  const TensorBase& self = *given_[index];
  opgen::assert_no_internal_overlap(self);
  if (call_->aliasing == Aliasing::Apart) return false;
  detail::InputChecks checks{*call_, self, call_->first_out, self.sizes(), false};
  call_->visit(arguments_, &detail::InputChecks::visit, &checks);
  return true;
}

void OutputSink::set_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          std::int64_t storage_offset) {
  note_set(index);
  if (kind_ == Kind::View) {
    const TensorBase* base = static_cast<ViewSink*>(this)->bases_[index];
    OPGEN_CHECK(base != nullptr, "output ", index,
                " is not a view: its schema declares no alias for it");
    detail::check_view(*base, index, sizes, strides, storage_offset);
    fresh_[index] = detail::alias_with_sizes_and_strides(*base, sizes, strides, storage_offset);
    return;
  }
  OPGEN_CHECK(kind_ == Kind::InplaceView, "output ", index,
              " is not a view: its schema declares no alias for it");
  detail::check_view(*given_[index], index, sizes, strides, storage_offset);
  TensorImpl* self = given_[index]->unsafeGetTensorImpl();
  self->set_sizes_and_strides(sizes, strides);
  self->set_storage_offset(storage_offset);
}

void OutputSink::throw_not_set(const char* op) const {
  const int index = __builtin_ctzll(~set_);
  OPGEN_CHECK(false, op, ": the meta function (OPGEN_META_FUNC) did not set output ", index,
              "; call set_output_raw_strided(", index,
              ", sizes, strides, options) or another set_output function");
  __builtin_unreachable();
}

void detail::throw_not_built(const char* op) {
  OPGEN_CHECK(false, op,
              ": the meta function (OPGEN_META_FUNC) did not set up the iterator; call "
              "build_borrowing_binary_op(), another build_..._op() or build(config)");
  __builtin_unreachable();
}

void OutputSink::set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                            const TensorOptions& options, bool exact) {
  note_set(index);
  guard_.enter(options.device());
  if (OPGEN_UNLIKELY(kind_ == Kind::View || kind_ == Kind::InplaceView)) {
    OPGEN_CHECK(kind_ == Kind::View && static_cast<ViewSink*>(this)->bases_[index] == nullptr,
                "output ", index, " is a view: its meta function must call set_output_view");
  }
  if (kind_ == Kind::Fresh || kind_ == Kind::View) {
    fresh_[index] = strides.empty() ? detail::empty(sizes, options)
                                    : detail::empty_strided(sizes, strides, options);
    return;
  }
  const TensorBase& out = *given_[index];
  bool takes_given = true;
  switch (kind_) {
    case Kind::CheckedInplace:
      detail::check_inplace(out, sizes, options);
      takes_given = static_cast<CheckedSink*>(this)->check_inplace(index);
      break;
    case Kind::Inplace:
      detail::check_inplace(out, sizes, options);
      break;
    case Kind::CheckedOut:
    case Kind::Out:
      detail::check_out(out, index, options);
      if (kind_ == Kind::CheckedOut) static_cast<CheckedSink*>(this)->check_out(index, sizes);
      if (opgen::resize_output(out, sizes)) {
        opgen::restride_output(out, sizes, strides,
                               strides.empty() ? options.memory_format_opt() : std::nullopt);
      }
      for (std::int64_t i = 0; i < index; ++i) detail::check_apart(*given_[i], out, i, index);
      break;
    default:
      break;
  }
  if (exact && !strides.empty() && out.strides() != strides) {
    fresh_[index] = detail::empty_strided(sizes, strides, options);
  } else if (OPGEN_UNLIKELY(!takes_given)) {
    fresh_[index] = detail::empty_strided(sizes, out.strides(), options);
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
