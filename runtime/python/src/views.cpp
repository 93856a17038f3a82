// views.cpp: x.T, x.mT, x.real and x.imag, views of the same bytes; x.H and x.mH, which copy
// complex numbers. As for indexing, a view needs no operator, unless a dispatch key above the
// backends must see the call; the conjugates of complex numbers are those of the operator
// conj_physical.
#include <utility>

#include "library_operator.h"
#include "objects.h"
#include "opgen/view_geometry.h"

namespace opgen::python {

namespace {

constexpr const char* kUse =
    "a transpose, or a part of complex numbers, of a tensor that is traced, batched, requires a "
    "gradient or has a tangent";
LibraryOperator transpose_operator("aten::transpose", "int", kUse);
LibraryOperator conj_operator("aten::conj_physical", "", "a conjugate transpose");
LibraryOperator real_operator("aten::real", "", kUse);
LibraryOperator imag_operator("aten::imag", "", kUse);

PyObject* with_last_two_swapped(const TensorBase& tensor) {
  if (needs_operators(tensor)) {
    return new_tensor(transpose_operator.call({tensor, -2, -1}).toTensor());
  }
  ViewGeometry geometry = ViewGeometry::of(tensor);
  geometry.transpose(tensor.dim() - 2, tensor.dim() - 1);
  return new_tensor(recorded_view(opgen::detail::view_with(tensor, geometry), tensor));
}

PyObject* transposed(PyObject* self, void*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    OPGEN_CHECK_VALUE(tensor.dim() == 2, "x.T needs a tensor of 2 dimensions, not of ",
                      tensor.dim(), ": x.mT swaps the last two");
    return with_last_two_swapped(tensor);
  });
}

PyObject* matrices_transposed(PyObject* self, void*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    OPGEN_CHECK_VALUE(tensor.dim() >= 2, "x.mT needs a tensor of at least 2 dimensions, not of ",
                      tensor.dim());
    return with_last_two_swapped(tensor);
  });
}

// The conjugate of a complex tensor is computed; a real one is returned.
PyObject* conjugated(Owned transpose) {
  if (!transpose || !isComplexType(tensor_of(transpose.get()).scalar_type())) {
    return transpose.release();
  }
  return guarded(
      [&] { return new_tensor(conj_operator.call({tensor_of(transpose.get())}).toTensor()); });
}

PyObject* adjoint(PyObject* self, void*) {
  return conjugated(Owned(transposed(self, nullptr)));
}

PyObject* adjoints_of_matrices(PyObject* self, void*) {
  return conjugated(Owned(matrices_transposed(self, nullptr)));
}

// Returns the real (0) or imaginary (1) parts.
PyObject* part_of(const TensorBase& tensor, std::int64_t part) {
  if (needs_operators(tensor)) {
    LibraryOperator& op = part == 0 ? real_operator : imag_operator;
    return new_tensor(op.call({tensor}).toTensor());
  }
  Place place{toRealValueType(tensor.scalar_type()), DimVector(tensor.sizes()),
              DimVector(tensor.strides()), 2 * tensor.storage_offset() + part};
  for (std::int64_t& stride : place.strides) stride *= 2;
  return new_tensor(recorded_view(tensor_on(tensor.storage(), place, false), tensor));
}

PyObject* real_part(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    return isComplexType(tensor.scalar_type()) ? part_of(tensor, 0) : Py_NewRef(self);
  });
}

PyObject* imaginary_part(PyObject* self, void*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    OPGEN_CHECK_TYPE(isComplexType(tensor.scalar_type()), "a tensor of dtype ",
                     dtype_name(tensor.scalar_type()), " has no imaginary part");
    return part_of(tensor, 1);
  });
}

}  // namespace

PyGetSetDef view_attributes[] = {
    {"T", transposed, nullptr, "The transpose of a matrix, on the same bytes.", nullptr},
    {"mT", matrices_transposed, nullptr,
     "The transpose of each matrix in the last two dimensions, on the same bytes.", nullptr},
    {"H", adjoint, nullptr,
     "The conjugate transpose of a matrix: on the same bytes if the elements are real.", nullptr},
    {"mH", adjoints_of_matrices, nullptr,
     "The conjugate transpose of each matrix in the last two dimensions: on the same bytes if the "
     "elements are real.",
     nullptr},
    {"real", real_part, nullptr, "The real parts, on the same bytes.", nullptr},
    {"imag", imaginary_part, nullptr, "The imaginary parts, on the same bytes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace opgen::python
