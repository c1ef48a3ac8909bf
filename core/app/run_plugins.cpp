#include "core/app/run_plugins.hpp"

#include "core/app/required_interface.hpp"
#include "core/app/signals.hpp"
#include "titan/abi/model.h"
#include "titan/abi/observer.h"

namespace titan::app {
namespace {

/// The host's own observer: it learns when training begins.
const titan_observer_v1& host_observer() {
  static const titan_observer_v1 table{
      .struct_size = sizeof(titan_observer_v1),
      .events = TITAN_EVENT_RUN_BEGIN,
      .run_begin = [](void*, const titan_run_event*) -> titan_error* {
        begin_training();
        return nullptr;
      },
      .step_end = nullptr,
      .validation = nullptr,
      .run_end = nullptr,
  };
  return table;
}

}  // namespace

RunPlugins::RunPlugins(const Session& session, const plugin::HostServices& services)
    : session_(session), services_(services), core_host_(services) {}

EngineRun RunPlugins::start() {
  EngineRun run;
  run.config = services_.config;
  run.host = core_host_.get();
  run.stop = &stop_flag();
  const plugin::Plugin& model = session_.plugins().find_model(services_.config->module());
  const plugin::Instance& model_instance = load(model);
  run.model = required_interface<titan_model_v1>(model_instance, TITAN_MODEL_V1);
  run.observers.push_back({"titan", nullptr, &host_observer()});
  for (const plugin::Plugin* observer : session_.plugins().providing(TITAN_OBSERVER_V1)) {
    const plugin::Instance& instance = observer == &model ? model_instance : load(*observer);
    run.observers.push_back(required_interface<titan_observer_v1>(instance, TITAN_OBSERVER_V1));
  }
  return run;
}

const plugin::Instance& RunPlugins::load(const plugin::Plugin& plugin) {
  stop_flag().check();
  instances_.push_back(session_.plugins().load(plugin, services_));
  return *instances_.back();
}

}  // namespace titan::app
