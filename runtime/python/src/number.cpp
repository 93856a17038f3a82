// number.cpp: a + b, a < b, -a, int(a): Python's operators, implemented by calls of the tensor's
// methods.
#include <cstring>

#include "library_operator.h"
#include "objects.h"
#include "opgen/tensor/factories.h"
#include "values.h"

namespace opgen::python {

namespace {

enum Method {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDivide,
  kRemainder,
  kPow,
  kMatmul,
  kAnd,
  kOr,
  kXor,
  kLeftShift,
  kRightShift,
  kIAdd,
  kISub,
  kIMul,
  kIDiv,
  kIFloorDivide,
  kIRemainder,
  kIPow,
  kIAnd,
  kIOr,
  kIXor,
  kILeftShift,
  kIRightShift,
  kNeg,
  kAbs,
  kNot,
  kLt,
  kLe,
  kEq,
  kNe,
  kGt,
  kGe,
  kMethodCount
};
constexpr const char* kNames[kMethodCount] = {"add",
                                              "sub",
                                              "mul",
                                              "div",
                                              "floor_divide",
                                              "remainder",
                                              "pow",
                                              "matmul",
                                              "bitwise_and",
                                              "bitwise_or",
                                              "bitwise_xor",
                                              "bitwise_left_shift",
                                              "bitwise_right_shift",
                                              "add_",
                                              "sub_",
                                              "mul_",
                                              "div_",
                                              "floor_divide_",
                                              "remainder_",
                                              "pow_",
                                              "bitwise_and_",
                                              "bitwise_or_",
                                              "bitwise_xor_",
                                              "bitwise_left_shift_",
                                              "bitwise_right_shift_",
                                              "neg",
                                              "abs",
                                              "bitwise_not",
                                              "lt",
                                              "le",
                                              "eq",
                                              "ne",
                                              "gt",
                                              "ge"};
const Function* methods[kMethodCount];
PyObject* ambiguous[kMethodCount];  // methods that two packages have; a call raises TypeError

// Returns whether `object` can be an operand. An int that is too large counts too: the call reports
// it.
bool is_operand(Method method, PyObject* object) {
  Scalar ignored;
  return is_tensor(object) ||
         (method != kMatmul && (PyLong_Check(object) || find_scalar(object, ignored)));
}

PyObject* call_method(Method method, PyObject* a, PyObject* b) {
  PyObject* arguments[] = {a, b};
  if (PyObject* both = ambiguous[method]) {
    return PyObject_Vectorcall(both, arguments, b == nullptr ? 1 : 2, nullptr);
  }
  return call_function(*methods[method], arguments, b == nullptr ? 1 : 2, nullptr, nullptr);
}

PyObject* binary(Method method, PyObject* a, PyObject* b);
PyObject* binary_with_array(Method method, PyObject* a, PyObject* b) {
  TensorBase tensor = tensor_from_data(is_array(a) ? a : b, ScalarType::Undefined);
  Owned array(tensor.defined() ? new_tensor(std::move(tensor)) : nullptr);
  if (!array) return nullptr;
  return is_array(a) ? binary(method, array.get(), b) : binary(method, a, array.get());
}

// Calls a binary operator. An array becomes a tensor, and a number on the left a wrapped number.
PyObject* binary(Method method, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (is_array(a) || is_array(b)) return binary_with_array(method, a, b);
    if (methods[method] == nullptr || !is_operand(method, a) || !is_operand(method, b)) {
      Py_RETURN_NOTIMPLEMENTED;
    }
    if (is_tensor(a)) return call_method(method, a, b);
    Scalar number;
    if (!find_scalar(a, number)) {
      return PyErr_Format(PyExc_OverflowError, "%R is too large: ints have 64 bits here", a);
    }
    Owned left(new_tensor(opgen::detail::wrapped_scalar_tensor(number)));
    return left ? call_method(method, left.get(), b) : nullptr;
  });
}
template <Method method>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return binary(method, a, b);
}
template <Method method>
PyObject* unary_slot(PyObject* a) {
  if (methods[method] == nullptr) {
    return PyErr_Format(PyExc_TypeError, "this library has no method '%s'", kNames[method]);
  }
  return call_method(method, a, nullptr);
}
PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(kPow, a, b);
}
PyObject* power_in_place(PyObject* a, PyObject* b, PyObject*) {
  return binary(kIPow, a, b);
}
PyObject* positive(PyObject* a) {
  Py_INCREF(a);
  return a;
}
PyObject* compare(PyObject* a, PyObject* b, int how) {
  static constexpr Method by_how[] = {kLt, kLe, kEq, kNe, kGt, kGe};  // in the order of Py_LT, …
  return binary(by_how[how], a, b);
}
// Tensors are hashed by identity, because == compares element by element.
Py_hash_t hash(PyObject* self) {
  return PyBaseObject_Type.tp_hash(self);
}

// Returns the only element; null with an exception set if there is not exactly one.
PyObject* element(PyObject* self, const char* what) {
  const TensorBase& tensor = tensor_of(self);
  if (tensor.numel() != 1) {
    return PyErr_Format(PyExc_ValueError, "%s needs a tensor of exactly one element, not %lld",
                        what, static_cast<long long>(tensor.numel()));
  }
  return guarded([&] { return wrap_scalar(item_of(tensor)); });
}
int truth(PyObject* self) {
  Owned value(element(self, "bool()"));
  return value ? PyObject_IsTrue(value.get()) : -1;
}
PyObject* as_int(PyObject* self) {
  Owned value(element(self, "int()"));
  return value ? PyNumber_Long(value.get()) : nullptr;
}
PyObject* as_float(PyObject* self) {
  Owned value(element(self, "float()"));
  return value ? PyNumber_Float(value.get()) : nullptr;
}
PyObject* as_index(PyObject* self) {
  if (!isIntegralType(tensor_of(self).scalar_type(), true)) {
    return PyErr_Format(PyExc_TypeError, "a tensor of dtype %s cannot be an index",
                        dtype_name(tensor_of(self).scalar_type()));
  }
  return as_int(self);
}

// Returns whether an element is equal to `value`, with the operators eq and any.
int contains(PyObject* self, PyObject* value) {
  Owned equal(PyObject_RichCompare(self, value, Py_EQ));
  if (!equal) return -1;
  if (!is_tensor(equal.get())) return PyObject_IsTrue(equal.get());
  Owned any(PyObject_CallMethod(equal.get(), "any", nullptr));
  return any ? PyObject_IsTrue(any.get()) : -1;
}

}  // namespace

void keep_operator(const Function& function, PyObject* both) {
  for (int i = 0; i < kMethodCount; ++i) {
    if (std::strcmp(function.name, kNames[i]) != 0) continue;
    methods[i] = &function;
    ambiguous[i] = both;
  }
}

#define OPGEN_SLOT(slot, function) \
  { slot, reinterpret_cast<void*>(&function) }
PyType_Slot number_slots[] = {OPGEN_SLOT(Py_nb_add, binary_slot<kAdd>),
                              OPGEN_SLOT(Py_nb_subtract, binary_slot<kSub>),
                              OPGEN_SLOT(Py_nb_multiply, binary_slot<kMul>),
                              OPGEN_SLOT(Py_nb_true_divide, binary_slot<kDiv>),
                              OPGEN_SLOT(Py_nb_floor_divide, binary_slot<kFloorDivide>),
                              OPGEN_SLOT(Py_nb_remainder, binary_slot<kRemainder>),
                              OPGEN_SLOT(Py_nb_matrix_multiply, binary_slot<kMatmul>),
                              OPGEN_SLOT(Py_nb_and, binary_slot<kAnd>),
                              OPGEN_SLOT(Py_nb_or, binary_slot<kOr>),
                              OPGEN_SLOT(Py_nb_xor, binary_slot<kXor>),
                              OPGEN_SLOT(Py_nb_lshift, binary_slot<kLeftShift>),
                              OPGEN_SLOT(Py_nb_rshift, binary_slot<kRightShift>),
                              OPGEN_SLOT(Py_nb_inplace_add, binary_slot<kIAdd>),
                              OPGEN_SLOT(Py_nb_inplace_subtract, binary_slot<kISub>),
                              OPGEN_SLOT(Py_nb_inplace_multiply, binary_slot<kIMul>),
                              OPGEN_SLOT(Py_nb_inplace_true_divide, binary_slot<kIDiv>),
                              OPGEN_SLOT(Py_nb_inplace_floor_divide, binary_slot<kIFloorDivide>),
                              OPGEN_SLOT(Py_nb_inplace_remainder, binary_slot<kIRemainder>),
                              OPGEN_SLOT(Py_nb_inplace_power, power_in_place),
                              // Like Python without the slot: a @= b makes a new tensor.
                              OPGEN_SLOT(Py_nb_inplace_matrix_multiply, binary_slot<kMatmul>),
                              OPGEN_SLOT(Py_nb_inplace_and, binary_slot<kIAnd>),
                              OPGEN_SLOT(Py_nb_inplace_or, binary_slot<kIOr>),
                              OPGEN_SLOT(Py_nb_inplace_xor, binary_slot<kIXor>),
                              OPGEN_SLOT(Py_nb_inplace_lshift, binary_slot<kILeftShift>),
                              OPGEN_SLOT(Py_nb_inplace_rshift, binary_slot<kIRightShift>),
                              OPGEN_SLOT(Py_nb_power, power),
                              OPGEN_SLOT(Py_nb_negative, unary_slot<kNeg>),
                              OPGEN_SLOT(Py_nb_positive, positive),
                              OPGEN_SLOT(Py_nb_absolute, unary_slot<kAbs>),
                              OPGEN_SLOT(Py_nb_invert, unary_slot<kNot>),
                              OPGEN_SLOT(Py_nb_bool, truth),
                              OPGEN_SLOT(Py_nb_int, as_int),
                              OPGEN_SLOT(Py_nb_float, as_float),
                              OPGEN_SLOT(Py_nb_index, as_index),
                              OPGEN_SLOT(Py_tp_richcompare, compare),
                              OPGEN_SLOT(Py_tp_hash, hash),
                              OPGEN_SLOT(Py_sq_contains, contains),
                              {0, nullptr}};

}  // namespace opgen::python
