# The source of the devices' kernels as one text, for OpenCL: the files that src/device/kernels/kernels.h
# includes, one after another, without their own includes. Run with -P, it is the rule's command
# (OUTPUT, ROOT, INPUTS).
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "")
  foreach(path ${INPUTS})
    file(READ ${ROOT}/${path} source)
    string(REGEX REPLACE "#include [^\n]*" "" source "${source}")
    string(APPEND text "${source}")
  endforeach()
  string(HEX "${text}" bytes)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(WRITE ${OUTPUT} "extern const char pl_device_source[];\nconst char pl_device_source[] = {\n${bytes}0};\n")
  return()
endif()

set(DEVICE_SOURCE ${CMAKE_CURRENT_BINARY_DIR}/device_source.c)
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/src/device/kernels/kernels.h DEVICE_LINES REGEX "^#include")
set(DEVICE_FILES "")
set(DEVICE_PATHS "")
foreach(line ${DEVICE_LINES})
  string(REGEX REPLACE "#include \"(.*)\"" "src/\\1" path "${line}")
  list(APPEND DEVICE_FILES ${path})
  list(APPEND DEVICE_PATHS ${CMAKE_CURRENT_SOURCE_DIR}/${path})
endforeach()
add_custom_command(OUTPUT ${DEVICE_SOURCE}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${DEVICE_SOURCE} -D ROOT=${CMAKE_CURRENT_SOURCE_DIR}
    "-DINPUTS=${DEVICE_FILES}" -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${DEVICE_PATHS} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
target_sources(pliant_objects PRIVATE ${DEVICE_SOURCE})
# Its sums in two doubles need every rounding where it is written.
set_source_files_properties(src/device/reference_kernels.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
