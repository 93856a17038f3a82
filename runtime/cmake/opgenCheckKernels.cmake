# opgenCheckKernels.cmake: a script, for which the one that includes it has set these variables. It prints what opgen says about kernel sources that have changed since it last looked:
# kernels that no entry names, and headers that are not included.
#
#   COMMAND   the command that looks; if its exit code is 2, one of its options is not for this command
#   FILES     the sources, and the list of generated files
#   STAMP     keeps their digest
set(text "")
foreach(file IN LISTS FILES)
  if(NOT EXISTS "${file}")
    # A source that the build has yet to generate.
    return()
  endif()
  file(SHA256 "${file}" sum)
  string(APPEND text "${file} ${sum}\n")
endforeach()
string(SHA256 digest "${text}${COMMAND}")
set(before "")
if(EXISTS "${STAMP}")
  file(READ "${STAMP}" before)
endif()
if(NOT digest STREQUAL before)
  execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE said)
  if(said AND NOT code EQUAL 2)
    message("${said}")
  endif()
endif()
file(WRITE "${STAMP}" "${digest}")
