# opgen_torch_stableConfig.cmake: find_package(opgen_torch_stable) provides PyTorch's stable C functions, and
# opgen_add_torch_stable_library().
#
#   opgen_add_torch_stable_library(mylib TREE folder SOURCES src/RegisterCPU.cpp ... [KERNELS a.cpp ...]
#                                  [TORCH 2.10])
#
# compiles a tree that `opgen generate --target torch-stable` wrote into a shared library, for
# torch.ops.load_library. It uses the headers of the torch of Python_EXECUTABLE, unless Torch_DIR is set or the
# project has called find_package(Torch) itself. The library works with every release of PyTorch from TORCH, by
# default 2.10. The code that all such libraries contain is compiled once for each user (opgenCache.cmake). Kernels
# in .cu files need CUDA's compiler (opgenTorchCuda.cmake).
#
#   opgen_add_operators(mylib OPGEN_TARGET torch-stable YAML native_functions.yaml [KERNELS a.cpp ...] [TORCH 2.10])
#
# also generates that tree (opgenConfig.cmake describes the other arguments).
#
#   opgen_add_torch_stable_python_package(mylib TREE folder [NAME name] [FOLDER folder])
#
# makes the Python package of the tree (`--python`) importable from python/ of the build folder, as
# opgen_add_torch_python_package does.

include_guard(GLOBAL)

# The releases of PyTorch that this file and the headers support: at least the first; all up to the last were
# tried. targets/base.py has the same numbers.
set(opgen_torch_stable_oldest 2.10)
set(opgen_torch_stable_newest 2.15)

include("${CMAKE_CURRENT_LIST_DIR}/opgenTorch.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/opgenTorchCuda.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/opgenCache.cmake")
option(OPGEN_WERROR "Treat warnings of opgen's own files as errors" OFF)
if(NOT TARGET opgen::torch)
  opgen_find_torch(opgen_torch_folder)
  opgen_import_torch("${opgen_torch_folder}")
endif()
opgen_check_torch_release(${opgen_torch_stable_oldest} ${opgen_torch_stable_newest})

# The library that has the C functions, without those whose symbols change from one release to the next.
if(NOT TARGET opgen::torch_functions)
  add_library(opgen::torch_functions INTERFACE IMPORTED GLOBAL)
  if(TARGET opgen::libtorch_cpu)
    get_target_property(opgen_torch_folder opgen::torch OPGEN_TORCH_FOLDER)
    target_include_directories(opgen::torch_functions INTERFACE "${opgen_torch_folder}/include")
    target_link_libraries(opgen::torch_functions INTERFACE opgen::libtorch_cpu)
  else()
    target_include_directories(opgen::torch_functions INTERFACE ${TORCH_INCLUDE_DIRS})
    target_link_libraries(opgen::torch_functions INTERFACE torch_cpu)
  endif()
endif()

# What a library that contains opgen_torch_stable compiles and links with.
function(opgen_torch_stable_usage target scope)
  set(runtime "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  target_compile_features(${target} ${scope} cxx_std_20)
  # The first folder replaces headers of the second.
  target_include_directories(${target} ${scope} "${runtime}/torch_stable/include" "${runtime}/include")
  find_package(Threads REQUIRED)
  target_link_libraries(${target} ${scope} Threads::Threads ${CMAKE_DL_LIBS})
  # Otherwise g++ would mark every library with an inline variable as one that dlclose may not unload.
  target_compile_options(${target} ${scope} $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
endfunction()

if(NOT TARGET opgen::torch_stable)
  opgen_find_part(opgen_how opgen_torch_stable
    FOLDER "${CMAKE_CURRENT_LIST_DIR}/.."
    SOURCES torch_stable/CMakeLists.txt torch_stable/include/*.h torch_stable/src/*.h torch_stable/src/*.cpp
      cmake/opgen_torch_stableConfig.cmake torch/include/*.h include/*.h src/*.h src/*.cpp)
  if(opgen_how STREQUAL "COPIED")
    opgen_import_part(opgen_torch_stable)
    opgen_torch_stable_usage(opgen_torch_stable INTERFACE)
    add_library(opgen::torch_stable ALIAS opgen_torch_stable)
  else()
    add_subdirectory("${CMAKE_CURRENT_LIST_DIR}/../torch_stable" "${CMAKE_BINARY_DIR}/opgen-torch-stable")
  endif()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/opgenOperators.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/opgenTorchPackage.cmake")

macro(opgen_add_torch_stable_library)
  opgen_enable_cuda_for(${ARGN})
  opgen_make_torch_stable_library(${ARGN})
endmacro()

function(opgen_make_torch_stable_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE;TORCH" "SOURCES;KERNELS")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_TREE}/")
  # The schemas come first in their unit: kernels are registered for operators that are there.
  set(schemas ${arg_SOURCES})
  list(FILTER schemas INCLUDE REGEX "/RegisterSchema[_0-9]*[.]cpp$")
  list(PREPEND arg_SOURCES ${schemas})
  list(REMOVE_DUPLICATES arg_SOURCES)
  opgen_leave_out_cuda(arg_KERNELS)
  add_library(${target} SHARED ${arg_SOURCES} ${arg_KERNELS})
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    # PyTorch is in the process before the library, wherever it is installed.
    SKIP_BUILD_RPATH ON)
  target_include_directories(${target} PUBLIC "${arg_TREE}/include")
  opgen_look_for_headers(${target} BESIDE ${arg_KERNELS})
  target_link_libraries(${target} PUBLIC opgen::torch_stable opgen::torch_functions)
  if(NOT arg_TORCH)
    set(arg_TORCH ${opgen_torch_stable_oldest})
  endif()
  # For kernels that include PyTorch's own stable headers: what they declare is there since this release.
  opgen_torch_target_version(version "${arg_TORCH}")
  target_compile_definitions(${target} PRIVATE TORCH_TARGET_VERSION=${version})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options(${target} PRIVATE -O3)
  endif()
  opgen_wants_cuda(cuda ${arg_KERNELS})
  if(cuda)
    opgen_compile_cuda(${target} LINK opgen::cuda)
    get_target_property(torch_cuda opgen::torch OPGEN_TORCH_CUDA)
    set_target_properties(${target} PROPERTIES OPGEN_BUILT_FOR_CUDA "${torch_cuda}")
  endif()
  opgen_one_unit_per_shard(${target} SOURCES ${arg_SOURCES})
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE "LINKER:-z,defs" "LINKER:-Bsymbolic-functions" "LINKER:--gc-sections"
      "LINKER:--as-needed")
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DLIBRARY=$<TARGET_FILE:${target}>"
        -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opgenStableSymbols.cmake"
      VERBATIM)
  endif()
  opgen_keep_in_programs(${target})
endfunction()

# Set `version` to TORCH_TARGET_VERSION for a release: 0x020a000000000000 for 2.10.
function(opgen_torch_target_version version release)
  if(NOT release MATCHES "^([0-9]+)[.]([0-9]+)$")
    message(FATAL_ERROR "TORCH is a release of PyTorch such as 2.10, not '${release}'")
  endif()
  math(EXPR number "(${CMAKE_MATCH_1} << 56) + (${CMAKE_MATCH_2} << 48)" OUTPUT_FORMAT HEXADECIMAL)
  set(${version} "${number}ULL" PARENT_SCOPE)
endfunction()

function(opgen_add_torch_stable_python_package target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TORCH" "")
  if(NOT arg_TORCH)
    set(arg_TORCH ${opgen_torch_stable_oldest})
  endif()
  opgen_make_torch_package(${target} ${arg_UNPARSED_ARGUMENTS} BUILT_FOR
    [["""The oldest PyTorch that the library beside this file works with, and the CUDA of its kernels, if any."""]]
    "\nTORCH = \"${arg_TORCH}\"")
endfunction()
