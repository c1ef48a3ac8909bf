# libtitan_cuda.so, which nobody loads where no GPU is asked for: TITAN_CUDA AUTO builds it where the CUDA toolkit,
# NCCL's header and libtorch's CUDA part are there, ON insists, OFF does not look. Leaves TITAN_CUDA_FOUND and, if so,
# the target titan::torch_cuda.
set(TITAN_CUDA "AUTO" CACHE STRING "Build libtitan_cuda.so (GPUs and NCCL): AUTO, ON or OFF")
set_property(CACHE TITAN_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TITAN_CUDA_FOUND FALSE)
if(TITAN_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: not looked for (TITAN_CUDA OFF)")
  return()
endif()

find_path(TITAN_CUDA_INCLUDE_DIR cuda_runtime_api.h
  HINTS "${cuda_root}" "${TITAN_TORCH_DIR}/../nvidia/cu13" PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(TITAN_NCCL_INCLUDE_DIR nccl.h
  HINTS "${TITAN_CUDA_INCLUDE_DIR}" "${TITAN_TORCH_DIR}/../nvidia/nccl/include" PATHS /usr/local/cuda/include)
mark_as_advanced(TITAN_CUDA_INCLUDE_DIR TITAN_NCCL_INCLUDE_DIR)

set(missing "")
if(NOT TITAN_CUDA_INCLUDE_DIR)
  list(APPEND missing "the CUDA toolkit (cuda_runtime_api.h)")
endif()
if(NOT TITAN_NCCL_INCLUDE_DIR)
  list(APPEND missing "NCCL (nccl.h)")
endif()
foreach(part lib/libtorch_cuda.so lib/libc10_cuda.so include/c10/cuda/impl/cuda_cmake_macros.h)
  if(NOT EXISTS "${TITAN_TORCH_DIR}/${part}")
    list(APPEND missing "libtorch's ${part}")
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing)
  if(TITAN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TITAN_CUDA is ON, and these are missing: ${missing}")
  endif()
  message(STATUS "CUDA: libtitan_cuda.so is not built, missing: ${missing}")
  return()
endif()

set(TITAN_CUDA_FOUND TRUE)
message(STATUS "CUDA: libtitan_cuda.so is built with ${TITAN_CUDA_INCLUDE_DIR}, NCCL ${TITAN_NCCL_INCLUDE_DIR}")
add_library(titan::torch_cuda SHARED IMPORTED GLOBAL)
set_target_properties(titan::torch_cuda PROPERTIES
  IMPORTED_LOCATION "${TITAN_TORCH_DIR}/lib/libtorch_cuda.so"
  INTERFACE_INCLUDE_DIRECTORIES "${TITAN_CUDA_INCLUDE_DIR};${TITAN_NCCL_INCLUDE_DIR}"
  INTERFACE_COMPILE_DEFINITIONS "USE_C10D_NCCL"
  # What libtorch_cuda itself needs (cuDNN, NVSHMEM and others) has to be there where it runs, not where it is linked.
  INTERFACE_LINK_OPTIONS "-Wl,--allow-shlib-undefined,--unresolved-symbols=ignore-in-shared-libs"
  INTERFACE_LINK_LIBRARIES "titan::torch_cpu;${TITAN_TORCH_DIR}/lib/libc10_cuda.so")
