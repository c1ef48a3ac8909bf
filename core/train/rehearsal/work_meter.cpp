#include "core/train/rehearsal/work_meter.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

constexpr std::string_view kKept = "activation_checkpoint::kept";

thread_local WorkMeter* current = nullptr;

using Inputs = c10::ArrayRef<const c10::IValue>;

double product(at::IntArrayRef sizes) {
  double elements = 1;
  for (const std::int64_t size : sizes) elements *= static_cast<double>(size);
  return elements;
}

/// a [..., m, k] times b [..., k, n].
double product_flops(const at::Tensor& a, const at::Tensor& b) {
  return 2 * product(a.sizes()) * static_cast<double>(b.size(-1));
}

/// Products of queries [B, N, L, H] with keys [B, K, S, H] that `count` matrix products of attention make.
double attention_flops(const at::Tensor& query, const at::Tensor& key, double count) {
  return count * 2 * product(query.sizes()) * static_cast<double>(key.size(2));
}

struct Formula {
  std::string_view op;
  double (*flops)(Inputs inputs);
};

constexpr std::array kFormulas = {
    Formula{"aten::mm", [](Inputs in) { return product_flops(in[0].toTensor(), in[1].toTensor()); }},
    Formula{"aten::addmm", [](Inputs in) { return product_flops(in[1].toTensor(), in[2].toTensor()); }},
    Formula{"aten::bmm", [](Inputs in) { return product_flops(in[0].toTensor(), in[1].toTensor()); }},
    Formula{"aten::baddbmm", [](Inputs in) { return product_flops(in[1].toTensor(), in[2].toTensor()); }},
    Formula{"aten::_grouped_mm",
            [](Inputs in) {
              return 2 * product(in[0].toTensor().sizes()) * static_cast<double>(in[1].toTensor().size(-1));
            }},
    Formula{"aten::_scaled_dot_product_flash_attention_for_cpu",
            [](Inputs in) { return attention_flops(in[0].toTensor(), in[1].toTensor(), 2); }},
    Formula{"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
            [](Inputs in) { return attention_flops(in[1].toTensor(), in[2].toTensor(), 5); }},
    Formula{"titan::flash_attention", [](Inputs in) { return attention_flops(in[0].toTensor(), in[1].toTensor(), 2); }},
    Formula{"titan::flash_attention_backward",
            [](Inputs in) { return attention_flops(in[1].toTensor(), in[2].toTensor(), 5); }},
};

WorkMeter::Scope scope_of(std::string_view name, WorkMeter::Scope outer) {
  if (name.starts_with("communication::all_gather")) return WorkMeter::Scope::gather;
  if (name.starts_with("communication::")) return WorkMeter::Scope::communication;
  if (name.starts_with("optimizer::")) return WorkMeter::Scope::optimizer;
  return outer;
}

}  // namespace

struct MeterCallbacks {
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    WorkMeter& meter = *current;
    if (function.scope() == at::RecordScope::USER_SCOPE) {
      // The operator that was called last has not run: what it gave before was put in its place.
      if (std::string_view(function.name()) == kKept) meter.flops_ -= std::exchange(meter.last_flops_, 0);
      meter.scopes_.push_back(scope_of(function.name(), meter.scope()));
      return nullptr;
    }
    ++meter.num_operators_;
    const std::string_view name = function.name();
    const auto* formula =
        std::find_if(kFormulas.begin(), kFormulas.end(), [&](const Formula& f) { return f.op == name; });
    meter.last_flops_ = formula != kFormulas.end() ? formula->flops(function.inputs()) : 0;
    meter.flops_ += meter.last_flops_;
    return nullptr;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext*) {
    if (function.scope() == at::RecordScope::USER_SCOPE) current->scopes_.pop_back();
  }
};

WorkMeter::WorkMeter() {
  TITAN_CHECK(current == nullptr, "[rehearsal] a thread has a meter already");
  current = this;
  handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&MeterCallbacks::begin, &MeterCallbacks::end)
                                           .needsInputs(true)
                                           .scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
}

WorkMeter::~WorkMeter() {
  at::removeCallback(handle_);
  current = nullptr;
}

}  // namespace titan::train
