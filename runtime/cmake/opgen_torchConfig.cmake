# opgen_torchConfig.cmake: find_package(opgen_torch) provides the torch of a Python environment, and
# opgen_add_torch_library().
#
#   opgen_add_torch_library(mylib TREE folder SOURCES src/RegisterCPU.cpp ... [KERNELS a.cpp ...])
#
# compiles a tree that `opgen generate --target torch` wrote into a shared library, which
# torch.ops.load_library can load. It uses the torch of Python_EXECUTABLE, unless Torch_DIR is set or the
# project has called find_package(Torch) itself. That torch is the target opgen::torch (opgenTorch.cmake).
# Only kernels in .cu files, and .cpp files that include CUDA's headers, need CUDA's compiler
# (opgenTorchCuda.cmake). For such .cpp files, set -DOPGEN_CUDA=ON.
#
#   opgen_add_operators(mylib OPGEN_TARGET torch YAML native_functions.yaml [KERNELS a.cpp ...] ...)
#
# also generates that tree (opgenConfig.cmake describes the other arguments).
#
#   opgen_add_torch_python_package(mylib TREE folder [NAME name] [FOLDER folder])
#
# makes the Python package of the tree (`--python`) importable from python/ of the build folder. The package
# contains the library and the author's own files, those in FOLDER (PYTHON_FOLDER of opgen_add_operators). Its
# __init__.py imports ops.py, if there is one.
#
#   opgen_install_python_package(mylib [DESTINATION folder])
#
# installs that package: the contents of a wheel.

include_guard(GLOBAL)

# The oldest supported release of PyTorch, and the newest that was tested. targets/base.py has the same
# numbers.
set(opgen_torch_oldest 2.9)
set(opgen_torch_newest 2.15)

include("${CMAKE_CURRENT_LIST_DIR}/opgenTorch.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/opgenTorchCuda.cmake")
if(NOT TARGET opgen::torch)
  opgen_find_torch(opgen_torch_folder)
  opgen_import_torch("${opgen_torch_folder}")
endif()
opgen_check_torch_release(${opgen_torch_oldest} ${opgen_torch_newest})

include("${CMAKE_CURRENT_LIST_DIR}/opgenOperators.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/opgenTorchPackage.cmake")

macro(opgen_add_torch_library)
  opgen_enable_cuda_for(${ARGN})
  opgen_make_torch_library(${ARGN})
endmacro()

function(opgen_make_torch_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE" "SOURCES;KERNELS")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_TREE}/")
  # The schemas are first in their unit, so that nothing else of this library is registered if another library
  # has the namespace.
  set(schemas ${arg_SOURCES})
  list(FILTER schemas INCLUDE REGEX "/RegisterSchema[_0-9]*[.]cpp$")
  list(PREPEND arg_SOURCES ${schemas})
  list(REMOVE_DUPLICATES arg_SOURCES)
  opgen_leave_out_cuda(arg_KERNELS)
  add_library(${target} SHARED ${arg_SOURCES} ${arg_KERNELS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  # As PyTorch compiles its own kernels: otherwise loops with std::sqrt or a choice would not be vectorised.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno> $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math>)
  target_include_directories(${target} PUBLIC
    "${arg_TREE}/include" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../torch/include")
  opgen_look_for_headers(${target} BESIDE ${arg_KERNELS})
  target_link_libraries(${target} PUBLIC opgen::torch)
  opgen_wants_cuda(cuda ${arg_KERNELS})
  if(cuda)
    opgen_compile_cuda(${target} LINK opgen::torch_cuda)
    get_target_property(torch_cuda opgen::torch OPGEN_TORCH_CUDA)
    set_target_properties(${target} PROPERTIES OPGEN_BUILT_FOR_CUDA "${torch_cuda}")
  endif()
  # ATen's headers take seconds in every unit. Stubs may be in the same unit as calls of the kernels, because
  # no compiler inlines a weak function.
  opgen_one_unit_per_shard(${target} SOURCES ${arg_SOURCES})
  # Two versions of a library in one process may have functions of the same names.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE "LINKER:-z,defs" "LINKER:-Bsymbolic-functions")
  endif()
  opgen_keep_in_programs(${target})
endfunction()

function(opgen_add_torch_python_package target)
  get_target_property(torch opgen::torch OPGEN_TORCH_VERSION)
  opgen_make_torch_package(${target} ${ARGN} BUILT_FOR
    [["""The PyTorch that the library beside this file was compiled against, and its CUDA, if kernels need that."""]]
    "\nTORCH = \"${torch}\"")
endfunction()
