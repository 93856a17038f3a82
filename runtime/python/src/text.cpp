// text.cpp: converts elements to lists, and prints tensors.
#include <string>

#include "objects.h"
#include "opgen/autograd/forward.h"
#include "opgen/core/dispatch_macros.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/elements.h"

namespace opgen::python {

namespace {

Scalar element(ScalarType type, const void* data) {
  switch (type) {
#define OPGEN_CASE(cpp_type, name, number) \
  case ScalarType::name:                   \
    return Scalar(opgen::detail::load_element(static_cast<const cpp_type*>(data)));
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
  // Strides of a tensor without elements, and of dimensions of size one, may have any value.
  const std::int64_t step =
      tensor.numel() == 0 || size == 1
          ? 0
          : tensor.strides()[dim] * static_cast<std::int64_t>(tensor.itemsize());
  Owned list(PyList_New(size));
  if (!list) return nullptr;
  PyObject_GC_UnTrack(list.get());  // the garbage collector must not see it before it is complete
  for (std::int64_t i = 0; i < size; ++i) {
    PyObject* item = list_of(tensor, dim + 1, data + i * step);
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), i, item);
  }
  PyObject_GC_Track(list.get());
  return list.release();
}

bool append_element(std::string& text, ScalarType type, const char* data) {
  Owned number(wrap_scalar(element(type, data)));
  // Print a float32 with only as many digits as identify it among float32 values.
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
  const std::int64_t step = tensor.strides()[dim] * static_cast<std::int64_t>(tensor.itemsize());
  // Align rows below each other, after "tensor(" and the brackets.
  const std::string between = dim + 1 == dims ? ", " : ",\n" + std::string(dim + 8, ' ');
  bool done = true;
  text += "[";
  opgen::detail::for_each_shown(
      tensor, dim,
      [&](std::int64_t i) {
        if (i != 0) text += between;
        done = done && append_elements(text, tensor, dim + 1, data + i * step);
      },
      [&] { text += between + "..."; });
  text += "]";
  return done;
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
  OPGEN_CHECK_NOT_IMPLEMENTED(
      tensor.has_storage(),
      "tolist() does not work inside vmap, where a tensor stands for a whole batch");
  if (tensor.dim() == 0) return list_of(tensor, 0, static_cast<const char*>(tensor.data_ptr()));
  // Creating lists may run finalizers, which may change or resize the tensor.
  const TensorBase copy = opgen::detail::clone(tensor);
  return list_of(copy, 0, static_cast<const char*>(copy.data_ptr()));
}

PyObject* show_tensor(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    std::string text = "tensor(";
    if (!tensor.defined()) return PyUnicode_FromString("tensor(undefined)");
    const bool batched = !tensor.has_storage();
    const bool shown = tensor.is_cpu() && tensor.numel() != 0 && !batched;
    if (shown) {
      if (!append_elements(text, tensor, 0, static_cast<const char*>(tensor.data_ptr()))) {
        return nullptr;
      }
    } else {
      text += tensor.is_cpu() && !batched ? "[], size=" : "..., size=";
      text += sizes_text(tensor);
    }
    const ScalarType type = tensor.scalar_type();
    // Elements show whether a tensor is Long or Bool.
    if (type != kFloat && !(shown && (type == kLong || type == kBool))) {
      text += std::string(", dtype=") + dtype_name(type);
    }
    if (!tensor.is_cpu())
      text += std::string(", device='") + toString(tensor.device().type()) + "'";
    if (!autograd::is_leaf(tensor)) {
      text += ", grad_fn=<" + autograd::grad_fn(tensor)->name() + ">";
    } else if (autograd::requires_grad(tensor)) {
      text += ", requires_grad=True";
    }
    if (const TensorBase tangent = autograd::tangent_of(tensor); tangent.defined()) {
      Owned other(new_tensor(tangent));
      Owned shown_tangent(other ? PyObject_Repr(other.get()) : nullptr);
      const char* words = shown_tangent ? PyUnicode_AsUTF8(shown_tangent.get()) : nullptr;
      if (words == nullptr) return nullptr;
      text += std::string(", tangent=") + words;
    }
    return PyUnicode_FromString((text + ")").c_str());
  });
}

}  // namespace opgen::python
