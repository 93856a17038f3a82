// built_devices.h: the devices that the PyTorch of this build has, by headers that only such a
// build has. Existing functions for others are not registered: their sources cannot be compiled. To
// decide otherwise, define OPGEN_HAS_CUDA and so on as 0 or 1.
#pragma once

#ifndef OPGEN_HAS_CUDA
#if __has_include(<c10/cuda/impl/cuda_cmake_macros.h>)
#define OPGEN_HAS_CUDA 1
#else
#define OPGEN_HAS_CUDA 0
#endif
#endif
#ifndef OPGEN_HAS_HIP
#if __has_include(<c10/hip/impl/hip_cmake_macros.h>)
#define OPGEN_HAS_HIP 1
#else
#define OPGEN_HAS_HIP 0
#endif
#endif
#ifndef OPGEN_HAS_XPU
#if __has_include(<c10/xpu/impl/xpu_cmake_macros.h>)
#define OPGEN_HAS_XPU 1
#else
#define OPGEN_HAS_XPU 0
#endif
#endif
#ifndef OPGEN_HAS_MPS
#ifdef __APPLE__
#define OPGEN_HAS_MPS 1
#else
#define OPGEN_HAS_MPS 0
#endif
#endif
