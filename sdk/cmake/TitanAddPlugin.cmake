# titan_add_plugin(NAME SOURCES file... [TIER stable|torch] [LINK target...] [FOLDER dir] [NO_MANIFEST])
#
# Builds NAME.so, a plugin as titan expects it, and NAME.titan.json, its manifest, in lib/titan/plugins of the build
# tree; `install` puts both into lib/titan/plugins. The target is called NAME.
#   TIER torch   links libtorch (titan::torch must exist: find_package(titan COMPONENTS torch))
#   LINK         further libraries, linked privately
#   FOLDER       another output folder; such a plugin is not installed
#   NO_MANIFEST  for a plugin that cannot be described at build time: titan opens it to see what it is
include_guard(GLOBAL)

set(TITAN_PLUGIN_EXPORTS "${CMAKE_CURRENT_LIST_DIR}/titan_plugin.map" CACHE INTERNAL "Version script of every plugin")

function(titan_add_plugin name)
  cmake_parse_arguments(arg "NO_MANIFEST" "TIER;FOLDER" "SOURCES;LINK" ${ARGN})
  if(NOT name MATCHES "^[a-z0-9_]+$")
    message(FATAL_ERROR "titan_add_plugin: a plugin's name has small letters, digits and underscores: ${name}")
  endif()
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "titan_add_plugin(${name}): expected SOURCES, got unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIER)
    set(arg_TIER stable)
  endif()

  add_library(${name} MODULE ${arg_SOURCES})
  _titan_plugin_tier(${name} ${arg_TIER})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  _titan_plugin_link(${name})
  _titan_plugin_place(${name} "${arg_FOLDER}")
  if(NOT arg_NO_MANIFEST)
    _titan_plugin_manifest(${name})
  endif()
  if(NOT arg_FOLDER)
    set_property(GLOBAL APPEND PROPERTY TITAN_PLUGINS ${name})
    _titan_plugin_install(${name} "${arg_NO_MANIFEST}")
  endif()
endfunction()

function(_titan_plugin_tier name tier)
  if(tier STREQUAL "stable")
    target_link_libraries(${name} PRIVATE titan::sdk)
  elseif(tier STREQUAL "torch")
    if(NOT TARGET titan::torch)
      message(FATAL_ERROR "titan_add_plugin(${name} TIER torch): no libtorch: use find_package(titan COMPONENTS torch)")
    endif()
    target_link_libraries(${name} PRIVATE titan::torch)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "${TITAN_TORCH_DIR}/lib")
  else()
    message(FATAL_ERROR "titan_add_plugin(${name}): TIER is stable or torch, not ${tier}")
  endif()
endfunction()

function(_titan_plugin_link name)
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so"
    POSITION_INDEPENDENT_CODE ON
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    # The library must not change after its manifest was written: no new run path at installation.
    BUILD_WITH_INSTALL_RPATH ON
    LINK_DEPENDS "${TITAN_PLUGIN_EXPORTS}")
  target_link_options(${name} PRIVATE
    "-Wl,--version-script=${TITAN_PLUGIN_EXPORTS}" "-Wl,--exclude-libs,ALL" "-Wl,-z,nodelete")
  # Clang leaves a sanitizer's symbols to the program, so that nothing may be undefined only holds without one.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(NOT "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE "-Wl,-z,defs")
  endif()
endfunction()

function(_titan_plugin_place name folder)
  if(NOT folder)
    set(folder "${TITAN_PLUGIN_DIRECTORY}")
  endif()
  if(NOT folder)
    set(folder "${CMAKE_BINARY_DIR}/lib/titan/plugins")
  endif()
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "$<1:${folder}>" TITAN_MANIFEST "${folder}/${name}.titan.json")
endfunction()

function(_titan_plugin_manifest name)
  get_target_property(manifest ${name} TITAN_MANIFEST)
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND titan::manifest_tool "$<TARGET_FILE:${name}>" "${manifest}"
    BYPRODUCTS "${manifest}"
    COMMENT "Describing plugin ${name}"
    VERBATIM)
  # A new tool writes the manifest anew.
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "$<TARGET_FILE:titan::manifest_tool>")
  add_dependencies(${name} titan::manifest_tool)
endfunction()

# The folder is fixed: titan looks beside its own bin/ for it.
function(_titan_plugin_install name no_manifest)
  install(TARGETS ${name} LIBRARY DESTINATION lib/titan/plugins COMPONENT plugins)
  if(NOT no_manifest)
    get_target_property(manifest ${name} TITAN_MANIFEST)
    install(FILES "${manifest}" DESTINATION lib/titan/plugins COMPONENT plugins)
  endif()
endfunction()
