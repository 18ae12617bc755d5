if(D5_BUILD_TESTS)
  find_package(Catch2 REQUIRED)
  add_library(d5_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/test_main.cpp)
  target_link_libraries(d5_test_main PUBLIC ZLIB::ZLIB Catch2::Catch2 PRIVATE d5_not_measured)
  target_compile_definitions(d5_test_main PUBLIC CATCH_CONFIG_EXTERNAL_INTERFACES)  # for listeners
  # test_main.cpp defines Catch's main; the other files share this precompiled header.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "// See cmake/test.cmake.\n")
  add_library(d5_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(d5_test_headers PRIVATE Catch2::Catch2 fmt::fmt d5_warnings d5_not_measured)
  target_compile_definitions(d5_test_headers PRIVATE CATCH_CONFIG_EXTERNAL_INTERFACES)
  set_target_properties(d5_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  d5_precompile(d5_test_headers <fmt/format.h> <catch2/catch.hpp>)
endif()

# d5_compile_as_test(<target>)   compiles with the flags of tests, to share their precompiled headers
function(d5_compile_as_test target)
  target_link_libraries(${target} PRIVATE fmt::fmt d5_warnings d5_not_measured)
  target_compile_definitions(${target} PRIVATE CATCH_CONFIG_EXTERNAL_INTERFACES)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as the headers
  d5_precompiled_by(${target} d5_test_headers)
endfunction()

# d5_add_tests(<folder> [RANKS <n>...] [SOURCES <files>] [LIBRARIES <targets>] [DEFINITIONS <words>]
#              [DEPENDS <targets>] [LABEL <label>])
#
# Builds one program test_<folder> from every <stem>_test.cpp of a folder and shared SOURCES. Each file (and rank
# count) has a ctest entry, which runs only that file's test cases, so that a crash fails a single entry. Names omit
# "tests": tests/core/tensor and frameworks/torch/tests become core/tensor/<stem> and frameworks/torch/<stem>. Tests
# read D5_DATA_DIR from the environment. A test that needs it is skipped with a reason if it is not set: exit status 4
# counts as skipped.
function(d5_add_tests folder)
  cmake_parse_arguments(arg "" "LABEL" "RANKS;SOURCES;LIBRARIES;DEFINITIONS;DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*_test.cpp)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
  string(REGEX REPLACE "(^tests/|/tests$)" "" folder ${folder})
  string(REPLACE "/" "_" name ${folder})
  set(target test_${name})
  add_executable(${target} ${sources} ${arg_SOURCES})
  # Tests of a library link only that library, so that they build without the levels above.
  string(REGEX REPLACE "_.*" "" library ${name})
  if(NOT TARGET d5::${library})
    set(library d5)
  endif()
  target_link_libraries(${target} PRIVATE d5_test_main d5::${library} ${arg_LIBRARIES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  if(arg_DEPENDS)
    add_dependencies(${target} ${arg_DEPENDS})
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  d5_compile_as_test(${target})
  foreach(source IN LISTS sources)
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX REPLACE "_test$" "" test ${folder}/${stem})
    set(only --filenames-as-tags "[#${stem}]~[.]")
    if(NOT arg_RANKS OR NOT MPI_CXX_FOUND)  # without MPI a world of one
      add_test(NAME ${test} COMMAND ${target} ${only})
      list(APPEND tests ${test})
    else()
      foreach(ranks IN LISTS arg_RANKS)
        add_test(NAME ${test}/ranks-${ranks}
                 COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -np ${ranks} $<TARGET_FILE:${target}> ${only})
        list(APPEND tests ${test}/ranks-${ranks})
      endforeach()
    endif()
  endforeach()
  set_tests_properties(${tests} PROPERTIES SKIP_RETURN_CODE 4 TIMEOUT 600 LABELS "${arg_LABEL}" ENVIRONMENT
    "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_btl_vader_single_copy_mechanism=none;D5_SOURCE_DIR=${PROJECT_SOURCE_DIR};D5_BUILD_DIR=${PROJECT_BINARY_DIR};D5_CACHE_DIR=${PROJECT_BINARY_DIR}/tests/no_peak_was_measured;D5_PYTHON=${Python3_EXECUTABLE}")
endfunction()
