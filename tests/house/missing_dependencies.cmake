# Configures d5 where its libraries are not found: all that is missing is named at once, with the way out.
# -DSOURCE=... -DWORK=...
file(REMOVE_RECURSE ${WORK})
set(missing fmt CURL ONNX)
list(TRANSFORM missing PREPEND -DCMAKE_DISABLE_FIND_PACKAGE_ OUTPUT_VARIABLE disabled)
list(TRANSFORM disabled APPEND =ON)
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK} -DD5_DEPS=${WORK}/none ${disabled}
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
if(result EQUAL 0)
  message(FATAL_ERROR "configuring without libraries did not fail")
endif()
foreach(word IN LISTS missing ITEMS libfmt-dev scripts/setup CMAKE_PREFIX_PATH)
  if(NOT said MATCHES "${word}")
    message(FATAL_ERROR "'${word}' is not in:\n${said}")
  endif()
endforeach()
