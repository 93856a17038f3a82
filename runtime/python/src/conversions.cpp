// conversions.cpp: converts Python objects to the arguments that an overload declares.
#include <cstring>

#include "attempt.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/tensor/factories.h"
#include "values.h"

namespace opgen::python {

namespace {

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

bool takes_integers(const Argument& argument) {
  const Type type = argument.type;
  return type == Type::Int || type == Type::Float || type == Type::Scalar || type == Type::Ints ||
         (type == Type::Tensor && (argument.flags & kNumbers) != 0);
}

// Whether the object is a tensor with a gradient, which a number would lose: as in PyTorch, it is
// no number. The same holds for a tangent.
bool has_gradient(PyObject* object) {
  if (!is_tensor(object)) return false;
  const TensorBase& tensor = tensor_of(object);
  return autograd::requires_grad(tensor) || autograd::has_tangent(tensor);
}

// Returns a hint how to make a tensor from the object.
const char* remedy(PyObject* object) {
  const std::string_view name = Py_TYPE(object)->tp_name;
  if (name == "numpy.ndarray") return "; from_numpy() converts an array";
  if (name == "torch.Tensor" || name == "Tensor") return "; from_dlpack() converts it";
  return PyList_Check(object) || PyTuple_Check(object) ? "; tensor() converts it" : "";
}

}  // namespace

// Returns "Tensor", not "opgen.Tensor": users import it from their own package.
std::string type_name(PyObject* object) {
  const char* name = Py_TYPE(object)->tp_name;
  return std::strncmp(name, "opgen.", 6) == 0 ? name + 6 : name;
}

std::string quoted(std::string_view name) {
  return "argument '" + std::string(name) + "'";
}

bool Attempt::wrong_type(const Argument& argument, PyObject* object) {
  if (why == nullptr || !why->empty()) return false;
  if (takes_integers(argument) && is_too_large(object)) {
    too_large = true;
    return fail(quoted(argument.name) + " is too large: ints have 64 bits here");
  }
  if (argument.type == Type::Str && PyUnicode_Check(object)) {
    return fail(quoted(argument.name) + " cannot be encoded as UTF-8");
  }
  if (argument.type == Type::ScalarType && PyUnicode_Check(object)) {
    return fail(quoted(argument.name) + ": " + unknown_dtype(object));
  }
  std::string text = quoted(argument.name) + " must be ";
  if ((argument.flags & (kIsTrue | kIsFalse)) != 0) {
    return fail(text + ((argument.flags & kIsTrue) != 0 ? "True" : "False"));
  }
  if (argument.size != 0 && argument.type == Type::Ints) text += "an int or ";
  text += kTypeNames[int(argument.type)];
  if (argument.size > 1) text += " (" + std::to_string(argument.size) + " of them)";
  if (argument.type == Type::Tensor && (argument.flags & kNumbers) != 0) text += " or a number";
  if ((argument.flags & kOptional) != 0) text += " or None";
  text += ", not " + type_name(object);
  if ((argument.type == Type::Scalar || argument.type == Type::Float) && has_gradient(object)) {
    text += autograd::requires_grad(tensor_of(object)) ? " that requires a gradient"
                                                       : " that has a tangent";
    text += "; item() returns its number";
  }
  if (argument.type == Type::Tensor && argument.name != "out") text += remedy(object);
  return fail(text);
}

bool Attempt::wrong_item(const Argument& argument, std::size_t index, PyObject* item) {
  if (why == nullptr) return false;
  return fail(quoted(argument.name) + " must be " + kTypeNames[int(argument.type)] +
              ", but its item " + std::to_string(index) + " is " + type_name(item));
}

bool Attempt::convert(const Argument& argument, PyObject* object, Slot& slot) {
  switch (argument.type) {
    case Type::Tensor:
      return convert_tensor(argument, object, slot);
    case Type::Scalar:
      return !has_gradient(object) && find_scalar(object, slot.scalar);
    case Type::Int:
      return find_integer(object, slot.integer);
    case Type::Float:
      return !has_gradient(object) && find_double(object, slot.real);
    case Type::Bool:
      if (!PyBool_Check(object) && !is_numpy_bool(object)) return false;
      slot.integer = PyObject_IsTrue(object);
      if ((argument.flags & (slot.integer != 0 ? kIsFalse : kIsTrue)) != 0) return false;
      if ((argument.flags & kRequiresGrad) != 0) requires_grad = slot.integer != 0;
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
      try {
        return find_device(object, slot.device);
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
  const OwnedItems items(object);
  const std::size_t size = items.size();
  std::int64_t* values = scratch.integers(size);
  std::int64_t product = 1;
  for (std::size_t i = 0; i < size; ++i) {
    PyObject* item = items[i];
    if (!find_integer(item, values[i])) {
      if (is_too_large(item)) return wrong_type(argument, item);
      return wrong_item(argument, i, item);
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
  const OwnedItems items(object);
  const std::size_t size = items.size();
  slot.size = size;
  if (argument.type == Type::Floats) {
    auto& values = scratch.make<std::vector<double>>(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (has_gradient(items[i]) || !find_double(items[i], values[i])) {
        return wrong_item(argument, i, items[i]);
      }
    }
    slot.data = values.data();
  } else if (argument.type == Type::Scalars) {
    auto& values = scratch.make<std::vector<Scalar>>(size);
    for (std::size_t i = 0; i < size; ++i) {
      // As in PyTorch, a tensor is a number only by itself: a list of tensors means an overload
      // that takes tensors, whose dtypes count.
      if (is_tensor(items[i]) || !find_scalar(items[i], values[i])) {
        return wrong_item(argument, i, items[i]);
      }
    }
    slot.data = values.data();
  } else {
    if (size != argument.size) return false;
    bool* values = reinterpret_cast<bool*>(scratch.integers(size / 8 + 1));
    for (std::size_t i = 0; i < size; ++i) {
      if (!PyBool_Check(items[i])) return wrong_item(argument, i, items[i]);
      values[i] = items[i] == Py_True;
    }
    slot.data = values;
  }
  return true;
}

bool Attempt::convert_tensors(const Argument& argument, PyObject* object, Slot& slot) {
  if (!is_sequence(object)) return false;
  const OwnedItems items(object);
  const std::size_t size = items.size();
  auto& tensors = scratch.make<std::vector<TensorBase>>(size);
  for (std::size_t i = 0; i < size; ++i) {
    PyObject* item = items[i];
    if (item == Py_None && argument.type == Type::OptionalTensors) continue;
    if (!is_tensor(item)) {
      return wrong_item(argument, i, item);
    }
    tensors[i] = tensor_of(item);
    work = std::max(work, tensors[i].numel());
  }
  slot.data = tensors.data();
  slot.size = size;
  return true;
}

bool Attempt::convert_outs(const Argument& argument, PyObject* object, Slot* first) {
  const auto wrong_count = [&] {
    return fail("argument 'out' must be a tuple of " + std::to_string(argument.size) + " Tensors");
  };
  if (!is_sequence(object)) return wrong_count();
  // Kept for the whole call: another thread may remove the tensors from the list while the kernel
  // writes to them.
  const OwnedItems& items = scratch.make<OwnedItems>(object);
  if (items.size() != argument.size) return wrong_count();
  for (std::size_t i = 0; i < argument.size; ++i) {
    PyObject* item = items[i];
    if (!is_tensor(item)) {
      return fail("argument 'out' must hold Tensors, but its item " + std::to_string(i) + " is " +
                  type_name(item));
    }
    first[i].object = item;
    first[i].given = true;
    first[i].tensor = &tensor_of(item);
  }
  return true;
}

}  // namespace opgen::python
