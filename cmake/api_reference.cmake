# Reference of the C++ API, from the public headers: target api_reference, output in <build>/api_reference/html.
find_package(Doxygen QUIET)
if(DOXYGEN_FOUND)
  set(DOXYGEN_PROJECT_NAME d5)
  set(DOXYGEN_PROJECT_NUMBER ${PROJECT_VERSION})
  set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/api_reference)
  set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
  set(DOXYGEN_STRIP_FROM_INC_PATH ${PROJECT_SOURCE_DIR}/include)
  set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
  set(DOXYGEN_EXCLUDE_SYMBOLS d5::detail)
  set(DOXYGEN_EXTRACT_ALL YES)  # a name that says all has no comment
  set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
  set(DOXYGEN_WARN_IF_UNDOCUMENTED NO)
  set(DOXYGEN_GENERATE_LATEX NO)
  set(DOXYGEN_QUIET YES)
  doxygen_add_docs(api_reference ${PROJECT_SOURCE_DIR}/include/d5 ${PROJECT_SOURCE_DIR}/docs
                   ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
                   ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
                   COMMENT "API reference in ${PROJECT_BINARY_DIR}/api_reference/html")
else()
  add_custom_target(api_reference
    COMMAND ${CMAKE_COMMAND} -E echo "api_reference needs Doxygen (Debian: doxygen); install it and configure again"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
