# Installs d5 to an empty prefix, moves that to a folder with a space in its name, builds the consumer against
# it, and runs it.
# -DSOURCE=... -DBUILD=... -DWORK=... -DONNX=... -DCXX=...
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
set(prefix "${WORK}/moved prefix")
file(RENAME ${WORK}/installed ${prefix})
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/house/consumer -B ${WORK}/build
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} -E env D5_PLUGIN_PATH=${WORK}/build ${WORK}/build/consumer)
message(STATUS "${output}")

# If its plug-in cannot be loaded, d5 names what the consumer's .needs file lists.
file(WRITE ${WORK}/broken/d5_framework_outside.so "no library")
file(COPY ${WORK}/build/d5_framework_outside.needs DESTINATION ${WORK}/broken)
execute_process(COMMAND ${CMAKE_COMMAND} -E env D5_PLUGIN_PATH=${WORK}/broken
                ${prefix}/bin/d5 net show lenet --framework outside
                RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(result EQUAL 0 OR NOT said MATCHES "it needs liboutside 3 \\(get it there\\)")
  message(FATAL_ERROR "a broken plug-in: ${result}\n${said}")
endif()

# What others wrote against 0.1.0: their program, and their plug-in, as they are.
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/house/before -B ${WORK}/before
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
run(${CMAKE_COMMAND} --build ${WORK}/before)
run(${CMAKE_COMMAND} -E env D5_PLUGIN_PATH=${WORK}/before OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ${WORK}/before/before)
message(STATUS "${output}")

# Operators of a user's own: ahead of time by d5_add_operator, and just in time by the installed d5.
set(example ${SOURCE}/examples/101_custom_operator)
run(${CMAKE_COMMAND} -G Ninja -S ${example} -B ${WORK}/operator "-DCMAKE_PREFIX_PATH=${prefix}"
    -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
run(${CMAKE_COMMAND} --build ${WORK}/operator)
foreach(operator IN ITEMS ${WORK}/operator/log_cosh.so ${example}/log_cosh.cpp)
  run(${CMAKE_COMMAND} -E env --unset=D5_INCLUDE_DIR XDG_CACHE_HOME=${WORK}/cache
      ${prefix}/bin/d5 op check --load ${operator} "example.LogCosh 3x4")
endforeach()

# A component that d5 does not have is refused with those that it has.
file(WRITE ${WORK}/component/CMakeLists.txt "cmake_minimum_required(VERSION 3.26)
project(component NONE)
find_package(d5 REQUIRED COMPONENTS level2 level9)
")
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK}/component -B ${WORK}/component/build
                "-DCMAKE_PREFIX_PATH=${prefix}" RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
if(result EQUAL 0 OR NOT said MATCHES "no component 'level9'" OR NOT said MATCHES "level3")
  message(FATAL_ERROR "component level9: ${result}\n${said}")
endif()
