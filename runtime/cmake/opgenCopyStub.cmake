# opgenCopyStub.cmake: a script that copies the stub of a package. If the author's module ops has an __all__, whose names
# __init__.py exports, the copy exports them, too.
#
#   FROM   the generated __init__.pyi
#   TO     the copy
#   OPS    the author's ops.py
file(READ "${FROM}" text)
file(READ "${OPS}" ops)
if(ops MATCHES "(^|\n)__all__")
  string(APPEND text "\n# Your own Python code: the package exports the names in its __all__.\nfrom .ops import *\n")
endif()
file(WRITE "${TO}" "${text}")
