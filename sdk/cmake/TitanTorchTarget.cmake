# titan::torch: titan::sdk and libtorch, for plugins of the torch tier. TITAN_TORCH_VERSION and TITAN_TORCH_CUDA_MAJOR
# are what such a plugin states as its pin. Needs titan::torch_cpu and both values, which TitanTorch.cmake sets.
include_guard(GLOBAL)

add_library(titan::torch INTERFACE IMPORTED GLOBAL)
set_target_properties(titan::torch PROPERTIES
  INTERFACE_LINK_LIBRARIES "titan::sdk;titan::torch_cpu"
  INTERFACE_COMPILE_DEFINITIONS
    "TITAN_TORCH_VERSION=\"${TITAN_TORCH_VERSION}\";TITAN_TORCH_CUDA_MAJOR=${TITAN_TORCH_CUDA_MAJOR}")
