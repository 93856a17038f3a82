// values.cpp: the objects behind the words of PyTorch's C functions.
#include "opgen/dispatch/values.h"

#include <array>

#include "shim.h"

#include "opgen/symbolic/fake_tensor.h"

namespace opgen::detail {

namespace {

template <class T>
T* pointer(Word word) noexcept {
  return reinterpret_cast<T*>(word);
}
Word word(const void* address) noexcept {
  return reinterpret_cast<Word>(address);
}

// PyTorch's numbers of dtypes, by which its C functions name them.
struct Dtypes {
  static constexpr int kCodes = 64;
  std::array<ScalarType, kCodes> types;
  std::array<std::int32_t, kCodes> codes;

  void add(ScalarType type, std::int32_t code) noexcept {
    if (code >= 0 && code < kCodes) types[static_cast<std::size_t>(code)] = type;
    codes[static_cast<std::size_t>(type)] = code;
  }
  Dtypes() noexcept {
    // A dtype that the library has no name for keeps its number.
    for (int i = 0; i < kCodes; ++i) {
      types[static_cast<std::size_t>(i)] = static_cast<ScalarType>(i);
      codes[static_cast<std::size_t>(i)] = i;
    }
    add(kByte, aoti_torch_dtype_uint8());
    add(kChar, aoti_torch_dtype_int8());
    add(kShort, aoti_torch_dtype_int16());
    add(kInt, aoti_torch_dtype_int32());
    add(kLong, aoti_torch_dtype_int64());
    add(kHalf, aoti_torch_dtype_float16());
    add(kFloat, aoti_torch_dtype_float32());
    add(kDouble, aoti_torch_dtype_float64());
    add(kComplexFloat, aoti_torch_dtype_complex64());
    add(kComplexDouble, aoti_torch_dtype_complex128());
    add(kBool, aoti_torch_dtype_bool());
    add(kBFloat16, aoti_torch_dtype_bfloat16());
  }
};
const Dtypes& dtypes() noexcept {
  static const Dtypes known;
  return known;
}

}  // namespace

ScalarType Words::scalar_type_of_code(std::int32_t code) {
  OPGEN_CHECK(code >= 0 && code < Dtypes::kCodes, "unknown dtype ", code);
  return dtypes().types[static_cast<std::size_t>(code)];
}
std::int32_t Words::code_of_scalar_type(ScalarType type) {
  return dtypes().codes[static_cast<std::size_t>(type)];
}

TensorBase Words::take_tensor(Word handle) {
  if (OPGEN_UNLIKELY((handle & 1) != 0)) {
    return TensorBase::adopt(pointer<TensorImpl>(handle & ~Word(1)));
  }
  return take_handle(pointer<AtenTensorOpaque>(handle));
}
Word Words::give_tensor(TensorBase&& tensor) {
  if (OPGEN_UNLIKELY(tensor.unsafeGetTensorImpl()->fake() != nullptr)) {
    return word(tensor.unsafeReleaseTensorImpl()) | 1;
  }
  return word(give_handle(std::move(tensor)));
}

Word Words::take_optional(Word optional) {
  auto* const held = pointer<StableIValue>(optional);
  const Word value = *held;
  delete held;
  return value;
}
Word Words::give_optional(Word value) {
  return word(new StableIValue(value));
}

SmallVector<Word, 8> Words::take_list(Word list) {
  auto* const handle = pointer<StableListOpaque>(list);
  std::size_t size = 0;
  OPGEN_SHIM(torch_list_size, handle, &size);
  SmallVector<Word, 8> items(size);
  for (std::size_t i = 0; i < size; ++i) OPGEN_SHIM(torch_list_get_item, handle, i, &items[i]);
  OPGEN_SHIM(torch_delete_list, handle);
  return items;
}
Word Words::give_list(ArrayRef<Word> items) {
  StableListHandle handle = nullptr;
  OPGEN_SHIM(torch_new_list_reserve_size, items.size(), &handle);
  for (const Word item : items) OPGEN_SHIM(torch_list_push_back, handle, item);
  return word(handle);
}

std::string Words::take_string(Word string) {
  auto* const handle = pointer<StringOpaque>(string);
  std::size_t length = 0;
  const char* text = nullptr;
  OPGEN_SHIM(torch_string_length, handle, &length);
  OPGEN_SHIM(torch_string_c_str, handle, &text);
  std::string taken(text, length);
  OPGEN_SHIM(torch_delete_string, handle);
  return taken;
}
Word Words::give_string(std::string_view text) {
  StringHandle handle = nullptr;
  OPGEN_SHIM(torch_new_string_handle, text.data(), text.size(), &handle);
  return word(handle);
}

Generator Words::take_generator(Word handle) {
  return Generator(
      Ref<GeneratorImpl>::adopt(new GeneratorImpl(pointer<AtenGeneratorOpaque>(handle))));
}
Word Words::give_generator(const Generator& generator) {
  static const auto copy =
      shim::find_function<AOTITorchError(AtenGeneratorHandle, AtenGeneratorHandle*)>(
          "torch_new_generator_handle");
  OPGEN_CHECK(copy != nullptr, "a Generator argument needs PyTorch 2.13");
  AtenGeneratorHandle handle = nullptr;
  shim::check(copy(generator.unsafeGetGeneratorImpl()->handle(), &handle),
              "torch_new_generator_handle");
  return word(handle);
}

// ---- Numbers: what they are, then the value ----

namespace {

enum NumberKind : std::int64_t { kIsInteger, kIsDouble, kIsComplex, kIsBool, kIsWideInteger };

// 64 bits as two words: PyTorch's symbolic integers have no room for all 64.
std::uint64_t bits_of(const SymInt* halves) {
  const auto half = [&](int i) {
    return static_cast<std::uint64_t>(halves[i].guard_int(__FILE__, __LINE__));
  };
  return half(0) << 32 | half(1);
}
double double_of(const SymInt* halves) {
  const std::uint64_t bits = bits_of(halves);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
void push_bits(std::uint64_t bits, SmallVector<SymInt, 8>& words) {
  words.push_back(static_cast<std::int64_t>(bits >> 32));
  words.push_back(static_cast<std::int64_t>(bits & 0xffffffff));
}
void push_double(double value, SmallVector<SymInt, 8>& words) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  push_bits(bits, words);
}

}  // namespace

Scalar take_number(SymIntArrayRef words, std::size_t& next) {
  const auto take = [&](std::size_t count) {
    OPGEN_CHECK(words.size() - next >= count, "a list of numbers ends within a number");
    const SymInt* const taken = words.data() + next;
    next += count;
    return taken;
  };
  switch (take(1)->guard_int(__FILE__, __LINE__)) {
    case kIsDouble:
      return double_of(take(2));
    case kIsComplex: {
      const SymInt* const parts = take(4);
      return complex<double>(double_of(parts), double_of(parts + 2));
    }
    case kIsBool:
      return take(1)->guard_int(__FILE__, __LINE__) != 0;
    case kIsWideInteger:
      return static_cast<std::int64_t>(bits_of(take(2)));
    default:
      return take(1)->guard_int(__FILE__, __LINE__);
  }
}
void give_number(const Scalar& number, SmallVector<SymInt, 8>& words) {
  if (number.isComplex()) {
    const auto value = number.to<complex<double>>();
    words.push_back(std::int64_t(kIsComplex));
    push_double(value.real(), words);
    push_double(value.imag(), words);
  } else if (number.isFloatingPoint()) {
    words.push_back(std::int64_t(kIsDouble));
    push_double(number.to<double>(), words);
  } else if (number.isBoolean()) {
    words.push_back(std::int64_t(kIsBool));
    words.push_back(number.to<bool>() ? 1 : 0);
  } else {
    const auto value = number.to<std::int64_t>();
    if (value >= kFirstNumber) {
      words.push_back(std::int64_t(kIsInteger));
      words.push_back(value);
    } else {
      words.push_back(std::int64_t(kIsWideInteger));
      push_bits(static_cast<std::uint64_t>(value), words);
    }
  }
}

}  // namespace opgen::detail
