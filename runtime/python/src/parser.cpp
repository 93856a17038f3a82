// parser.cpp: the arguments of a Python call, matched against one overload after the other.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "objects.h"
#include "opgen/copy.h"
#include "opgen/cpu_generator.h"
#include "opgen/factories.h"
#include "opgen/small_vector.h"

namespace opgen::python {

namespace {

constexpr std::size_t kMaxSlots = 64;

// What slots point to and nobody else owns; freed when the call is over.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    while (boxes_ != nullptr) delete std::exchange(boxes_, boxes_->next);
  }
  std::int64_t* integers(std::size_t count) {
    if (used_ + count <= kInline) return inline_ + std::exchange(used_, used_ + count);
    return make<std::vector<std::int64_t>>(count).data();
  }
  template <class T, class... A>
  T& make(A&&... arguments) {
    auto box = std::make_unique<BoxOf<T>>(std::forward<A>(arguments)...);
    box->next = boxes_;
    boxes_ = box.get();
    return box.release()->value;
  }

 private:
  struct Box {
    virtual ~Box() = default;
    Box* next = nullptr;
  };
  template <class T>
  struct BoxOf final : Box {
    template <class... A>
    explicit BoxOf(A&&... arguments) : value(std::forward<A>(arguments)...) {}
    T value;
  };
  static constexpr std::size_t kInline = 32;
  std::int64_t inline_[kInline];
  std::size_t used_ = 0;
  Box* boxes_ = nullptr;
};

struct Arguments {
  PyObject* const* values;
  std::size_t count;
  PyObject* names;  // of the last values; null without
  bool method;      // the first is what the method is called on
};

// One attempt. `why` is filled only when a message is asked for.
struct Attempt {
  const Overload& overload;
  const Arguments& given;
  Scratch& scratch;
  std::string* why;
  Slot* slots;
  std::size_t slot_count = 0;
  std::int64_t work = 0;  // elements of the largest tensor or size that was given
  PyObject* out = nullptr;
  bool too_large = false;  // an int was, and with it the call is refused

  bool parse();

 private:
  bool place(PyObject** objects);
  bool place_keyword(PyObject** objects, PyObject* name, PyObject* value);
  bool convert(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_default(const Argument& argument, Slot& slot);
  bool convert_tensor(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_integers(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_list(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_tensors(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_outs(const Argument& argument, PyObject* object, Slot* first);
  void take_tensor(PyObject* object, Slot& slot) {
    slot.object = object;
    slot.given = true;
    slot.tensor = &tensor_of(object);
    work = std::max(work, slot.tensor->numel());
  }
  bool is_of_out(const Argument& argument, const Slot& slot) const;
  bool wrong_type(const Argument& argument, PyObject* object);
  bool fail(std::string text) {
    if (why != nullptr) *why = std::move(text);
    return false;
  }
};

const char* const kTypeNames[] = {"a Tensor",
                                  "a number",
                                  "an int",
                                  "a float",
                                  "a bool",
                                  "a str",
                                  "a dtype",
                                  "a layout",
                                  "a device",
                                  "a memory_format",
                                  "a Generator",
                                  "a sequence of Tensors",
                                  "a sequence of Tensors or None",
                                  "a sequence of ints",
                                  "a sequence of floats",
                                  "a sequence of numbers",
                                  "a sequence of bools",
                                  "a tuple of Tensors"};

// "Tensor", not "opgen.Tensor": its module is that of whoever imports it.
std::string type_name(PyObject* object) {
  const char* name = Py_TYPE(object)->tp_name;
  return std::strncmp(name, "opgen.", 6) == 0 ? name + 6 : name;
}

std::string quoted(std::string_view name) {
  return "argument '" + std::string(name) + "'";
}

// An int, a NumPy integer (by __index__) or an integral tensor of one element; no bool.
bool find_integer(PyObject* object, std::int64_t& value) {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
  }
  if (PyBool_Check(object)) return false;
  if (is_tensor(object)) {
    const TensorBase& tensor = tensor_of(object);
    if (tensor.numel() != 1 || !isIntegralType(tensor.scalar_type(), false) || !tensor.is_cpu()) {
      return false;
    }
    value = opgen::detail::item(tensor).toLong();
    return true;
  }
  if (!PyIndex_Check(object)) return false;
  Owned number(PyNumber_Index(object));
  if (!number) {
    PyErr_Clear();  // an array of several elements has the method, too
    return false;
  }
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  return overflow == 0;
}

bool find_double(PyObject* object, double& value) {
  if (PyFloat_Check(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_Check(object)) {
    value = PyLong_AsDouble(object);
    if (value != -1.0 || PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();  // larger than any double
    return false;
  }
  Scalar scalar;
  if (!find_scalar(object, scalar) || scalar.isComplex()) return false;
  value = scalar.toDouble();
  return true;
}

bool is_sequence(PyObject* object) {
  return PyTuple_Check(object) || PyList_Check(object);
}
std::size_t sequence_size(PyObject* object) {
  return static_cast<std::size_t>(PySequence_Fast_GET_SIZE(object));
}
// None behind the end: an __index__ of an item may have shortened its list.
PyObject* sequence_item(PyObject* object, std::size_t i) {
  if (i >= sequence_size(object)) return Py_None;
  return PySequence_Fast_GET_ITEM(object, static_cast<Py_ssize_t>(i));
}

std::string_view text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* words = PyUnicode_AsUTF8AndSize(text, &size);
  if (words == nullptr) {
    PyErr_Clear();  // a lone surrogate
    return {};
  }
  return {words, static_cast<std::size_t>(size)};
}

bool Attempt::parse() {
  PyObject* objects[kMaxSlots];
  std::fill_n(objects, overload.count, nullptr);
  if (!place(objects)) return false;
  for (std::size_t i = 0; i < overload.count; ++i) {
    const Argument& argument = overload.arguments[i];
    const std::size_t width = argument.type == Type::Outs ? argument.size : 1;
    Slot* slot = slots + slot_count;
    slot_count += width;
    PyObject* object = objects[i];
    // Most arguments by far: is_of_out() has nothing to say of a tensor that was given.
    if (object != nullptr && argument.type == Type::Tensor && Py_TYPE(object) == types.tensor &&
        out == nullptr && static_cast<int>(i) != overload.out) {
      take_tensor(object, *slot);
      continue;
    }
    // What factories leave out; convert_default() does the rest.
    if (object == nullptr && argument.value.kind == Default::Kind::None &&
        argument.type != Type::Tensor && argument.type != Type::Outs) {
      slot->object = nullptr;
      slot->given = false;
      slot->data = nullptr;
      slot->size = 0;
      continue;
    }
    if (static_cast<int>(i) == overload.out) {
      for (std::size_t k = 0; k < width; ++k) slot[k].object = nullptr;
      if (object == nullptr || object == Py_None) continue;
      out = object;
      if (overload.with_out.thunk == nullptr) return fail("it has no out=");
    }
    if (argument.type == Type::Outs) {
      if (!convert_outs(argument, object, slot)) return false;
      continue;
    }
    slot->object = object;
    slot->given = true;
    if (object == nullptr) {
      if (!convert_default(argument, *slot)) return false;
    } else if (object == Py_None && (argument.flags & kOptional) != 0) {
      slot->given = false;
      slot->data = nullptr;
      slot->size = 0;
      if (argument.type == Type::Tensor) slot->tensor = &scratch.make<TensorBase>();
    } else if (!convert(argument, object, *slot)) {
      return wrong_type(argument, object);
    } else if (out != nullptr && static_cast<int>(i) > overload.out &&
               !is_of_out(argument, *slot)) {
      return fail(quoted(argument.name) + " is not that of the tensor given as out=");
    }
  }
  return true;
}

// dtype, layout and device may be said again beside out, and so may that it is not pinned.
bool Attempt::is_of_out(const Argument& argument, const Slot& slot) const {
  const TensorBase& tensor = tensor_of(out);
  switch (argument.type) {
    case Type::ScalarType:
      return slot.integer == static_cast<std::int64_t>(tensor.scalar_type());
    case Type::Layout:
      return slot.integer == static_cast<std::int64_t>(tensor.layout());
    case Type::Device:
      return slot.device.type() == tensor.device().type() &&
             (!slot.device.has_index() || slot.device == tensor.device());
    default:
      return slot.integer == 0;
  }
}

// NumPy's names of arguments, which PyTorch takes, too.
struct NumpyName {
  std::string_view numpy, own;
};
constexpr NumpyName kNumpyNames[] = {{"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "input"},
                                     {"a", "input"},  {"x1", "input"},         {"x2", "other"}};

std::size_t index_of(const Overload& overload, std::string_view name) {
  std::size_t i = 0;
  while (i < overload.count && overload.arguments[i].name != name) ++i;
  return i;
}

bool Attempt::place(PyObject** objects) {
  const std::size_t named =
      given.names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(given.names));
  const std::size_t own = given.method ? 1 : 0;
  const std::size_t positional = given.count - own;
  const std::size_t self = given.method ? static_cast<std::size_t>(overload.self) : kMaxSlots;
  if (given.method) {
    if (overload.self < 0) return fail("it is not a method");
    objects[self] = given.values[0];
  }
  const std::size_t room = overload.positional - own;
  // zeros(2, 3) is zeros((2, 3)).
  const std::size_t first = self == 0 ? 1 : 0;
  const bool one_list = room == 1 && positional != 0 && !is_sequence(given.values[own]) &&
                        overload.arguments[first].type == Type::Ints &&
                        overload.arguments[first].size == 0;
  if (positional > room || one_list) {
    std::int64_t ignored = 0;
    if (!one_list || (positional > 1 && !find_integer(given.values[own], ignored))) {
      return fail("it takes " + std::to_string(room) + (room == 1 ? " argument" : " arguments") +
                  " by position, not " + std::to_string(positional));
    }
    if (!find_integer(given.values[own], ignored)) {
      objects[first] = given.values[own];  // to be told that it is no sequence
      return wrong_type(overload.arguments[first], given.values[own]);
    }
    Owned all(PyTuple_New(static_cast<Py_ssize_t>(positional)));
    if (!all) throw std::bad_alloc();
    for (std::size_t i = 0; i < positional; ++i) {
      Py_INCREF(given.values[own + i]);
      PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), given.values[own + i]);
    }
    objects[first] = scratch.make<Owned>(std::move(all)).get();
  } else {
    for (std::size_t i = 0; i < positional; ++i) {
      objects[i < self ? i : i + 1] = given.values[own + i];
    }
  }
  for (std::size_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(given.names, static_cast<Py_ssize_t>(i));
    if (!place_keyword(objects, name, given.values[given.count + i])) return false;
  }
  return true;
}

bool Attempt::place_keyword(PyObject** objects, PyObject* name, PyObject* value) {
  const std::string_view text = text_of(name);
  std::size_t i = index_of(overload, text);
  // A function's tensor is called input, as in its signature, and self as in its schema.
  if (i == overload.count && text == "self" && !given.method && overload.self >= 0) {
    i = static_cast<std::size_t>(overload.self);
  }
  for (const NumpyName& row : kNumpyNames) {
    if (i == overload.count && text == row.numpy) i = index_of(overload, row.own);
  }
  if (i == overload.count) return fail("it has no " + quoted(text));
  if (objects[i] != nullptr) return fail(quoted(text) + " is given twice");
  objects[i] = value;
  return true;
}

bool is_too_large(PyObject* object) {
  std::int64_t ignored = 0;
  return PyLong_Check(object) && !PyBool_Check(object) && !find_integer(object, ignored);
}
bool takes_integers(const Argument& argument) {
  const Type type = argument.type;
  return type == Type::Int || type == Type::Float || type == Type::Scalar || type == Type::Ints ||
         (type == Type::Tensor && (argument.flags & kNumbers) != 0);
}

bool Attempt::wrong_type(const Argument& argument, PyObject* object) {
  if (why == nullptr || !why->empty()) return false;
  if (takes_integers(argument) && is_too_large(object)) {
    too_large = true;
    return fail(quoted(argument.name) + " is too large: ints have 64 bits here");
  }
  if (argument.type == Type::Str && PyUnicode_Check(object)) {
    return fail(quoted(argument.name) + " cannot be written as UTF-8");
  }
  std::string text = quoted(argument.name) + " must be ";
  if (argument.size != 0 && argument.type == Type::Ints) text += "an int or ";
  text += kTypeNames[int(argument.type)];
  if (argument.size > 1) text += " (" + std::to_string(argument.size) + " of them)";
  if (argument.type == Type::Tensor && (argument.flags & kNumbers) != 0) text += " or a number";
  if ((argument.flags & kOptional) != 0) text += " or None";
  return fail(text + ", not " + type_name(object));
}

bool Attempt::convert_default(const Argument& argument, Slot& slot) {
  switch (argument.value.kind) {
    case Default::Kind::Required:
      return fail(quoted(argument.name) + " is missing");
    case Default::Kind::None:  // of a tensor
      slot.given = false;
      slot.tensor = &scratch.make<TensorBase>();
      return true;
    case Default::Kind::Integer:
      slot.integer = argument.value.integer;
      if (argument.type == Type::Float) slot.real = static_cast<double>(argument.value.integer);
      if (argument.type == Type::Scalar) slot.scalar = Scalar(argument.value.integer);
      return true;
    case Default::Kind::Real:
      slot.real = argument.value.real;
      slot.scalar = Scalar(argument.value.real);
      return true;
    case Default::Kind::Text:
      slot.data = argument.value.text;
      slot.size = std::strlen(argument.value.text);
      return true;
    case Default::Kind::Integers:
      slot.data = argument.value.integers;
      slot.size = argument.value.count;
      return true;
  }
  return false;
}

// There is one cpu: tensors on "cpu:0" are on "cpu".
Device only_one(Device device) {
  return device.is_cpu() || device.is_meta() ? Device(device.type()) : device;
}

bool Attempt::convert(const Argument& argument, PyObject* object, Slot& slot) {
  switch (argument.type) {
    case Type::Tensor:
      return convert_tensor(argument, object, slot);
    case Type::Scalar:
      return find_scalar(object, slot.scalar);
    case Type::Int:
      return find_integer(object, slot.integer);
    case Type::Float:
      return find_double(object, slot.real);
    case Type::Bool:
      if (!PyBool_Check(object) && !is_numpy_bool(object)) return false;
      slot.integer = PyObject_IsTrue(object);
      if (slot.integer != 0 && (argument.flags & kNever) != 0) {
        return fail(quoted(argument.name) + " cannot be True: no gradients are recorded here");
      }
      return true;
    case Type::Str: {
      if (!PyUnicode_Check(object)) return false;
      const std::string_view words = text_of(object);
      slot.data = words.data();
      slot.size = words.size();
      return words.data() != nullptr;
    }
    case Type::ScalarType: {
      ScalarType type = ScalarType::Undefined;
      if (!find_dtype(object, type)) return false;
      slot.integer = static_cast<std::int64_t>(type);
      return true;
    }
    case Type::Layout:
      return find_constant(object, types.layout, slot.integer);
    case Type::MemoryFormat:
      return find_constant(object, types.memory_format, slot.integer);
    case Type::Device:
      if (Py_TYPE(object) == types.device) {
        slot.device = only_one(reinterpret_cast<DeviceObject*>(object)->device);
        return true;
      }
      if (!PyUnicode_Check(object)) return false;
      try {
        slot.device = only_one(Device(text_of(object)));
        return true;
      } catch (const Error& error) {
        return fail(quoted(argument.name) + ": " + error.msg());
      }
    case Type::Generator:
      if (Py_TYPE(object) != types.generator) return false;
      slot.data = &reinterpret_cast<GeneratorObject*>(object)->generator;
      return true;
    case Type::Ints:
      return convert_integers(argument, object, slot);
    case Type::Tensors:
    case Type::OptionalTensors:
      return convert_tensors(argument, object, slot);
    case Type::Floats:
    case Type::Scalars:
    case Type::Bools:
      return convert_list(argument, object, slot);
    case Type::Outs:
      break;
  }
  return false;
}

bool Attempt::convert_tensor(const Argument& argument, PyObject* object, Slot& slot) {
  if (is_tensor(object)) {
    slot.tensor = &tensor_of(object);
    work = std::max(work, slot.tensor->numel());
    return true;
  }
  Scalar number;
  if ((argument.flags & kNumbers) == 0 || !find_scalar(object, number)) return false;
  slot.tensor = &scratch.make<TensorBase>(opgen::detail::wrapped_scalar_tensor(number));
  return true;
}

bool Attempt::convert_integers(const Argument& argument, PyObject* object, Slot& slot) {
  if (!is_sequence(object)) {
    std::int64_t value = 0;
    if (argument.size == 0 || !find_integer(object, value)) return false;
    std::int64_t* values = scratch.integers(argument.size);
    std::fill_n(values, argument.size, value);
    slot.data = values;
    slot.size = argument.size;
    return true;
  }
  const std::size_t size = sequence_size(object);
  std::int64_t* values = scratch.integers(size);
  std::int64_t product = 1;
  for (std::size_t i = 0; i < size; ++i) {
    PyObject* item = sequence_item(object, i);
    if (!find_integer(item, values[i])) {
      if (is_too_large(item)) return wrong_type(argument, item);
      return fail(quoted(argument.name) + " must be a sequence of ints, and its item " +
                  std::to_string(i) + " is " + type_name(item));
    }
    if (__builtin_mul_overflow(product, values[i], &product)) product = 0;
  }
  work = std::max(work, product);
  slot.data = values;
  slot.size = size;
  return true;
}

bool Attempt::convert_list(const Argument& argument, PyObject* object, Slot& slot) {
  if (!is_sequence(object)) return false;
  const std::size_t size = sequence_size(object);
  slot.size = size;
  if (argument.type == Type::Floats) {
    auto& values = scratch.make<std::vector<double>>(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (!find_double(sequence_item(object, i), values[i])) return false;
    }
    slot.data = values.data();
  } else if (argument.type == Type::Scalars) {
    auto& values = scratch.make<std::vector<Scalar>>(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (!find_scalar(sequence_item(object, i), values[i])) return false;
    }
    slot.data = values.data();
  } else {
    if (size != argument.size) return false;
    bool* values = reinterpret_cast<bool*>(scratch.integers(size / 8 + 1));
    for (std::size_t i = 0; i < size; ++i) {
      if (!PyBool_Check(sequence_item(object, i))) return false;
      values[i] = sequence_item(object, i) == Py_True;
    }
    slot.data = values;
  }
  return true;
}

bool Attempt::convert_tensors(const Argument& argument, PyObject* object, Slot& slot) {
  if (!is_sequence(object)) return false;
  const std::size_t size = sequence_size(object);
  auto& tensors = scratch.make<std::vector<TensorBase>>(size);
  for (std::size_t i = 0; i < size; ++i) {
    PyObject* item = sequence_item(object, i);
    if (item == Py_None && argument.type == Type::OptionalTensors) continue;
    if (!is_tensor(item)) {
      return fail(quoted(argument.name) + " must be " + kTypeNames[int(argument.type)] +
                  ", and its item " + std::to_string(i) + " is " + type_name(item));
    }
    tensors[i] = tensor_of(item);
    work = std::max(work, tensors[i].numel());
  }
  slot.data = tensors.data();
  slot.size = size;
  return true;
}

bool Attempt::convert_outs(const Argument& argument, PyObject* object, Slot* first) {
  if (!is_sequence(object) || sequence_size(object) != argument.size) {
    return fail("argument 'out' must be a tuple of " + std::to_string(argument.size) + " Tensors");
  }
  for (std::size_t i = 0; i < argument.size; ++i) {
    PyObject* item = sequence_item(object, i);
    if (!is_tensor(item)) {
      return fail("argument 'out' must hold Tensors, and its item " + std::to_string(i) + " is " +
                  type_name(item));
    }
    // Another thread may take it out of a list while the kernel writes to it.
    if (PyList_Check(object)) scratch.make<Owned>(Py_NewRef(item));
    first[i].object = item;
    first[i].given = true;
    first[i].tensor = &tensor_of(item);
  }
  return true;
}

bool fits(const Function& function, const Overload& overload) {
  return !function.method || overload.self >= 0;
}

// "(Tensor, str, out=Tensor)": what was given.
std::string described(const Arguments& given) {
  const std::size_t named =
      given.names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(given.names));
  std::string text = "(";
  for (std::size_t i = given.method ? 1 : 0; i < given.count + named; ++i) {
    if (text.back() != '(') text += ", ";
    if (i >= given.count) {
      PyObject* name = PyTuple_GET_ITEM(given.names, static_cast<Py_ssize_t>(i - given.count));
      text += std::string(text_of(name)) + "=";
    }
    text += type_name(given.values[i]);
  }
  return text + ")";
}

// A check deep inside a kernel knows sizes, but no names.
std::string place_of(const OperatorSlot& slot, const Arguments& given) {
  std::string text = std::string("\n  in ") + slot.name;
  if (*slot.overload_name != 0) text += std::string(".") + slot.overload_name;
  return text + described(given);
}

// Names the function, every signature, and for each why the call does not fit.
PyObject* raise_no_fit(const Function& function, const Arguments& given) {
  std::string message = std::string(function.method ? "Tensor." : "") + function.name +
                        described(given) + " fits no signature of " + function.name;
  bool too_large = false;
  for (std::size_t i = 0; i < function.count; ++i) {
    const Overload& overload = *function.overloads[i];
    if (!fits(function, overload)) continue;
    Slot slots[kMaxSlots];
    Scratch scratch;
    std::string why;
    Attempt attempt{overload, given, scratch, &why, slots};
    attempt.parse();
    too_large = too_large || attempt.too_large;
    message += std::string("\n  ") + overload.signature + ": " + why;
  }
  PyErr_SetString(too_large ? PyExc_OverflowError : PyExc_TypeError, message.c_str());
  return nullptr;
}

}  // namespace

// NumPy's booleans have no other mark than their name.
bool is_numpy_bool(PyObject* object) {
  const char* name = Py_TYPE(object)->tp_name;
  return std::strcmp(name, "numpy.bool_") == 0 || std::strcmp(name, "numpy.bool") == 0;
}

bool find_scalar(PyObject* object, Scalar& value) {
  if (PyFloat_Check(object)) {
    value = Scalar(PyFloat_AS_DOUBLE(object));
  } else if (PyBool_Check(object)) {
    value = Scalar(object == Py_True);
  } else if (PyComplex_Check(object)) {
    const Py_complex number = PyComplex_AsCComplex(object);
    value = Scalar(complex<double>(number.real, number.imag));
  } else if (is_tensor(object)) {
    const TensorBase& tensor = tensor_of(object);
    if (tensor.dim() != 0 || !tensor.is_cpu()) return false;
    value = opgen::detail::item(tensor);
  } else if (std::int64_t number = 0; find_integer(object, number)) {
    value = Scalar(number);
  } else if (is_numpy_bool(object)) {
    value = Scalar(PyObject_IsTrue(object) == 1);
  } else if (std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 &&
             Py_TYPE(object)->tp_as_number != nullptr && !PySequence_Check(object) &&
             Py_TYPE(object)->tp_as_number->nb_float != nullptr) {
    // float16 and float32 of NumPy are no floats of Python.
    const double real = PyFloat_AsDouble(object);
    if (real == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    value = Scalar(real);
  } else {
    return false;
  }
  return true;
}

PyObject* call_function(const Function& function, PyObject* const* args, std::size_t nargs,
                        PyObject* names, PyObject** result_types) {
  const Arguments given{args, nargs, names, function.method};
  const OperatorSlot* called = nullptr;
  try {
    Slot slots[kMaxSlots];
    for (std::size_t i = 0; i < function.count; ++i) {
      const Overload& overload = *function.overloads[i];
      if (!fits(function, overload)) continue;
      Scratch scratch;
      Attempt attempt{overload, given, scratch, nullptr, slots};
      if (!attempt.parse()) continue;
      const Operation& operation = attempt.out == nullptr ? overload.base : overload.with_out;
      const Call call{slots,
                      attempt.slot_count,
                      &overload,
                      operation.slot,
                      result_types == nullptr ? nullptr : result_types + i,
                      attempt.work >= kWorthReleasing};
      called = operation.slot;
      return operation.thunk(call);
    }
    return raise_no_fit(function, given);
  } catch (...) {
    return raise_current(called == nullptr ? "" : place_of(*called, given).c_str());
  }
}

}  // namespace opgen::python
