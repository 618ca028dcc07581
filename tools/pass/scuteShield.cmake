# SPDX-License-Identifier: BSD-3-Clause
# scute_shield_instrument(target [detect] [loads] [trace])
# Compiles the target's C and C++ sources with the shield's pass and links its stubs, as scute-cc
# does (docs/internals/shield.md). The compiler must be clang 19, or scute-cc and scute-c++
# themselves. find_package(scute) brings the function where the pass was installed.
set(_scute_shield_dir "${CMAKE_CURRENT_LIST_DIR}/../../scute")

function(scute_shield_instrument target)
  foreach(option IN LISTS ARGN)
    if(NOT option MATCHES "^(flush|detect|loads|trace)$")
      message(FATAL_ERROR "scute_shield_instrument has no option '${option}'; it has flush, detect, loads and trace.")
    endif()
  endforeach()
  set(languages)
  get_property(enabled GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language C CXX)
    if(language IN_LIST enabled)
      if(NOT CMAKE_${language}_COMPILER_ID STREQUAL "Clang" OR NOT CMAKE_${language}_COMPILER_VERSION MATCHES "^19\\.")
        message(FATAL_ERROR "scute_shield_instrument(${target}) needs clang 19 for ${language}, and not "
          "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}.")
      endif()
      list(APPEND languages ${language})
    endif()
  endforeach()
  get_filename_component(dir "${_scute_shield_dir}" REALPATH)
  string(REPLACE ";" "," options "${ARGN}")
  if("loads" IN_LIST ARGN)  # as scute-cc
    string(PREPEND options "detect,")
  endif()
  if(NOT options)
    set(options flush)
  endif()
  string(REPLACE ";" "," only "${languages}")
  target_compile_options(${target} PRIVATE
    # Reports name lines; where there is debug information, it is not to be less.
    "$<$<AND:$<COMPILE_LANGUAGE:${only}>,$<NOT:$<CONFIG:Debug,RelWithDebInfo>>>:-gline-tables-only>"
    "$<$<COMPILE_LANGUAGE:${only}>:-fplugin=${dir}/scute-pass.so;-fpass-plugin=${dir}/scute-pass.so>"
    "$<$<COMPILE_LANGUAGE:${only}>:SHELL:-mllvm -scute-shield=${options}>")
  # A static library's users link the stubs: PRIVATE reaches them, as link-only.
  target_link_libraries(${target} PRIVATE "${dir}/libscute-shield-hooks.a")
endfunction()
