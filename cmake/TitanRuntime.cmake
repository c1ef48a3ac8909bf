# titan_runtime: all that a run needs, and nothing of the tests: what ./run_train.sh builds.
get_property(plugins GLOBAL PROPERTY TITAN_PLUGINS)
add_custom_target(titan_runtime)
foreach(part IN ITEMS titan titan_engine titan_cuda ${plugins})
  if(TARGET ${part})
    add_dependencies(titan_runtime ${part})
  endif()
endforeach()
