// tvm_ffi.cpp: calls operators with the values of TVM-FFI, and returns results in the memory of the
// caller's framework.
#include "tvm_ffi.h"

#include <tvm/ffi/extra/c_env_api.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "operator_call.h"
#include "opgen/core/error.h"
#include "opgen/core/local_keys.h"
#include "opgen/device/allocator.h"
#include "opgen/device/device_guard.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/transforms/held_storage.h"

namespace opgen::frameworks {

namespace {

// TVM-FFI has set its error.
struct ErrorIsSet {};

void check(int code) {
  if (code != 0) throw ErrorIsSet();
}

// ---- Types --------------------------------------------------------------------------------------

struct TypeRow {
  ScalarType type;
  std::uint8_t code, bits;
};
constexpr TypeRow kTypes[] = {
    {kFloat, kDLFloat, 32},
    {kDouble, kDLFloat, 64},
    {kLong, kDLInt, 64},
    {kInt, kDLInt, 32},
    {kBFloat16, kDLBfloat, 16},
    {kHalf, kDLFloat, 16},
    {kBool, kDLBool, 8},
    {kByte, kDLUInt, 8},
    {kChar, kDLInt, 8},
    {kShort, kDLInt, 16},
    {kComplexFloat, kDLComplex, 64},
    {kComplexDouble, kDLComplex, 128},
};

std::string_view text_of(const TVMFFIAny& value) {
  switch (value.type_index) {
    case kTVMFFISmallStr:
      return {value.v_bytes, value.small_str_len};
    case kTVMFFIRawStr:
      return value.v_c_str;
    default: {
      const TVMFFIByteArray& bytes = *TVMFFIBytesGetByteArrayPtr(value.v_obj);
      return {bytes.data, bytes.size};
    }
  }
}

ScalarType scalar_type_of(DLDataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.code == type.code && row.bits == type.bits && type.lanes == 1) return row.type;
  }
  TVMFFIAny name{};
  check(TVMFFIDataTypeToString(&type, &name));
  const std::string shown(text_of(name));
  if (name.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(name.v_obj);
  OPGEN_CHECK_TYPE(false, "the runtime has no dtype ", shown);
}

DLDataType data_type_of(ScalarType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return {row.code, row.bits, 1};
  }
  OPGEN_CHECK_TYPE(false, "DLPack has no dtype ", toString(type));
}

Device device_of(DLDevice device) {
  switch (static_cast<int>(device.device_type)) {
    case kDLCPU:
    case kDLCUDAHost:
    case kDLROCMHost:
      return Device(kCPU);
    case kDLCUDA:
    case kDLCUDAManaged:
      return Device(kCUDA, static_cast<DeviceIndex>(device.device_id));
    default:
      OPGEN_CHECK_VALUE(false, "the runtime has no device for DLPack's (",
                        static_cast<int>(device.device_type), ", ", device.device_id, ")");
  }
}

DLDevice device_of(Device device) {
  if (device.is_cpu()) return {kDLCPU, 0};
  OPGEN_CHECK_VALUE(device.is_cuda(), "a tensor on device ", device, " cannot leave the library");
  return {kDLCUDA, device.index()};
}

bool is_text(std::int32_t index) {
  return index == kTVMFFISmallStr || index == kTVMFFIStr || index == kTVMFFIRawStr;
}
bool is_list(std::int32_t index) {
  return index == kTVMFFIArray || index == kTVMFFIList;
}
bool is_tensor(std::int32_t index) {
  return index == kTVMFFITensor || index == kTVMFFIDLTensorPtr;
}
bool is_tensor(const SchemaType& type) {
  const SchemaType& plain = type.kind == TypeKind::Optional ? *type.element : type;
  return plain.kind == TypeKind::Tensor;
}

const TVMFFISeqCell& elements_of(const TVMFFIAny& list) {
  return *reinterpret_cast<const TVMFFISeqCell*>(list.v_obj + 1);
}

// Returns how many conversions the value needs to be an argument of the type; -1 if it cannot be.
int cost_of(const TVMFFIAny& value, const SchemaType& type) {
  const std::int32_t index = value.type_index;
  const bool is_int = index == kTVMFFIInt, is_bool = index == kTVMFFIBool;
  const auto if_so = [](bool fits) { return fits ? 0 : -1; };
  switch (type.kind) {
    case TypeKind::Optional:
      return index == kTVMFFINone ? 0 : cost_of(value, *type.element);
    case TypeKind::Tensor:
      return is_tensor(index) ? 0 : is_int || is_bool || index == kTVMFFIFloat ? 2 : -1;
    case TypeKind::Scalar:
      return if_so(is_int || is_bool || index == kTVMFFIFloat);
    case TypeKind::Int:
    case TypeKind::SymIntType:
      return if_so(is_int);
    case TypeKind::Float:
      return is_int ? 1 : if_so(index == kTVMFFIFloat);
    case TypeKind::Bool:
    case TypeKind::SymBoolType:
      return if_so(is_bool);
    case TypeKind::Str:
      return if_so(is_text(index));
    case TypeKind::ScalarType:
      return index == kTVMFFIDataType ? 0 : is_text(index) ? 1 : -1;
    case TypeKind::Device:
      return index == kTVMFFIDevice ? 0 : is_text(index) ? 1 : -1;
    case TypeKind::List: {
      if (index == kTVMFFIShape) {
        return if_so(type.element->kind == TypeKind::Int ||
                     type.element->kind == TypeKind::SymIntType);
      }
      if (!is_list(index)) return type.size != 0 ? cost_of(value, *type.element) : -1;
      const TVMFFISeqCell& cell = elements_of(value);
      const auto* items = static_cast<const TVMFFIAny*>(cell.data);
      int sum = 0;
      for (std::int64_t i = 0; i < cell.size; ++i) {
        const int cost = cost_of(items[i], *type.element);
        if (cost < 0) return -1;
        sum += cost;
      }
      return sum;
    }
    default:
      return -1;
  }
}

std::string name_of(std::int32_t index) {
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(index);
  if (info == nullptr) return "a value of an unknown type";
  return std::string(info->type_key.data, info->type_key.size);
}

// ---- One call -----------------------------------------------------------------------------------

// The memory of large tensors that a call makes, from the allocator of the caller's framework.
class CallersMemory {
 public:
  CallersMemory() : is_set_(TVMFFIEnvGetDLPackManagedTensorAllocator() != nullptr) {
    if (is_set_) replaced_ = std::exchange(current_, this);
  }
  ~CallersMemory() {
    if (is_set_) current_ = replaced_;
    for (TVMFFIObjectHandle block : blocks_) TVMFFIObjectDecRef(block);
  }
  CallersMemory(const CallersMemory&) = delete;
  CallersMemory& operator=(const CallersMemory&) = delete;

  [[nodiscard]] bool is_set() const { return is_set_; }

  // Has the runtime ask for this memory. Libraries that are loaded before ask theirs in turn.
  static void install() {
    static const bool once = [] {
      next_.store_release(exchange_block_provider([](std::size_t bytes, DataPtr& block) {
        if (current_ != nullptr) return current_->provide(bytes, block);
        const BlockProvider next = next_.load_acquire();
        return next != nullptr && next(bytes, block);
      }));
      return true;
    }();
    (void)once;
  }

  bool provide(std::size_t bytes, DataPtr& block) {
    std::int64_t size = static_cast<std::int64_t>(bytes);
    TVMFFIObjectHandle made = nullptr;
    if (allocate(IntArrayRef(&size, 1), {kDLUInt, 8, 1}, made) != 0) return false;
    const DLTensor& tensor = *TVMFFITensorGetDLTensorPtr(made);
    char* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
    if (reinterpret_cast<std::uintptr_t>(data) % 64 != 0) {
      TVMFFIObjectDecRef(made);
      return false;
    }
    blocks_.push_back(made);
    TVMFFIObjectIncRef(made);
    block.data = data;
    block.context = made;
    block.deleter = [](void* context) { TVMFFIObjectDecRef(context); };
    return true;
  }

  static int allocate(IntArrayRef sizes, DLDataType dtype, TVMFFIObjectHandle& made) {
    DLTensor prototype{};
    prototype.device = {kDLCPU, 0};
    prototype.ndim = static_cast<std::int32_t>(sizes.size());
    prototype.dtype = dtype;
    prototype.shape = const_cast<std::int64_t*>(sizes.data());
    return TVMFFIEnvTensorAlloc(&prototype, &made);
  }

  // Returns the block that begins at `data`; null if there is none.
  [[nodiscard]] TVMFFIObjectHandle find(const void* data) const {
    for (TVMFFIObjectHandle block : blocks_) {
      const DLTensor& tensor = *TVMFFITensorGetDLTensorPtr(block);
      if (static_cast<const char*>(tensor.data) + tensor.byte_offset == data) return block;
    }
    return nullptr;
  }

 private:
  static thread_local constinit CallersMemory* current_;
  static constinit Atomic<BlockProvider> next_;

  bool is_set_;
  CallersMemory* replaced_ = nullptr;
  std::vector<TVMFFIObjectHandle> blocks_;
};
thread_local constinit CallersMemory* CallersMemory::current_ = nullptr;
constinit Atomic<BlockProvider> CallersMemory::next_ = nullptr;

// A tensor that leaves the runtime. A consumer may delete it on any thread.
struct Moved {
  Moved(const TensorBase& tensor, const DLTensor& fields)
      : held(tensor.storage()), sizes(tensor.sizes()), strides(tensor.strides()) {
    managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      delete static_cast<Moved*>(self->manager_ctx);
    };
    managed.dl_tensor = fields;
    managed.dl_tensor.shape = sizes.data();
    managed.dl_tensor.strides = strides.data();
  }
  DLManagedTensorVersioned managed{};
  HeldStorage held;
  DimVector sizes, strides;
};

TVMFFIAny object(std::int32_t index, TVMFFIObjectHandle handle) {
  TVMFFIAny any{};
  any.type_index = index;
  any.v_obj = static_cast<TVMFFIObject*>(handle);
  return any;
}

// Owns its values.
struct Values : std::vector<TVMFFIAny> {
  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ~Values() {
    for (const TVMFFIAny& one : *this) {
      if (one.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(one.v_obj);
    }
  }
  // Returns the only value, None if there is none, and otherwise an array.
  TVMFFIAny take(bool as_array) {
    TVMFFIAny whole{};
    if (as_array) {
      static TVMFFIObjectHandle make = [] {
        constexpr std::string_view name = "ffi.Array";
        const TVMFFIByteArray key{name.data(), name.size()};
        TVMFFIObjectHandle found = nullptr;
        check(TVMFFIFunctionGetGlobal(&key, &found));
        return found;
      }();
      check(TVMFFIFunctionCall(make, data(), static_cast<std::int32_t>(size()), &whole));
    } else if (!empty()) {
      whole = back();
      pop_back();
    }
    return whole;
  }
};

class Call {
 public:
  explicit Call(const TvmFunction::Overload& overload)
      : call_(overload.op, *overload.schema), out_(overload.out) {}

  void run(const TVMFFIAny* arguments, std::int32_t count, TVMFFIAny* result) {
    const TVMFFIAny* next = arguments;
    const TVMFFIAny* next_out = arguments + (count - out_);
    const TVMFFIAny* const end = next_out;
    for (const SchemaArgument& argument : call_.schema().arguments) {
      if (argument.is_out) {
        add(*next_out, argument, next_out - arguments);
        ++next_out;
      } else if (next != end) {
        add(*next, argument, next - arguments);
        ++next;
      } else {
        call_.add_default();
      }
    }
    const AutoDispatchBelowADInplaceOrView untracked;
    std::optional<StreamGuard> stream;
    if (OPGEN_UNLIKELY(!device_.is_cpu()) && find_device_guard_impl(device_.type()) != nullptr) {
      const DLDevice device = device_of(device_);
      stream.emplace(Stream(device_, reinterpret_cast<std::int64_t>(TVMFFIEnvGetStream(
                                         device.device_type, device.device_id))));
    }
    const Stack& stack = call_.call();
    const std::vector<SchemaArgument>& returns = call_.schema().returns;
    Values values;
    std::size_t fresh = 0;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (returns[i].is_written()) continue;
      values.push_back(result_of(stack[i]));
      ++fresh;
    }
    *result = values.take(fresh > 1);
  }

 private:
  void add(const TVMFFIAny& value, const SchemaArgument& argument, std::ptrdiff_t index) {
    try {
      if (is_tensor(value.type_index) && is_tensor(argument.type)) {
        TensorBase tensor = tensor_of(value);
        if (argument.is_written()) {
          call_.add_written(std::move(tensor));
        } else {
          call_.add(IValue(std::move(tensor)));
        }
      } else if (value.type_index == kTVMFFIFloat && argument.type.kind == TypeKind::Float) {
        call_.add(IValue(value.v_float64));
      } else {
        call_.add(value_of(value, argument.type));
      }
    } catch (const TypeError& error) {
      OPGEN_CHECK_TYPE(false, call_.schema().full_name(), "(): argument ", index + 1, " (",
                       argument.name, "): ", error.msg());
    } catch (const ValueError& error) {
      OPGEN_CHECK_VALUE(false, call_.schema().full_name(), "(): argument ", index + 1, " (",
                        argument.name, "): ", error.msg());
    }
  }

  IValue value_of(const TVMFFIAny& value, const SchemaType& type) {
    const SchemaType& plain = type.kind == TypeKind::Optional ? *type.element : type;
    switch (value.type_index) {
      case kTVMFFITensor:
      case kTVMFFIDLTensorPtr:
        OPGEN_CHECK_TYPE(is_tensor(type), "expected ", type.str(), ", got a tensor");
        return IValue(tensor_of(value));
      case kTVMFFINone:
        return convert_to_type(IValue(), type);
      case kTVMFFIInt:
        OPGEN_CHECK_TYPE(plain.kind != TypeKind::ScalarType, "expected a dtype, got Int");
        return convert_to_type(IValue(value.v_int64), type);
      case kTVMFFIBool:
        return convert_to_type(IValue(value.v_int64 != 0), type);
      case kTVMFFIFloat:
        return convert_to_type(IValue(value.v_float64), type);
      case kTVMFFIDataType:
        OPGEN_CHECK_TYPE(plain.kind == TypeKind::ScalarType, "expected ", type.str(),
                         ", got a dtype");
        return IValue(scalar_type_of(value.v_dtype));
      case kTVMFFIDevice:
        return convert_to_type(IValue(device_of(value.v_device)), type);
      case kTVMFFIShape: {
        const TVMFFIShapeCell& cell = *TVMFFIShapeGetCellPtr(value.v_obj);
        return convert_to_type(IValue(std::vector<IValue>(cell.data, cell.data + cell.size)), type);
      }
      case kTVMFFISmallStr:
      case kTVMFFIStr:
      case kTVMFFIRawStr: {
        const std::string_view text = text_of(value);
        if (plain.kind != TypeKind::ScalarType) return convert_to_type(IValue(text), type);
        const TVMFFIByteArray bytes{text.data(), text.size()};
        DLDataType dtype{};
        check(TVMFFIDataTypeFromString(&bytes, &dtype));
        return IValue(scalar_type_of(dtype));
      }
      case kTVMFFIArray:
      case kTVMFFIList: {
        OPGEN_CHECK_TYPE(plain.kind == TypeKind::List, "expected ", type.str(), ", got a list");
        const TVMFFISeqCell& cell = elements_of(value);
        const auto* items = static_cast<const TVMFFIAny*>(cell.data);
        OPGEN_CHECK_VALUE(plain.size == 0 || cell.size == plain.size, "expected ", type.str(),
                          ", got a list of ", cell.size, " elements");
        std::vector<IValue> list;
        for (std::int64_t i = 0; i < cell.size; ++i) {
          list.push_back(value_of(items[i], *plain.element));
        }
        return IValue(std::move(list));
      }
      case kTVMFFIObjectRValueRef:
        if (TVMFFIObject* inner = *static_cast<TVMFFIObject**>(value.v_ptr)) {
          return value_of(object(inner->type_index, inner), type);
        }
        return convert_to_type(IValue(), type);
      case kTVMFFIBigInt:
        OPGEN_CHECK_VALUE(false, "the integer has more than 64 bits");
      default:
        OPGEN_CHECK_TYPE(false, "expected ", type.str(), ", got ", name_of(value.type_index));
    }
  }

  TensorBase tensor_of(const TVMFFIAny& value) {
    if (value.type_index == kTVMFFITensor) {
      return tensor_of(*TVMFFITensorGetDLTensorPtr(value.v_obj), value.v_obj);
    }
    return tensor_of(*static_cast<const DLTensor*>(value.v_ptr), nullptr);
  }

  // Returns a tensor on the same memory. If `owner` is null, the memory is the caller's, and valid
  // during the call.
  TensorBase tensor_of(const DLTensor& from, TVMFFIObject* owner) {
    const ScalarType dtype = scalar_type_of(from.dtype);
    const Device device = device_of(from.device);
    const IntArrayRef sizes(from.shape, static_cast<std::size_t>(from.ndim));
    IntArrayRef strides(from.strides, sizes.size());
    std::optional<DimVector> row_major;
    if (from.strides == nullptr) strides = row_major.emplace(contiguous_strides(sizes));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      OPGEN_CHECK_VALUE(strides[i] >= 0 || sizes[i] <= 1,
                        "a tensor cannot have negative strides, as array[::-1] has: copy the array "
                        "first");
    }
    char* data = static_cast<char*>(from.data);
    if (data != nullptr) data += from.byte_offset;
    if (device.is_cpu()) {
      OPGEN_CHECK_VALUE(reinterpret_cast<std::uintptr_t>(data) % alignment_of(dtype) == 0,
                        "the elements are not aligned to their size: copy the array first");
    } else {
      OPGEN_CHECK_VALUE(find_allocator(device.type()) != nullptr, "the tensor is on ", device,
                        ", and no library that is loaded has kernels for this type of device");
      device_ = device;
    }
    if (owner == nullptr) {
      borrows_ = true;
      return detail::from_blob(data, sizes, strides, TensorOptions(dtype).device(device));
    }
    TVMFFIObjectIncRef(owner);
    return detail::from_blob(data, sizes, strides, TensorOptions(dtype).device(device), owner,
                             [](void* context) { TVMFFIObjectDecRef(context); });
  }

  static std::size_t alignment_of(ScalarType dtype) {
    const std::size_t size = elementSize(dtype);
    return isComplexType(dtype) ? size / 2 : size;
  }

  TVMFFIAny result_of(const IValue& value) {
    if (value.isTensor()) return result_of(value.toTensor());
    TVMFFIAny any{};
    if (value.has_elements()) {
      Values values;
      for (const IValue& element : value.elements()) values.push_back(result_of(element));
      return values.take(true);
    }
    if (value.isBool()) {
      any.type_index = kTVMFFIBool;
      any.v_int64 = value.toBool() ? 1 : 0;
    } else if (value.isInt()) {
      any.type_index = kTVMFFIInt;
      any.v_int64 = value.toInt();
    } else if (value.isDouble()) {
      any.type_index = kTVMFFIFloat;
      any.v_float64 = value.toDouble();
    } else if (value.isString()) {
      const std::string_view text = value.toStringView();
      const TVMFFIByteArray bytes{text.data(), text.size()};
      check(TVMFFIStringFromByteArray(&bytes, &any));
    } else {
      OPGEN_CHECK_TYPE(value.isNone(), "TVM-FFI has no type for a result of type ",
                       toString(value.tag()));
    }
    return any;
  }

  TVMFFIAny result_of(TensorBase tensor) {
    if (!tensor.defined()) return {};
    // Storages on the memory of a framework cannot be resized.
    bool is_fresh = tensor.storage().resizable();
    if (!is_fresh && borrows_) {
      tensor = detail::clone(tensor);
      is_fresh = true;
    }
    DLTensor fields{};
    fields.data = tensor.numel() == 0 ? nullptr : tensor.data_ptr();
    fields.device = device_of(tensor.device());
    fields.ndim = static_cast<std::int32_t>(tensor.dim());
    fields.dtype = data_type_of(tensor.scalar_type());
    TVMFFIObjectHandle made = nullptr;
    if (is_fresh && memory_.is_set() && tensor.is_cpu()) {
      if (const TVMFFIObjectHandle block = memory_.find(tensor.storage().data())) {
        fields.shape = const_cast<std::int64_t*>(tensor.sizes().data());
        fields.strides = const_cast<std::int64_t*>(tensor.strides().data());
        check(TVMFFITensorCreateUnsafeView(block, &fields, &made));
        return object(kTVMFFITensor, made);
      }
      check(CallersMemory::allocate(tensor.sizes(), fields.dtype, made));
      const TVMFFIAny any = object(kTVMFFITensor, made);
      const DLTensor& to = *TVMFFITensorGetDLTensorPtr(made);
      char* data = static_cast<char*>(to.data) + to.byte_offset;
      if (tensor.is_contiguous()) {
        if (fields.data != nullptr) {
          std::memcpy(data, fields.data,
                      static_cast<std::size_t>(tensor.numel()) * elementSize(tensor.scalar_type()));
        }
      } else {
        copy_(borrow(data, tensor.sizes(), tensor.scalar_type()), tensor);
      }
      return any;
    }
    auto moved = std::make_unique<Moved>(tensor, fields);
    check(TVMFFITensorFromDLPackVersioned(&moved->managed, 0, 0, &made));
    (void)moved.release();
    return object(kTVMFFITensor, made);
  }

  CallersMemory memory_;
  OperatorCall call_;
  std::int32_t out_;
  Device device_ = kCPU;
  bool borrows_ = false;
};

// ---- The choice of an overload ------------------------------------------------------------------

bool takes(const TvmFunction::Overload& overload, std::int32_t count) {
  return overload.least <= count && count <= overload.most;
}

int cost_of(const TvmFunction::Overload& overload, const TVMFFIAny* arguments, std::int32_t count) {
  const TVMFFIAny* next = arguments;
  const TVMFFIAny* next_out = arguments + (count - overload.out);
  const TVMFFIAny* const end = next_out;
  int sum = 0;
  for (const SchemaArgument& argument : overload.schema->arguments) {
    if (!argument.is_out && next == end) continue;
    const int cost = cost_of(argument.is_out ? *next_out++ : *next++, argument.type);
    if (cost < 0) return -1;
    sum += cost;
  }
  return sum;
}

std::string described(const TVMFFIAny* arguments, std::int32_t count) {
  std::string text;
  for (std::int32_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + name_of(arguments[i].type_index);
  }
  return text;
}

const TvmFunction::Overload& choose(const std::vector<TvmFunction::Overload>& overloads,
                                    const char* name, const TVMFFIAny* arguments,
                                    std::int32_t count) {
  const TvmFunction::Overload* found = nullptr;
  if (overloads.size() == 1) {
    const TvmFunction::Overload& only = overloads.front();
    if (takes(only, count)) return only;
    OPGEN_CHECK_TYPE(only.least != only.most, only.op.full_name(), "() takes ", only.least,
                     " arguments, but ", count, " are given");
    OPGEN_CHECK_TYPE(false, only.op.full_name(), "() takes ", only.least, " to ", only.most,
                     " arguments, but ", count, " are given");
  }
  int least = -1;
  for (const TvmFunction::Overload& one : overloads) {
    const int cost = takes(one, count) ? cost_of(one, arguments, count) : -1;
    if (cost >= 0 && (least < 0 || cost < least)) {
      least = cost;
      found = &one;
    }
  }
  if (found == nullptr) {
    std::string signatures;
    for (const TvmFunction::Overload& one : overloads) signatures += "\n  " + one.op.signature();
    OPGEN_CHECK_TYPE(false, name, "(): no overload takes (", described(arguments, count),
                     "):", signatures);
  }
  return *found;
}

TvmFunction::Overload overload_of(const OperatorHandle& op) {
  TvmFunction::Overload overload{op, &op.schema(), 0, 0, 0};
  std::int32_t position = 0;
  for (const SchemaArgument& argument : overload.schema->arguments) {
    if (argument.is_out) {
      ++overload.out;
    } else {
      ++position;
      if (!argument.default_value.has_value()) overload.least = position;
    }
  }
  overload.most = position + overload.out;
  overload.least += overload.out;
  return overload;
}

void check_version() {
  TVMFFIVersion version{};
  TVMFFIGetVersion(&version);
  OPGEN_CHECK(version.major == TVM_FFI_VERSION_MAJOR && version.minor == TVM_FFI_VERSION_MINOR,
              "the library was compiled for TVM-FFI ", TVM_FFI_VERSION_MAJOR, ".",
              TVM_FFI_VERSION_MINOR, ", but ", version.major, ".", version.minor,
              " is loaded: build the library again");
}

template <class F>
int guarded(F&& body) noexcept {
  const char* kind = "RuntimeError";
  const auto fail = [&kind](const char* text) {
    TVMFFIErrorSetRaisedFromCStr(kind, text);
    return -1;
  };
  try {
    body();
    return 0;
  } catch (const ErrorIsSet&) {
    return -1;
  } catch (const TypeError& error) {
    kind = "TypeError";
    return fail(error.what());
  } catch (const ValueError& error) {
    kind = "ValueError";
    return fail(error.what());
  } catch (const IndexError& error) {
    kind = "IndexError";
    return fail(error.what());
  } catch (const NotImplementedError& error) {
    kind = "NotImplementedError";
    return fail(error.what());
  } catch (const OutOfMemoryError& error) {
    kind = "MemoryError";
    return fail(error.what());
  } catch (const std::bad_alloc& error) {
    kind = "MemoryError";
    return fail(error.what());
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("an exception of an unknown type");
  }
}

}  // namespace

TvmFunction::TvmFunction(const char* name, const char* operators, const char* metadata,
                         const char* doc)
    : name_(name), operators_(operators), metadata_(metadata), doc_(doc) {
  const TVMFFIByteArray key{name, std::strlen(name)};
  TVMFFIObjectHandle function = nullptr;
  if (TVMFFIFunctionGetGlobal(&key, &function) == 0 && function != nullptr) {
    TVMFFIObjectDecRef(function);
    return;
  }
  const TVMFFISafeCallType safe_call = [](void* self, const TVMFFIAny* arguments,
                                          std::int32_t count, TVMFFIAny* result) {
    return static_cast<const TvmFunction*>(self)->call(arguments, count, result);
  };
  if (TVMFFIFunctionCreate(this, safe_call, nullptr, &function) != 0) return;
  TVMFFIMethodInfo info{};
  info.name = key;
  info.doc = {doc, std::strlen(doc)};
  info.metadata = {metadata, std::strlen(metadata)};
  info.method = object(kTVMFFIFunction, function);
  (void)TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0);
  TVMFFIObjectDecRef(function);
}

const std::vector<TvmFunction::Overload>& TvmFunction::overloads() const {
  if (const auto* known = overloads_.load_acquire()) return *known;
  check_version();
  CallersMemory::install();
  auto made = std::make_unique<std::vector<Overload>>();
  std::string_view rest = operators_;
  OPGEN_CHECK_TYPE(!rest.empty(), "TVM-FFI cannot call '", name_, "': ", doc_);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const auto [name, overload] = split_operator_name(rest.substr(0, end));
    made->push_back(overload_of(Dispatcher::singleton().findSchemaOrThrow(name, overload)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // Another thread may have done the same; its overloads are as good.
  const auto* overloads = made.release();
  overloads_.store_release(overloads);
  return *overloads;
}

int TvmFunction::call(const TVMFFIAny* arguments, std::int32_t count,
                      TVMFFIAny* result) const noexcept {
  return guarded([&] {
    const Overload& overload = choose(overloads(), name_, arguments, count);
    Call(overload).run(arguments, count, result);
  });
}

int TvmFunction::text(const char* text, TVMFFIAny* result) noexcept {
  const TVMFFIByteArray bytes{text, std::strlen(text)};
  return TVMFFIStringFromByteArray(&bytes, result);
}

}  // namespace opgen::frameworks
