# libtorch as own imported targets: titan::torch_cpu. (find_package(Torch) of the CUDA wheel demands a CUDA toolkit.)
set(TITAN_TORCH_DIR "" CACHE PATH "An unpacked libtorch: the folder that holds include/ and lib/")
if(NOT TITAN_TORCH_DIR AND DEFINED ENV{TITAN_TORCH_DIR})
  set(TITAN_TORCH_DIR "$ENV{TITAN_TORCH_DIR}")
endif()
if(NOT TITAN_TORCH_DIR)
  set(TITAN_TORCH_DIR "${PROJECT_SOURCE_DIR}/.deps/libtorch-2.11.0/torch")
endif()
if(NOT EXISTS "${TITAN_TORCH_DIR}/include/ATen/ATen.h")
  message(FATAL_ERROR "no libtorch at ${TITAN_TORCH_DIR}: run tools/bootstrap.sh, or set TITAN_TORCH_DIR")
endif()

add_library(titan::c10 SHARED IMPORTED GLOBAL)
set_target_properties(titan::c10 PROPERTIES IMPORTED_LOCATION "${TITAN_TORCH_DIR}/lib/libc10.so")
add_library(titan::torch_cpu SHARED IMPORTED GLOBAL)
set_target_properties(titan::torch_cpu PROPERTIES
  IMPORTED_LOCATION "${TITAN_TORCH_DIR}/lib/libtorch_cpu.so"
  INTERFACE_INCLUDE_DIRECTORIES "${TITAN_TORCH_DIR}/include;${TITAN_TORCH_DIR}/include/torch/csrc/api/include"
  # NDEBUG in every build: some public classes of libtorch change their layout with it.
  INTERFACE_COMPILE_DEFINITIONS "NDEBUG;USE_DISTRIBUTED;USE_C10D_GLOO"
  INTERFACE_LINK_LIBRARIES "titan::c10"
  INTERFACE_LINK_OPTIONS "-Wl,--allow-shlib-undefined")
