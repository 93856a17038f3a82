// buffer.cpp: the buffer protocol: NumPy arrays and tensors on the same bytes.
#include <cstring>
#include <memory>

#include "objects.h"
#include "opgen/autograd/forward.h"
#include "opgen/tensor/empty.h"
#include "opgen/transforms/held_storage.h"

namespace opgen::python {

namespace {

struct Format {
  ScalarType type;
  const char* text;
};
// The formats that are accepted. Exports use the last format of a dtype; bfloat16 has no format.
constexpr Format kFormats[] = {{kByte, "B"}, {kChar, "b"},          {kShort, "h"},
                               {kInt, "i"},  {kLong, "q"},          {kLong, "l"},
                               {kHalf, "e"}, {kFloat, "f"},         {kDouble, "d"},
                               {kBool, "?"}, {kComplexFloat, "Zf"}, {kComplexDouble, "Zd"}};

const char* format_of(ScalarType type) {
  const char* found = nullptr;
  for (const Format& format : kFormats) {
    if (format.type == type) found = format.text;
  }
  return found;
}

struct Shape {
  explicit Shape(const TensorBase& tensor) : held(tensor.storage()) {
    for (std::int64_t size : tensor.sizes()) sizes.push_back(size);
    // Wraps around: the stride of a dimension with at most one element may be any number.
    for (std::int64_t stride : tensor.strides()) {
      strides.push_back(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * tensor.itemsize()));
    }
  }
  HeldStorage held;
  DimVector sizes;
  DimVector strides;
};

int refuse(const char* why) {
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const TensorBase& tensor = tensor_of(self);
  const char* format = format_of(tensor.scalar_type());
  if (format == nullptr) return refuse("this dtype has no buffer format; convert the tensor first");
  if (!tensor.is_cpu()) return refuse("the elements are not in the memory of the CPU");
  if (!tensor.has_storage()) return refuse("inside vmap a tensor has no bytes of its own");
  if (autograd::requires_grad(tensor)) {
    return refuse(
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  }
  if (autograd::has_tangent(tensor)) return refuse("a buffer would lose the tangent of the tensor");
  const bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if (!strided && !tensor.is_contiguous()) return refuse("the tensor is not contiguous");
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  auto shape = std::make_unique<Shape>(tensor);
  Py_INCREF(self);
  view->obj = self;
  view->buf = tensor.data_ptr();
  view->len = static_cast<Py_ssize_t>(tensor.nbytes());
  view->readonly = 0;
  view->itemsize = static_cast<Py_ssize_t>(tensor.itemsize());
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(tensor.dim());
  view->shape =
      (flags & PyBUF_ND) != 0 ? reinterpret_cast<Py_ssize_t*>(shape->sizes.data()) : nullptr;
  view->strides = strided ? reinterpret_cast<Py_ssize_t*>(shape->strides.data()) : nullptr;
  view->suboffsets = nullptr;
  view->internal = shape.release();
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) {
  delete static_cast<Shape*>(view->internal);
}

void release_borrowed(void* context) {
  give_back([context] {
    std::unique_ptr<Py_buffer> view(static_cast<Py_buffer*>(context));
    PyBuffer_Release(view.get());
  });
}

ScalarType type_of(const Py_buffer& view) {
  const char* text = view.format == nullptr ? "B" : view.format;
  if (*text == '@' || *text == '=' || *text == '<') ++text;
  for (const Format& format : kFormats) {
    const bool fits = elementSize(format.type) == static_cast<std::size_t>(view.itemsize);
    if (fits && std::strcmp(format.text, text) == 0) return format.type;
  }
  OPGEN_CHECK_TYPE(false, "no dtype has elements of the buffer format '", text,
                   "': convert them first, as with array.astype('float32')");
  return ScalarType::Undefined;
}

}  // namespace

// Throws, or returns an undefined tensor with a Python exception set.
TensorBase tensor_from_buffer(PyObject* object) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_CheckBuffer(object) == 0) {
    OPGEN_CHECK_TYPE(false, "expected an array, but got ", Py_TYPE(object)->tp_name,
                     ": tensor() converts numbers and lists");
  }
  if (PyObject_GetBuffer(object, view.get(), PyBUF_RECORDS_RO) != 0) return {};
  std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> held(
      view.release(), [](Py_buffer* one) { release_borrowed(one); });
  OPGEN_CHECK_VALUE(held->readonly == 0, "the array is read-only: copy it, or use tensor()");
  const ScalarType type = type_of(*held);
  const std::int64_t itemsize = held->itemsize;
  DimVector sizes;
  DimVector strides;
  for (int i = 0; i < held->ndim; ++i) {
    OPGEN_CHECK_VALUE(held->strides[i] >= 0,
                      "a tensor cannot have negative strides, as array[::-1] has: copy the array "
                      "with array.copy(), or use tensor(array)");
    OPGEN_CHECK_VALUE(held->strides[i] % itemsize == 0,
                      "a stride of the array is not a multiple of the element size: copy the "
                      "array, or use tensor()");
    sizes.push_back(held->shape[i]);
    strides.push_back(held->strides[i] / itemsize);
  }
  void* data = held->buf;
  OPGEN_CHECK_VALUE(
      held->len == 0 || is_aligned(data, type),
      "the elements of the array are not aligned to their size: copy the array, or use tensor()");
  return opgen::detail::from_blob(data, sizes, strides, TensorOptions(type), held.release(),
                                  &release_borrowed);
}

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                              {0, nullptr}};

}  // namespace opgen::python
