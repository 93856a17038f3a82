# opgen_torchConfig.cmake: find_package(opgen_torch) — the torch of a Python environment, and
# opgen_add_torch_library().
#
#   opgen_add_torch_library(mylib TREE folder SOURCES src/RegisterCPU.cpp ... [KERNELS a.cpp ...])
#
# compiles a tree that `opgen generate --target torch` wrote into a shared library, for
# torch.ops.load_library. The torch is that of Python_EXECUTABLE, unless Torch_DIR says otherwise.
#
#   opgen_add_operators(mylib OPGEN_TARGET torch YAML native_functions.yaml [KERNELS a.cpp ...] ...)
#
# generates that tree, too (opgenConfig.cmake says what else it takes).
#
#   opgen_add_torch_python_package(mylib TREE folder [NAME name])
#
# makes the package of Python in the tree (`--python`) importable from the build folder's python/; the
# library lies in it.
#
#   opgen_install_python_package(mylib [DESTINATION folder])
#
# installs that package: what a wheel is made of.

include_guard(GLOBAL)

# The releases of PyTorch that this file and the headers beside it are written for: from the first on,
# tried with all up to the last. targets/torch.py has the same.
set(opgen_torch_oldest 2.13)
set(opgen_torch_newest 2.13)

if(NOT TARGET torch)
  if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
    set(Torch_DIR "$ENV{Torch_DIR}")
  endif()
  if(NOT Torch_DIR)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    # Found, not imported: that takes seconds.
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE opgen_torch_folder OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT opgen_torch_folder)
      message(FATAL_ERROR "torch is not installed for ${Python_EXECUTABLE}: pip install torch, or set Torch_DIR")
    endif()
    list(PREPEND CMAKE_PREFIX_PATH "${opgen_torch_folder}")
  endif()
  find_package(Torch QUIET CONFIG)
  if(NOT Torch_FOUND)
    message(FATAL_ERROR "there is no PyTorch for C++ in ${opgen_torch_folder}${Torch_DIR}: pip install torch, or set Torch_DIR")
  endif()
endif()
if(Torch_VERSION AND Torch_VERSION VERSION_LESS opgen_torch_oldest)
  message(FATAL_ERROR "torch ${Torch_VERSION} in ${Torch_DIR} is too old: opgen needs ${opgen_torch_oldest} or newer")
endif()
string(REGEX MATCH "^[0-9]+[.][0-9]+" opgen_torch_release "${Torch_VERSION}")
if(opgen_torch_release VERSION_GREATER opgen_torch_newest)
  message(WARNING "torch ${Torch_VERSION} is newer than ${opgen_torch_newest}, the last that opgen was tried with")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/opgenOperators.cmake")
set(opgen_torch_include "${CMAKE_CURRENT_LIST_DIR}/../torch/include")

function(opgen_add_torch_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE" "SOURCES;KERNELS")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_TREE}/")
  # TorchConfig.cmake enables CUDA and finds c10_cuda where torch has it. Elsewhere nobody can reach
  # a CUDA kernel: those in .cu files are left out, and their stubs stand in.
  if(NOT C10_CUDA_LIBRARY)
    list(FILTER arg_KERNELS EXCLUDE REGEX "[.]cu$")
  endif()
  add_library(${target} SHARED ${arg_SOURCES} ${arg_KERNELS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "${arg_TREE}/include" "${opgen_torch_include}")
  opgen_look_for_headers(${target} BESIDE ${arg_KERNELS})
  target_link_libraries(${target} PUBLIC torch)
  if(C10_CUDA_LIBRARY)
    target_compile_definitions(${target} PUBLIC OPGEN_TORCH_CUDA)
    target_link_libraries(${target} PUBLIC ${TORCH_LIBRARIES})
  endif()
  # ATen's headers cost seconds in every unit. Stubs may stand beside the calls of what they stand for:
  # no compiler looks into a weak function.
  opgen_one_unit_per_shard(${target} SOURCES ${arg_SOURCES})
  opgen_precompile_headers(${target} KERNELS ${arg_KERNELS})
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
endfunction()

# With OPGEN_PRECOMPILE_HEADERS=ON, have what all units of the library `target` read of ATen's compiled once: an edit of a
# kernel then takes a third less. Not unasked: g++ takes as long for it as for two or three such units and writes 300 MB,
# which a build from nothing wins back from six units on, and ccache takes such a header only with some settings.
function(opgen_precompile_headers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "KERNELS")
  if(NOT OPGEN_PRECOMPILE_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:<opgen/kernel.h$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<opgen/register.h$<ANGLE-R>>")
  # When the author has said all of the sources.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL opgen_skip_precompiled_headers [[${arg_KERNELS}]])")
endfunction()

# Sources compiled otherwise than the target are, with -mavx2 or definitions of their own, read their headers themselves.
function(opgen_skip_precompiled_headers sources)
  foreach(source IN LISTS sources)
    foreach(property COMPILE_OPTIONS COMPILE_FLAGS COMPILE_DEFINITIONS)
      get_source_file_property(own "${source}" ${property})
      if(own)
        set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      endif()
    endforeach()
  endforeach()
endfunction()

# The package's texts, and beside them the library: what __init__.py loads is called lib<name>.so everywhere.
function(opgen_add_torch_python_package target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE;NAME" "")
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  set(package "${CMAKE_BINARY_DIR}/python/${arg_NAME}")
  opgen_copy_package(copies FROM "${arg_TREE}/python/${arg_NAME}" TO "${package}")
  target_sources(${target} PRIVATE ${copies})
  file(CONFIGURE OUTPUT "${package}/_built_for.py" @ONLY CONTENT
    "\"\"\"The PyTorch that the library beside this file was compiled against.\"\"\"\n\nTORCH = \"@Torch_VERSION@\"\n")
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    OUTPUT_NAME "${arg_NAME}"
    SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY "${package}"
    OPGEN_PACKAGE "${arg_NAME}"
    OPGEN_INSTALL opgen_install_torch_package)
endfunction()

function(opgen_install_torch_package target destination)
  get_target_property(package ${target} OPGEN_PACKAGE)
  # libtorch is in the process already: __init__.py imports torch first.
  install(TARGETS ${target} LIBRARY DESTINATION "${destination}")
  install(DIRECTORY "${CMAKE_BINARY_DIR}/python/${package}/" DESTINATION "${destination}"
    PATTERN "*.so" EXCLUDE PATTERN "__pycache__" EXCLUDE)
endfunction()
