# opgenTorch.cmake: the target opgen::torch, the headers and libraries of an installed PyTorch.
#
# It is made from the files of the package, not by find_package(Torch), which requires the CUDA toolkit if
# PyTorch was built with CUDA (as the wheels for Linux on PyPI are), even if nothing in the project uses CUDA.
# If a project has called find_package(Torch), opgen::torch refers to the targets of that call.
#
#   opgen::torch          libtorch, libtorch_cpu, libc10
#   opgen::torch_python   also the conversions between tensors of C++ and Python, if the package has them
#
# Properties of opgen::torch:
#   OPGEN_TORCH_FOLDER    the package, or empty if the project's own find_package(Torch) found it
#   OPGEN_TORCH_VERSION   such as 2.13.0; empty if it is unknown
#   OPGEN_TORCH_CUDA      the release of CUDA that it was built with, such as 13.0; empty for a build without CUDA

include_guard(GLOBAL)

# Set `folder` to the folder of the package torch: that of Torch_DIR, else of Python_EXECUTABLE. It is empty
# if the project has a target torch.
macro(opgen_find_torch folder)
  set(${folder} "")
  if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
    set(Torch_DIR "$ENV{Torch_DIR}")
  endif()
  if(TARGET torch)
    # The project has set the folder.
  elseif(Torch_DIR)
    get_filename_component(${folder} "${Torch_DIR}/../../.." ABSOLUTE)
  else()
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    # Find torch without importing it, which takes seconds.
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE ${folder} OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT ${folder})
      message(FATAL_ERROR "torch is not installed for ${Python_EXECUTABLE}: pip install torch, or set Torch_DIR")
    endif()
  endif()
  if(${folder} AND NOT EXISTS "${${folder}}/include/torch/library.h")
    # This PyTorch has another layout than the wheels, as in a Linux distribution.
    find_package(Torch QUIET CONFIG HINTS "${${folder}}")
    if(NOT TARGET torch)
      message(FATAL_ERROR "${${folder}} has no C++ headers of PyTorch: pip install torch, or set Torch_DIR")
    endif()
    set(${folder} "")
  endif()
endmacro()

# Make opgen::torch from the package in `folder`, or from the project's target torch if `folder` is empty.
function(opgen_import_torch folder)
  add_library(opgen::torch INTERFACE IMPORTED GLOBAL)
  if(folder)
    opgen_torch_version("${folder}" version cuda)
    opgen_torch_library("${folder}" torch opgen::libtorch)
    opgen_torch_library("${folder}" torch_cpu opgen::libtorch_cpu)
    opgen_torch_library("${folder}" c10 opgen::libc10)
    opgen_torch_definitions("${folder}" definitions)
    target_include_directories(opgen::torch INTERFACE
      "${folder}/include" "${folder}/include/torch/csrc/api/include")
    target_compile_definitions(opgen::torch INTERFACE ${definitions})
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
      # libtorch has no symbols of its own, but loads the libraries of all of PyTorch's devices, so the linker
      # must keep it.
      get_target_property(libtorch opgen::libtorch IMPORTED_LOCATION)
      set(libtorch "-Wl,--push-state,--no-as-needed,${libtorch},--pop-state")
    else()
      set(libtorch opgen::libtorch)
    endif()
    target_link_libraries(opgen::torch INTERFACE ${libtorch} opgen::libtorch_cpu opgen::libc10)
    opgen_import_torch_python("${folder}")
  else()
    set(version "${Torch_VERSION}")
    set(cuda "")
    if(C10_CUDA_LIBRARY)
      string(REGEX MATCH "[0-9]+[.][0-9]+" cuda "${CUDA_VERSION} ${CUDAToolkit_VERSION} 1.0")
    endif()
    target_link_libraries(opgen::torch INTERFACE torch ${TORCH_LIBRARIES})
  endif()
  target_link_libraries(opgen::torch INTERFACE ${CMAKE_DL_LIBS})
  set_target_properties(opgen::torch PROPERTIES
    OPGEN_TORCH_FOLDER "${folder}" OPGEN_TORCH_VERSION "${version}" OPGEN_TORCH_CUDA "${cuda}")
endfunction()

# Set `version` and `cuda` to the values that the package in `folder` states.
function(opgen_torch_version folder version cuda)
  set(found_cuda "")
  if(EXISTS "${folder}/version.py")
    file(READ "${folder}/version.py" text)
    string(REGEX MATCH "__version__ *= *['\"]([^'\"]+)" _ "${text}")
    set(found "${CMAKE_MATCH_1}")
    if(text MATCHES "\ncuda[^=\n]*= *['\"]([^'\"]+)")
      set(found_cuda "${CMAKE_MATCH_1}")
    endif()
  elseif(EXISTS "${folder}/build-version")
    # libtorch without Python, as downloaded from pytorch.org: 2.13.0+cu130.
    file(READ "${folder}/build-version" found)
    if(found MATCHES "[+]cu([0-9]+)([0-9])")
      set(found_cuda "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
    endif()
  elseif(EXISTS "${folder}/share/cmake/Torch/TorchConfigVersion.cmake")
    set(PACKAGE_FIND_VERSION 0)
    include("${folder}/share/cmake/Torch/TorchConfigVersion.cmake")
    set(found "${PACKAGE_VERSION}")
  endif()
  string(REGEX MATCH "^[0-9]+([.][0-9]+)*" found "${found}")
  set(${version} "${found}" PARENT_SCOPE)
  set(${cuda} "${found_cuda}" PARENT_SCOPE)
endfunction()

# Make `target` from lib<name> in the package. File names of Linux and of macOS are tried, because CMake does
# not know the system before a language is enabled.
function(opgen_torch_library folder name target)
  foreach(suffix .so .dylib)
    if(EXISTS "${folder}/lib/lib${name}${suffix}")
      add_library(${target} SHARED IMPORTED GLOBAL)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${folder}/lib/lib${name}${suffix}")
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "there is no lib${name} in ${folder}/lib: this PyTorch is incomplete; reinstall it")
endfunction()

# Set `definitions` to the macros with which PyTorch's users must compile.
function(opgen_torch_definitions folder definitions)
  set(found "")
  set(targets "${folder}/share/cmake/Caffe2/Caffe2Targets.cmake")
  if(EXISTS "${targets}")
    file(READ "${targets}" text)
    if(text MATCHES "set_target_properties\\(torch_cpu PROPERTIES[^)]*INTERFACE_COMPILE_DEFINITIONS \"([^\"$]*)\"")
      set(found "${CMAKE_MATCH_1}")
    endif()
  endif()
  if(EXISTS "${folder}/share/cmake/Torch/TorchConfig.cmake")
    # Up to 2.6 some wheels used the old strings of the C++ library.
    file(STRINGS "${folder}/share/cmake/Torch/TorchConfig.cmake" flags REGEX "_GLIBCXX_USE_CXX11_ABI=[01]")
    if(flags MATCHES "_GLIBCXX_USE_CXX11_ABI=[01]")
      list(APPEND found "${CMAKE_MATCH_0}")
    endif()
  endif()
  set(${definitions} "${found}" PARENT_SCOPE)
endfunction()

function(opgen_import_torch_python folder)
  foreach(suffix .so .dylib)
    if(EXISTS "${folder}/lib/libtorch_python${suffix}")
      opgen_torch_library("${folder}" torch_python opgen::libtorch_python)
      add_library(opgen::torch_python INTERFACE IMPORTED GLOBAL)
      target_link_libraries(opgen::torch_python INTERFACE opgen::torch opgen::libtorch_python)
    endif()
  endforeach()
endfunction()

# Stop if PyTorch is older than `oldest`; warn if it is newer than `newest`.
function(opgen_check_torch_release oldest newest)
  get_target_property(version opgen::torch OPGEN_TORCH_VERSION)
  get_target_property(folder opgen::torch OPGEN_TORCH_FOLDER)
  if(NOT version)
    return()
  endif()
  if(version VERSION_LESS oldest)
    message(FATAL_ERROR "torch ${version} in ${folder} is too old: opgen needs ${oldest} or newer")
  endif()
  string(REGEX MATCH "^[0-9]+[.][0-9]+" release "${version}")
  if(release VERSION_GREATER newest)
    message(WARNING "torch ${version} is newer than ${newest}, the newest release that opgen was tested with")
  endif()
endfunction()
