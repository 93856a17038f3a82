// text.cpp: elements as lists, and a tensor as text.
#include <string>
#include <type_traits>

#include "objects.h"
#include "opgen/copy.h"
#include "opgen/dispatch_macros.h"

namespace opgen::python {

namespace {

template <class T>
Scalar scalar_at(const void* data) {
  // Memory that nobody wrote, or that others did, holds bytes that are no bool of C++.
  if constexpr (std::is_same_v<T, bool>) return Scalar(*static_cast<const char*>(data) != 0);
  return Scalar(*static_cast<const T*>(data));
}

Scalar element(ScalarType type, const void* data) {
  switch (type) {
#define OPGEN_CASE(cpp_type, name, number) \
  case ScalarType::name:                   \
    return scalar_at<cpp_type>(data);
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      break;
  }
  return Scalar();
}

PyObject* list_of(const TensorBase& tensor, std::size_t dim, const char* data) {
  if (dim == tensor.sizes().size()) return wrap_scalar(element(tensor.scalar_type(), data));
  const std::int64_t size = tensor.sizes()[dim];
  // A tensor without elements may have any strides, and a stride over one element goes nowhere.
  const std::int64_t step =
      tensor.numel() == 0 || size == 1
          ? 0
          : tensor.strides()[dim] * static_cast<std::int64_t>(tensor.itemsize());
  Owned list(PyList_New(size));
  if (!list) return nullptr;
  PyObject_GC_UnTrack(list.get());  // nobody finds it before it is whole
  for (std::int64_t i = 0; i < size; ++i) {
    PyObject* item = list_of(tensor, dim + 1, data + i * step);
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), i, item);
  }
  PyObject_GC_Track(list.get());
  return list.release();
}

// More elements than this are shown by those at the ends of each dimension.
constexpr std::int64_t kShown = 1000;
constexpr std::int64_t kEdge = 3;

bool append_element(std::string& text, ScalarType type, const char* data) {
  Owned number(wrap_scalar(element(type, data)));
  // A float is written with as many digits as a float has.
  if (number && PyFloat_Check(number.get()) && type != kDouble) {
    char* digits =
        PyOS_double_to_string(PyFloat_AS_DOUBLE(number.get()), 'g', 6, Py_DTSF_ADD_DOT_0, nullptr);
    if (digits == nullptr) return false;
    text += digits;
    PyMem_Free(digits);
    return true;
  }
  Owned shown(number ? PyObject_Repr(number.get()) : nullptr);
  const char* words = shown ? PyUnicode_AsUTF8(shown.get()) : nullptr;
  if (words == nullptr) return false;
  text += words;
  return true;
}

bool append_elements(std::string& text, const TensorBase& tensor, std::size_t dim,
                     const char* data) {
  const std::size_t dims = tensor.sizes().size();
  if (dim == dims) return append_element(text, tensor.scalar_type(), data);
  const std::int64_t size = tensor.sizes()[dim];
  const std::int64_t step = tensor.strides()[dim] * static_cast<std::int64_t>(tensor.itemsize());
  // Rows stand under each other, after "tensor(" and the brackets around them.
  const std::string between = dim + 1 == dims ? ", " : ",\n" + std::string(dim + 8, ' ');
  const bool cut = tensor.numel() > kShown && size > 2 * kEdge;
  text += "[";
  for (std::int64_t i = 0; i < size; ++i) {
    if (i != 0) text += between;
    if (cut && i == kEdge) {
      text += "..." + between;
      i = size - kEdge;
    }
    if (!append_elements(text, tensor, dim + 1, data + i * step)) return false;
  }
  text += "]";
  return true;
}

std::string sizes_text(const TensorBase& tensor) {
  std::string text = "(";
  for (std::int64_t size : tensor.sizes()) text += std::to_string(size) + ", ";
  if (tensor.dim() > 1) text.erase(text.size() - 2);
  if (tensor.dim() == 1) text.pop_back();
  return text + ")";
}

}  // namespace

PyObject* to_list(const TensorBase& tensor) {
  OPGEN_CHECK_NOT_IMPLEMENTED(tensor.is_cpu(), "tolist() of a tensor on ", tensor.device(),
                              ": its elements are not in the memory of the CPU");
  OPGEN_CHECK_NOT_IMPLEMENTED(tensor.has_storage(),
                              "tolist() inside vmap: the tensor stands for a "
                              "whole batch");
  if (tensor.dim() == 0) return list_of(tensor, 0, static_cast<const char*>(tensor.data_ptr()));
  // Making lists may run finalizers, which may change or resize the tensor.
  const TensorBase copy = opgen::detail::clone(tensor);
  return list_of(copy, 0, static_cast<const char*>(copy.data_ptr()));
}

PyObject* show_tensor(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    std::string text = "tensor(";
    if (!tensor.defined()) return PyUnicode_FromString("tensor(undefined)");
    const bool batched = !tensor.has_storage();
    if (tensor.is_cpu() && tensor.numel() != 0 && !batched) {
      if (!append_elements(text, tensor, 0, static_cast<const char*>(tensor.data_ptr()))) {
        return nullptr;
      }
    } else {
      text += tensor.is_cpu() && !batched ? "[], size=" : "..., size=";
      text += sizes_text(tensor);
    }
    const ScalarType type = tensor.scalar_type();
    if (type != kFloat && type != kLong && type != kBool) {
      text += std::string(", dtype=") + dtype_name(type);
    }
    if (!tensor.is_cpu())
      text += std::string(", device='") + toString(tensor.device().type()) + "'";
    return PyUnicode_FromString((text + ")").c_str());
  });
}

}  // namespace opgen::python
