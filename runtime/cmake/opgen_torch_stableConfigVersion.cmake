# opgen_torch_stableConfigVersion.cmake: the version of opgen.
include("${CMAKE_CURRENT_LIST_DIR}/opgenConfigVersion.cmake")
