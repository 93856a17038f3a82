// outputs.h: the tensors that structured operators return or write: allocation, resizing, checks
// and the current device.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/DeviceGuard.h>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "opgen/tensor/empty.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// Whether the devices of `K` have a current device, as CUDA devices do.
constexpr bool has_current_device(DispatchKey K) noexcept {
  return K != DispatchKey::CPU && K != DispatchKey::Meta;
}

// Allocates tensors of `K`, and names the guard that makes their device current. opgen/cuda.h has
// CUDA's.
template <DispatchKey K>
struct DeviceOf {
  using Guard = c10::OptionalDeviceGuard;
  static Tensor empty(IntArrayRef sizes, const TensorOptions& options) {
    return opgen::empty(sizes, options);
  }
  static Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                              const TensorOptions& options) {
    return opgen::empty_strided(sizes, strides, options);
  }
};

// Makes the device of the outputs current while meta and impl run.
template <DispatchKey K, bool guards = has_current_device(K)>
class OutputGuard {
 public:
  void use(Device) noexcept {}
};
template <DispatchKey K>
class OutputGuard<K, true> {
 public:
  void use(Device device) {
    if (!guard_.current_device().has_value()) {
      guard_.reset_device(device);
    } else {
      TORCH_INTERNAL_ASSERT(*guard_.current_device() == device,
                            "the outputs of a structured operator must be on the same device");
    }
  }

 private:
  typename DeviceOf<K>::Guard guard_;
};

// Allocates an output. Empty strides mean row-major, or the memory format that `options` name.
template <DispatchKey K>
Tensor create_out(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  if constexpr (K == DispatchKey::CPU) {
    if (strides.empty()) return at::detail::empty_cpu(sizes, options);
    return at::detail::empty_strided_cpu(sizes, strides, options);
  } else if constexpr (K == DispatchKey::Meta) {
    const TensorOptions own = options.device(at::kMeta);
    if (strides.empty()) return at::detail::empty_meta(sizes, own);
    return at::detail::empty_strided_meta(sizes, strides, own);
  } else {
    if (strides.empty()) return DeviceOf<K>::empty(sizes, options);
    return DeviceOf<K>::empty_strided(sizes, strides, options);
  }
}

[[noreturn]] C10_NOINLINE inline void throw_not_set(const char* op, std::size_t index) {
  TORCH_CHECK(false, op, ": the meta function (OPGEN_META_FUNC) did not set output ", index,
              "; call set_output_raw_strided(", index,
              ", sizes, strides, options) or another set_output function");
  __builtin_unreachable();
}
[[noreturn]] C10_NOINLINE inline void throw_not_built(const char* op) {
  TORCH_CHECK(false, op,
              ": the meta function (OPGEN_META_FUNC) did not set up the iterator; call "
              "build_borrowing_binary_op(), another build_..._op() or build(config)");
  __builtin_unreachable();
}

// Records which outputs meta has set.
template <std::size_t N>
class SetOutputs {
 public:
  void note(std::int64_t index) { set_[static_cast<std::size_t>(index)] = true; }
  // Throws an error that names `op` if an output is missing.
  void check(const char* op) const {
    for (std::size_t i = 0; i < N; ++i) {
      if (C10_UNLIKELY(!set_[i])) throw_not_set(op, i);
    }
  }

 private:
  bool set_[N] = {};
};

inline void check_like(const Tensor& given, const TensorOptions& wanted, const char* what) {
  TORCH_CHECK(wanted.dtype() == given.dtype(), "Expected ", what, " tensor to have dtype ",
              wanted.dtype(), ", but got ", given.dtype(), " instead");
  TORCH_CHECK(wanted.device() == given.device(), "Expected ", what, " tensor to have device ",
              wanted.device(), ", but got ", given.device(), " instead");
}

inline void resize_out(const Tensor& out, IntArrayRef sizes, IntArrayRef strides,
                       const TensorOptions& options) {
  check_like(out, options, "out");
  if (!resize_output(out, sizes)) return;
  if (!strides.empty()) {
    TORCH_INTERNAL_ASSERT(!options.memory_format_opt().has_value());
    out.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  } else if (options.memory_format_opt().has_value()) {
    out.unsafeGetTensorImpl()->empty_tensor_restride(*options.memory_format_opt());
  }
}

inline void check_inplace_options(const Tensor& self, const TensorOptions& options) {
  TORCH_CHECK(options.dtype() == self.dtype(), "Bad in-place call: input tensor dtype ",
              self.dtype(), " and output tensor dtype ", options.dtype(), " should match");
  TORCH_CHECK(options.device() == self.device(), "Bad in-place call: input tensor device ",
              self.device(), " and output tensor device ", options.device(), " should match");
}

inline void check_inplace(const Tensor& self, IntArrayRef sizes, const TensorOptions& options) {
  check_inplace_options(self, options);
  TORCH_CHECK(sizes == self.sizes(), "Bad in-place call: input tensor size ", self.sizes(),
              " and output tensor size ", sizes, " should match");
}

template <class T>
constexpr bool kHoldsTensors =
    std::is_same_v<T, Tensor> || std::is_same_v<T, TensorList> ||
    std::is_same_v<T, ITensorListRef> || std::is_same_v<T, std::optional<Tensor>> ||
    std::is_same_v<T, std::optional<TensorList>> || std::is_same_v<T, List<std::optional<Tensor>>>;

// Whether the returns are references to arguments: one reference, or a tuple of references.
template <class R>
inline constexpr bool kHoldsReferences = std::is_reference_v<R>;
template <class... R>
inline constexpr bool kHoldsReferences<std::tuple<R...>> = (std::is_reference_v<R> && ...);

// Returns the name of the argument at `position` of the schema.
template <class Op>
std::string argument_name(std::size_t position) {
  std::string_view rest(Op::schema_str);
  rest.remove_prefix(rest.find('(') + 1);
  for (std::size_t depth = 0, at = 0, i = 0; i < rest.size(); ++i) {
    if (rest[i] == '(') ++depth;
    const bool ends = depth == 0 && (rest[i] == ',' || rest[i] == ')');
    if (depth > 0 && rest[i] == ')') --depth;
    if (!ends) continue;
    const std::string_view argument = rest.substr(at, i - at);
    at = i + 2;
    if (argument == "*") continue;
    if (position-- > 0) continue;
    const std::string_view name = argument.substr(0, argument.find('='));
    return std::string(name.substr(name.rfind(' ') + 1));
  }
  return "an argument";
}

inline bool joins(std::optional<Device>& common, const Tensor& tensor) {
  if (!tensor.defined()) return true;
  if (!common.has_value()) common = tensor.device();
  return *common == tensor.device();
}
inline bool joins(std::optional<Device>& common, const std::optional<Tensor>& tensor) {
  return !tensor.has_value() || joins(common, *tensor);
}
inline bool joins(std::optional<Device>& common, const std::optional<TensorList>& tensors);
template <class T>
bool joins(std::optional<Device>& common, const T& tensors) {
  for (const auto& tensor : tensors) {
    if (!joins(common, tensor)) return false;
  }
  return true;
}

inline bool joins(std::optional<Device>& common, const std::optional<TensorList>& tensors) {
  return !tensors.has_value() || joins(common, *tensors);
}

// Throws ATen's error if a tensor in `argument` is not on the device `common`.
template <class Op, class A>
void check_device(std::optional<Device>& common, const A& argument, std::size_t position) {
  if constexpr (std::is_same_v<A, std::optional<TensorList>>) {
    if (argument.has_value()) check_device<Op>(common, *argument, position);
  } else if constexpr (kHoldsTensors<A>) {
    if (C10_LIKELY(joins(common, argument))) return;
    const std::string name = argument_name<Op>(position);
    c10::impl::check_and_update_common_device(common, argument, Op::name, name.c_str());
  }
}

// Returns whether the generated code for the key contains DeviceChecked and DeviceGuarded where an
// entry requires them.
constexpr bool generated_code_checks(DispatchKey K) noexcept {
  return K == DispatchKey::CUDA || K == DispatchKey::XPU;
}

// Checks that the inputs are on the same device. Not needed for an iterator, which makes a check
// that permits numbers on the CPU, or for keys with only one device.
template <DispatchKey K, class Impl, class Op, class... A>
void check_devices([[maybe_unused]] const A&... arguments) {
  if constexpr (has_current_device(K) && !generated_code_checks(K) &&
                !std::is_base_of_v<TensorIteratorBase, Impl>) {
    std::optional<Device> common;
    std::size_t position = 0;
    (check_device<Op>(common, arguments, position++), ...);
  }
}

}  // namespace opgen::detail
