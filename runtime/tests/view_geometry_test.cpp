// view_geometry_test.cpp: views change sizes, strides and offset.
#include "opgen/view_geometry.h"

#include "check.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

namespace {

ViewGeometry whole() {
  return {{2, 3, 4}, {12, 4, 1}, 5};
}
bool is(const ViewGeometry& g, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  return IntArrayRef(g.sizes) == sizes && IntArrayRef(g.strides) == strides &&
         g.storage_offset == offset;
}

}  // namespace

TEST(a_tensor_to_a_geometry_and_back) {
  TensorBase t = detail::empty_strided({2, 3}, {1, 2});
  ViewGeometry g = ViewGeometry::of(t);
  CHECK(is(g, {2, 3}, {1, 2}, 0));
  g.select(1, 2);
  TensorBase row = detail::view_with(t, g);
  CHECK(row.is_alias_of(t) && row.sizes().equals({2}) && row.storage_offset() == 4);
}

TEST(select_and_remove) {
  ViewGeometry g = whole();
  g.select(1, 2);
  CHECK(is(g, {2, 4}, {12, 1}, 13));
  g.remove(0);
  CHECK(is(g, {4}, {1}, 13));
}

TEST(slice) {
  ViewGeometry g = whole();
  g.slice(2, 1, 2, 2);
  CHECK(is(g, {2, 3, 2}, {12, 4, 2}, 6));
  // The stride of a single element is not used, so its overflow is not an error.
  g = whole();
  g.slice(0, 0, 1, INT64_MAX);
  CHECK(is(g, {1, 3, 4}, {12, 4, 1}, 5));
}

TEST(transpose_and_move) {
  ViewGeometry g = whole();
  g.transpose(0, 2);
  CHECK(is(g, {4, 3, 2}, {1, 4, 12}, 5));
  g = whole();
  g.move(0, 2);
  CHECK(is(g, {3, 4, 2}, {4, 1, 12}, 5));
  g.move(2, 0);
  CHECK(is(g, {2, 3, 4}, {12, 4, 1}, 5));
  g.move(1, 1);
  CHECK(is(g, {2, 3, 4}, {12, 4, 1}, 5));
}

TEST(unsqueeze) {
  ViewGeometry g = whole();
  g.unsqueeze(1);
  CHECK(is(g, {2, 1, 3, 4}, {12, 12, 4, 1}, 5));
  g.unsqueeze(4);
  CHECK(is(g, {2, 1, 3, 4, 1}, {12, 12, 4, 1, 1}, 5));
  ViewGeometry number;
  number.unsqueeze(0);
  CHECK(is(number, {1}, {1}, 0));
}
