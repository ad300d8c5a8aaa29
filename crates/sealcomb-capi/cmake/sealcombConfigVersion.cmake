# Before 1.0 minor versions may be incompatible; from 1.0 only major ones are.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../include/sealcomb.h" _sealcomb_lines REGEX "^#define SEALCOMB_VERSION_")
set(PACKAGE_VERSION "")
foreach(_sealcomb_part MAJOR MINOR PATCH)
    string(REGEX MATCH "VERSION_${_sealcomb_part} ([0-9]+)" _ "${_sealcomb_lines}")
    list(APPEND PACKAGE_VERSION "${CMAKE_MATCH_1}")
endforeach()
list(GET PACKAGE_VERSION 0 _sealcomb_major)
list(GET PACKAGE_VERSION 1 _sealcomb_minor)
list(JOIN PACKAGE_VERSION "." PACKAGE_VERSION)

set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION
        AND PACKAGE_FIND_VERSION_MAJOR EQUAL _sealcomb_major
        AND (_sealcomb_major GREATER 0 OR PACKAGE_FIND_VERSION_MINOR EQUAL _sealcomb_minor))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
