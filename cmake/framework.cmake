# d5_add_framework(<name> [NEEDS <what>] SOURCES <files> LIBRARIES <targets>)
#
# The plug-in d5_framework_<name>.so from the calling folder, inside d5's tree or outside it (then
# after find_package(d5)). Its symbols are hidden. <what> is one line: what it needs at run time, and how to get it;
# d5 prints it if the plug-in cannot be loaded.
function(d5_add_framework name)
  cmake_parse_arguments(arg "" "NEEDS" "SOURCES;LIBRARIES" ${ARGN})
  add_library(d5_framework_${name} MODULE ${arg_SOURCES})
  target_link_libraries(d5_framework_${name} PRIVATE d5::d5 ${arg_LIBRARIES})
  if(TARGET d5_warnings)
    target_link_libraries(d5_framework_${name} PRIVATE d5_warnings)
  endif()
  set_target_properties(d5_framework_${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
  if(arg_NEEDS)
    set(needs $<TARGET_FILE_DIR:d5_framework_${name}>/d5_framework_${name}.needs)
    file(GENERATE OUTPUT ${needs} CONTENT "${arg_NEEDS}\n")
  endif()
  if(D5_IN_TREE)
    file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/d5/d5_framework_${name}.left_out)
    set_target_properties(d5_framework_${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/d5 INSTALL_RPATH "$ORIGIN/..;$ORIGIN")
    install(TARGETS d5_framework_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/d5)
    if(arg_NEEDS)
      install(FILES ${needs} DESTINATION ${CMAKE_INSTALL_LIBDIR}/d5)
    endif()
    set_property(GLOBAL APPEND PROPERTY D5_PLUGINS d5_framework_${name})
  endif()
endfunction()

# d5_leave_out_framework(<name> <reason>)
#
# Continues the build without the framework. `d5 env`, and uses of its name, report the reason, one line.
function(d5_leave_out_framework name reason)
  message(STATUS "Framework ${name} is left out: ${reason}")
  if(D5_IN_TREE)
    set(note ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/d5/d5_framework_${name}.left_out)
    file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/d5/d5_framework_${name}.so)  # left by an earlier build
    file(WRITE ${note} "${reason}\n")
    install(FILES ${note} DESTINATION ${CMAKE_INSTALL_LIBDIR}/d5)
  endif()
endfunction()
