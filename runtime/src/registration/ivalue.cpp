// ivalue.cpp: ownership and conversions of boxed values.
#include "opgen/registration/ivalue.h"

#include <string>

namespace opgen {

namespace {

[[noreturn]] void throw_kind(const char* expected, IValue::Tag got) {
  OPGEN_CHECK_TYPE(false, "expected ", expected, " but got ", toString(got));
  __builtin_unreachable();
}

struct StringValue final : HeapValue {
  explicit StringValue(std::string_view value) : text(value) {}
  std::string text;
};

// The elements of a List, a Tuple or a Dict.
struct ListValue final : HeapValue {
  explicit ListValue(std::vector<IValue> values) : items(std::move(values)) {}
  std::vector<IValue> items;
};

bool is_same_key(const IValue& a, const IValue& b) {
  if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
  if (a.isScalar() && b.isScalar()) {  // as in Python, 1 equals 1.0, and True equals both
    return a.toScalar().toComplexDouble() == b.toScalar().toComplexDouble();
  }
  if (a.tag() != b.tag()) return false;
  if (a.isString()) return a.toStringView() == b.toStringView();
  if (a.isDevice()) return a.toDevice() == b.toDevice();
  return a.isTensor() && a.tensor_impl() == b.tensor_impl();
}

template <class T>
T* retained(T* object) noexcept {
  object->retain();
  return object;
}

}  // namespace

const char* toString(IValue::Tag tag) noexcept {
  constexpr const char* names[] = {"None",    "bool", "int",    "float",  "complex",
                                   "Tensor",  "str",  "Device", "Stream", "Generator",
                                   "Storage", "list", "object", "tuple",  "dict"};
  return names[static_cast<int>(tag)];
}

IValue::IValue(const IValue& other) noexcept : payload_(other.payload_), tag_(other.tag_) {
  switch (tag_) {
    case Tag::Tensor:
      if (payload_.tensor != &detail::undefined_tensor) payload_.tensor->retain();
      break;
    case Tag::Generator:
      if (payload_.generator != nullptr) payload_.generator->retain();
      break;
    case Tag::Storage:
      if (payload_.storage != nullptr) payload_.storage->retain();
      break;
    case Tag::String:
    case Tag::List:
    case Tag::Custom:
    case Tag::Tuple:
    case Tag::Dict:
      payload_.heap->retain();
      break;
    default:
      break;
  }
}

void IValue::release() noexcept {
  if (OPGEN_LIKELY(tag_ == Tag::Tensor)) {
    static_cast<void>(TensorBase::adopt(payload_.tensor));
    return;
  }
  switch (tag_) {
    case Tag::Generator:
      static_cast<void>(Ref<GeneratorImpl>::adopt(payload_.generator));
      break;
    case Tag::Storage:
      static_cast<void>(Ref<StorageImpl>::adopt(payload_.storage));
      break;
    case Tag::String:
    case Tag::List:
    case Tag::Custom:
    case Tag::Tuple:
    case Tag::Dict:
      static_cast<void>(Ref<HeapValue>::adopt(payload_.heap));
      break;
    default:
      break;
  }
}

IValue::IValue(const Scalar& value) {
  if (value.isBoolean()) {
    *this = IValue(value.toBool());
  } else if (value.isIntegral(false)) {
    *this = IValue(value.toLong());
  } else if (value.isFloatingPoint()) {
    *this = IValue(value.toDouble());
  } else {
    *this = IValue(value.toComplexDouble());
  }
}
IValue::IValue(std::string_view text) : tag_(Tag::String) {
  payload_.heap = new StringValue(text);
}
IValue::IValue(const std::string& text) : IValue(std::string_view(text)) {}
IValue::IValue(Device device) noexcept : tag_(Tag::Device) {
  payload_.place = {0, device};
}
IValue::IValue(Stream stream) noexcept : tag_(Tag::Stream) {
  payload_.place = {stream.id(), stream.device()};
}
IValue::IValue(Generator generator) noexcept : tag_(Tag::Generator) {
  payload_.generator = generator.unsafeGetGeneratorImpl();
  if (payload_.generator != nullptr) payload_.generator->retain();
}
IValue::IValue(Storage storage) noexcept : tag_(Tag::Storage) {
  payload_.storage = storage.unsafeGetStorageImpl();
  if (payload_.storage != nullptr) payload_.storage->retain();
}
IValue::IValue(std::vector<IValue> elements, Tag tag) : tag_(tag) {
  for (IValue& element : elements) element.own();
  payload_.heap = new ListValue(std::move(elements));
}
IValue::IValue(std::vector<IValue> list) : IValue(std::move(list), Tag::List) {}
IValue IValue::dict(std::vector<IValue> elements) {
  OPGEN_CHECK_VALUE(elements.size() % 2 == 0, "the last key of a dict has no value");
  for (std::size_t i = 0; i < elements.size(); i += 2) {
    OPGEN_CHECK_TYPE(!elements[i].isNone() && !elements[i].has_elements(), "a ",
                     toString(elements[i].tag()), " cannot be the key of a dict");
    for (std::size_t j = 0; j < i; j += 2) {
      OPGEN_CHECK_VALUE(!is_same_key(elements[i], elements[j]), "a dict has the key ", elements[i],
                        " twice");
    }
  }
  return IValue(std::move(elements), Tag::Dict);
}
IValue::IValue(Ref<HeapValue> custom) noexcept : tag_(custom ? Tag::Custom : Tag::None) {
  payload_.heap = custom.release();
}

void Stack::add(IValue&& value) {
  push_back(std::move(value));
}

bool IValue::toBool() const {
  if (tag_ != Tag::Bool) throw_kind("bool", tag_);
  return payload_.integer != 0;
}
std::int64_t IValue::toInt() const {
  if (tag_ != Tag::Int) throw_kind("int", tag_);
  return payload_.integer;
}
double IValue::toDouble() const {
  if (tag_ == Tag::Int) return static_cast<double>(payload_.integer);
  if (tag_ != Tag::Double) throw_kind("float", tag_);
  return payload_.parts[0];
}
complex<double> IValue::toComplexDouble() const {
  if (tag_ == Tag::Complex) return {payload_.parts[0], payload_.parts[1]};
  return {toDouble(), 0.0};
}
Scalar IValue::toScalar() const {
  switch (tag_) {
    case Tag::Bool:
      return Scalar(toBool());
    case Tag::Int:
      return Scalar(payload_.integer);
    case Tag::Double:
      return Scalar(payload_.parts[0]);
    case Tag::Complex:
      return Scalar(toComplexDouble());
    default:
      throw_kind("a number", tag_);
  }
}
TensorBase IValue::toTensor() const {
  if (tag_ == Tag::None) return {};
  if (tag_ != Tag::Tensor) throw_kind("Tensor", tag_);
  if (payload_.tensor == &detail::undefined_tensor) return {};
  return TensorBase::adopt(retained(payload_.tensor));
}
std::string_view IValue::toStringView() const {
  if (tag_ != Tag::String) throw_kind("str", tag_);
  return static_cast<const StringValue*>(payload_.heap)->text;
}
Device IValue::toDevice() const {
  if (tag_ != Tag::Device) throw_kind("Device", tag_);
  return payload_.place.device;
}
Stream IValue::toStream() const {
  if (tag_ != Tag::Stream) throw_kind("Stream", tag_);
  return {payload_.place.device, payload_.place.id};
}
Generator IValue::toGenerator() const {
  if (tag_ == Tag::None) return {};
  if (tag_ != Tag::Generator) throw_kind("Generator", tag_);
  return Generator(Ref<GeneratorImpl>::share(payload_.generator));
}
Storage IValue::toStorage() const {
  if (tag_ != Tag::Storage) throw_kind("Storage", tag_);
  return Storage(Ref<StorageImpl>::share(payload_.storage));
}
const std::vector<IValue>& IValue::toList() const {
  if (tag_ != Tag::List) throw_kind("a list", tag_);
  return static_cast<const ListValue*>(payload_.heap)->items;
}
const std::vector<IValue>& IValue::toTuple() const {
  if (tag_ != Tag::Tuple) throw_kind("a tuple", tag_);
  return static_cast<const ListValue*>(payload_.heap)->items;
}
const std::vector<IValue>& IValue::toDict() const {
  if (tag_ != Tag::Dict) throw_kind("a dict", tag_);
  return static_cast<const ListValue*>(payload_.heap)->items;
}
const std::vector<IValue>& IValue::elements() const {
  if (!has_elements()) throw_kind("a list, a tuple or a dict", tag_);
  return static_cast<const ListValue*>(payload_.heap)->items;
}
Ref<HeapValue> IValue::toCustom() const {
  if (tag_ != Tag::Custom) throw_kind("an object", tag_);
  return Ref<HeapValue>::share(payload_.heap);
}

std::uint64_t IValue::key_bits() const noexcept {
  if (tag_ == Tag::Tensor) return payload_.tensor->key_set().raw_repr();
  if (tag_ == Tag::Generator && payload_.generator != nullptr) {
    return payload_.generator->key_set().raw_repr();
  }
  std::uint64_t bits = 0;
  if (has_elements()) {
    for (const IValue& element : elements()) bits |= element.key_bits();
  }
  return bits;
}

std::uint64_t detail::keys_of_any(const IValue& value) noexcept {
  return value.key_bits();
}

// Appends "[1, 2]", "(1, 2)" or "{'a': 1, 'b': 2}".
void IValue::append_elements(Message& message) const {
  const char* const brackets = isList() ? "[]" : isTuple() ? "()" : "{}";
  message.append(brackets, 1);
  const std::vector<IValue>& all = elements();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != 0) message.append(isDict() && i % 2 == 1 ? ": " : ", ");
    all[i].append_to(message);
  }
  message.append(brackets + 1, 1);
}

void IValue::append_to(Message& message) const {
  switch (tag_) {
    case Tag::Bool:
    case Tag::Int:
    case Tag::Double:
    case Tag::Complex:
      return append_message(message, toScalar());
    case Tag::Tensor:
      return append_message(message, toTensor());
    case Tag::String:
      message.append("'");
      message.append(toStringView().data(), toStringView().size());
      return message.append("'");
    case Tag::Device:
      return append_message(message, toDevice());
    case Tag::List:
    case Tag::Tuple:
    case Tag::Dict:
      return append_elements(message);
    default:
      return message.append(toString(tag_));
  }
}

}  // namespace opgen
