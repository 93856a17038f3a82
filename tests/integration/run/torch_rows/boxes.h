// boxes.h: the library's own class.
#pragma once

#include <torch/custom_class.h>
#include <torch/library.h>

#include <cstdint>

namespace boxes {

struct Box : torch::CustomClassHolder {
  Box(int64_t w, int64_t h) : width(w), height(h) {}
  int64_t width;
  int64_t height;
};

inline void define(torch::Library& library) {
  library.class_<Box>("Box")
      .def(torch::init<int64_t, int64_t>())
      .def("height", [](const c10::intrusive_ptr<Box>& self) { return self->height; });
}

}  // namespace boxes
