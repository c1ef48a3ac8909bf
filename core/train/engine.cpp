#include "core/config/engine.hpp"

#include <string_view>

#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "core/tensor/interface.hpp"
#include "core/tensor/memory_interface.hpp"
#include "core/train/control.hpp"
#include "core/train/layouts/compare_layouts.hpp"
#include "core/train/pipeline/plan_pipeline.hpp"
#include "core/train/ranks/try_layout.hpp"
#include "core/train/rehearsal/rehearse.hpp"
#include "core/train/session.hpp"

namespace titan::train {
namespace {

void attach(LogSink sink, BreadcrumbSource breadcrumbs) {
  set_log_sink(sink);
  set_breadcrumb_source(breadcrumbs);
}

const void* get_interface(titan_string id) {
  const std::string_view name = id.data == nullptr ? std::string_view() : std::string_view(id.data, id.size);
  if (name == TITAN_TENSOR_V1) return tensor::tensor_interface();
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  if (name == TITAN_COLLECTIVE_V1) return comm::collective_interface();
  if (name == TITAN_CONTROL_V1) return control_interface();
  if (name == TITAN_MEMORY_V1) return tensor::memory_interface();
  return nullptr;
}

constexpr Engine kEngine = {sizeof(Engine), kBuildId,    &attach,          &get_interface, &train,
                            &block_names,   &try_layout, &compare_layouts, &rehearse};

}  // namespace
}  // namespace titan::train

extern "C" __attribute__((visibility("default"))) const titan::Engine* titan_engine_query_v1() {
  return &titan::train::kEngine;
}
