// functions.cpp: create, fill, copy, resize and compare tensors by PyTorch's operators. For fakes
// they make fakes, or ask Python.
#include <utility>

#include "shim.h"

#include "cpu/copy_row.h"
#include "opgen/cpu/compare.h"
#include "opgen/dispatch/call_operator.h"
#include "opgen/symbolic/fake_tensor.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/shape_utils.h"
#include "tensor/stride_order.h"

namespace opgen {

detail::CopyRow detail::copy_row(ScalarType, ScalarType) {
  return nullptr;
}

namespace {

using detail::make_fake;
using detail::makes_fakes;

bool is_fake(const TensorBase& tensor) noexcept {
  return tensor.unsafeGetTensorImpl()->fake() != nullptr;
}
// A fake that stands for another inside of an iteration, of which Python knows nothing.
bool is_dense_fake(const TensorBase& tensor) {
  return is_fake(tensor) && tensor.unsafeGetTensorImpl()->is_non_overlapping_and_dense_or_false();
}

const Tensor& as_tensor(const TensorBase& tensor) noexcept {
  // Tensor adds nothing to TensorBase.
  return static_cast<const Tensor&>(tensor);
}

TensorBase allocate(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device,
                    bool pinned) {
  AtenTensorHandle handle = nullptr;
  const auto ndim = static_cast<std::int64_t>(sizes.size());
  const std::int32_t code = detail::Words::code_of_scalar_type(dtype);
  const auto type = static_cast<std::int32_t>(device.type());
  if (pinned) {
    OPGEN_SHIM(aoti_torch_empty_strided_pinned, ndim, sizes.data(), strides.data(), code, type,
               device.index(), &handle);
  } else {
    OPGEN_SHIM(aoti_torch_empty_strided, ndim, sizes.data(), strides.data(), code, type,
               device.index(), &handle);
  }
  return TensorBase::adopt(TensorImpl::create(handle));
}

void check_not_negative(IntArrayRef sizes) {
  for (const std::int64_t size : sizes) {
    OPGEN_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  }
}

}  // namespace

ScalarType get_default_dtype() noexcept {
  if (makes_fakes()) {
    // Asked of PyTorch itself: the call is not one that a traced program makes.
    const detail::FakeScope real(false);
    return get_default_dtype();
  }
  try {
    const std::int64_t none[] = {0};
    return call_operator<Tensor>("aten::empty", "memory_format", IntArrayRef(none),
                                 std::optional<ScalarType>(), std::optional<Layout>(),
                                 std::optional<Device>(Device(kCPU)), std::optional<bool>(),
                                 std::optional<MemoryFormat>())
        .scalar_type();
  } catch (const Error&) {
    return kFloat;
  }
}

namespace detail {

// ---- New tensors ----

TensorBase empty_contiguous(IntArrayRef sizes, ScalarType dtype, Device device) {
  if (OPGEN_UNLIKELY(makes_fakes())) return make_fake(as_symbols(sizes), {}, dtype, device);
  std::int64_t inline_strides[6];
  DimVector more;
  std::int64_t* strides = inline_strides;
  if (OPGEN_UNLIKELY(sizes.size() > 6)) {
    more.resize(sizes.size());
    strides = more.data();
  }
  std::int64_t stride = 1;
  std::int64_t numel = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = next_stride(stride, sizes[i]);
    numel *= sizes[i];
    if (OPGEN_UNLIKELY(sizes[i] < 0)) check_not_negative(sizes);
  }
  TensorBase made = allocate(sizes, {strides, sizes.size()}, dtype, device, false);
  made.unsafeGetTensorImpl()->know_contiguous(dtype, device, numel);
  return made;
}

TensorBase empty(IntArrayRef sizes, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  if (OPGEN_LIKELY(options.is_plain() && !format.has_value())) {
    return empty_contiguous(sizes, options.dtype(), options.device());
  }
  if (makes_fakes()) return empty_symint(as_symbols(sizes), options, format);
  format = check_tensor_options_and_extract_memory_format(options, format);
  check_not_negative(sizes);
  if (options.layout() != kStrided) {
    return call_operator<Tensor>("aten::empty", "memory_format", sizes, options.dtype_opt(),
                                 options.layout_opt(), options.device_opt(),
                                 options.pinned_memory_opt(), format);
  }
  OPGEN_CHECK(format != MemoryFormat::Preserve,
              "empty() has no input whose memory format it could preserve");
  const DimVector strides = strides_for_format(sizes, format.value_or(MemoryFormat::Contiguous));
  return allocate(sizes, strides, options.dtype(), options.device(), options.pinned_memory());
}

TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  if (OPGEN_UNLIKELY(makes_fakes())) {
    return empty_strided_symint(as_symbols(sizes), as_symbols(strides), options);
  }
  OPGEN_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
              ") must match dimensionality of strides (", strides.size(), ")");
  check_not_negative(sizes);
  return allocate(sizes, strides, options.dtype(), options.device(), options.pinned_memory());
}

TensorBase empty_symint(SymIntArrayRef sizes, const TensorOptions& options,
                        std::optional<MemoryFormat> format) {
  if (!makes_fakes()) return empty(concrete_sizes(sizes), options, format);
  format = check_tensor_options_and_extract_memory_format(options, format);
  return make_fake(sizes, {}, options.dtype(), options.device(), options.layout(),
                   format.value_or(MemoryFormat::Contiguous));
}
TensorBase empty_strided_symint(SymIntArrayRef sizes, SymIntArrayRef strides,
                                const TensorOptions& options) {
  if (!makes_fakes()) {
    return empty_strided(concrete_sizes(sizes), concrete_sizes(strides), options);
  }
  OPGEN_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
              ") must match dimensionality of strides (", strides.size(), ")");
  return make_fake(sizes, strides, options.dtype(), options.device(), options.layout());
}

TensorBase from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                     const TensorOptions& options, void* context, void (*deleter)(void*)) {
  AtenTensorHandle handle = nullptr;
  const auto ndim = static_cast<std::int64_t>(sizes.size());
  const std::int32_t code = Words::code_of_scalar_type(options.dtype());
  const auto type = static_cast<std::int32_t>(options.device().type());
  const std::int32_t index = options.device().index();
  if (deleter == nullptr) {
    OPGEN_SHIM(aoti_torch_create_tensor_from_blob, data, ndim, sizes.data(), strides.data(), 0,
               code, type, index, &handle);
    return TensorBase::adopt(TensorImpl::create(handle));
  }
  using FromBlob =
      AOTITorchError(void*, std::int64_t, const std::int64_t*, const std::int64_t*, std::int64_t,
                     std::int32_t, std::int32_t, std::int32_t, AtenTensorHandle*, std::int32_t,
                     const std::uint8_t*, std::int64_t, void (*)(void*, void*), void*);
  static const auto from_blob = shim::find_function<FromBlob>("torch_from_blob");
  struct Owned {
    void* context;
    void (*deleter)(void*);
    ~Owned() { deleter(context); }
    static void destroy(void*, void* owned) { delete static_cast<Owned*>(owned); }
  };
  auto* const owned = new Owned{context, deleter};
  const AOTITorchError failed =
      from_blob == nullptr
          ? AOTI_TORCH_FAILURE
          : from_blob(data, ndim, sizes.data(), strides.data(), 0, code, type, index, &handle,
                      aoti_torch_layout_strided(), nullptr, 0, &Owned::destroy, owned);
  if (failed != AOTI_TORCH_SUCCESS) {
    delete owned;
    OPGEN_CHECK(from_blob != nullptr, "from_blob with a deleter needs PyTorch 2.11");
    shim::throw_failure("torch_from_blob");
  }
  return TensorBase::adopt(TensorImpl::create(handle));
}

TensorBase empty_like(const TensorBase& self, const TensorOptions& options,
                      std::optional<MemoryFormat> format) {
  TensorOptions merged = self.options().merge_in(options);
  if (!format.has_value()) format = merged.memory_format_opt();
  merged = merged.memory_format(std::nullopt);
  const bool preserves = format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve;
  if (makes_fakes()) {
    if (!preserves) return empty_symint(self.sym_sizes(), merged, format);
    if (is_dense_fake(self)) {
      const FakeParts* parts = self.unsafeGetTensorImpl()->fake();
      if (parts->format != MemoryFormat::Preserve) {
        return empty_symint(parts->sizes, merged, parts->format);
      }
      return empty_strided_symint(parts->sizes, parts->strides, merged);
    }
    return call_operator<Tensor>("aten::empty_like", "", as_tensor(self), options.dtype_opt(),
                                 options.layout_opt(), options.device_opt(),
                                 options.pinned_memory_opt(), format);
  }
  if (!preserves) return empty(self.sizes(), merged, format);
  if (self.layout() != kStrided) return empty(self.sizes(), merged);
  // Strides of dimensions of size 1 are kept too.
  if (self.is_non_overlapping_and_dense()) {
    return empty_strided(self.sizes(), self.strides(), merged);
  }
  return empty_strided(self.sizes(), infer_dense_strides(self.sizes(), self.strides()), merged);
}

TensorBase full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) {
  TensorBase result = empty(sizes, options.has_dtype() ? options : options.dtype(value.type()));
  fill_(result, value);
  return result;
}

TensorOptions options_for_number(const Scalar& value, const TensorOptions& options) {
  if (options.has_dtype()) return options;
  if (value.isComplex()) return options.dtype(get_default_complex_dtype());
  return options.dtype(value.isFloatingPoint() ? get_default_dtype() : value.type());
}

TensorBase scalar_tensor(const Scalar& value, const TensorOptions& options) {
  return full({}, value, options);
}

TensorBase wrapped_scalar_tensor(const Scalar& value, Device device) {
  TensorBase result = scalar_tensor(value, TensorOptions().dtype(value.type()).device(device));
  result.unsafeGetTensorImpl()->set_wrapped_number(true);
  return result;
}

}  // namespace detail

// ---- Elements ----

namespace tensor_functions {

namespace {

// A number as a tensor of PyTorch without dimensions, on the CPU.
TensorBase number_tensor(const Scalar& value) {
  AtenTensorHandle handle = nullptr;
  if (value.isComplex()) {
    const auto number = value.to<complex<double>>();
    OPGEN_SHIM(aoti_torch_scalar_to_tensor_complex128,
               c10::complex<double>(number.real(), number.imag()), &handle);
  } else if (value.isFloatingPoint()) {
    OPGEN_SHIM(aoti_torch_scalar_to_tensor_float64, value.to<double>(), &handle);
  } else if (value.isBoolean()) {
    OPGEN_SHIM(aoti_torch_scalar_to_tensor_bool, value.to<bool>(), &handle);
  } else {
    OPGEN_SHIM(aoti_torch_scalar_to_tensor_int64, value.to<std::int64_t>(), &handle);
  }
  return TensorBase::adopt(TensorImpl::create(handle));
}

}  // namespace

void copy_(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  static_cast<void>(
      call_operator<Tensor>("aten::copy_", "", as_tensor(dst), as_tensor(src), non_blocking));
}
void fill_(const TensorBase& self, const Scalar& value) {
  if (OPGEN_UNLIKELY(makes_fakes())) {
    static_cast<void>(call_operator<Tensor>("aten::fill_", "Scalar", as_tensor(self), value));
    return;
  }
  static_cast<void>(call_operator<Tensor>("aten::fill_", "Tensor", as_tensor(self),
                                          Tensor(number_tensor(value))));
}
void zero_(const TensorBase& self) {
  static_cast<void>(call_operator<Tensor>("aten::zero_", "", as_tensor(self)));
}

Scalar item(const TensorBase& self) {
  OPGEN_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  const TensorBase local = detail::to_device(self, kCPU);
  const void* element = local.const_data_ptr();
  OPGEN_CHECK(element != nullptr, "a tensor without memory has no value");
  switch (local.scalar_type()) {
#define OPGEN_CASE(type, name, number) \
  case ScalarType::name:               \
    return Scalar(*static_cast<const type*>(element));
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    default:
      OPGEN_CHECK(false, "a tensor of dtype ", local.scalar_type(), " has no value as a Scalar");
  }
  return {};
}

bool equal(const TensorBase& a, const TensorBase& b) {
  return call_operator<bool>("aten::equal", "", as_tensor(a), as_tensor(b));
}
bool allclose(const TensorBase& a, const TensorBase& b, double rtol, double atol, bool equal_nan) {
  return call_operator<bool>("aten::allclose", "", as_tensor(a), as_tensor(b), rtol, atol,
                             equal_nan);
}

// ---- Resizing ----

bool resize_output_check(const TensorBase& output, IntArrayRef sizes) {
  if (output.sizes() == sizes) return false;
  if (output.numel() != 0) {
    const shim::WarningScope by("_resize_output_check");
    OPGEN_WARN(
        "An output with one or more elements was resized since it had shape ", output.sizes(),
        ", which does not match the required output shape ", sizes,
        ". This behavior is deprecated, and in a future PyTorch release outputs will not be "
        "resized unless they have zero elements. You can explicitly reuse an out tensor t by "
        "resizing it, inplace, to zero elements with t.resize_(0).");
  }
  return true;
}

bool resize_output(const TensorBase& output, IntArrayRef sizes) {
  if (OPGEN_UNLIKELY(is_fake(output))) {
    return detail::resize_output_symint(output, detail::as_symbols(sizes));
  }
  if (!resize_output_check(output, sizes)) return false;
  resize_(output, sizes);
  return true;
}

const TensorBase& resize_(const TensorBase& self, IntArrayRef sizes,
                          std::optional<MemoryFormat> format) {
  if (is_fake(self)) {
    static_cast<void>(detail::resize_output_symint(self, detail::as_symbols(sizes)));
    return self;
  }
  static_cast<void>(call_operator<Tensor>("aten::resize_", "", as_tensor(self), sizes, format));
  self.unsafeGetTensorImpl()->forget_layout();
  return self;
}

void restride_output(const TensorBase& output, IntArrayRef sizes, IntArrayRef strides,
                     std::optional<MemoryFormat> format) {
  DimVector wanted(strides);
  if (strides.empty()) {
    if (!format.has_value() || *format == MemoryFormat::Preserve) return;
    wanted = detail::strides_for_format(sizes, *format);
  }
  if (output.strides() == IntArrayRef(wanted)) return;
  static_cast<void>(call_operator<Tensor>("aten::as_strided_", "", as_tensor(output), sizes,
                                          IntArrayRef(wanted),
                                          std::optional<std::int64_t>(output.storage_offset())));
  output.unsafeGetTensorImpl()->forget_layout();
}

}  // namespace tensor_functions

namespace detail {

TensorBase clone(const TensorBase& self, std::optional<MemoryFormat> format) {
  if (makes_fakes()) return empty_like(self, {}, format);
  return call_operator<Tensor>("aten::clone", "", as_tensor(self), format);
}
TensorBase contiguous(const TensorBase& self, MemoryFormat format) {
  if (self.is_contiguous(format)) return self;
  return clone(self, format);
}

namespace {

TensorBase converted(const TensorBase& self, std::optional<ScalarType> dtype,
                     std::optional<Device> device) {
  return call_operator<Tensor>("aten::_to_copy", "", as_tensor(self), dtype,
                               std::optional<Layout>(), device, std::optional<bool>(), false,
                               std::optional<MemoryFormat>());
}

}  // namespace

TensorBase to_dtype(const TensorBase& self, ScalarType dtype) {
  if (self.scalar_type() == dtype) return self;
  if (is_dense_fake(self)) return empty_like(self, TensorOptions().dtype(dtype));
  if (KernelScope::is_below_autograd() && !is_fake(self) && self.device().is_cpu() &&
      self.layout() == kStrided && self.is_non_overlapping_and_dense()) {
    // Two C functions take less time than one operator with seven arguments.
    TensorBase made = allocate(self.sizes(), self.strides(), dtype, self.device(), false);
    copy_unrecorded(made, self);
    return made;
  }
  return converted(self, dtype, std::nullopt);
}
TensorBase to_device(const TensorBase& self, Device device) {
  if (self.device().type() == device.type() && (!device.has_index() || self.device() == device)) {
    return self;
  }
  if (is_dense_fake(self)) return empty_like(self, TensorOptions().device(device));
  return converted(self, std::nullopt, device);
}

// ---- Views ----

TensorBase alias_with_sizes_and_strides(const TensorBase& base, IntArrayRef sizes,
                                        IntArrayRef strides, std::int64_t storage_offset) {
  if (is_fake(base)) {
    return as_strided_symint(base, as_symbols(sizes), as_symbols(strides), SymInt(storage_offset));
  }
  AtenTensorHandle handle = nullptr;
  OPGEN_SHIM(aoti_torch__reinterpret_tensor, base.unsafeGetTensorImpl()->handle(),
             static_cast<std::int64_t>(sizes.size()), sizes.data(), strides.data(), storage_offset,
             &handle);
  return TensorBase::adopt(TensorImpl::create(handle));
}

TensorBase view_if_row_major(const TensorBase& base, IntArrayRef sizes) {
  std::int64_t numel = 1;
  for (std::int64_t size : sizes) {
    if (size <= 0 || __builtin_mul_overflow(numel, size, &numel)) return {};
  }
  if (!base.defined() || is_fake(base) || numel != base.numel() || !base.is_contiguous()) return {};
  return alias_with_sizes_and_strides(base, sizes, opgen::contiguous_strides(sizes),
                                      base.storage_offset());
}

TensorBase as_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                      std::optional<std::int64_t> storage_offset) {
  return call_operator<Tensor>("aten::as_strided", "", as_tensor(self), sizes, strides,
                               storage_offset);
}
TensorBase expand_view(const TensorBase& self, IntArrayRef desired) {
  return call_operator<Tensor>("aten::expand", "", as_tensor(self), desired, false);
}

TensorBase as_strided_symint(const TensorBase& self, SymIntArrayRef sizes, SymIntArrayRef strides,
                             std::optional<SymInt> storage_offset) {
  if (!is_fake(self)) {
    std::optional<std::int64_t> offset;
    if (storage_offset.has_value()) offset = storage_offset->guard_int(__FILE__, __LINE__);
    return as_strided(self, concrete_sizes(sizes), concrete_sizes(strides), offset);
  }
  const FakeParts* from = self.unsafeGetTensorImpl()->fake();
  TensorBase view = make_fake(sizes, strides, self.scalar_type(), self.device(), self.layout());
  FakeParts* parts = view.unsafeGetTensorImpl()->fake();
  parts->storage_offset = storage_offset.value_or(from->storage_offset);
  parts->storage = from->storage;
  parts->base = from->base.defined() ? from->base : self;
  return view;
}

bool resize_output_symint(const TensorBase& out, SymIntArrayRef sizes) {
  if (!is_fake(out)) return resize_output(out, concrete_sizes(sizes));
  FakeParts* parts = out.unsafeGetTensorImpl()->fake();
  const SymDimVector& own = parts->sizes;
  bool differ = own.size() != sizes.size();
  for (std::size_t i = 0; !differ && i < sizes.size(); ++i) {
    differ = guard_or_false(sym_ne(own[i], sizes[i]));
  }
  if (!differ) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      OPGEN_SYM_CHECK(sym_eq(own[i], sizes[i]), "out has sizes ", SymIntArrayRef(own),
                      ", expected ", sizes);
    }
    return false;
  }
  set_fake_sizes(out, sizes, {}, MemoryFormat::Contiguous);
  return true;
}

}  // namespace detail

}  // namespace opgen
