# opgenOperators.cmake: opgen_add_operators() and opgen_install_python_package(), for both find_package(opgen)
# and find_package(opgen_torch).
#
# With Ninja, generation is a build step. It runs `opgen generate` if a YAML file, a template or opgen itself
# is newer than the list of generated files. Every file in that list is an output of the step, so the same
# build compiles the changed files. CMake depends on the list: if files are added or removed, Ninja runs CMake
# before it builds anything. With other generators, CMake depends on the inputs and runs opgen whenever it
# runs.

include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.24)

# If opgen is not on the PATH, use the one in the environment of the Python that builds the package.
get_filename_component(opgen_python_folder "${Python_EXECUTABLE}" DIRECTORY)
find_program(OPGEN_EXECUTABLE opgen HINTS ${opgen_python_folder} DOC "The opgen command")

# Have programs that link the library load it, although they may call its operators by their names alone: many
# linkers drop a library if no symbol of the program refers to it.
function(opgen_keep_in_programs target)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    foreach(item "-Wl,--push-state,--no-as-needed" "$<TARGET_FILE:${target}>" "-Wl,--pop-state")
      target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:${item}>")
    endforeach()
  endif()
endfunction()

macro(opgen_add_operators)
  if(COMMAND opgen_enable_cuda_for)
    opgen_enable_cuda_for(${ARGN})
  endif()
  opgen_make_operators(${ARGN})
endmacro()

function(opgen_make_operators target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PYTHON" "OPGEN_TARGET;TORCH;BACKEND_YAML;TAGS;EXTENDS;NAME;SHARDS;PYTHON_FOLDER"
    "YAML;DERIVATIVES;KERNELS;SELECT;FRAMEWORKS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "opgen_add_operators(${target}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT OPGEN_EXECUTABLE)
    message(FATAL_ERROR "opgen_add_operators(${target}): the opgen command is not on the PATH; set OPGEN_EXECUTABLE")
  endif()
  opgen_read_settings()
  if(NOT arg_YAML AND NOT arg_BACKEND_YAML)
    message(FATAL_ERROR "opgen_add_operators(${target}): YAML needs at least one file")
  endif()
  if(NOT arg_OPGEN_TARGET)
    set(arg_OPGEN_TARGET runtime)
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  foreach(files YAML DERIVATIVES BACKEND_YAML TAGS KERNELS SELECT)
    list(TRANSFORM arg_${files} PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  endforeach()

  set(folder "")
  if(arg_PYTHON_FOLDER)
    if(NOT arg_PYTHON OR NOT arg_OPGEN_TARGET MATCHES "^torch")
      message(FATAL_ERROR "opgen_add_operators(${target}): PYTHON_FOLDER needs PYTHON and OPGEN_TARGET torch or torch-stable")
    endif()
    get_filename_component(folder "${arg_PYTHON_FOLDER}" ABSOLUTE)
    set(folder FOLDER "${folder}")
  endif()

  set(tree "${CMAKE_CURRENT_BINARY_DIR}/opgen-${target}")
  set(inputs ${arg_YAML} --name "${arg_NAME}" --target ${arg_OPGEN_TARGET} ${arg_OPTIONS})
  foreach(select IN LISTS arg_SELECT)
    list(APPEND inputs --select "${select}")
  endforeach()
  if(arg_BACKEND_YAML)
    list(APPEND inputs --backend-yaml "${arg_BACKEND_YAML}")
  endif()
  if(arg_TAGS)
    list(APPEND inputs --tags "${arg_TAGS}")
  endif()
  foreach(derivatives IN LISTS arg_DERIVATIVES)
    list(APPEND inputs --derivatives "${derivatives}")
  endforeach()
  # In these folders, headers of formulas are looked for (opgen_look_for_headers).
  set(folders ${OPGEN_INCLUDE})
  foreach(kernel IN LISTS arg_KERNELS)
    get_filename_component(folder_of_kernel "${kernel}" DIRECTORY)
    list(APPEND folders "${folder_of_kernel}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder_of_headers IN LISTS folders)
    list(APPEND inputs --include "${folder_of_headers}")
  endforeach()
  set(release "")
  if(arg_TORCH)
    list(APPEND inputs --torch ${arg_TORCH})
    set(release TORCH ${arg_TORCH})
  endif()
  set(extends "")
  set(base_manifest "")
  if(arg_EXTENDS)
    set(extends EXTENDS "${arg_EXTENDS}")
    get_target_property(base_tree ${arg_EXTENDS} OPGEN_TREE)
    set(base_manifest "${base_tree}/opgen_manifest.json")
    list(APPEND inputs --extends "${base_manifest}")
  endif()
  if(arg_PYTHON)
    list(APPEND inputs --python)
  else()
    # The project's settings would add files that the library is not built from.
    list(APPEND inputs --no-python)
  endif()
  if(arg_FRAMEWORKS)
    list(JOIN arg_FRAMEWORKS "," frameworks)
    list(APPEND inputs --frameworks ${frameworks})
  endif()
  set(command "${OPGEN_EXECUTABLE}" generate ${inputs} -o "${tree}")
  if(arg_SHARDS)
    list(APPEND command --shards ${arg_SHARDS})
  endif()
  opgen_generate(${target} outputs TREE "${tree}" COMMAND ${command} DEPENDS ${base_manifest} YAML ${arg_YAML})

  set(sources ${outputs})
  list(FILTER sources INCLUDE REGEX "^(src|stubs)/.*[.]cpp$")
  set(OPGEN_YAML ${arg_YAML} ${arg_BACKEND_YAML} ${arg_DERIVATIVES})
  set(names TREE "${tree}" SOURCES ${sources} KERNELS ${arg_KERNELS})
  if(arg_OPGEN_TARGET STREQUAL "torch")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opgen_torchConfig.cmake")
    opgen_make_torch_library(${target} ${names})
  elseif(arg_OPGEN_TARGET STREQUAL "torch-stable")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opgen_torch_stableConfig.cmake")
    opgen_make_torch_stable_library(${target} ${names} ${release})
  else()
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opgenConfig.cmake")
    opgen_add_library(${target} ${names} ${extends})
  endif()
  set_target_properties(${target} PROPERTIES OPGEN_TREE "${tree}")
  if(arg_KERNELS)
    opgen_check_kernels(${target} TREE "${tree}" KERNELS ${arg_KERNELS} COMMAND "${OPGEN_EXECUTABLE}" lint ${inputs})
  endif()
  if(arg_PYTHON)
    if(arg_OPGEN_TARGET STREQUAL "torch")
      opgen_add_torch_python_package(${target} NAME "${arg_NAME}" TREE "${tree}" ${folder})
    elseif(arg_OPGEN_TARGET STREQUAL "torch-stable")
      opgen_add_torch_stable_python_package(${target} NAME "${arg_NAME}" TREE "${tree}" ${folder} ${release})
    else()
      set(module ${outputs})
      list(FILTER module INCLUDE REGEX "^python/.*[.]cpp$")
      opgen_add_python_module(${target} NAME "${arg_NAME}" TREE "${tree}" SOURCES ${module})
    endif()
  endif()
  if(arg_FRAMEWORKS AND arg_OPGEN_TARGET STREQUAL "runtime")
    opgen_add_frameworks(${target} TREE "${tree}" NAMES ${arg_FRAMEWORKS})
  endif()
endfunction()

# Set the arguments of opgen_add_operators that are not given to the settings of the project, [tool.opgen] in
# pyproject.toml. With YAML, the operators may be others than the project's, so that only the target is taken.
macro(opgen_read_settings)
  set(settings_files "")
  set(settings_folder "${CMAKE_CURRENT_SOURCE_DIR}")
  while(NOT settings_files AND NOT settings_folder STREQUAL settings_last)
    file(GLOB settings_files "${settings_folder}/pyproject.toml" "${settings_folder}/opgen.toml")
    set(settings_last "${settings_folder}")
    get_filename_component(settings_folder "${settings_folder}" DIRECTORY)
  endwhile()
  if(settings_files AND NOT arg_BACKEND_YAML AND NOT (arg_YAML AND arg_OPGEN_TARGET))
    execute_process(COMMAND "${OPGEN_EXECUTABLE}" --cmake-settings "${CMAKE_CURRENT_SOURCE_DIR}"
      OUTPUT_VARIABLE settings_code COMMAND_ERROR_IS_FATAL ANY)
    cmake_language(EVAL CODE "${settings_code}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${settings_FILE})
    set(settings_names OPGEN_TARGET)
    if(NOT arg_YAML)
      list(APPEND settings_names YAML TORCH NAME DERIVATIVES PYTHON PYTHON_FOLDER FRAMEWORKS)
    endif()
    foreach(settings_name IN LISTS settings_names)
      if(NOT arg_${settings_name} AND DEFINED settings_${settings_name})
        set(arg_${settings_name} "${settings_${settings_name}}")
      endif()
    endforeach()
  endif()
endmacro()

# Look at the KERNELS of the library `target` when CMake runs, and in each build in which they, or the generated files in
# TREE, have changed: COMMAND prints warnings about kernels that no entry names, and about headers that are not included.
function(opgen_check_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE" "KERNELS;COMMAND")
  set(stamp "${arg_TREE}.kernels")
  set(files "${arg_TREE}.outputs" ${arg_KERNELS})
  foreach(kernel IN LISTS arg_KERNELS)
    list(APPEND arg_COMMAND --kernels "${kernel}")
  endforeach()
  set(script "${arg_TREE}.kernels.cmake")
  file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT [=[
set(COMMAND [==[@arg_COMMAND@]==])
set(FILES [==[@files@]==])
set(STAMP [==[@stamp@]==])
include([==[@CMAKE_CURRENT_FUNCTION_LIST_DIR@/opgenCheckKernels.cmake]==])
]=])
  set(look "${CMAKE_COMMAND}" -P "${script}")
  execute_process(COMMAND ${look})
  add_custom_command(OUTPUT "${stamp}" COMMAND ${look} DEPENDS ${files} "${script}"
    COMMENT "Looking at the kernels of ${target}" VERBATIM)
  add_custom_target(${target}_kernels_checked DEPENDS "${stamp}")
  # Beside the compilers, and not before them.
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${stamp}")
  else()
    add_dependencies(${target} ${target}_kernels_checked)
  endif()
endfunction()

# Set the folders in which the library `target` finds the author's headers: those of the files BESIDE (the
# kernels, where a header with a base class for structured_inherits may be), those of OPGEN_YAML (YAML files,
# whose `include` names headers) and their sub-folders kernels/, and OPGEN_INCLUDE.
function(opgen_look_for_headers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "BESIDE")
  set(folders "")
  foreach(file IN LISTS arg_BESIDE OPGEN_YAML)
    get_filename_component(file "${file}" ABSOLUTE)
    get_filename_component(folder "${file}" DIRECTORY)
    list(APPEND folders "${folder}")
  endforeach()
  foreach(file IN LISTS OPGEN_YAML)
    get_filename_component(file "${file}" ABSOLUTE)
    get_filename_component(folder "${file}" DIRECTORY)
    if(IS_DIRECTORY "${folder}/kernels")
      list(APPEND folders "${folder}/kernels")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    # Not with -I: a math.h in these folders must not replace the system's.
    if(TARGET opgen::torch_cuda)
      # nvcc itself does not have this option.
      target_compile_options(${target} PRIVATE
        "$<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:SHELL:-iquote \"${folder}\">"
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-iquote,${folder}>")
    else()
      target_compile_options(${target} PRIVATE "SHELL:-iquote \"${folder}\"")
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE ${OPGEN_INCLUDE})
endfunction()

# Install the Python package of the library `target`, which opgen_add_operators(... PYTHON) made.
function(opgen_install_python_package target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESTINATION" "")
  get_target_property(install ${target} OPGEN_INSTALL)
  if(NOT install)
    message(FATAL_ERROR "opgen_install_python_package(${target}): opgen_add_operators(${target} ... PYTHON) must come first")
  endif()
  if(NOT arg_DESTINATION)
    get_target_property(arg_DESTINATION ${target} OPGEN_PACKAGE)
  endif()
  cmake_language(CALL ${install} ${target} "${arg_DESTINATION}")
endfunction()

# Compile SOURCES, which opgen generated for the library `target`, as one translation unit for each shard. The
# code of an operator is in one shard, and the compiler reads headers once per shard. Sources that are not
# divided into shards join the first one.
function(opgen_one_unit_per_shard target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  # Without absolute paths, the compiler cache finds a unit that was compiled in another folder.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
  foreach(source IN LISTS arg_SOURCES)
    set(shard 0)
    if(source MATCHES "/[A-Za-z0-9]+_([0-9]+)[.]cpp$")
      set(shard ${CMAKE_MATCH_1})
    endif()
    set_property(SOURCE "${source}" PROPERTY UNITY_GROUP generated_${shard})
  endforeach()
endfunction()

# Run COMMAND, which is `opgen generate` with the files YAML, to make the folder TREE. Set `outputs` to the
# paths of its files.
function(opgen_generate target outputs)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TREE" "COMMAND;DEPENDS;YAML")
  set(list "${arg_TREE}.outputs")
  set(depfile "${arg_TREE}.d")
  set(command ${arg_COMMAND} --output-list "${list}" --depfile "${depfile}")
  # Record the options with which the list was made, and the files that opgen finds by itself. If they change,
  # the build step starts with a new list. Ninja runs CMake if one of these files is added or removed.
  set(asked "${arg_TREE}.command")
  set(found "")
  foreach(yaml IN LISTS arg_YAML)
    get_filename_component(folder "${yaml}" DIRECTORY)
    foreach(name tags.yaml derivatives.yaml)
      file(GLOB beside CONFIGURE_DEPENDS "${folder}/${name}")
      list(APPEND found ${beside})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(now "${command};${found}")
  set(before "")
  if(EXISTS "${asked}")
    file(READ "${asked}" before)
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja" OR NOT EXISTS "${list}" OR NOT before STREQUAL "${now}")
    execute_process(COMMAND ${command} RESULT_VARIABLE failed OUTPUT_QUIET)
    if(failed)
      message(FATAL_ERROR "opgen could not generate ${target}; see its messages above")
    endif()
    file(WRITE "${asked}" "${now}")
  endif()
  file(STRINGS "${list}" paths)

  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(made ${paths})
    list(TRANSFORM made PREPEND "${arg_TREE}/")
    set(sources ${made})
    list(FILTER sources INCLUDE REGEX "[.](cpp|py|pyi|typed|json)$")
    list(FILTER made EXCLUDE REGEX "[.](cpp|py|pyi|typed|json)$")
    # Without this, Ninja would link an extended library before the list of its sources is known.
    set(alone "")
    if(NOT CMAKE_VERSION VERSION_LESS 3.27)
      set(alone DEPENDS_EXPLICIT_ONLY)
    endif()
    add_custom_command(
      OUTPUT "${list}" ${sources}
      BYPRODUCTS ${made}
      COMMAND ${command}
      DEPENDS ${arg_DEPENDS} "${asked}"
      ${alone}
      DEPFILE "${depfile}"
      COMMENT "Generating the operators of ${target}"
      VERBATIM)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  else()
    execute_process(COMMAND ${command} --list-inputs OUTPUT_VARIABLE inputs OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" inputs "${inputs}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  endif()
  set(${outputs} ${paths} PARENT_SCOPE)
endfunction()

# Copy the Python files of a generated package from the folder FROM into the folder TO. If there is a file OPS, the
# author's module ops, the copied stub has the names in its __all__, too. Set `copies` to the copies, on which the
# caller's target depends.
function(opgen_copy_package copies)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;TO;OPS" "")
  set(found "")
  file(GLOB_RECURSE texts RELATIVE "${arg_FROM}" "${arg_FROM}/*")
  foreach(text IN LISTS texts)
    set(copy -E copy "${arg_FROM}/${text}" "${arg_TO}/${text}")
    set(ops "")
    if(arg_OPS AND text STREQUAL "__init__.pyi")
      set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opgenCopyStub.cmake")
      set(copy -D "FROM=${arg_FROM}/${text}" -D "TO=${arg_TO}/${text}" -D "OPS=${arg_OPS}" -P "${script}")
      set(ops "${arg_OPS}" "${script}")
    endif()
    add_custom_command(
      OUTPUT "${arg_TO}/${text}"
      COMMAND "${CMAKE_COMMAND}" ${copy}
      DEPENDS "${arg_FROM}/${text}" ${ops}
      VERBATIM)
    list(APPEND found "${arg_TO}/${text}")
  endforeach()
  set(${copies} "${found}" PARENT_SCOPE)
endfunction()

# Copy the author's own files of a package, everything in and below the folder FROM, into the folder TO. The
# generated package is in TREE. Set `copies` to the copies, on which the caller's target depends.
function(opgen_copy_author_files copies)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;TO;TREE" "")
  if(NOT IS_DIRECTORY "${arg_FROM}")
    message(FATAL_ERROR "PYTHON_FOLDER: the folder ${arg_FROM} does not exist")
  endif()
  set(found "")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${arg_FROM}" "${arg_FROM}/*")
  list(FILTER files EXCLUDE REGEX "(^|/)__pycache__/|[.]pyc$")
  foreach(file IN LISTS files)
    if(EXISTS "${arg_TREE}/${file}" OR file STREQUAL "_built_for.py")
      message(FATAL_ERROR "${arg_FROM}/${file}: opgen generates this file of the package. Write your own code in ops.py, which __init__.py imports")
    endif()
    add_custom_command(
      OUTPUT "${arg_TO}/${file}"
      COMMAND "${CMAKE_COMMAND}" -E copy "${arg_FROM}/${file}" "${arg_TO}/${file}"
      DEPENDS "${arg_FROM}/${file}"
      VERBATIM)
    list(APPEND found "${arg_TO}/${file}")
  endforeach()
  set(${copies} "${found}" PARENT_SCOPE)
endfunction()

cmake_policy(POP)
