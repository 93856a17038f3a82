# opgenCache.cmake: the cache of compiled parts. Parts of opgen that are the same for every library (the
# runtime, and the common parts of Python modules and of torch-stable libraries) are compiled once and kept in
# ~/.cache/opgen.
#
# An entry is a folder <part>-<key>: the library, and entry.json with its digest. The key is a digest of
# everything that the library depends on: the contents of opgen's sources, the compiler, its flags and the
# platform. A project uses a copy of the library in its build folder, after comparing the copy with the
# digest. A single rename creates an entry, so simultaneous builds need no lock. If the folder cannot be read
# or written, the project compiles the part itself.
#
# A wheel of opgen may contain entries, too (hatch_build.py). Their key does not name one compiler (opgen_portable_key). A
# project whose flags permit it uses these before its user's cache.
#
#   OPGEN_CACHE          OFF (or the environment variable OPGEN_CACHE=OFF): neither use nor keep compiled parts
#   OPGEN_CACHE_DIR      the environment variable with another folder, a full path
#   OPGEN_PACK           a folder that is filled with the entries of a wheel, in place of the user's cache
#
# `opgen cache` lists and removes entries (src/opgen/io/build_cache.py knows the same layout).

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/opgenRuntimeUsage.cmake")
set(OPGEN_CACHE ON CACHE BOOL "Use parts of opgen that were compiled earlier, and keep those that are compiled here")

# Set `answer` to whether the project may use parts that were compiled earlier.
function(opgen_cache_is_on answer)
  string(TOUPPER "$ENV{OPGEN_CACHE}" wish)
  set(${answer} ON PARENT_SCOPE)
  if(NOT OPGEN_CACHE OR wish MATCHES "^(0|OFF|NO|FALSE)$" OR OPGEN_INSTALL OR OPGEN_BUILD_TESTS)
    set(${answer} OFF PARENT_SCOPE)
  endif()
endfunction()

# Set `folder` to the user's folder of compiled parts, or to an empty string if there is none.
function(opgen_cache_folder folder)
  set(found "")
  if("$ENV{OPGEN_CACHE_DIR}" MATCHES "^/")
    set(found "$ENV{OPGEN_CACHE_DIR}")
  elseif("$ENV{XDG_CACHE_HOME}" MATCHES "^/")
    set(found "$ENV{XDG_CACHE_HOME}/opgen")
  elseif("$ENV{HOME}" MATCHES "^/" AND CMAKE_HOST_APPLE)
    set(found "$ENV{HOME}/Library/Caches/opgen")
  elseif("$ENV{HOME}" MATCHES "^/")
    set(found "$ENV{HOME}/.cache/opgen")
  endif()
  set(${folder} "${found}" PARENT_SCOPE)
endfunction()

# Set `digest` to a digest of all files in FOLDER that match a PATTERN: their paths within FOLDER and their
# contents.
function(opgen_digest_of_files digest folder)
  set(globs ${ARGN})
  list(TRANSFORM globs PREPEND "${folder}/")
  file(GLOB_RECURSE files LIST_DIRECTORIES OFF RELATIVE "${folder}" ${globs})
  list(SORT files)
  set(text "")
  foreach(path IN LISTS files)
    file(SHA256 "${folder}/${path}" contents)
    string(APPEND text "${path} ${contents}\n")
  endforeach()
  string(SHA256 sum "${text}")
  set(${digest} "${sum}" PARENT_SCOPE)
endfunction()

# Set `text` to lines that describe everything on which a compiled part depends, except the contents of the
# sources in `folder`. It is empty if that is unknown; then the project compiles the part.
function(opgen_describe_compilation text folder)
  set(${text} "" PARENT_SCOPE)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  # Without a build type, parts are compiled as Release.
  set(effective ${type})
  if(NOT type)
    set(effective RELEASE)
  endif()
  # Variables that authors or CMake presets may set.
  set(flags "")
  foreach(name CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_${effective} CMAKE_SHARED_LINKER_FLAGS
      CMAKE_SHARED_LINKER_FLAGS_${effective} CMAKE_CXX_STANDARD_LIBRARIES)
    string(APPEND flags "${name}= ${${name}}\n")
  endforeach()
  foreach(name COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS LINK_DIRECTORIES)
    get_directory_property(value ${name})
    string(APPEND flags "${name}= ${value}\n")
    if(value MATCHES "[$]<")
      string(APPEND flags "in ${CMAKE_BUILD_TYPE}\n")
    endif()
  endforeach()
  set(lines "${flags}")
  foreach(name
      CMAKE_VERSION CMAKE_SYSTEM_NAME CMAKE_SYSTEM_PROCESSOR CMAKE_SIZEOF_VOID_P
      CMAKE_CXX_COMPILER_ARG1 CMAKE_CXX_COMPILER_ID CMAKE_CXX_COMPILER_VERSION CMAKE_CXX_COMPILER_TARGET
      CMAKE_CXX_COMPILER_EXTERNAL_TOOLCHAIN CMAKE_CXX_STANDARD CMAKE_CXX_STANDARD_REQUIRED CMAKE_CXX_EXTENSIONS
      CMAKE_CXX_COMPILE_OBJECT CMAKE_CXX_CREATE_SHARED_LIBRARY CMAKE_LINKER_TYPE
      CMAKE_INTERPROCEDURAL_OPTIMIZATION CMAKE_INTERPROCEDURAL_OPTIMIZATION_${effective} CMAKE_SYSROOT
      CMAKE_OSX_SYSROOT CMAKE_OSX_DEPLOYMENT_TARGET CMAKE_OSX_ARCHITECTURES CMAKE_SHARED_LIBRARY_SUFFIX
      OPGEN_SANITIZE OPGEN_UNITY OPGEN_WERROR OPGEN_BLAS OPGEN_PARALLEL)
    string(APPEND lines "${name}=${${name}}\n")
  endforeach()
  foreach(name CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX SDKROOT)
    string(APPEND lines "${name}=$ENV{${name}}\n")
  endforeach()

  # Do not cache with flags that read or write other files or depend on the processor, or with special rules
  # for RPATH.
  if(flags MATCHES "[$]<TARGET_|-include|-imacros|[ =]@|-fplugin|-specs|profile|coverage|-save-temps|-fdump|list=|=native"
      OR CMAKE_CROSSCOMPILING OR CMAKE_TOOLCHAIN_FILE OR CMAKE_CONFIGURATION_TYPES OR CMAKE_SKIP_RPATH
      OR NOT CMAKE_CXX_COMPILER OR CMAKE_SKIP_BUILD_RPATH OR CMAKE_BUILD_WITH_INSTALL_RPATH OR CMAKE_CXX_LINKER_LAUNCHER)
    return()
  endif()
  # The effect of other launchers is unknown.
  foreach(word IN LISTS CMAKE_CXX_COMPILER_LAUNCHER)
    get_filename_component(word "${word}" NAME)
    if(NOT word MATCHES "^(ccache|sccache|distcc|icecc)$")
      return()
    endif()
  endforeach()

  # The compiler's own files: the driver, the program behind it, and the libraries that it links. c++ and g++
  # of GCC are two names of one driver, which only prints its name: CMake finds the first, and
  # scikit-build-core passes the second. The options of Clang depend on the name of its driver.
  get_filename_component(driver "${CMAKE_CXX_COMPILER}" REALPATH)
  get_filename_component(name "${CMAKE_CXX_COMPILER}" NAME)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR NOT name MATCHES "^[cg][+][+]$")
    string(APPEND lines "${CMAKE_CXX_COMPILER}\n")
  endif()
  file(SHA256 "${driver}" sum)
  string(APPEND lines "${driver} ${sum}\n")
  set(questions --version -print-prog-name=cc1plus -print-prog-name=clang -print-file-name=libc.so.6
    -print-file-name=libstdc++.so -print-file-name=libc++.so)
  foreach(question IN LISTS questions)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" ${CMAKE_CXX_COMPILER_ARG1} ${question}
      OUTPUT_VARIABLE answer ERROR_VARIABLE ignored OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^[cg][+][+] " "" answer "${answer}")
    string(APPEND lines "${question}: ${answer}\n")
    if(IS_ABSOLUTE "${answer}" AND EXISTS "${answer}")
      get_filename_component(answer "${answer}" REALPATH)
      file(SIZE "${answer}" size)
      file(TIMESTAMP "${answer}" time "%s" UTC)
      string(APPEND lines "${answer} ${size} ${time}\n")
    endif()
  endforeach()
  # The compilation of the runtime selects the BLAS. These lines only show whether the selection may have
  # changed.
  string(APPEND lines "BLA_VENDOR=${BLA_VENDOR}\n")
  foreach(blas flexiblas openblas mkl_rt blis blas Accelerate)
    find_library(found NAMES ${blas} NO_CACHE)
    string(APPEND lines "${blas}: ${found}\n")
    unset(found)
  endforeach()
  if(flags MATCHES "[ ;]-g")
    # Debug information contains the paths of sources.
    string(APPEND lines "${folder}\n")
  endif()
  set(${text} "${lines}" PARENT_SCOPE)
endfunction()

# Set `key` to the key of the part `name` in a wheel of opgen, which is the same for all compilers with libstdc++. It is empty if
# the project sets flags: then the part is compiled with them. VALUES are what else the part depends on.
function(opgen_portable_key key name)
  set(${key} "" PARENT_SCOPE)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(type AND NOT type STREQUAL RELEASE OR NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$" OR NOT OPGEN_UNITY
      OR NOT OPGEN_BLAS STREQUAL AUTO OR NOT OPGEN_PARALLEL STREQUAL POOL)
    return()
  endif()
  set(words "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE} ${CMAKE_SHARED_LINKER_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS_RELEASE}")
  separate_arguments(words UNIX_COMMAND "${words}")
  foreach(name_of_list COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_OPTIONS)
    get_directory_property(value ${name_of_list})
    list(APPEND words ${value})
  endforeach()
  foreach(variable CMAKE_CXX_COMPILER_ARG1 CMAKE_CXX_COMPILER_TARGET CMAKE_CXX_COMPILER_EXTERNAL_TOOLCHAIN CMAKE_CROSSCOMPILING
      CMAKE_TOOLCHAIN_FILE CMAKE_CONFIGURATION_TYPES CMAKE_SYSROOT CMAKE_INTERPROCEDURAL_OPTIMIZATION
      CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE CMAKE_SKIP_RPATH CMAKE_SKIP_BUILD_RPATH CMAKE_BUILD_WITH_INSTALL_RPATH
      OPGEN_SANITIZE BLA_VENDOR)
    if(${variable})
      list(APPEND words "${variable}")
    endif()
  endforeach()
  list(FILTER words EXCLUDE REGEX "^(-O[23]|-DNDEBUG|-pipe|-fPIC|-f(no-)?diagnostics-color.*|-std=(c|gnu)[+][+][0-9a-z]+|-W[a-z][-+=a-z0-9]*)$")
  if(words)
    return()
  endif()
  string(SHA256 sum "portable 1;${name};${ARGN};${CMAKE_SYSTEM_NAME};${CMAKE_SYSTEM_PROCESSOR};${CMAKE_SIZEOF_VOID_P}")
  string(SUBSTRING "${sum}" 0 32 sum)
  set(${key} "${sum}" PARENT_SCOPE)
endfunction()

# opgen_find_part(how name FOLDER source SOURCES pattern... [DEPENDS value...] [PORTABLE value...])
#
# Look for the compiled part `name`, the library lib<name>, whose sources are the files in FOLDER that match a
# pattern. Set `how` to
#
#   COPIED     it is in the build folder, <name with hyphens>/lib<name>.so or .a, and need not be compiled
#   COMPILED   the project must compile it, and then call opgen_keep_part
function(opgen_find_part how name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FOLDER" "SOURCES;DEPENDS;PORTABLE")
  opgen_part_paths(${name})
  get_filename_component(arg_FOLDER "${arg_FOLDER}" ABSOLUTE)
  set(${how} COMPILED PARENT_SCOPE)
  set_property(GLOBAL PROPERTY OPGEN_KEEP_${name} "")
  # An edit of opgen's own sources changes the key.
  set(globs ${arg_SOURCES})
  list(TRANSFORM globs PREPEND "${arg_FOLDER}/")
  file(GLOB_RECURSE files LIST_DIRECTORIES OFF ${globs})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  opgen_digest_of_files(sources "${arg_FOLDER}" ${arg_SOURCES})

  # The key of the part that this build folder has so far.
  set(had_key "")
  set(had_sum "")
  set(had_mode "")
  if(EXISTS "${state}")
    file(STRINGS "${state}" had)
    list(GET had 0 had_mode)
    list(GET had 1 had_key)
    list(GET had 2 had_sum)
  endif()
  set(key "")
  set(cache "")
  opgen_cache_is_on(is_on)
  if(is_on)
    opgen_portable_key(key ${name} ${sources} ${arg_PORTABLE})
    if(OPGEN_PACK)
      set(cache "${OPGEN_PACK}")
    elseif(key)
      get_filename_component(parts "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../parts" ABSOLUTE)
      opgen_take_entry(found "${parts}")
      if(found)
        set(${how} COPIED PARENT_SCOPE)
        return()
      endif()
    endif()
  endif()
  if(is_on AND NOT OPGEN_PACK)
    set(key "")
    opgen_cache_folder(cache)
    if(cache)
      opgen_describe_compilation(compilation "${arg_FOLDER}")
      if(compilation)
        string(SHA256 key "format 1\n${name}\n${sources}\n${arg_DEPENDS}\n${compilation}")
        string(SUBSTRING "${key}" 0 32 key)
      endif()
    endif()
  endif()
  if(NOT key)
    if(NOT EXISTS "${library}")
      opgen_say_compiled(${name} "")
    endif()
    file(REMOVE "${state}")
    return()
  endif()
  set(same_folder OFF)
  if(had_mode MATCHES "^compiled" AND had_key STREQUAL key)
    # The part's objects are here, so an edit compiles only the changed files.
    set(same_folder ON)
  else()
    opgen_take_entry(found "${cache}")
    if(found)
      set(${how} COPIED PARENT_SCOPE)
      return()
    endif()
  endif()

  # Keep only a part that is compiled completely, from one state of the sources.
  if(NOT same_folder)
    if(had_mode STREQUAL "compiled" OR had_mode STREQUAL "mixed" OR EXISTS "${library}")
      file(WRITE "${state}" "mixed\n${key}\n\n")
    else()
      file(WRITE "${state}" "compiled\n${key}\n\n")
    endif()
  endif()
  if(NOT EXISTS "${library}")
    opgen_say_compiled(${name} "${cache}")
  endif()
  file(STRINGS "${state}" mode LIMIT_COUNT 1)
  if(mode STREQUAL "compiled")
    list(JOIN arg_SOURCES "|" patterns)
    opgen_name_compiler(made_for)
    set_property(GLOBAL PROPERTY OPGEN_KEEP_${name} "${CMAKE_COMMAND}"
      "-DNAME=${name}" "-DKEY=${key}" "-DCACHE=${cache}" "-DSTATE=${state}" "-DFOLDER=${arg_FOLDER}"
      "-DPATTERNS=${patterns}" "-DDIGEST=${sources}" "-DMADE_FOR=${made_for}")
  endif()
endfunction()

# Set variables to the names of a part in the build folder and in messages.
macro(opgen_part_paths name)
  string(REPLACE "_" "-" part_folder "${name}")
  string(REGEX REPLACE "^opgen-(core|kernels)$" "opgen-runtime" part_folder "${part_folder}")
  set(part_folder "${CMAKE_BINARY_DIR}/${part_folder}")
  set(kind SHARED)
  opgen_versioned_file(part_file ${name})
  set(label "the runtime")
  if("${name}" STREQUAL "opgen_kernels")
    set(label "the runtime's part for matrix products, softmax and sums")
  elseif("${name}" STREQUAL "opgen_runtime")
    set(label "the runtime's part for gradients, Python and calls by name")
  elseif("${name}" STREQUAL "opgen_python")
    set(label "the common part of Python modules")
  elseif("${name}" STREQUAL "opgen_torch_stable")
    set(label "the common part of torch-stable libraries")
    set(kind STATIC)
    set(part_file "${CMAKE_STATIC_LIBRARY_PREFIX}${name}${CMAKE_STATIC_LIBRARY_SUFFIX}")
  endif()
  set(library "${part_folder}/${part_file}")
  set(state "${part_folder}/${name}.txt")
endmacro()

# Set `words` to a readable name of the compiler and the kind of build.
function(opgen_name_compiler words)
  set(type Release)
  if(CMAKE_BUILD_TYPE)
    set(type "${CMAKE_BUILD_TYPE}")
  endif()
  set(${words} "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${type}" PARENT_SCOPE)
endfunction()

# Print what is compiled, and where it is kept. OPGEN_CONDITION are words of find_package(opgen): it does not know what is linked.
function(opgen_say_compiled name cache)
  opgen_part_paths(${name})
  opgen_name_compiler(compiler)
  if(cache)
    message(STATUS "opgen: ${label} is compiled once${OPGEN_CONDITION} for ${compiler}; later builds take it from ${cache}")
  else()
    message(STATUS "opgen: ${label} is compiled${OPGEN_CONDITION} in this build folder")
  endif()
endfunction()

# Have the library of the entry with this key in the build folder. Set `found` to OFF if the `folder` has no such entry, or a
# damaged one. Uses the variables of opgen_find_part.
function(opgen_take_entry found folder)
  set(${found} ON PARENT_SCOPE)
  if(had_mode STREQUAL "copied" AND had_key STREQUAL key AND EXISTS "${library}")
    file(SHA256 "${library}" sum)
    if(sum STREQUAL had_sum)
      return()
    endif()
  endif()
  opgen_copy_entry(sum "${folder}/${name}-${key}")
  if(sum)
    file(WRITE "${state}" "copied\n${key}\n${sum}\n")
    message(STATUS "opgen: ${label} comes from ${folder}")
  else()
    set(${found} OFF PARENT_SCOPE)
  endif()
endfunction()

# Copy the library of an entry into the build folder. Set `found` to its digest, or to an empty string if the
# entry is missing or incomplete. Uses the variables of opgen_part_paths.
function(opgen_copy_entry found entry)
  set(${found} "" PARENT_SCOPE)
  if(NOT EXISTS "${entry}/entry.json" OR NOT EXISTS "${entry}/${part_file}")
    return()
  endif()
  file(MAKE_DIRECTORY "${part_folder}")
  # Use a separate process, because an unreadable file would stop this one.
  string(RANDOM LENGTH 8 suffix)
  set(copy "${library}.${suffix}")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DENTRY=${entry}" "-DFILE=${part_file}" "-DCOPY=${copy}"
    -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opgenCacheRead.cmake"
    RESULT_VARIABLE failed OUTPUT_VARIABLE ignored ERROR_VARIABLE ignored)
  if(failed)
    file(REMOVE "${copy}")
    message(STATUS "opgen: ${entry} is damaged and is not used")
    return()
  endif()
  file(SHA256 "${copy}" sum)
  set(before "")
  if(EXISTS "${library}")
    file(SHA256 "${library}" before)
  endif()
  if(before STREQUAL sum)
    file(REMOVE "${copy}")
  else()
    file(RENAME "${copy}" "${library}")
  endif()
  set(${found} "${sum}" PARENT_SCOPE)
endfunction()

# Make the target `name` from the library that opgen_find_part has COPIED.
function(opgen_import_part name)
  opgen_part_paths(${name})
  add_library(${name} ${kind} IMPORTED GLOBAL)
  # The compiler finds headers with -I, as for a target of the project.
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${library}" IMPORTED_NO_SYSTEM ON)
  if(kind STREQUAL "SHARED")
    # The name without a version, as in a folder that has compiled the part.
    file(CREATE_LINK "${part_file}" "${part_folder}/${CMAKE_SHARED_LIBRARY_PREFIX}${name}${CMAKE_SHARED_LIBRARY_SUFFIX}"
      SYMBOLIC)
    if(NOT APPLE)
      set_target_properties(${name} PROPERTIES IMPORTED_SONAME "${part_file}")
    endif()
  endif()
endfunction()

# Keep the library of the target `name`, which the project compiles, for other projects.
function(opgen_keep_part name)
  get_property(command GLOBAL PROPERTY OPGEN_KEEP_${name})
  if(command)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${command} "-DLIBRARY=$<TARGET_FILE:${name}>" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opgenCacheKeep.cmake"
      VERBATIM)
  endif()
  opgen_limit_compilers(${name})
endfunction()

# Have Ninja leave a core for the author's own sources while it compiles a part of opgen, so that their errors are reported
# first: it starts more compilers than there are cores.
function(opgen_limit_compilers target)
  if(CMAKE_GENERATOR MATCHES "Ninja")
    get_property(pools GLOBAL PROPERTY JOB_POOLS)
    if(NOT pools AND CMAKE_JOB_POOLS)
      # Copy the variable, because the property would replace it.
      set(pools "${CMAKE_JOB_POOLS}")
      set_property(GLOBAL PROPERTY JOB_POOLS ${pools})
    endif()
    if(NOT pools MATCHES "opgen_parts=")
      cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
      set_property(GLOBAL APPEND PROPERTY JOB_POOLS opgen_parts=${cores})
    endif()
    set_target_properties(${target} PROPERTIES JOB_POOL_COMPILE opgen_parts)
  endif()
endfunction()
