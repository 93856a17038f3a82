# opgenTorchCuda.cmake: the CUDA compiler and libraries for kernels in .cu files, from Python packages
# nvidia-* or from a toolkit of the system. They are searched for only if a library has such kernels and
# PyTorch has CUDA.

include_guard(GLOBAL)

# Set `result` to whether a library with the kernels in the remaining arguments is compiled for CUDA.
function(opgen_wants_cuda result)
  set(files ${ARGN})
  list(FILTER files INCLUDE REGEX "[.]cu$")
  set(cuda "")
  if(TARGET opgen::torch)
    get_target_property(cuda opgen::torch OPGEN_TORCH_CUDA)
  endif()
  if(cuda AND (files OR OPGEN_CUDA))
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Enable the language CUDA if one of the arguments is a .cu file that is compiled. This is a macro because a
# language enabled in a function is lost when the function returns.
macro(opgen_enable_cuda_for)
  opgen_wants_cuda(opgen_cuda ${ARGN})
  if(opgen_cuda AND NOT TARGET opgen::torch_cuda)
    opgen_import_cuda(opgen_cuda_root ${ARGN})
    get_property(opgen_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "CUDA" IN_LIST opgen_languages)
      # CMake compiles a test program, which finds the libraries of a wheel only through this path.
      set(ENV{LIBRARY_PATH} "${opgen_cuda_root}/lib:$ENV{LIBRARY_PATH}")
      enable_language(CUDA)
    endif()
  endif()
endmacro()

# Compile the .cu files of the library `target`, and link it to PyTorch's CUDA libraries.
function(opgen_compile_cuda target)
  if(NOT TARGET opgen::torch_cuda)
    message(FATAL_ERROR "${target} has kernels in .cu files: find_package(opgen_torch) must come before it")
  endif()
  target_link_libraries(${target} PUBLIC opgen::torch_cuda)
  target_compile_definitions(${target} PUBLIC OPGEN_TORCH_CUDA)
  opgen_cuda_architectures(architectures)
  set_target_properties(${target} PROPERTIES
    CUDA_STANDARD 20
    CUDA_STANDARD_REQUIRED ON
    CUDA_ARCHITECTURES "${architectures}"
    CUDA_RUNTIME_LIBRARY None) # opgen::torch_cuda has PyTorch's
  # The same options as in torch.utils.cpp_extension.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--expt-extended-lambda>")
  foreach(none HALF_OPERATORS HALF_CONVERSIONS BFLOAT16_CONVERSIONS HALF2_OPERATORS)
    target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:__CUDA_NO_${none}__>")
  endforeach()
endfunction()

# Set `result` to the architectures to compile for: CMAKE_CUDA_ARCHITECTURES, else $CUDAARCHS, else
# $TORCH_CUDA_ARCH_LIST in the format of PyTorch's own builds ("8.0;9.0+PTX"), else one of each generation, so
# that the library runs on every GPU.
function(opgen_cuda_architectures result)
  set(found all-major)
  if(CMAKE_CUDA_ARCHITECTURES)
    set(found "${CMAKE_CUDA_ARCHITECTURES}")
  elseif(NOT "$ENV{CUDAARCHS}" STREQUAL "")
    set(found "$ENV{CUDAARCHS}")
  elseif("$ENV{TORCH_CUDA_ARCH_LIST}" MATCHES "^[0-9]+[.][0-9]+a?([+]PTX)?([; ][0-9]+[.][0-9]+a?([+]PTX)?)*$")
    set(found "")
    string(REPLACE " " ";" asked "$ENV{TORCH_CUDA_ARCH_LIST}")
    foreach(one IN LISTS asked)
      string(REGEX MATCH "([0-9]+)[.]([0-9]+a?)([+]PTX)?" _ "${one}")
      set(kind -real)
      if(CMAKE_MATCH_3)
        set(kind "")
      endif()
      list(APPEND found "${CMAKE_MATCH_1}${CMAKE_MATCH_2}${kind}")
    endforeach()
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Make opgen::torch_cuda, and set `root_of_toolkit` and the cache variable CMAKE_CUDA_COMPILER if they are not
# yet known. The remaining arguments are the kernels, for messages.
function(opgen_import_cuda root_of_toolkit)
  get_target_property(folder opgen::torch OPGEN_TORCH_FOLDER)
  add_library(opgen::torch_cuda INTERFACE IMPORTED GLOBAL)
  target_link_libraries(opgen::torch_cuda INTERFACE opgen::torch)
  if(NOT folder)
    # The project's find_package(Torch) has enabled the language and found all libraries.
    return()
  endif()
  set(files ${ARGN})
  list(FILTER files INCLUDE REGEX "[.]cu$")
  opgen_find_nvcc(nvcc ${files})
  # The nvcc on the PATH may be a script, or a link to a program with another name.
  execute_process(COMMAND "${nvcc}" --dryrun -c x.cu ERROR_VARIABLE steps OUTPUT_QUIET)
  if(NOT steps MATCHES "#[$] TOP=([^\n]*)")
    message(FATAL_ERROR "cannot find the toolkit of ${nvcc}:\n${steps}")
  endif()
  get_filename_component(root "${CMAKE_MATCH_1}" REALPATH)
  opgen_check_cuda_parts("${nvcc}" "${root}")
  opgen_torch_library("${folder}" torch_cuda opgen::libtorch_cuda)
  opgen_torch_library("${folder}" c10_cuda opgen::libc10_cuda)
  opgen_find_cudart("${root}" cudart)
  target_include_directories(opgen::torch_cuda INTERFACE "${root}/include")
  if(EXISTS "${root}/include/cccl/nv/target")
    target_include_directories(opgen::torch_cuda INTERFACE "${root}/include/cccl")
  endif()
  target_link_libraries(opgen::torch_cuda INTERFACE opgen::libtorch_cuda opgen::libc10_cuda "${cudart}")
  set(CMAKE_CUDA_COMPILER "${nvcc}" CACHE FILEPATH "The compiler of .cu files")
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    opgen_cuda_architectures(architectures)
    set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "The architectures for which .cu files are compiled")
  endif()
  set(${root_of_toolkit} "${root}" PARENT_SCOPE)
endfunction()

# Set `nvcc` to the first compiler for the CUDA that PyTorch was built with. Its major release must be the
# same, as CUDA's libraries require. Stops if there is none, and says how to get one.
function(opgen_find_nvcc nvcc)
  get_target_property(wanted opgen::torch OPGEN_TORCH_CUDA)
  get_target_property(folder opgen::torch OPGEN_TORCH_FOLDER)
  string(REGEX MATCH "^[0-9]+" major "${wanted}")
  find_program(on_path nvcc NO_CACHE NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
  set(asked ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX})
  foreach(root ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH})
    list(APPEND asked "${root}/bin/nvcc")
  endforeach()
  set(others "${folder}/../nvidia/cu${major}/bin/nvcc" ${on_path} "/usr/local/cuda-${wanted}/bin/nvcc"
    "/usr/local/cuda/bin/nvcc")
  set(unfit "")
  foreach(candidate IN LISTS asked others)
    get_filename_component(candidate "${candidate}" ABSOLUTE)
    if(NOT EXISTS "${candidate}")
      continue()
    endif()
    execute_process(COMMAND "${candidate}" --version OUTPUT_VARIABLE said ERROR_QUIET)
    if(said MATCHES "release ([0-9]+)([.][0-9]+)" AND CMAKE_MATCH_1 STREQUAL major)
      set(${nvcc} "${candidate}" PARENT_SCOPE)
      return()
    elseif(CMAKE_MATCH_1)
      string(APPEND unfit "\n  ${candidate} is from CUDA ${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    endif()
  endforeach()
  get_target_property(version opgen::torch OPGEN_TORCH_VERSION)
  list(JOIN ARGN "\n  " files)
  opgen_cuda_remedy(remedy)
  message(FATAL_ERROR "These kernels need nvcc, the compiler of CUDA ${major}, which was not found:\n  ${files}\n"
    "PyTorch ${version} in ${folder} was built with CUDA ${wanted}.${unfit}\n${remedy}")
endfunction()

# Set `remedy` to instructions for installing the missing parts of CUDA. The arguments are Python packages, by
# default those with the compiler.
function(opgen_cuda_remedy remedy)
  get_target_property(wanted opgen::torch OPGEN_TORCH_CUDA)
  set(system "install the CUDA toolkit ${wanted} of the system (https://developer.nvidia.com/cuda-toolkit-archive), and set CUDA_HOME to its folder")
  if(wanted VERSION_LESS 13)
    # The packages of CUDA 12 have parts of the compiler, but not nvcc.
    set(${remedy} "To get it: ${system}." PARENT_SCOPE)
    return()
  endif()
  set(packages ${ARGN})
  if(NOT packages)
    set(packages nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl)
  endif()
  list(TRANSFORM packages REPLACE "(.+)" "'\\1==${wanted}.*'")
  list(JOIN packages " " packages)
  set(python python)
  if(Python_EXECUTABLE)
    set(python "${Python_EXECUTABLE}")
  endif()
  set(${remedy} "To get it:\n  ${python} -m pip install ${packages}\nor ${system}." PARENT_SCOPE)
endfunction()

# Stop if parts of the toolkit at `root` are missing; each Python package contains only some.
function(opgen_check_cuda_parts nvcc root)
  set(parts
    "nvvm/bin/cicc" nvidia-nvvm
    "include/crt/host_config.h" nvidia-cuda-crt
    "include/cuda_runtime.h" nvidia-cuda-runtime)
  set(missing "")
  set(packages "")
  while(parts)
    list(POP_FRONT parts file package)
    if(NOT EXISTS "${root}/${file}")
      string(APPEND missing "\n  ${root}/${file}")
      list(APPEND packages ${package})
    endif()
  endwhile()
  if(NOT EXISTS "${root}/include/nv/target" AND NOT EXISTS "${root}/include/cccl/nv/target")
    string(APPEND missing "\n  ${root}/include/cccl/nv/target")
    list(APPEND packages nvidia-cuda-cccl)
  endif()
  if(missing)
    opgen_cuda_remedy(remedy ${packages})
    message(FATAL_ERROR "Parts of the compiler ${nvcc} are missing:${missing}\n${remedy}")
  endif()
endfunction()

# Set `cudart` to the CUDA runtime that PyTorch uses, else to that of the toolkit at `root`.
function(opgen_find_cudart root cudart)
  get_target_property(folder opgen::torch OPGEN_TORCH_FOLDER)
  get_target_property(wanted opgen::torch OPGEN_TORCH_CUDA)
  string(REGEX MATCH "^[0-9]+" major "${wanted}")
  get_filename_component(packages "${folder}/../nvidia" ABSOLUTE)
  foreach(place "${packages}/cu${major}/lib" "${packages}/cuda_runtime/lib" "${folder}/lib" "${root}/lib64" "${root}/lib")
    foreach(name libcudart.so.${major} libcudart.so)
      if(EXISTS "${place}/${name}")
        set(${cudart} "${place}/${name}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
  opgen_cuda_remedy(remedy nvidia-cuda-runtime)
  message(FATAL_ERROR "There is no libcudart.so.${major}, neither in ${packages} nor in ${root}.\n${remedy}")
endfunction()
