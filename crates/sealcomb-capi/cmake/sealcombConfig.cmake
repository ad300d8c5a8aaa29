# Defines the targets sealcomb::sealcomb (shared) and sealcomb::static. Installed in <prefix>/share/cmake/sealcomb.
get_filename_component(_sealcomb_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

find_path(_sealcomb_include sealcomb.h PATHS "${_sealcomb_prefix}/include" NO_DEFAULT_PATH NO_CACHE)
foreach(_sealcomb_kind shared static)
    string(TOUPPER "${_sealcomb_kind}" _sealcomb_upper)
    find_library(_sealcomb_${_sealcomb_kind}
        NAMES "${CMAKE_${_sealcomb_upper}_LIBRARY_PREFIX}sealcomb${CMAKE_${_sealcomb_upper}_LIBRARY_SUFFIX}"
        PATHS "${_sealcomb_prefix}"
        PATH_SUFFIXES lib lib64 "lib/${CMAKE_LIBRARY_ARCHITECTURE}"
        NO_DEFAULT_PATH NO_CACHE)
endforeach()

# One of the two suffices.
set(_sealcomb_library "${_sealcomb_shared}")
if(NOT _sealcomb_library)
    set(_sealcomb_library "${_sealcomb_static}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(sealcomb
    REQUIRED_VARS _sealcomb_library _sealcomb_include
    VERSION_VAR sealcomb_VERSION)

if(sealcomb_FOUND AND _sealcomb_shared AND NOT TARGET sealcomb::sealcomb)
    add_library(sealcomb::sealcomb SHARED IMPORTED)
    set_target_properties(sealcomb::sealcomb PROPERTIES
        IMPORTED_LOCATION "${_sealcomb_shared}"
        INTERFACE_INCLUDE_DIRECTORIES "${_sealcomb_include}")
endif()
if(sealcomb_FOUND AND _sealcomb_static AND NOT TARGET sealcomb::static)
    find_package(Threads REQUIRED)
    add_library(sealcomb::static STATIC IMPORTED)
    set_target_properties(sealcomb::static PROPERTIES
        IMPORTED_LOCATION "${_sealcomb_static}"
        INTERFACE_INCLUDE_DIRECTORIES "${_sealcomb_include}"
        INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
