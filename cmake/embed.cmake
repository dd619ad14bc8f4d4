# Embeds the report page's sources (src/io/report/*) into the library as one C file of byte arrays,
# ending with the table pl_report_sources of src/io/report.h.
# Included, it adds the build rule; run with -P, it is the rule's command (OUTPUT, INPUTS).
if(CMAKE_SCRIPT_MODE_FILE)
  set(arrays "")
  set(table "")
  foreach(path ${INPUTS})
    get_filename_component(name ${path} NAME)
    string(MAKE_C_IDENTIFIER ${name} symbol)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const unsigned char ${symbol}[] = {\n${bytes}};\n")
    string(APPEND table "    {\"${name}\", ${symbol}, sizeof ${symbol}},\n")
  endforeach()
  file(WRITE ${OUTPUT} "#include \"io/report.h\"\n\n${arrays}\n"
    "const pl_embedded pl_report_sources[] = {\n${table}    {0},\n};\n")
  return()
endif()

file(GLOB REPORT_PAGE CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/io/report/*)
set(REPORT_EMBEDDED ${CMAKE_CURRENT_BINARY_DIR}/report_sources.c)
add_custom_command(OUTPUT ${REPORT_EMBEDDED}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${REPORT_EMBEDDED} "-DINPUTS=${REPORT_PAGE}"
    -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${REPORT_PAGE} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
target_sources(pliant_objects PRIVATE ${REPORT_EMBEDDED})
