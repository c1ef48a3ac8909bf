# Attention, once for each instruction set; the best one is picked at run time. Sets attention_levels.
set(attention_levels ${CMAKE_CURRENT_LIST_DIR}/levels.cpp ${CMAKE_CURRENT_LIST_DIR}/level_portable.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(avx2 -mavx2 -mfma)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)
  set(avx512_bf16 ${avx512} -mavx512bf16)
  foreach(level IN ITEMS avx2 avx512 avx512_bf16)
    list(APPEND attention_levels ${CMAKE_CURRENT_LIST_DIR}/level_${level}.cpp)
    set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/level_${level}.cpp PROPERTIES COMPILE_OPTIONS "${${level}}")
  endforeach()
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/levels.cpp PROPERTIES COMPILE_DEFINITIONS TITAN_ATTENTION_X86)
endif()
# GCC's header of intrinsics leaves a variable without a value on purpose.
set_property(SOURCE ${attention_levels} APPEND PROPERTY COMPILE_OPTIONS -O3 -fno-trapping-math -fno-math-errno
  $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
