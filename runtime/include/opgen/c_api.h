// c_api.h: the runtime without C++ types: create values, call operators by name, read results. For
// test drivers and bindings.
//
// No exception leaves a function. One that fails returns NULL or 0, opgen_last_error() of the same
// thread the reason; a pointer that is read or written must not be NULL. The caller owns each
// returned opgen_value and frees it with opgen_value_free; arguments are borrowed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
#define OPGEN_C_API extern "C" __attribute__((visibility("default")))
#else
#define OPGEN_C_API
#endif

typedef struct opgen_value opgen_value;

enum opgen_kind {
  OPGEN_NONE,
  OPGEN_BOOL,
  OPGEN_INT,
  OPGEN_DOUBLE,
  OPGEN_COMPLEX,
  OPGEN_TENSOR,
  OPGEN_STRING,
  OPGEN_DEVICE,
  OPGEN_STREAM,
  OPGEN_GENERATOR,
  OPGEN_STORAGE,
  OPGEN_LIST,
  OPGEN_CUSTOM,
  OPGEN_TUPLE,
  OPGEN_DICT
};

// Numbers are PyTorch's: dtype, layout and device type. Pointers are valid as long as the tensor.
typedef struct opgen_tensor_info {
  int32_t defined;
  int32_t dtype;
  int32_t layout;
  int32_t device_type;
  int32_t device_index;
  int32_t wrapped_number;
  int64_t ndim;
  const int64_t* sizes;
  const int64_t* strides;  // in elements
  int64_t storage_offset;  // in elements
  int64_t numel;
  void* data;  // address of element {0, 0, …}; NULL if there are no bytes
  void* storage_data;
  size_t storage_bytes;
  int64_t version;
  const void* identity;          // equal for handles of one tensor
  const void* storage_identity;  // equal for views of one storage
} opgen_tensor_info;

// Returns OPGEN_RUNTIME_ABI (core/macros.h) of the runtime in this process. Functions have the same
// names for all ABIs, so a program that looks them up by name compares it first.
OPGEN_C_API int opgen_runtime_abi(void);
OPGEN_C_API const char* opgen_last_error(void);
// "Error", "IndexError", "ValueError", "TypeError", "NotImplementedError" or "OutOfMemoryError".
OPGEN_C_API const char* opgen_last_error_kind(void);

// Returns a tensor on a new storage of `storage_bytes` bytes, copied from `bytes` if that is not
// NULL (cpu only). If `strides` is NULL, the tensor is contiguous; if `device` is NULL, it is on
// "cpu". Fails if elements lie outside of the storage.
OPGEN_C_API opgen_value* opgen_tensor_new(int32_t dtype, int64_t ndim, const int64_t* sizes,
                                          const int64_t* strides, int64_t storage_offset,
                                          const void* bytes, size_t storage_bytes,
                                          const char* device);
// Returns another tensor on the storage of `base`.
OPGEN_C_API opgen_value* opgen_tensor_view(const opgen_value* base, int64_t ndim,
                                           const int64_t* sizes, const int64_t* strides,
                                           int64_t storage_offset);
OPGEN_C_API opgen_value* opgen_tensor_undefined(void);
OPGEN_C_API int opgen_tensor_read(const opgen_value* tensor, opgen_tensor_info* info);
// Marks a zero-dim tensor as a wrapped number, which type promotion treats as a number.
OPGEN_C_API int opgen_tensor_set_wrapped_number(const opgen_value* tensor, int wrapped);

// dtype, layout, memory format and quantization scheme are ints; an absent optional is None.
OPGEN_C_API opgen_value* opgen_none(void);
OPGEN_C_API opgen_value* opgen_bool(int value);
OPGEN_C_API opgen_value* opgen_int(int64_t value);
OPGEN_C_API opgen_value* opgen_double(double value);
OPGEN_C_API opgen_value* opgen_complex(double real, double imag);
OPGEN_C_API opgen_value* opgen_string(const char* text, size_t size);
OPGEN_C_API opgen_value* opgen_device(const char* text);
OPGEN_C_API opgen_value* opgen_generator(uint64_t seed);
OPGEN_C_API opgen_value* opgen_default_generator(void);
OPGEN_C_API opgen_value* opgen_list(const opgen_value* const* items, size_t count);
OPGEN_C_API opgen_value* opgen_tuple(const opgen_value* const* items, size_t count);
// Returns a dict of `count` keys; each key is followed by its value.
OPGEN_C_API opgen_value* opgen_dict(const opgen_value* const* keys_and_values, size_t count);
OPGEN_C_API opgen_value* opgen_value_copy(const opgen_value* value);
OPGEN_C_API void opgen_value_free(opgen_value* value);

OPGEN_C_API int opgen_value_kind(const opgen_value* value);
OPGEN_C_API int opgen_as_bool(const opgen_value* value, int* result);
OPGEN_C_API int opgen_as_int(const opgen_value* value, int64_t* result);
OPGEN_C_API int opgen_as_double(const opgen_value* value, double* result);
OPGEN_C_API int opgen_as_complex(const opgen_value* value, double* real, double* imag);
// The text is not null-terminated. It is valid as long as the value.
OPGEN_C_API int opgen_as_string(const opgen_value* value, const char** text, size_t* size);
OPGEN_C_API int opgen_as_device(const opgen_value* value, int32_t* type, int32_t* index);
// Reads the size of a list, a tuple or a dict. Elements of a dict are its keys, each followed by
// its value.
OPGEN_C_API int opgen_list_size(const opgen_value* list, size_t* size);
OPGEN_C_API opgen_value* opgen_list_item(const opgen_value* list, size_t index);

// Calls an operator, such as "aten::add.Tensor", through the dispatcher, with positional, then
// keyword arguments. Absent arguments take the schema's defaults. Numbers are accepted as tensors.
// Returns the list of results.
OPGEN_C_API opgen_value* opgen_call(const char* name, const opgen_value* const* arguments,
                                    size_t count, const char* const* keywords,
                                    const opgen_value* const* keyword_arguments,
                                    size_t keyword_count);

// Turns the check of composite kernels (composite_compliance.h) on or off for this thread. For
// tests.
OPGEN_C_API int opgen_set_composite_compliance(int on);

// The number of threads of parallel regions (opgen/core/parallel.h).
OPGEN_C_API int opgen_get_num_threads(void);
OPGEN_C_API int opgen_set_num_threads(int count);

// Lets `allocate` provide the memory of all storages on the CPU from now on, and `release` take it
// back; NULL: the runtime's own allocator again. Both must be thread-safe and exist as long as a
// storage does. Memory is aligned to 64 bytes; NULL means that there is none. For tools that watch
// memory.
OPGEN_C_API int opgen_set_cpu_allocator(void* (*allocate)(size_t bytes),
                                        void (*release)(void* data));

// Returns the full names of all operators, sorted.
OPGEN_C_API opgen_value* opgen_operators(void);
OPGEN_C_API opgen_value* opgen_operator_schema(const char* name);
// Returns a list: the printed schema, the operator's name, its overload name, arguments, returns.
// An argument is a list: name, type, annotations, whether it is keyword-only, and a list with its
// default or an empty list. An annotation is a list: the alias sets before and after, whether it
// writes, and how many list types precede it.
OPGEN_C_API opgen_value* opgen_parse_schema(const char* text, size_t size);
OPGEN_C_API opgen_value* opgen_operator_registrations(const char* name);
OPGEN_C_API opgen_value* opgen_operator_table(const char* name);
// Returns a list of lists of four strings: library, operator, key, the text to write.
OPGEN_C_API opgen_value* opgen_stubs(void);
