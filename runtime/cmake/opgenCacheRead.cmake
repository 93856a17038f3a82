# cmake -DENTRY=folder -DFILE=name -DCOPY=path -P opgenCacheRead.cmake: copy the library FILE of the ENTRY to COPY;
# fail if the copy does not have the digest in entry.json.
cmake_minimum_required(VERSION 3.24)
file(READ "${ENTRY}/entry.json" text)
string(JSON wanted GET "${text}" sha256)
file(COPY_FILE "${ENTRY}/${FILE}" "${COPY}")
file(SHA256 "${COPY}" sum)
if(NOT sum STREQUAL wanted)
  message(FATAL_ERROR "${ENTRY}/${FILE} does not have the digest in ${ENTRY}/entry.json")
endif()
# The time of the last use, for `opgen cache prune`; nothing depends on it.
execute_process(COMMAND "${CMAKE_COMMAND}" -E touch "${ENTRY}/used" OUTPUT_QUIET ERROR_QUIET)
