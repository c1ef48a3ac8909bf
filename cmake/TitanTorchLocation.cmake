# Where libtorch is: TITAN_TORCH_DIR (an existing one), else what tools/bootstrap.sh put into TITAN_DEPS_DIR, by default
# .deps. Both come from the environment at the first configuration. Leaves the folder in TITAN_TORCH_DIR.
set(TITAN_TORCH_DIR "$ENV{TITAN_TORCH_DIR}" CACHE PATH "An existing libtorch: the folder that holds include/ and lib/")
set(TITAN_DEPS_DIR "$ENV{TITAN_DEPS_DIR}" CACHE PATH "Where tools/bootstrap.sh keeps libtorch; empty: .deps")

file(STRINGS "${PROJECT_SOURCE_DIR}/tools/pins.txt" pin REGEX "^torch ")
string(REGEX REPLACE "^torch +([0-9.]+) .*" "\\1" TITAN_TORCH_PIN "${pin}")
set(home "${TITAN_DEPS_DIR}")
if(NOT home)
  set(home "${PROJECT_SOURCE_DIR}/.deps")
endif()
set(home "${home}/libtorch-${TITAN_TORCH_PIN}")
set(titan_cuda_folders "${home}/nvidia/cu13/lib")
if(NOT TITAN_TORCH_DIR)
  set(TITAN_TORCH_DIR "${home}/torch")
endif()
# The installed engine finds libtorch where the build found it.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
