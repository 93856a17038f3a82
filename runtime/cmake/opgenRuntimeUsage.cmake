# opgenRuntimeUsage.cmake: the flags and libraries for users of the runtime and of its Python part. They are
# the same whether the project compiles these (SCOPE PUBLIC) or they were compiled earlier (SCOPE INTERFACE).
include_guard(GLOBAL)

option(OPGEN_UNITY "Compile each layer of the runtime as one unit: takes less time, but an edit recompiles more" ON)
option(OPGEN_WERROR "Treat warnings of the runtime's own files as errors" OFF)
set(OPGEN_SANITIZE "" CACHE STRING "Value of -fsanitize= for everything built here, e.g. address,undefined")
set(OPGEN_BLAS "AUTO" CACHE STRING "Use a BLAS for matrix products: AUTO (if one is found), ON or OFF")
set(OPGEN_PARALLEL "POOL" CACHE STRING "The threads of parallel_for: POOL (the runtime's own) or OPENMP")

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../include/opgen/core/macros.h" OPGEN_RUNTIME_ABI
  REGEX "^#define OPGEN_RUNTIME_ABI ")
string(REGEX REPLACE "[^0-9]" "" OPGEN_RUNTIME_ABI "${OPGEN_RUNTIME_ABI}")

# Below 500 MB, g++ frees no memory while it compiles opgen's own sources: that would take it 5 % of the time.
set(OPGEN_FREE_NO_MEMORY "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=500000>")

# Set `file` to the name of the shared library `name`, which contains the number of the ABI.
function(opgen_versioned_file file name)
  set(versioned "${CMAKE_SHARED_LIBRARY_SUFFIX}.${OPGEN_RUNTIME_ABI}")
  if(APPLE)
    set(versioned ".${OPGEN_RUNTIME_ABI}${CMAKE_SHARED_LIBRARY_SUFFIX}")
  endif()
  set(${file} "${CMAKE_SHARED_LIBRARY_PREFIX}${name}${versioned}" PARENT_SCOPE)
endfunction()

# Name the shared library `target` as opgen_versioned_file does. Its symbols have that version, too, so that a library for
# another ABI never calls its functions, although both are in one process.
function(opgen_version_library target)
  set_target_properties(${target} PROPERTIES SOVERSION ${OPGEN_RUNTIME_ABI})
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}.version")
    file(CONFIGURE OUTPUT "${script}" CONTENT "OPGEN_@OPGEN_RUNTIME_ABI@ { *; };\n" @ONLY)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${script}")
  endif()
endfunction()

function(opgen_runtime_usage target scope)
  target_compile_features(${target} ${scope} cxx_std_20)
  find_package(Threads REQUIRED)
  target_link_libraries(${target} ${scope} Threads::Threads)
  # Without this flag, g++ would mark every library with an inline variable as one that dlclose must not
  # unload.
  target_compile_options(${target} ${scope} $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  # Otherwise compilers would not vectorise loops with std::sqrt, std::floor or a comparison of floats: these might set
  # errno or a flag of the processor, which nothing reads.
  target_compile_options(${target} ${scope} -fno-math-errno -fno-trapping-math)
  if(OPGEN_SANITIZE)
    target_compile_options(${target} ${scope} -fsanitize=${OPGEN_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} ${scope} -fsanitize=${OPGEN_SANITIZE})
  endif()
endfunction()

# Needs find_package(Python).
function(opgen_python_usage target scope)
  target_include_directories(${target} ${scope} "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../python/include")
  # Python's own headers contain C-style casts.
  target_include_directories(${target} SYSTEM ${scope} ${Python_INCLUDE_DIRS})
  target_link_libraries(${target} ${scope} opgen::runtime)
endfunction()
