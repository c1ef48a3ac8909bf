# Installs the SDK into a scratch prefix, copies an example away from the tree, and builds it there as anybody would.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/prefix" --component sdk)
file(COPY "${EXAMPLE}/" DESTINATION "${SCRATCH}/project")
run("${CMAKE_COMMAND}" -S "${SCRATCH}/project" -B "${SCRATCH}/build" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix" "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  "-DTITAN_TORCH_DIR=${TORCH}" --no-warn-unused-cli)
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build")
run("${CMAKE_COMMAND}" --install "${SCRATCH}/build" --prefix "${SCRATCH}/installed")

file(GLOB built "${SCRATCH}/build/lib/titan/plugins/*.so")
file(GLOB installed RELATIVE "${SCRATCH}/installed/lib/titan/plugins" "${SCRATCH}/installed/lib/titan/plugins/*")
list(LENGTH built count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "expected one plugin in ${SCRATCH}/build/lib/titan/plugins, found: ${built}")
endif()
cmake_path(GET built STEM name)
if(NOT installed STREQUAL "${name}.so;${name}.titan.json")
  message(FATAL_ERROR "expected ${name}.so and its manifest to be installed, found: ${installed}")
endif()

# Installing must not change the library: the manifest states its hash.
file(SHA256 "${built}" hash_built)
file(SHA256 "${SCRATCH}/installed/lib/titan/plugins/${name}.so" hash_installed)
if(NOT hash_built STREQUAL hash_installed)
  message(FATAL_ERROR "installing changed ${name}.so: its manifest no longer describes it")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
