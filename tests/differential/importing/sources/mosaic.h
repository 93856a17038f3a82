// mosaic.h: functions from whose types PyTorch infers the schemas.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace mosaic {

using Tensors = std::vector<at::Tensor>;

at::Tensor lay(const at::Tensor& tiles, int64_t rows, double gap, bool mirrored);
at::Tensor lay_in_order(at::TensorList tiles, at::IntArrayRef order, const std::string& name);
Tensors cut(const at::Tensor& image, const std::vector<int64_t>& sizes);
std::tuple<at::Tensor, at::Tensor> edges(at::Tensor image, std::optional<at::Tensor> mask);
void paint(at::Tensor& image, const at::Scalar& colour);
int64_t count(const at::Tensor& image);
bool fits(const at::Tensor& image, c10::SymIntArrayRef shape, c10::SymInt margin);
double ratio(const at::Tensor& image, at::OptionalIntArrayRef dims);
std::string label(const at::Tensor& image, std::string_view prefix, c10::string_view suffix);

namespace colours {

at::Tensor mixed(const at::Tensor& image, const std::optional<at::Scalar>& by,
                 std::optional<double> gain);
std::tuple<at::Tensor, int64_t, std::vector<at::Tensor>> split(const at::Tensor& image,
                                                               std::array<bool, 3> channels);
at::Tensor converted(const at::Tensor& image, at::ScalarType dtype,
                     std::optional<at::ScalarType> other, at::Layout layout,
                     std::optional<c10::Device> device, std::optional<at::MemoryFormat> format);

}  // namespace colours

template <typename Number>
at::Tensor scaled(const at::Tensor& image, Number by) {
  return image * by;
}

}  // namespace mosaic
