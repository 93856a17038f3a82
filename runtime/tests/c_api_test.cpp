// c_api_test.cpp: the C interface: values, tensors, calls by name, errors.
#include "opgen/c_api.h"

#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "opgen/library.h"
#include "opgen/tensor.h"

using namespace opgen;

OPGEN_LIBRARY(capi, m) {
  m.def(
      "pick.int(Tensor self, int[2] index=0, *, float scale=2, str mode='first', Tensor? "
      "other=None) -> (Tensor, float, str)");
  m.def(
      "contain((str, int) pair, Dict(str, int) more) -> Dict(str, int)",
      [](std::tuple<std::string, std::int64_t> pair, const Dict<std::string, std::int64_t>& more) {
        Dict<std::string, std::int64_t> result{{std::get<0>(pair) + "2", std::get<1>(pair)}};
        for (const auto& entry : more) result.insert(entry.key(), entry.value());
        return result;
      });
  m.def("mistyped(int n=1.5) -> int", [](std::int64_t n) { return n; });
  m.def("fail(str kind) -> ()", [](std::string_view kind) {
    OPGEN_CHECK_INDEX(kind != "index", "an index");
    OPGEN_CHECK_VALUE(kind != "value", "a value");
    OPGEN_CHECK_NOT_IMPLEMENTED(kind != "missing", "missing");
    throw 3;
  });
  m.def(
      "sum(Tensor self, Scalar add, Generator? g=None, ScalarType? t=None, Tensor?[] l=[]) -> "
      "Scalar",
      [](const Tensor& self, const Scalar& add, std::optional<Generator> g,
         std::optional<ScalarType> t, const List<std::optional<Tensor>>& l) {
        double sum = add.toDouble() + static_cast<double>(l.size()) * 1000;
        if (g.has_value()) sum += 100;
        if (t.has_value()) sum += static_cast<double>(*t) * 10000;
        for (std::int64_t i = 0; i < self.size(0); ++i)
          sum += self.data_ptr<float>()[i * self.stride(0)];
        return Scalar(sum);
      });
}
OPGEN_LIBRARY_IMPL(capi, CPU, m) {
  m.impl("pick.int", [](const Tensor& self, IntArrayRef index, double scale, std::string_view mode,
                        const std::optional<Tensor>& other) {
    static std::string kept;
    kept = std::string(mode) + (other.has_value() ? "+" : "-") + std::to_string(index.size());
    return std::tuple<Tensor, double, std::string_view>(self, scale, kept);
  });
}

namespace {

std::string error() {
  return std::string(opgen_last_error_kind()) + ": " + opgen_last_error();
}

struct Values {
  ~Values() {
    for (opgen_value* value : all) opgen_value_free(value);
  }
  opgen_value* operator()(opgen_value* value) {
    all.push_back(value);
    return value;
  }
  std::vector<opgen_value*> all;
};

}  // namespace

TEST(tensors_in_and_out) {
  Values v;
  const float bytes[6] = {0, 1, 2, 3, 4, 5};
  const int64_t sizes[2] = {2, 2}, strides[2] = {1, 2};
  opgen_value* t = v(opgen_tensor_new(6, 2, sizes, strides, 1, bytes, sizeof bytes, nullptr));
  opgen_tensor_info info;
  CHECK(opgen_tensor_read(t, &info));
  CHECK(info.defined && info.dtype == 6 && info.ndim == 2 && info.strides[1] == 2 &&
        info.storage_offset == 1 && info.numel == 4);
  CHECK(static_cast<float*>(info.data)[0] == 1 && info.storage_bytes == sizeof bytes &&
        info.device_type == 0);
  opgen_value* view = v(opgen_tensor_view(t, 1, sizes, strides, 4));
  opgen_tensor_info view_info;
  CHECK(opgen_tensor_read(view, &view_info));
  CHECK(view_info.storage_identity == info.storage_identity && view_info.identity != info.identity);
  CHECK(v(opgen_tensor_view(t, 1, sizes, strides, 5)) == nullptr);
  CHECK(error().find("ValueError: sizes [2], strides [1] and offset 5 need more than the 24 bytes "
                     "of the storage") == 0);
  const int64_t negative[1] = {-1};
  CHECK(opgen_tensor_new(6, 1, negative, nullptr, 0, nullptr, 0, nullptr) == nullptr);
  CHECK(opgen_tensor_new(8, 0, nullptr, nullptr, 0, nullptr, 8, nullptr) == nullptr);
  CHECK(error() == "ValueError: no dtype has the number 8");
  CHECK(opgen_tensor_new(6, 0, nullptr, nullptr, 0, nullptr, 4, "tpu") == nullptr);
  opgen_value* meta = v(opgen_tensor_new(7, 2, sizes, nullptr, 0, nullptr, 32, "meta"));
  CHECK(opgen_tensor_read(meta, &info) && info.device_type == 14 && info.data == nullptr);
  CHECK(opgen_tensor_read(v(opgen_tensor_undefined()), &info) && !info.defined);
  CHECK(!opgen_tensor_read(v(opgen_int(3)), &info) &&
        error() == "TypeError: expected Tensor but got int");
  CHECK(!opgen_tensor_read(nullptr, &info));
}

TEST(calls_with_defaults_and_keywords) {
  Values v;
  const float bytes[3] = {1, 2, 3};
  const int64_t sizes[1] = {3};
  opgen_value* t = v(opgen_tensor_new(6, 1, sizes, nullptr, 0, bytes, sizeof bytes, "cpu"));
  const opgen_value* one[] = {t};
  opgen_value* results = v(opgen_call("capi::pick.int", one, 1, nullptr, nullptr, 0));
  size_t size = 0;
  CHECK(results != nullptr && opgen_list_size(results, &size) && size == 3);
  const char* text;
  CHECK(opgen_as_string(v(opgen_list_item(results, 2)), &text, &size) &&
        std::string(text, size) == "first-2");
  double scale;
  CHECK(opgen_as_double(v(opgen_list_item(results, 1)), &scale) && scale == 2);
  CHECK(v(opgen_list_item(results, 3)) == nullptr &&
        error() == "IndexError: index 3 of a list of 3");

  const char* names[] = {"other", "scale"};
  const opgen_value* keywords[] = {t, v(opgen_int(7))};
  results = v(opgen_call("capi::pick.int", one, 1, names, keywords, 2));
  CHECK(opgen_as_double(v(opgen_list_item(results, 1)), &scale) && scale == 7);

  const opgen_value* too_many[] = {t, t, t};
  CHECK(opgen_call("capi::pick.int", too_many, 3, nullptr, nullptr, 0) == nullptr);
  CHECK_EQ(error(), "TypeError: capi::pick.int takes 2 positional arguments, got 3");
  CHECK(opgen_call("capi::pick.int", one, 0, nullptr, nullptr, 0) == nullptr);
  CHECK_EQ(error(), "TypeError: capi::pick.int: argument self is missing");
  const char* unknown[] = {"othr"};
  CHECK(opgen_call("capi::pick.int", one, 1, unknown, keywords, 1) == nullptr &&
        error() == "TypeError: capi::pick.int has no argument othr");
  const char* twice[] = {"self"};
  CHECK(opgen_call("capi::pick.int", one, 1, twice, keywords, 1) == nullptr &&
        error() == "TypeError: capi::pick.int: argument self is given twice");
  CHECK(opgen_call("capi::pick", one, 1, nullptr, nullptr, 0) == nullptr &&
        error().find("did you mean capi::pick.int?") != std::string::npos);
  const opgen_value* wrong[] = {t, v(opgen_double(1.5))};
  CHECK(opgen_call("capi::pick.int", wrong, 2, nullptr, nullptr, 0) == nullptr);
  CHECK_EQ(error(), "TypeError: capi::pick.int: argument index: expected int, got float");
}

TEST(other_values) {
  Values v;
  const float bytes[3] = {1, 2, 3};
  const int64_t sizes[1] = {3};
  opgen_value* t = v(opgen_tensor_new(6, 1, sizes, nullptr, 0, bytes, sizeof bytes, nullptr));
  const opgen_value* items[] = {v(opgen_none()), t};
  const opgen_value* arguments[] = {t, v(opgen_complex(10, 0)), v(opgen_generator(5)),
                                    v(opgen_int(4)), v(opgen_list(items, 2))};
  opgen_value* results = v(opgen_call("capi::sum", arguments, 5, nullptr, nullptr, 0));
  double sum = 0;
  CHECK(results != nullptr && opgen_as_double(v(opgen_list_item(results, 0)), &sum));
  CHECK_EQ(sum, 42116);
  int flag;
  int64_t integer;
  CHECK(opgen_as_bool(v(opgen_bool(1)), &flag) && flag == 1 &&
        !opgen_as_bool(v(opgen_int(1)), &flag));
  CHECK(opgen_as_int(v(opgen_int(-5)), &integer) && integer == -5);
  int32_t type, index;
  CHECK(opgen_as_device(v(opgen_device("cuda:2")), &type, &index) && type == 1 && index == 2);
  CHECK(opgen_value_kind(v(opgen_default_generator())) == OPGEN_GENERATOR &&
        opgen_value_kind(v(opgen_value_copy(t))) == OPGEN_TENSOR);
  CHECK_EQ(opgen_runtime_abi(), OPGEN_RUNTIME_ABI);
}

TEST(tuples_dicts_and_defaults) {
  Values v;
  const opgen_value* entry[] = {v(opgen_string("k", 1)), v(opgen_int(3))};
  const opgen_value* arguments[] = {v(opgen_tuple(entry, 2)), v(opgen_dict(entry, 1))};
  CHECK(opgen_value_kind(arguments[0]) == OPGEN_TUPLE &&
        opgen_value_kind(arguments[1]) == OPGEN_DICT);
  opgen_value* results = v(opgen_call("capi::contain", arguments, 2, nullptr, nullptr, 0));
  std::size_t size = 0;
  const opgen_value* dict = v(opgen_list_item(results, 0));
  CHECK(opgen_list_size(dict, &size) && size == 4 && opgen_value_kind(dict) == OPGEN_DICT);
  int64_t value = 0;
  CHECK(opgen_as_int(v(opgen_list_item(dict, 3)), &value) && value == 3);
  const opgen_value* repeated[] = {entry[0], entry[1], entry[0], entry[1]};
  CHECK(opgen_dict(repeated, 2) == nullptr &&
        error() == "ValueError: a dict has the key 'k' twice");
  const opgen_value* list[] = {arguments[1], arguments[1]};
  CHECK(opgen_call("capi::contain", list, 2, nullptr, nullptr, 0) == nullptr);
  CHECK_EQ(error(), "TypeError: capi::contain: argument pair: expected (str, int), got dict");
  // A default that does not match its type is an error only for a call that uses it.
  CHECK(opgen_call("capi::mistyped", nullptr, 0, nullptr, nullptr, 0) == nullptr);
  CHECK_EQ(error(),
           "TypeError: capi::mistyped: the default of argument n: expected int, got float");
  CHECK(v(opgen_call("capi::mistyped", entry + 1, 1, nullptr, nullptr, 0)) != nullptr);
}

TEST(schemas) {
  Values v;
  const char text[] = "a::f.o(Tensor! x, Tensor(a)[](b! -> *) y, *, int n=3) -> (Tensor r)";
  opgen_value* parts = v(opgen_parse_schema(text, sizeof text - 1));
  auto at = [&](const opgen_value* list, std::size_t i) { return v(opgen_list_item(list, i)); };
  auto string = [](const opgen_value* value) {
    const char* found = nullptr;
    std::size_t size = 0;
    return opgen_as_string(value, &found, &size) ? std::string(found, size) : std::string("?");
  };
  CHECK_EQ(string(at(parts, 0)),
           "a::f.o(Tensor! x, Tensor(a)[](b! -> *) y, *, int n=3) -> Tensor r");
  CHECK(string(at(parts, 1)) == "a::f" && string(at(parts, 2)) == "o");
  const opgen_value* list = at(at(parts, 3), 1);
  CHECK(string(at(list, 0)) == "y" && string(at(list, 1)) == "Tensor[]");
  const opgen_value* outer = at(at(list, 2), 1);
  int64_t lists = 0;
  int flag = 0;
  CHECK(string(at(outer, 0)) == "b" && string(at(outer, 1)) == "*");
  CHECK(opgen_as_bool(at(outer, 2), &flag) && flag == 1);
  CHECK(opgen_as_int(at(outer, 3), &lists) && lists == 1);
  const opgen_value* number = at(at(parts, 3), 2);
  CHECK(opgen_as_bool(at(number, 3), &flag) && flag == 1);
  CHECK(opgen_as_int(at(at(number, 4), 0), &lists) && lists == 3);
  CHECK(opgen_parse_schema("f(Tensr x) -> ()", 16) == nullptr &&
        error().find("character 3: unknown type 'Tensr'") != std::string::npos);
}

TEST(no_exception_crosses) {
  Values v;
  for (auto [kind, name] : {std::pair("index", "IndexError"),
                            {"value", "ValueError"},
                            {"missing", "NotImplementedError"},
                            {"other", "Error"}}) {
    const opgen_value* argument[] = {v(opgen_string(kind, std::strlen(kind)))};
    CHECK(opgen_call("capi::fail", argument, 1, nullptr, nullptr, 0) == nullptr);
    CHECK_EQ(std::string(opgen_last_error_kind()), name);
  }
  CHECK(opgen_call(nullptr, nullptr, 0, nullptr, nullptr, 0) == nullptr);
}

// Each function with arguments that it must refuse.
TEST(bad_arguments) {
  Values v;
  opgen_value* one = v(opgen_int(1));
  opgen_value* empty = v(opgen_list(nullptr, 0));
  const int64_t sizes[1] = {2};
  opgen_value* tensor = v(opgen_tensor_new(6, 1, sizes, nullptr, 0, nullptr, 8, nullptr));
  const opgen_value* nothing[1] = {nullptr};
  const opgen_value* ones[1] = {one};
  const char* no_keyword[1] = {nullptr};
  int flag = 0;
  size_t size = 0;
  const char* text = nullptr;
  double number = 0;
#define REFUSES(call, reason) CHECK(!(call) && error().find(reason) != std::string::npos)
  REFUSES(opgen_set_num_threads(0), "ValueError: the number of threads");
  REFUSES(opgen_set_num_threads(-3), "ValueError: the number of threads");
  REFUSES(opgen_set_cpu_allocator(nullptr, [](void*) {}), "allocate is NULL");
  REFUSES(opgen_set_cpu_allocator([](size_t) -> void* { return nullptr; }, nullptr),
          "release is NULL");
  REFUSES(opgen_tensor_new(6, 1, nullptr, nullptr, 0, nullptr, 8, nullptr), "sizes is NULL");
  REFUSES(opgen_tensor_new(6, -1, sizes, nullptr, 0, nullptr, 8, nullptr), "-1 dimensions");
  REFUSES(opgen_tensor_new(6, 1, sizes, nullptr, -1, nullptr, 8, nullptr), "Error: ");
  REFUSES(opgen_tensor_new(6, 1, sizes, nullptr, 0, nullptr, SIZE_MAX, nullptr), "Error: ");
  REFUSES(opgen_tensor_view(tensor, 1, sizes, nullptr, 0), "strides is NULL");
  REFUSES(opgen_tensor_view(nullptr, 1, sizes, sizes, 0), "a value is NULL");
  REFUSES(opgen_tensor_view(one, 1, sizes, sizes, 0), "expected Tensor");
  REFUSES(opgen_tensor_read(tensor, nullptr), "the result is NULL");
  REFUSES(opgen_tensor_set_wrapped_number(tensor, 1), "zero-dim");
  REFUSES(opgen_string(nullptr, 4), "the text is NULL");
  REFUSES(opgen_device(nullptr), "the device is NULL");
  REFUSES(opgen_device("nowhere"), "nowhere");
  REFUSES(opgen_list(nullptr, SIZE_MAX), "the list of values is NULL");
  REFUSES(opgen_list(nothing, 1), "a value is NULL");
  REFUSES(opgen_tuple(nullptr, 1), "the list of values is NULL");
  REFUSES(opgen_dict(nullptr, 1), "the list of values is NULL");
  REFUSES(opgen_dict(ones, SIZE_MAX), "a dict cannot have");
  REFUSES(opgen_value_copy(nullptr), "a value is NULL");
  REFUSES(opgen_as_bool(tensor, &flag), "TypeError");
  REFUSES(opgen_as_bool(v(opgen_bool(1)), nullptr), "the result is NULL");
  REFUSES(opgen_as_int(one, nullptr), "the result is NULL");
  REFUSES(opgen_as_double(v(opgen_double(1)), nullptr), "the result is NULL");
  REFUSES(opgen_as_complex(v(opgen_complex(1, 2)), &number, nullptr), "imaginary part is NULL");
  REFUSES(opgen_as_string(v(opgen_string("a", 1)), &text, nullptr), "the size is NULL");
  REFUSES(opgen_as_string(one, &text, &size), "TypeError");
  REFUSES(opgen_as_device(v(opgen_device("cpu")), nullptr, &flag), "the type is NULL");
  REFUSES(opgen_list_size(one, &size), "Error: ");
  REFUSES(opgen_list_size(empty, nullptr), "the size is NULL");
  REFUSES(opgen_list_item(empty, 0), "IndexError");
  REFUSES(opgen_call("capi::fail", nullptr, 1, nullptr, nullptr, 0), "arguments is NULL");
  REFUSES(opgen_call("capi::fail", nullptr, 0, nullptr, ones, 1), "keywords is NULL");
  REFUSES(opgen_call("capi::fail", nullptr, 0, no_keyword, ones, 1), "a keyword is NULL");
  REFUSES(opgen_call("capi::no_such", nullptr, 0, nullptr, nullptr, 0), "no_such");
  REFUSES(opgen_operator_schema(nullptr), "the operator's name is NULL");
  REFUSES(opgen_operator_table("capi::no_such"), "no_such");
  REFUSES(opgen_operator_registrations(nullptr), "the operator's name is NULL");
  REFUSES(opgen_parse_schema(nullptr, 4), "the text is NULL");
#undef REFUSES
  opgen_value_free(nullptr);
  CHECK_EQ(opgen_value_kind(nullptr), static_cast<int>(OPGEN_NONE));
  CHECK(opgen_set_num_threads(1) == 1 && opgen_get_num_threads() == 1);
  CHECK(opgen_set_cpu_allocator(nullptr, nullptr) == 1);
  CHECK(opgen_set_composite_compliance(0) == 1);
}

TEST(listing) {
  Values v;
  size_t size = 0;
  CHECK(opgen_list_size(v(opgen_operators()), &size) && size >= 3);
  const char* text;
  CHECK(opgen_as_string(v(opgen_operator_schema("capi::fail")), &text, &size) &&
        std::string(text, size) == "capi::fail(str kind) -> ()");
  CHECK(opgen_as_string(v(opgen_operator_table("capi::pick.int")), &text, &size) &&
        std::string(text, size) == "CPU: kernel\n");
  CHECK(opgen_as_string(v(opgen_operator_registrations("capi::fail")), &text, &size) &&
        std::string(text, size).find("CompositeImplicitAutograd: unboxed") != std::string::npos);
  CHECK(opgen_list_size(v(opgen_stubs()), &size) && size == 0);
}
