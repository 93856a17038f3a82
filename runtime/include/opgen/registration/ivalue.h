// ivalue.h: IValue, one value of any type of the schema language, and Stack, the arguments or
// results of a boxed call.
#pragma once

#include <cstdint>
#include <iosfwd>  // declares std::string; <string> would cost another 0.07 s
#include <string_view>
#include <utility>
#include <vector>

#include "opgen/dispatch/kernel_function.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// ScalarType, Layout, MemoryFormat and QScheme are stored as Int; Scalar as Bool, Int, Double or
// Complex. A List, a Tuple and a Dict have elements; those of a Dict are its keys, each followed by
// its value.
class OPGEN_API IValue {
 public:
  enum class Tag : std::uint8_t {
    None,
    Bool,
    Int,
    Double,
    Complex,
    Tensor,
    String,
    Device,
    Stream,
    Generator,
    Storage,
    List,
    Custom,
    Tuple,
    Dict
  };

  IValue() noexcept = default;
  IValue(const IValue& other) noexcept;
  IValue(IValue&& other) noexcept
      : payload_(other.payload_),
        tag_(std::exchange(other.tag_, Tag::None)),
        borrowed_(other.borrowed_) {}
  IValue& operator=(IValue other) noexcept {
    std::swap(payload_, other.payload_);
    std::swap(tag_, other.tag_);
    std::swap(borrowed_, other.borrowed_);
    return *this;
  }
  ~IValue() {
    if (tag_ >= Tag::Tensor && !borrowed_) release();
  }

  // Borrows a tensor that outlives this value, such as an argument of a boxed call, without a new
  // share of ownership. A copy of the IValue owns a share. Boxed kernels receive only values that
  // own theirs.
  [[nodiscard]] static IValue borrow(const TensorBase& tensor) noexcept {
    return IValue(Borrowed(), tensor);
  }
  // A tag for emplace_back(), which constructs the value in place, as one word. Moving a value
  // reads two words right after they were written, which stalls the processor.
  struct Borrowed {};
  IValue(Borrowed, const TensorBase& tensor) noexcept
      : IValue(tensor.unsafeGetTensorImpl(), true) {}
  [[nodiscard]] bool is_borrowed() const noexcept { return borrowed_; }
  void own() noexcept {
    if (borrowed_) *this = IValue(static_cast<const IValue&>(*this));
  }

  IValue(bool value) noexcept : tag_(Tag::Bool) { payload_.integer = value ? 1 : 0; }  // NOLINT
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) IValue(T value)
  noexcept : tag_(Tag::Int) {  // NOLINT
    payload_.integer = static_cast<std::int64_t>(value);
  }
  IValue(double value) noexcept : tag_(Tag::Double) { payload_.parts[0] = value; }  // NOLINT
  IValue(complex<double> value) noexcept : tag_(Tag::Complex) {                     // NOLINT
    payload_.parts[0] = value.real();
    payload_.parts[1] = value.imag();
  }
  IValue(const Scalar& value);        // NOLINT
  IValue(TensorBase tensor) noexcept  // NOLINT
      : IValue(tensor.unsafeReleaseTensorImpl(), false) {}
  IValue(std::string_view text);                                // NOLINT
  IValue(const char* text) : IValue(std::string_view(text)) {}  // NOLINT
  IValue(const std::string& text);                              // NOLINT
  IValue(Device device) noexcept;                               // NOLINT
  IValue(Stream stream) noexcept;                               // NOLINT
  IValue(Generator generator) noexcept;                         // NOLINT
  IValue(Storage storage) noexcept;                             // NOLINT
  IValue(std::vector<IValue> list);                             // NOLINT
  IValue(Ref<HeapValue> custom) noexcept;                       // NOLINT
  template <class T>
  requires std::is_enum_v<T> IValue(T value)
  noexcept : IValue(static_cast<std::int64_t>(value)) {}  // NOLINT
  [[nodiscard]] static IValue tuple(std::vector<IValue> elements) {
    return IValue(std::move(elements), Tag::Tuple);
  }
  // Throws ValueError if a key is None or appears twice.
  [[nodiscard]] static IValue dict(std::vector<IValue> elements);

  [[nodiscard]] Tag tag() const noexcept { return tag_; }
  [[nodiscard]] bool isNone() const noexcept { return tag_ == Tag::None; }
  [[nodiscard]] bool isBool() const noexcept { return tag_ == Tag::Bool; }
  [[nodiscard]] bool isInt() const noexcept { return tag_ == Tag::Int; }
  [[nodiscard]] bool isDouble() const noexcept { return tag_ == Tag::Double; }
  [[nodiscard]] bool isComplexDouble() const noexcept { return tag_ == Tag::Complex; }
  [[nodiscard]] bool isScalar() const noexcept { return tag_ >= Tag::Bool && tag_ <= Tag::Complex; }
  [[nodiscard]] bool isTensor() const noexcept { return tag_ == Tag::Tensor; }
  [[nodiscard]] bool isString() const noexcept { return tag_ == Tag::String; }
  [[nodiscard]] bool isDevice() const noexcept { return tag_ == Tag::Device; }
  [[nodiscard]] bool isList() const noexcept { return tag_ == Tag::List; }
  [[nodiscard]] bool isTuple() const noexcept { return tag_ == Tag::Tuple; }
  [[nodiscard]] bool isDict() const noexcept { return tag_ == Tag::Dict; }
  [[nodiscard]] bool has_elements() const noexcept {
    return tag_ == Tag::List || tag_ == Tag::Tuple || tag_ == Tag::Dict;
  }

  // Throw TypeError if the value has another kind. Int converts to double, Bool and Int to a
  // Scalar.
  [[nodiscard]] bool toBool() const;
  [[nodiscard]] std::int64_t toInt() const;
  [[nodiscard]] double toDouble() const;
  [[nodiscard]] complex<double> toComplexDouble() const;
  [[nodiscard]] Scalar toScalar() const;
  // Converts None to an undefined tensor.
  [[nodiscard]] TensorBase toTensor() const;
  [[nodiscard]] std::string_view toStringView() const;
  [[nodiscard]] Device toDevice() const;
  [[nodiscard]] Stream toStream() const;
  [[nodiscard]] Generator toGenerator() const;
  [[nodiscard]] Storage toStorage() const;
  [[nodiscard]] const std::vector<IValue>& toList() const;
  [[nodiscard]] const std::vector<IValue>& toTuple() const;
  // Returns the keys, each followed by its value.
  [[nodiscard]] const std::vector<IValue>& toDict() const;
  // Returns the elements of a List, a Tuple or a Dict.
  [[nodiscard]] const std::vector<IValue>& elements() const;
  // Returns a List, Tuple or Dict of the same kind as this value, with other elements.
  [[nodiscard]] IValue with_elements(std::vector<IValue> elements) const {
    return IValue(std::move(elements), tag_);
  }
  [[nodiscard]] Ref<HeapValue> toCustom() const;
  [[nodiscard]] const TensorImpl* tensor_impl() const noexcept {
    return tag_ == Tag::Tensor ? payload_.tensor : nullptr;
  }

  // Returns the dispatch keys of the tensors in this value.
  [[nodiscard]] std::uint64_t key_bits() const noexcept;

  // A friend, so that it is found only for an IValue, not for types that convert to one.
  friend void append_message(Message& message, const IValue& value) { value.append_to(message); }

 private:
  void append_to(Message& message) const;
  void append_elements(Message& message) const;
  union Payload {
    std::int64_t integer = 0;
    double parts[2];
    TensorImpl* tensor;
    StorageImpl* storage;
    GeneratorImpl* generator;
    HeapValue* heap;
    struct {
      std::int64_t id;
      Device device;
    } place;
    Payload() noexcept : parts{0, 0} {}
    explicit Payload(TensorImpl* impl) noexcept : tensor(impl) {}
  };

  IValue(std::vector<IValue> elements, Tag tag);
  IValue(TensorImpl* tensor, bool borrowed) noexcept
      : payload_(tensor), tag_(Tag::Tensor), borrowed_(borrowed) {}

  void release() noexcept;

  Payload payload_;
  Tag tag_ = Tag::None;
  bool borrowed_ = false;  // true only for a Tensor
};

[[nodiscard]] OPGEN_API const char* toString(IValue::Tag tag) noexcept;

struct Stack : std::vector<IValue> {
  using std::vector<IValue>::vector;
  // Does push_back(); compiled once here, not in every library.
  OPGEN_API void add(IValue&& value);
  // Removes the last `count` values, without the check of the capacity that resize() makes.
  void drop(std::size_t count) noexcept {
    for (; count != 0; --count) pop_back();
  }
};

}  // namespace opgen
