# Installation, and find_package(d5) for external projects.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY D5_LIBRARIES)
# Wheels cannot contain links, so links are omitted.
set(namelink "")
if(SKBUILD)
  set(namelink NAMELINK_SKIP)
endif()
install(TARGETS ${libraries} d5_d5 EXPORT d5Targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${namelink}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/d5 ${d5_forwarding}/d5 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        REGEX "/(${d5_other_folders})$" EXCLUDE)
install(FILES ${d5_buildings_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/d5)
install(DIRECTORY data recipes DESTINATION ${d5_share})
install(FILES LICENSE NOTICE DESTINATION ${d5_share})
install(EXPORT d5Targets NAMESPACE d5:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/d5)

set(d5_components ${libraries} d5)
list(TRANSFORM d5_components REPLACE "^d5_" "")
list(JOIN d5_components ", " d5_components)
configure_package_config_file(cmake/d5Config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/d5Config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/d5 PATH_VARS CMAKE_INSTALL_LIBDIR)
# 0.2 serves find_package(d5 0.1): it forwards the headers of 0.1 (cmake/forwarding.cmake). When these end, this
# is SameMinorVersion again.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/d5ConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/d5Config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/d5ConfigVersion.cmake
              cmake/framework.cmake cmake/operator.cmake cmake/registration.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/d5)
