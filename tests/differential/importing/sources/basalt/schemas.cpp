// schemas.cpp: operators of a device that is not in PyTorch.
#include <torch/library.h>

TORCH_LIBRARY(basalt, m) {
  m.def(
      "quantize(Tensor input, Tensor scale, Tensor zero_point, "
      "int quant_min, int quant_max, ScalarType dtype) -> (Tensor Z)");
  m.def(
      "quantize.per_tensor(Tensor input, float scale, int zero_point, "
      "int quant_min, int quant_max, ScalarType dtype)-> (Tensor Z)");
  m.def(
      "quantize.out(Tensor input, Tensor scale, Tensor zero_point, "
      "int quant_min, int quant_max, ScalarType dtype, *, "
      "Tensor(a!) out) -> Tensor(a!)");
  m.def(
      "quantize.per_tensor_out(Tensor input,    float scale, "
      "   int zero_point, int quant_min, int quant_max, "
      "ScalarType dtype, *, Tensor(a!) out) -> Tensor(a!)");
  m.def(
      "dequantize(Tensor X, Tensor X_scale, "
      "Tensor X_zero_point) -> (Tensor Y)");
  m.def(
      "dequantize.out(Tensor X, Tensor X_scale, Tensor X_zero_point, *, "
      "Tensor(a!) out) -> Tensor(a!)");
  m.def(
      "conv(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
      "SymInt[] padding, int[] dilation, int groups, "
      "float bias_scale=1.0) -> (Tensor Z)");
  m.def(
      "conv.out(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
      "SymInt[] padding, int[] dilation, int groups, "
      "float bias_scale=1.0, *, Tensor(a!) out)-> Tensor(a!)");
  m.def(
      "pool(Tensor input, int[2] kernel_size, int[2] stride=[], "
      "int[2] padding=[0,0], bool ceil_mode=False, "
      "int? divisor=None) -> (Tensor)");
  m.def(
      "linear(Tensor src,    Tensor weight,    Tensor bias, "
      "SymInt in_zero_point, *, Tensor? offset=None) -> (Tensor Y)");
  m.def(
      "linear.out(Tensor src, Tensor weight, Tensor bias, "
      "SymInt in_zero_point, *, Tensor? offset=None, "
      "Tensor(a!) out) -> Tensor(a!)");
  m.def("where_scalar(Tensor condition, float self, float other) -> Tensor");
  m.def("add_(Tensor(a!) self, Tensor other, Scalar alpha=1) -> Tensor(a!)");
  m.def("fused_add(Tensor(a!) self, Tensor other)-> Tensor(a!)");
  m.def(
      "normal_(Tensor(a!) self, float mean=0., float std=1., *, "
      "Generator? generator=None) -> Tensor(a!)");
  m.def(
      "attention(Tensor query,    Tensor key,    Tensor value, *, "
      "Tensor? mask=None, float scale_value=1, int heads=0, "
      "str layout=\"BSH\", SymInt[]? lens=None, "
      "int pre_tokens=2147483647) -> (Tensor, Tensor, Tensor)");
  m.def(
      "attention_metadata(int heads_q, int heads_kv, Tensor? lens=None, "
      "int batch_size=0, str layout_q=\"BSND\", "
      "str device=\"npu\") -> Tensor metadata");
  m.def(
      "ring_update(Tensor prev_out, Tensor prev_max, Tensor cur_out, "
      "Tensor cur_max, *, Tensor? lens=None, "
      "str? layout=None) -> (Tensor, Tensor)");
  m.def(
      "grouped_mm(Tensor[] x, Tensor[] weight, *, Tensor[]? bias=None, "
      "Tensor[]? scale=None, int[]? group_list=None, int? split_item=0, "
      "ScalarType? output_dtype=None) -> Tensor[]");
  m.def(
      "scatter_list(Tensor[] self, Tensor indices, Tensor updates, "
      "Tensor? mask, str reduce=\"update\", int axis=-2)-> Tensor[]");
  m.def(
      "scatter_list_(Tensor(a!)[] self, Tensor indices, Tensor updates, "
      "Tensor? mask, str reduce=\"update\", int axis=-2) -> Tensor(a!)[]");
  m.def(
      "optional_lists(Tensor?[] indices, "
      "   Tensor(b!)? state=None) -> Tensor");
  m.def("format_cast(Tensor self, int format) -> Tensor");
  m.def("format_cast_(Tensor(a!) self, int format) -> Tensor(a!)");
  m.def("format_of(Tensor self) -> int");
  m.def("stored_size(Tensor self)-> int");
  m.def(
      "empty_on(SymInt[] size, *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=False, "
      "MemoryFormat? memory_format=None) -> Tensor");
  m.def("set_timeout(int timeout) -> ()");
  m.def("version() -> str");
  m.def("all_finite(Tensor[] grads, float inv_scale) -> (bool, float)");
  m.def(
      "sort_v2(Tensor self, int dim=-1, bool descending=False, "
      "bool stable=False) -> (Tensor values, Tensor indices)");
  m.def("rotate(Tensor x, Tensor r1, Tensor r2, str mode='half')-> Tensor");
  m.def(
      "prompt(Tensor q, Tensor k, Tensor v, *, SymInt[]? lens=None, "
      "int heads=1, float scale=1.0, int sparse=0) -> Tensor");
  m.def(
      "masked(Tensor x,    Tensor? mask=None,    bool inplace=False, "
      "float p=0.1) -> (Tensor, Tensor)");
  m.def(
      "moe_gate(Tensor x, *, int k, Tensor? bias=None, "
      "bool renorm=True) -> (Tensor, Tensor, Tensor)");
  m.def(
      "swap_in_place(Tensor(a!) left, Tensor(b!) right) -> (Tensor(a!), "
      "Tensor(b!))");
  m.def(
      "write_both(Tensor(k!) key_cache, Tensor(value!) value_cache, "
      "Tensor key, Tensor value) -> ()");
  m.def("label_words(Tensor(state_1!)? state, Tensor x)-> (Tensor, Tensor)");
  m.def("first_of(Tensor(a)[] tensors) -> Tensor");
  m.def("no_op(Tensor x) -> ()");
}
