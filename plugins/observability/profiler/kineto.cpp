#include "plugins/observability/profiler/kineto.hpp"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <exception>
#include <set>

namespace titan::observability {
namespace {

namespace profiling = torch::profiler::impl;

profiling::ProfilerConfig settings() {
  return profiling::ProfilerConfig(profiling::ProfilerState::KINETO, /*report_input_shapes=*/true);
}

std::set<profiling::ActivityType> activities(bool with_cuda) {
  std::set<profiling::ActivityType> chosen{profiling::ActivityType::CPU};
  if (with_cuda) chosen.insert(profiling::ActivityType::CUDA);
  return chosen;
}

}  // namespace

struct Kineto::Annotation {
  explicit Annotation(const std::string& name) : function(at::RecordScope::USER_SCOPE) {
    function.before(name.c_str());
  }
  at::RecordFunction function;
};

Kineto::Kineto(bool with_cuda) : with_cuda_(with_cuda) {}

Kineto::~Kineto() {
  try {
    end_step();
    if (state_ == State::prepared) start();
    if (state_ == State::recording) torch::autograd::profiler::disableProfiler();
  } catch (const std::exception&) {
    // Nobody is left to be told.
  }
}

void Kineto::prepare() {
  torch::autograd::profiler::prepareProfiler(settings(), activities(with_cuda_));
  state_ = State::prepared;
}

void Kineto::start() {
  torch::autograd::profiler::enableProfiler(settings(), activities(with_cuda_));
  state_ = State::recording;
}

void Kineto::stop(const std::filesystem::path& path) {
  end_step();
  state_ = State::idle;
  torch::autograd::profiler::disableProfiler()->save(path.string());
}

void Kineto::discard() {
  end_step();
  state_ = State::idle;
  torch::autograd::profiler::disableProfiler();
}

void Kineto::name_step(const std::string& name) {
  end_step();
  step_ = std::make_unique<Annotation>(name);
}

void Kineto::end_step() { step_.reset(); }

}  // namespace titan::observability
