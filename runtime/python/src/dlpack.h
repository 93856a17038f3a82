// dlpack.h: the structures that libraries exchange by DLPack, and the names of its capsules.
// Declared from the specification of DLPack 1.x ("C API" and "Python Specification" at
// dmlc.github.io/dlpack/latest): the order and the widths of the fields are its ABI, which
// tests/integration/compile/test_dlpack_header.py compares with the official header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opgen::python::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11 };
enum TypeCode : std::uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
};

struct Device {
  std::int32_t type;
  std::int32_t id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;      // in elements; before 1.2 null stands for row-major
  std::uint64_t byte_offset;  // from `data` to the first element
};

// A capsule named "dltensor" contains a Managed, one named "dltensor_versioned" a ManagedVersioned.
// The consumer renames the capsule and calls `deleter(self)` once, on any thread.
struct Managed {
  static constexpr const char* kName = "dltensor";
  static constexpr const char* kUsedName = "used_dltensor";
  Tensor tensor;
  void* context;
  void (*deleter)(Managed* self);
};

inline constexpr std::uint32_t kMajor = 1;
inline constexpr std::uint64_t kReadOnly = 1;
inline constexpr std::uint64_t kIsCopied = 2;
struct ManagedVersioned {
  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsedName = "used_dltensor_versioned";
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(ManagedVersioned* self);
  std::uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, shape) == 24);
static_assert(sizeof(Managed) == 64 && offsetof(Managed, deleter) == 56);
static_assert(offsetof(ManagedVersioned, flags) == 24 && offsetof(ManagedVersioned, tensor) == 32);

}  // namespace opgen::python::dlpack
