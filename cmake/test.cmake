if(D5_BUILD_TESTS)
  find_package(Catch2 REQUIRED)
  add_library(d5_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/test_main.cpp)
  target_link_libraries(d5_test_main PUBLIC ZLIB::ZLIB Catch2::Catch2 PRIVATE d5_not_measured)
  target_compile_definitions(d5_test_main PUBLIC CATCH_CONFIG_EXTERNAL_INTERFACES)  # for listeners
  # test_main.cpp asks for the body of Catch's main; what all others read is parsed here.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "// See cmake/test.cmake.\n")
  add_library(d5_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(d5_test_headers PRIVATE Catch2::Catch2 d5_warnings d5_not_measured)
  target_compile_definitions(d5_test_headers PRIVATE CATCH_CONFIG_EXTERNAL_INTERFACES)
  set_target_properties(d5_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  d5_precompile(d5_test_headers <catch2/catch.hpp>)
endif()

# d5_add_test(<source> [RANKS <n>...] [LIBRARIES <targets>])
#
# One program and one ctest entry (one a rank count) for a file <stem>_test.cpp. The entry is named
# after the file's folder without "tests": tests/core and frameworks/torch/tests make core/<stem> and
# frameworks/torch/<stem>.
# A test sees D5_DATA_DIR from the environment, and skips with a reason where it needs it and it is
# not set: exit status 4 counts as skipped.
function(d5_add_test source)
  cmake_parse_arguments(arg "" "" "RANKS;LIBRARIES" ${ARGN})
  get_filename_component(stem ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
  string(REGEX REPLACE "(^tests/|/tests$)" "" folder ${folder})
  string(REPLACE "/" "_" prefix ${folder})
  set(target test_${prefix}_${stem})
  add_executable(${target} ${source})
  # A test of a library links that library alone: it builds without the levels above.
  string(REGEX REPLACE "_.*" "" library ${prefix})
  if(NOT TARGET d5::${library})
    set(library d5)
  endif()
  target_link_libraries(${target} PRIVATE d5_test_main d5::${library} fmt::fmt d5_warnings d5_not_measured ${arg_LIBRARIES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as the headers
  d5_precompiled_by(${target} d5_test_headers)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  string(REGEX REPLACE "_test$" "" name ${stem})
  if(NOT arg_RANKS OR NOT MPI_CXX_FOUND)  # without MPI a world of one
    add_test(NAME ${folder}/${name} COMMAND ${target})
    set(tests ${folder}/${name})
  else()
    foreach(ranks IN LISTS arg_RANKS)
      add_test(NAME ${folder}/${name}/ranks-${ranks}
               COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -np ${ranks} $<TARGET_FILE:${target}>)
      list(APPEND tests ${folder}/${name}/ranks-${ranks})
    endforeach()
  endif()
  if(tests)
    set_tests_properties(${tests} PROPERTIES SKIP_RETURN_CODE 4 TIMEOUT 600 ENVIRONMENT
      "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_btl_vader_single_copy_mechanism=none;D5_SOURCE_DIR=${PROJECT_SOURCE_DIR};D5_BUILD_DIR=${PROJECT_BINARY_DIR};D5_CACHE_DIR=${PROJECT_BINARY_DIR}/tests/no_peak_was_measured;D5_PYTHON=${Python3_EXECUTABLE}")
  endif()
endfunction()
