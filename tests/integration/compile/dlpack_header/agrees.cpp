// agrees.cpp: our structures of DLPack have the layout of the official header, -DOFFICIAL=<header>.
#include OFFICIAL

#include <cstddef>
#include <type_traits>

#include "dlpack.h"

namespace ours = opgen::python::dlpack;

#define SAME_FIELD(mine, field, official, name)                           \
  static_assert(offsetof(ours::mine, field) == offsetof(official, name)); \
  static_assert(sizeof(ours::mine::field) == sizeof(static_cast<official*>(0)->name))
#define SAME_SIZE(mine, official) \
  static_assert(sizeof(ours::mine) == sizeof(official) && alignof(ours::mine) == alignof(official))

SAME_SIZE(Device, DLDevice);
SAME_FIELD(Device, type, DLDevice, device_type);
SAME_FIELD(Device, id, DLDevice, device_id);

SAME_SIZE(DataType, DLDataType);
SAME_FIELD(DataType, code, DLDataType, code);
SAME_FIELD(DataType, bits, DLDataType, bits);
SAME_FIELD(DataType, lanes, DLDataType, lanes);

SAME_SIZE(Tensor, DLTensor);
SAME_FIELD(Tensor, data, DLTensor, data);
SAME_FIELD(Tensor, device, DLTensor, device);
SAME_FIELD(Tensor, ndim, DLTensor, ndim);
SAME_FIELD(Tensor, dtype, DLTensor, dtype);
SAME_FIELD(Tensor, shape, DLTensor, shape);
SAME_FIELD(Tensor, strides, DLTensor, strides);
SAME_FIELD(Tensor, byte_offset, DLTensor, byte_offset);

SAME_SIZE(Managed, DLManagedTensor);
SAME_FIELD(Managed, tensor, DLManagedTensor, dl_tensor);
SAME_FIELD(Managed, context, DLManagedTensor, manager_ctx);
SAME_FIELD(Managed, deleter, DLManagedTensor, deleter);

static_assert(int(ours::kCpu) == int(kDLCPU) && int(ours::kCudaHost) == int(kDLCUDAHost) &&
              int(ours::kRocmHost) == int(kDLROCMHost));
static_assert(int(ours::kInt) == int(kDLInt) && int(ours::kUInt) == int(kDLUInt) &&
              int(ours::kFloat) == int(kDLFloat) && int(ours::kBfloat) == int(kDLBfloat) &&
              int(ours::kComplex) == int(kDLComplex));

#ifdef DLPACK_MAJOR_VERSION  // since DLPack 1.0
static_assert(int(ours::kBool) == int(kDLBool));
static_assert(ours::kMajor == DLPACK_MAJOR_VERSION);
static_assert(ours::kReadOnly == DLPACK_FLAG_BITMASK_READ_ONLY);
static_assert(ours::kIsCopied == DLPACK_FLAG_BITMASK_IS_COPIED);

SAME_SIZE(ManagedVersioned, DLManagedTensorVersioned);
static_assert(offsetof(ours::ManagedVersioned, major) ==
              offsetof(DLManagedTensorVersioned, version) + offsetof(DLPackVersion, major));
static_assert(offsetof(ours::ManagedVersioned, minor) ==
              offsetof(DLManagedTensorVersioned, version) + offsetof(DLPackVersion, minor));
SAME_FIELD(ManagedVersioned, context, DLManagedTensorVersioned, manager_ctx);
SAME_FIELD(ManagedVersioned, deleter, DLManagedTensorVersioned, deleter);
SAME_FIELD(ManagedVersioned, flags, DLManagedTensorVersioned, flags);
SAME_FIELD(ManagedVersioned, tensor, DLManagedTensorVersioned, dl_tensor);
#elif defined(NEEDS_VERSIONED)
#error "this header has no DLManagedTensorVersioned"
#endif
