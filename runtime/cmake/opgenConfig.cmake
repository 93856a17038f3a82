# opgenConfig.cmake: find_package(opgen) provides the runtime as opgen::core, opgen::kernels and opgen::runtime, and
# opgen_add_operators().
#
# opgen::core contains what tensors, dispatch and loops need. The others link it: opgen::kernels contains matrix products,
# softmax, moments and the fastest sums, and opgen::runtime gradients, transforms, calls by name, and what Python packages
# need. Without the component `core`, all are made at once; with it, these are made for the first library that needs them.
#
# Each is the first of these: the project's own target of this name; that of the library that is extended; that of an
# installed runtime that opgen_runtime_DIR names; a copy of one that another project of this user has compiled
# (opgenCache.cmake); or a target that compiles it here.
#
#   opgen_add_operators(mylib YAML native_functions.yaml ... [OPGEN_TARGET runtime|torch|torch-stable]
#                       [TAGS tags.yaml] [DERIVATIVES derivatives.yaml ...] [BACKEND_YAML backend.yaml]
#                       [KERNELS a.cpp ...] [SELECT selected.yaml ...] [EXTENDS base] [NAME name]
#                       [SHARDS n] [PYTHON] [FRAMEWORKS jax tvm-ffi] [OPTIONS option of opgen generate ...])
#
# makes the shared library target mylib from the YAML files and the kernels. After an edit of a YAML file, the
# next build runs opgen again and compiles only what changed (docs/guides/builds.md). EXTENDS names another target
# made by this function, whose class Tensor and operators mylib uses. SELECT leaves out operators that none of
# its files selects. PYTHON also makes the Python package mylib, in python/ of the build folder, and FRAMEWORKS what
# others load. OPGEN_TARGET
# torch makes an extension of PyTorch (opgen_torchConfig.cmake), torch-stable one that is compiled once for many
# releases (opgen_torch_stableConfig.cmake).
#
#   opgen_install_python_package(mylib [DESTINATION folder])
#
# installs that package together with all libraries that it needs: the contents of a wheel.
#
#   opgen_add_cpu_kernels(mylib a_kernel.cpp [b_kernel.cpp ...])
#
# adds sources to a library. They are compiled once for each instruction set of the processor (with
# OPGEN_CPU_CAPABILITY set to DEFAULT, AVX2 or AVX512), and define functions that a DispatchStub chooses at
# run time.

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/opgenRuntimeUsage.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/opgenCache.cmake")

# Make opgen::core, or opgen::kernels or opgen::runtime, which link it.
function(opgen_provide name)
  if(TARGET opgen::${name})
    return()
  endif()
  if(NOT name STREQUAL "core")
    opgen_provide(core)
  endif()
  set(target opgen_${name})
  set(top "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  set(folder "${CMAKE_BINARY_DIR}/opgen-runtime")
  opgen_versioned_file(file ${target})
  set(in_base "${OPGEN_BASE_TREE}/cmake-build/opgen-runtime/${file}")
  if(OPGEN_BASE_TREE AND EXISTS "${in_base}")
    # A process has only one dispatcher, so a library that extends another uses the runtime built with that
    # library.
    add_library(${target} SHARED IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${in_base}" IMPORTED_NO_SYSTEM ON)
  elseif(opgen_runtime_DIR)
    find_package(opgen_runtime REQUIRED CONFIG)
    return()
  else()
    set_property(GLOBAL PROPERTY OPGEN_OWN_RUNTIME ON)
    opgen_find_part(how ${target}
      FOLDER "${top}"
      SOURCES CMakeLists.txt cmake/opgenRuntimeUsage.cmake include/*.h src/*.h src/*.cpp)
    if(how STREQUAL "COMPILED")
      set(OPGEN_PARTS ${name})
      set(OPGEN_PARTS_FOLDER "${folder}")
      # A target that nothing links is not compiled.
      add_subdirectory("${top}" "${folder}/${name}" EXCLUDE_FROM_ALL)
      return()
    endif()
    opgen_import_part(${target})
  endif()
  target_include_directories(${target} INTERFACE "${top}/include")
  opgen_runtime_usage(${target} INTERFACE)
  if(NOT name STREQUAL "core")
    target_link_libraries(${target} INTERFACE opgen::core)
  endif()
  add_library(opgen::${name} ALIAS ${target})
endfunction()

opgen_provide(core)
if(NOT "core" IN_LIST opgen_FIND_COMPONENTS)
  set(OPGEN_CONDITION ", if a target links it,")
  opgen_provide(kernels)
  opgen_provide(runtime)
  unset(OPGEN_CONDITION)
endif()

set(OPGEN_UNITY_BYTES 65536 CACHE STRING
  "If the generated sources have at most this many bytes in total, each shard is compiled as one unit; 0 means never")
include("${CMAKE_CURRENT_LIST_DIR}/opgenOperators.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/opgenFrameworks.cmake")

# Link the libraries above opgen::core whose functions these sources of the library `target` may call: opgen::runtime if one
# includes its headers, as formulas of derivatives.yaml do, opgen::kernels if one includes those of kernels, or calls sums and
# other folds, which are faster with it. Both, if a header is neither opgen's nor the compiler's, and if a source does not exist
# yet: what these include is unknown.
function(opgen_link_above_core target)
  set(runtime "<opgen/(autograd|c_api|library|schema/|transforms/|dispatch/)")
  set(kernels "<opgen/cpu/(blas|gemm|moments|softmax|truth)")
  set(folders "")
  set(library ${target})
  while(library)
    get_target_property(tree ${library} OPGEN_TREE)
    list(APPEND folders "${tree}/include")
    get_target_property(library ${library} OPGEN_EXTENDS)
  endwhile()
  set(includes "")
  foreach(source IN LISTS ARGN)
    get_filename_component(source "${source}" ABSOLUTE)
    set(text "#include unknown")
    if(EXISTS "${source}")
      file(READ "${source}" text)
    endif()
    string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[ \t]*.[^>\"\n]*|cpu_(sum|reduce_of|reduce_vec)" words "\n${text}")
    list(APPEND includes ${words})
  endforeach()
  list(REMOVE_DUPLICATES includes)
  set(needed "")
  foreach(word IN LISTS includes)
    if(word MATCHES "^cpu_|${kernels}")
      list(APPEND needed kernels)
    elseif(word MATCHES "${runtime}")
      list(APPEND needed runtime)
    elseif(NOT word MATCHES "<opgen/")
      unset(opgen_header)
      if(word MATCHES "<(.+)$")
        find_file(opgen_header "${CMAKE_MATCH_1}" PATHS ${folders} ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES} NO_DEFAULT_PATH NO_CACHE)
      endif()
      if(NOT opgen_header)
        list(APPEND needed kernels runtime)
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES needed)
  foreach(library IN LISTS needed)
    opgen_provide(${library})
    target_link_libraries(${target} PUBLIC opgen::${library})
  endforeach()
endfunction()

# Compile one generated tree (a folder that `opgen generate` wrote) into the library `target`.
function(opgen_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE;EXTENDS" "SOURCES;KERNELS")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_TREE}/")
  add_library(${target} SHARED ${arg_SOURCES} ${arg_KERNELS})
  # Compiled separately, the dozen sources of a small library would read the same headers a dozen times.
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
  target_link_libraries(${target} PUBLIC opgen::core)
  set_target_properties(${target} PROPERTIES OPGEN_TREE "${arg_TREE}" OPGEN_EXTENDS "${arg_EXTENDS}")
  opgen_link_above_core(${target} ${arg_SOURCES} ${arg_KERNELS})
  if(TARGET opgen::runtime)
    # For programs, whose sources are unknown here.
    target_link_libraries(${target} INTERFACE opgen::runtime)
  endif()
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    # g++ vectorises the kernels' loops only at -O3.
    target_compile_options(${target} PRIVATE -O3)
  endif()
  if(arg_EXTENDS)
    target_link_libraries(${target} PUBLIC ${arg_EXTENDS})
  endif()
  # Kernels, stubs and registrations are linked as objects of one library, so that a kernel always replaces
  # its stub, and an undefined symbol is an error when the library is built, not when it is loaded. Calls
  # within the library are bound at link time: the library of PyTorch's file, compiled without optimisation,
  # has 52,000 calls that would otherwise be looked up at each start. Sums call opgen::kernels through opgen::core, so no
  # symbol may refer to it.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE "LINKER:-z,defs" "LINKER:-Bsymbolic-functions" "LINKER:--no-as-needed")
  endif()
  opgen_keep_in_programs(${target})
endfunction()

# Make opgen::python, which all Python packages of the project share.
function(opgen_add_python_part)
  set(top "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  set(how COMPILED)
  opgen_provide(runtime)
  get_property(own GLOBAL PROPERTY OPGEN_OWN_RUNTIME)
  if(own)
    set(headers "")
    foreach(folder IN LISTS Python_INCLUDE_DIRS)
      opgen_digest_of_files(digest "${folder}" pyconfig.h patchlevel.h)
      list(APPEND headers "${folder}" "${digest}")
    endforeach()
    opgen_find_part(how opgen_python
      FOLDER "${top}"
      SOURCES CMakeLists.txt cmake/opgenRuntimeUsage.cmake include/*.h
        python/CMakeLists.txt python/include/*.h python/src/*.h python/src/*.cpp
      DEPENDS "${Python_VERSION}" "${Python_SOABI}" ${headers}
      PORTABLE "${Python_SOABI}")
  endif()
  if(how STREQUAL "COPIED")
    opgen_import_part(opgen_python)
    opgen_python_usage(opgen_python INTERFACE)
    add_library(opgen::python ALIAS opgen_python)
  else()
    add_subdirectory("${top}/python" "${CMAKE_BINARY_DIR}/opgen-python")
  endif()
endfunction()

# Compile the Python package of the library `target` into python/ of the build folder.
function(opgen_add_python_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE;NAME" "SOURCES")
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  if(NOT TARGET opgen::python)
    if(OPGEN_BASE_TREE)
      # A process has only one class Tensor, so a library that extends another uses that library's class.
      opgen_versioned_file(file opgen_python)
      add_library(opgen::python SHARED IMPORTED)
      set_target_properties(opgen::python PROPERTIES
        IMPORTED_LOCATION "${OPGEN_BASE_TREE}/cmake-build/opgen-python/${file}"
        INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../python/include;${Python_INCLUDE_DIRS}")
    else()
      opgen_add_python_part()
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
  # Each operator has one or two thunks, which run once per call. At -O1 they compile in half the time.
  target_compile_options(${target}_python PRIVATE -O1)
endfunction()

# Install the Python package of the library `target`: its Python files, its module and the shared libraries
# next to it. They find one another in any folder.
function(opgen_install_runtime_package target destination)
  get_target_property(texts ${target}_python OPGEN_PACKAGE_TEXTS)
  get_target_property(base ${target} OPGEN_EXTENDS)
  set(libraries ${target} opgen::core opgen::runtime opgen::python)
  get_target_property(linked ${target} LINK_LIBRARIES)
  set(paths "$ORIGIN")
  if(base)
    # The package of the extended library contains the runtime and is installed in the same folder as this
    # one.
    get_target_property(base_package ${base}_python OPGEN_PACKAGE)
    set(libraries ${target})
    list(APPEND paths "$ORIGIN/../${base_package}")
  endif()
  if("opgen::kernels" IN_LIST linked)
    list(APPEND libraries opgen::kernels)
  endif()
  if(APPLE)
    list(TRANSFORM paths REPLACE "^.ORIGIN" "@loader_path")
  endif()
  get_target_property(parts ${target} OPGEN_FRAMEWORK_PARTS)
  if(NOT parts)
    set(parts "")
  endif()
  foreach(library ${target}_python ${parts} ${libraries})
    get_target_property(aliased ${library} ALIASED_TARGET)
    if(aliased)
      set(library ${aliased})
    endif()
    get_target_property(imported ${library} IMPORTED)
    if(imported)
      install(IMPORTED_RUNTIME_ARTIFACTS ${library} LIBRARY DESTINATION "${destination}")
    else()
      set_target_properties(${library} PROPERTIES INSTALL_RPATH "${paths}")
      install(TARGETS ${library} LIBRARY DESTINATION "${destination}" NAMELINK_SKIP)
    endif()
  endforeach()
  install(DIRECTORY "${texts}" DESTINATION "${destination}")
endfunction()

# Import the library `target` that `opgen build` compiled in the folder `TREE`.
function(opgen_import_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE" "")
  set(library "${arg_TREE}/cmake-build/lib${target}${CMAKE_SHARED_LIBRARY_SUFFIX}")
  if(NOT EXISTS "${library}")
    message(FATAL_ERROR "${library} does not exist; build the library ${target} first, with opgen build")
  endif()
  add_library(${target} SHARED IMPORTED)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${arg_TREE}/include"
    OPGEN_TREE "${arg_TREE}")
endfunction()

function(opgen_add_cpu_kernels target)
  # If several objects contain the same inline function, the linker keeps that of the first object. That is
  # the object for DEFAULT, which runs on every processor. Multiplications and additions are not fused, so
  # that all instruction sets compute the same numbers.
  target_sources(${target} PRIVATE ${ARGN})
  opgen_link_above_core(${target} ${ARGN})
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
