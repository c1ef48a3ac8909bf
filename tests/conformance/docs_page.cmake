# Takes the code of docs/plugins.md, builds it as an outside project, checks the plugin, and trains it where there is an
# engine. A block opened by "```LANGUAGE file=NAME" belongs to the file NAME; blocks of one file follow each other.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${SOURCE}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

function(extract file)
  execute_process(
    COMMAND awk -v "file=${file}" [[
      $0 ~ "^```[a-z]+ file=" file "$" { inside = 1; next }
      /^```$/ { inside = 0 }
      inside { print }]] "${SOURCE}/docs/plugins.md"
    OUTPUT_FILE "${SCRATCH}/project/${file}" COMMAND_ERROR_IS_FATAL ANY)
  file(SIZE "${SCRATCH}/project/${file}" size)
  if(size EQUAL 0)
    message(FATAL_ERROR "docs/plugins.md has no code of ${file}")
  endif()
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/project")
extract(CMakeLists.txt)
extract(tiny_lm.cpp)
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/prefix" --component sdk)
run("${CMAKE_COMMAND}" -S "${SCRATCH}/project" -B "${SCRATCH}/build" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix" "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"
  "-DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build")

set(plugin "${SCRATCH}/build/lib/titan/plugins/tiny_lm.so")
run("${TITAN}" plugin check "${plugin}")
if(TRAIN)
  file(COPY_FILE "${SOURCE}/docs/plugins.md" "${SCRATCH}/page.txt")
  run("${TITAN}" --plugin "${plugin}" --module tiny_lm --config tiny_lm_debugmodel
    --training.steps 2 --dataloader.dataset_path "${SCRATCH}/page.txt" --dump_folder "${SCRATCH}/outputs")
  if(NOT EXISTS "${SCRATCH}/outputs/metrics.jsonl")
    message(FATAL_ERROR "the run wrote no metrics")
  endif()
endif()
file(REMOVE_RECURSE "${SCRATCH}")
