# opgenConfig.cmake: find_package(opgen) — the runtime as opgen::runtime, and opgen_add_operators().
#
# The runtime is compiled with the project, unless opgen::runtime is a target already or opgen_runtime_DIR
# says where one is installed.
#
#   opgen_add_operators(mylib YAML native_functions.yaml ... [OPGEN_TARGET runtime|torch] [TAGS tags.yaml]
#                       [BACKEND_YAML backend.yaml]
#                       [KERNELS a.cpp ...] [SELECT selected.yaml ...] [EXTENDS base] [NAME name]
#                       [SHARDS n] [PYTHON] [OPTIONS option of opgen generate ...])
#
# makes the shared library target mylib from the YAML files and the kernels. Editing a YAML file runs
# opgen again at the next build, and only what changed is compiled (docs/builds.md). EXTENDS names
# another target made by this function, whose class Tensor and operators mylib uses. SELECT leaves out
# what no file of it selects. PYTHON makes the package mylib of Python, too, in the build folder's
# python/. OPGEN_TARGET torch makes an extension of PyTorch (opgen_torchConfig.cmake).
#
#   opgen_install_python_package(mylib [DESTINATION folder])
#
# installs that package, with all libraries that it needs inside: what a wheel is made of.
#
#   opgen_add_cpu_kernels(mylib a_kernel.cpp [b_kernel.cpp ...])
#
# adds sources to a library that are compiled once for each instruction set of the processor
# (OPGEN_CPU_CAPABILITY is DEFAULT, AVX2 or AVX512 in turn), for functions that a DispatchStub chooses
# from at run time.

include_guard(GLOBAL)

if(NOT TARGET opgen::runtime)
  if(OPGEN_BASE_TREE)
    # One dispatcher per process: a library that extends another uses the runtime built with it.
    add_library(opgen::runtime SHARED IMPORTED)
    set_target_properties(opgen::runtime PROPERTIES
      IMPORTED_LOCATION "${OPGEN_BASE_TREE}/cmake-build/opgen-runtime/libopgen_runtime${CMAKE_SHARED_LIBRARY_SUFFIX}"
      INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../include"
      INTERFACE_COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>")
  elseif(opgen_runtime_DIR)
    find_package(opgen_runtime REQUIRED CONFIG)
  else()
    add_subdirectory("${CMAKE_CURRENT_LIST_DIR}/.." "${CMAKE_BINARY_DIR}/opgen-runtime")
  endif()
endif()

set(OPGEN_UNITY_BYTES 65536 CACHE STRING
  "Generated sources of no more bytes than this, in all, are compiled as one unit for each shard; 0: never")
include("${CMAKE_CURRENT_LIST_DIR}/opgenOperators.cmake")

# Compile one generated tree (a folder that `opgen generate` wrote) into the library `target`.
function(opgen_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE;EXTENDS" "SOURCES;KERNELS")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_TREE}/")
  add_library(${target} SHARED ${arg_SOURCES} ${arg_KERNELS})
  # One by one, the dozen sources of a small library read the same headers a dozen times.
  set(bytes 0)
  foreach(source IN LISTS arg_SOURCES)
    if(EXISTS "${source}")
      file(SIZE "${source}" size)
      math(EXPR bytes "${bytes} + ${size}")
    endif()
  endforeach()
  if(NOT bytes GREATER OPGEN_UNITY_BYTES)
    opgen_one_unit_per_shard(${target} SOURCES ${arg_SOURCES})
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${arg_TREE}/include>")
  opgen_look_for_headers(${target} BESIDE ${arg_KERNELS})
  target_link_libraries(${target} PUBLIC opgen::runtime)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    # g++ vectorises the kernels' loops at -O3 only.
    target_compile_options(${target} PRIVATE -O3)
  endif()
  if(arg_EXTENDS)
    target_link_libraries(${target} PUBLIC ${arg_EXTENDS})
  endif()
  # Kernels, stubs and registrations are linked as objects of one library, so that a kernel always
  # wins over its stub; an undefined symbol is an error here and not at load time. Calls within the
  # library are bound now: PyTorch's, not optimised, has 52,000 that would be looked up at each start.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE "LINKER:-z,defs" "LINKER:-Bsymbolic-functions")
  endif()
endfunction()

# Compile the Python package of the library `target` into the build folder's python/.
function(opgen_add_python_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE;NAME" "SOURCES")
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  if(NOT TARGET opgen::python)
    if(OPGEN_BASE_TREE)
      # One class Tensor per process: that of the library that is extended.
      add_library(opgen::python SHARED IMPORTED)
      set_target_properties(opgen::python PROPERTIES
        IMPORTED_LOCATION "${OPGEN_BASE_TREE}/cmake-build/opgen-python/libopgen_python${CMAKE_SHARED_LIBRARY_SUFFIX}"
        INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../python/include;${Python_INCLUDE_DIRS}")
    else()
      add_subdirectory("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../python" "${CMAKE_BINARY_DIR}/opgen-python")
    endif()
  endif()
  set(package "${CMAKE_BINARY_DIR}/python/${arg_NAME}")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_TREE}/")
  opgen_copy_package(copies FROM "${arg_TREE}/python/${arg_NAME}" TO "${package}")
  Python_add_library(${target}_python MODULE WITH_SOABI ${arg_SOURCES} ${copies})
  set_target_properties(${target}_python PROPERTIES
    OUTPUT_NAME _C
    LIBRARY_OUTPUT_DIRECTORY "${package}"
    CXX_VISIBILITY_PRESET hidden)
  set_target_properties(${target}_python PROPERTIES
    OPGEN_PACKAGE "${arg_NAME}"
    OPGEN_PACKAGE_TEXTS "${arg_TREE}/python/${arg_NAME}/")
  set_target_properties(${target} PROPERTIES
    OPGEN_PACKAGE "${arg_NAME}"
    OPGEN_INSTALL opgen_install_runtime_package)
  target_link_libraries(${target}_python PRIVATE ${target} opgen::python)
  # Every operator has a thunk or two, each run once a call: small ones compile in half the time.
  target_compile_options(${target}_python PRIVATE -O1)
endfunction()

# Install the Python package of the library `target`: its texts, its module, and the shared libraries
# beside it, which find one another wherever the folder is put.
function(opgen_install_runtime_package target destination)
  get_target_property(texts ${target}_python OPGEN_PACKAGE_TEXTS)
  get_target_property(base ${target} OPGEN_EXTENDS)
  set(libraries ${target} opgen::runtime opgen::python)
  set(paths "$ORIGIN")
  if(base)
    # The package of the library that it extends has the runtime, and lies beside this one.
    get_target_property(base_package ${base}_python OPGEN_PACKAGE)
    set(libraries ${target})
    list(APPEND paths "$ORIGIN/../${base_package}")
  endif()
  if(APPLE)
    list(TRANSFORM paths REPLACE "^.ORIGIN" "@loader_path")
  endif()
  foreach(library ${target}_python ${libraries})
    get_target_property(aliased ${library} ALIASED_TARGET)
    get_target_property(imported ${library} IMPORTED)
    if(aliased)
      set(library ${aliased})
    endif()
    if(imported)
      install(IMPORTED_RUNTIME_ARTIFACTS ${library} LIBRARY DESTINATION "${destination}")
    else()
      set_target_properties(${library} PROPERTIES INSTALL_RPATH "${paths}")
      install(TARGETS ${library} LIBRARY DESTINATION "${destination}")
    endif()
  endforeach()
  install(DIRECTORY "${texts}" DESTINATION "${destination}")
endfunction()

# The library `target` that `opgen build` compiled in the folder `TREE`.
function(opgen_import_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE" "")
  set(library "${arg_TREE}/cmake-build/lib${target}${CMAKE_SHARED_LIBRARY_SUFFIX}")
  if(NOT EXISTS "${library}")
    message(FATAL_ERROR "${library} does not exist: build library ${target} first, with opgen build")
  endif()
  add_library(${target} SHARED IMPORTED)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${arg_TREE}/include")
endfunction()

function(opgen_add_cpu_kernels target)
  # Of inline functions that several objects have, the linker takes the first one's: the one that
  # runs on every processor. Products are not contracted, so that all give the same numbers.
  target_sources(${target} PRIVATE ${ARGN})
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    return()
  endif()
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off)
  set(flags_AVX2 -mavx2)
  set(flags_AVX512 -mavx512f -mavx512vl -mavx512bw -mavx512dq)
  foreach(capability AVX2 AVX512)
    set(objects "${target}_${capability}")
    if(NOT TARGET ${objects})
      add_library(${objects} OBJECT)
      set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      target_compile_features(${objects} PRIVATE cxx_std_20)
      target_compile_options(${objects} PRIVATE ${flags_${capability}} -fvisibility-inlines-hidden
        $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>)
      target_compile_definitions(${objects} PRIVATE OPGEN_CPU_CAPABILITY=${capability}
        $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
      target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
    target_sources(${objects} PRIVATE ${ARGN})
  endforeach()
endfunction()
