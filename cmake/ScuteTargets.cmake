# Helpers for the targets of this project.

# scute_compile_options(target [RELAXED]): language level, warnings, assertions. RELAXED leaves out
# -Wconversion, which in tests and benchmarks flags more literals than bugs.
function(scute_compile_options target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RELAXED" "" "")
  target_compile_features(${target} PRIVATE cxx_std_20 c_std_11)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF C_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  if(NOT arg_RELAXED)
    # clang counts sign conversions in; GCC does not. Both should ask for the same.
    target_compile_options(${target} PRIVATE
      -Wconversion $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
  endif()
  # GCC 12 sees overlapping copies inside std::string's operator+ (GCC bug 105651).
  set(old_gcc "$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>")
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${old_gcc}>:-Wno-restrict>")
  if(SCUTE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Assertions stay on whatever build type the user picked: CMake's defaults for Release and
  # RelWithDebInfo would switch them off.
  target_compile_options(${target} PRIVATE -UNDEBUG)
endfunction()

# scute_unity(target batch): compiles up to `batch` sources of a target in one run of the compiler,
# since most of a run goes into headers that all of them include.
# CMAKE_UNITY_BUILD_BATCH_SIZE takes the place of `batch` (0: all in one, which finds names that two
# sources define).
option(SCUTE_UNITY "Compile several sources of a target in one run of the compiler" ON)
function(scute_unity target batch)
  if(DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
    set(batch ${CMAKE_UNITY_BUILD_BATCH_SIZE})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SCUTE_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
  if(SCUTE_UNITY)
    target_compile_options(${target} PRIVATE -Wno-shadow)  # a name of another source is not hidden by mistake
  endif()
endfunction()

# scute_test_options(target): for programs that tests are in, whose own speed is of no account. -Og
# compiles them in two thirds of the time of -O2; the core that they link keeps its level. A preset
# without optimization, or with a sanitizer, keeps its own.
function(scute_test_options target)
  scute_compile_options(${target} RELAXED)
  scute_unity(${target} 4)
  scute_test_level(${target})
endfunction()
function(scute_test_level target)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release,RelWithDebInfo>:-Og>")
  endif()
endfunction()

# scute_subfolders(result folder): names of the folders directly in `folder`.
function(scute_subfolders result folder)
  set(names)
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE "${folder}" "${folder}/*")
  foreach(entry IN LISTS entries)
    if(IS_DIRECTORY "${folder}/${entry}")
      list(APPEND names "${entry}")
    endif()
  endforeach()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# scute_add_workloads(): the target scute_workloads, to link. Files are included as
# "workloads/...". The folder may hold headers only, or not exist.
function(scute_add_workloads)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/workloads/*.cpp")
  if(sources)
    add_library(scute_workloads OBJECT ${sources})
    scute_compile_options(scute_workloads RELAXED)
    target_include_directories(scute_workloads PUBLIC "${PROJECT_SOURCE_DIR}")
    target_include_directories(scute_workloads PRIVATE "${PROJECT_SOURCE_DIR}/include")
  else()
    add_library(scute_workloads INTERFACE)
    target_include_directories(scute_workloads INTERFACE "${PROJECT_SOURCE_DIR}")
  endif()
endfunction()
