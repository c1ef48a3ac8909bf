# libtorch as own imported targets: titan::torch_cpu, from the folder TITAN_TORCH_DIR (find_package(Torch) of the CUDA
# wheel demands a CUDA toolkit). Installed with the SDK too; there the folder is the caller's to name.
include("${CMAKE_CURRENT_LIST_DIR}/TitanTorchLocation.cmake" OPTIONAL)
foreach(part include/ATen/ATen.h lib/libtorch_cpu.so lib/libc10.so)
  if(NOT EXISTS "${TITAN_TORCH_DIR}/${part}")
    message(FATAL_ERROR "no libtorch at '${TITAN_TORCH_DIR}': ${part} is missing. Run tools/bootstrap.sh, or set TITAN_TORCH_DIR")
  endif()
endforeach()

if(NOT COMMAND titan_torch_pin)
  include(TitanTorchPin)
endif()
titan_torch_pin("${TITAN_TORCH_DIR}" TITAN_TORCH_VERSION TITAN_TORCH_CUDA_MAJOR)
message(STATUS "libtorch ${TITAN_TORCH_VERSION}, CUDA ${TITAN_TORCH_CUDA_MAJOR}: ${TITAN_TORCH_DIR}")
if(TITAN_TORCH_PIN AND NOT TITAN_TORCH_VERSION VERSION_EQUAL TITAN_TORCH_PIN)
  message(WARNING "titan is built and tested with libtorch ${TITAN_TORCH_PIN}, this one is ${TITAN_TORCH_VERSION}")
endif()

# libtorch_cpu of a CUDA wheel needs libcudart and libcupti to load. The loader finds them in its own cache, and in
# nvidia/cu13/lib beside the wheel's torch folder; in other places it needs a path.
set(TITAN_CUDA_DIR "$ENV{TITAN_CUDA_DIR}" CACHE PATH "Where CUDA's runtime libraries are; empty: the system's")
set(cuda_root "${TITAN_CUDA_DIR}")
if(NOT cuda_root)
  set(cuda_root "/usr/local/cuda")
endif()
foreach(folder lib64 lib extras/CUPTI/lib64)
  list(APPEND titan_cuda_folders "${cuda_root}/${folder}")
endforeach()
set(torch_link_options "-Wl,--allow-shlib-undefined")
if(NOT TITAN_TORCH_CUDA_MAJOR EQUAL 0)
  foreach(name libcudart.so libcupti.so)
    foreach(folder IN LISTS titan_cuda_folders)
      if(EXISTS "${folder}/${name}.${TITAN_TORCH_CUDA_MAJOR}")
        # DT_RPATH, not DT_RUNPATH: it must also serve what libtorch_cpu asks for.
        list(APPEND torch_link_options "-Wl,--disable-new-dtags,-rpath,${folder},-rpath-link,${folder}")
        break()
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES torch_link_options)
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
  INTERFACE_LINK_OPTIONS "${torch_link_options}")
