#include "core/optim/adam_pass.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/optim/kernels/adam_kernel.hpp"
#include "core/tensor/kernel_choice.hpp"
#include "core/tensor/parallel.hpp"
#include "core/tensor/values.hpp"

namespace titan::optim {
namespace {

// Parameters are cut at multiples of this, whatever the number of threads.
constexpr std::int64_t kSlice = 1 << 14;
// Elements that one thread should get at least, so that it has work for some 10 us.
constexpr std::int64_t kGrain = 1 << 15;

/// One parameter of the step: where its arrays begin.
struct Member {
  kernels::AdamFactors factors;
  bool has_float_storage, has_float_gradient;
  void *parameter, *exp_avg, *exp_avg_sq, *copy;
  const void* gradient;
};

struct Slice {
  std::size_t member;
  std::int64_t begin, count;
};

bool has_type(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16;
}

/// The compute form that the host keeps beside storage; undefined where there is none.
at::Tensor kept_copy(const nn::Parameter& parameter) {
  const bool is_kept = (parameter.owned_forms & TITAN_OWN_COMPUTE) == 0 && parameter.compute.defined() &&
                       !parameter.compute.is_same(parameter.storage);
  return is_kept ? parameter.compute : at::Tensor();
}

bool takes(const nn::Parameter& parameter) {
  const at::Tensor &storage = parameter.storage, copy = kept_copy(parameter);
  if (!has_type(storage) || !storage.is_contiguous()) return false;
  if (!storage.is_cpu() && tensor::has_values(storage)) return false;
  return !copy.defined() || (has_type(copy) && copy.scalar_type() != storage.scalar_type() && copy.is_contiguous());
}

kernels::AdamFactors factors_of(const AdamOptions& o, const AdamStep& given, double step) {
  const double lr = o.lr * given.lr_factor;
  const bool is_decoupled = o.algorithm == Algorithm::adamw;
  kernels::AdamFactors factors;
  factors.gradient_scale = static_cast<float>(given.gradient_scale);
  factors.weight_decay = is_decoupled ? 0.0F : static_cast<float>(o.weight_decay);
  factors.decay = is_decoupled ? static_cast<float>(1 - lr * o.weight_decay) : 1.0F;
  factors.keep_avg = static_cast<float>(1 - o.beta1);
  factors.beta2 = static_cast<float>(o.beta2);
  factors.keep_square = static_cast<float>(1 - o.beta2);
  factors.step_size = static_cast<float>(lr / (1 - std::pow(o.beta1, step)));
  factors.inverse_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(o.beta2, step)));
  factors.eps = static_cast<float>(o.eps);
  return factors;
}

/// Tells autograd, as an operator would, that the values change.
void* written(const at::Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  tensor.unsafeGetTensorImpl()->bump_version();
  return tensor.mutable_data_ptr();
}

template <class Storage, class Copy>
void run(const Member& m, std::int64_t begin, std::int64_t count) {
  const auto at = [begin](void* array) { return static_cast<Storage*>(array) + begin; };
  Copy* copy = m.copy == nullptr ? nullptr : static_cast<Copy*>(m.copy) + begin;
  const auto step = [&](auto gradient) {
    kernels::adam(m.factors, {at(m.parameter), gradient, at(m.exp_avg), at(m.exp_avg_sq), copy, count});
  };
  if (m.has_float_gradient) {
    step(static_cast<const float*>(m.gradient) + begin);
  } else {
    step(static_cast<const at::BFloat16*>(m.gradient) + begin);
  }
}

/// The arrays of all parameters, and slices of one size of them.
class Pass {
 public:
  Pass(std::vector<AdamGroup>& groups, const AdamStep& step) : step_(step) {
    for (AdamGroup& group : groups) {
      for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        add(group.options, *group.parameters[i], group.states[i]);
      }
    }
  }

  void run_all() const {
    const auto count = static_cast<std::int64_t>(slices_.size());
    const std::int64_t grain = elements_ == 0 ? 1 : std::max<std::int64_t>(1, count * kGrain / elements_);
    tensor::parallel_for(0, count, grain, [this](std::int64_t first, std::int64_t last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        const Slice& slice = slices_[i];
        const Member& member = members_[slice.member];
        if (member.has_float_storage) {
          run<float, at::BFloat16>(member, slice.begin, slice.count);
        } else {
          run<at::BFloat16, float>(member, slice.begin, slice.count);
        }
      }
    });
  }

 private:
  void add(const AdamOptions& options, const nn::Parameter& parameter, AdamState& state) {
    TITAN_CHECK(parameter.gradient.defined(), "no gradient: ", parameter.name);
    auto& steps = *state.step.mutable_data_ptr<float>();
    steps += 1;
    if (!tensor::has_values(parameter.storage)) return;
    at::Tensor gradient = parameter.gradient.detach();
    if (!has_type(gradient)) gradient = gradient.to(parameter.storage.scalar_type());
    gradients_.push_back(gradient.contiguous());
    const at::Tensor& read = gradients_.back();
    TITAN_CHECK(read.numel() == parameter.storage.numel(), "a gradient of another size: ", parameter.name);
    cut(read.numel());
    members_.push_back({factors_of(options, step_, static_cast<double>(steps)),
                        parameter.storage.scalar_type() == at::kFloat, read.scalar_type() == at::kFloat,
                        written(parameter.storage), written(state.exp_avg), written(state.exp_avg_sq),
                        written(kept_copy(parameter)), read.const_data_ptr()});
  }

  /// Of the member that comes next.
  void cut(std::int64_t size) {
    for (std::int64_t begin = 0; begin < size; begin += kSlice) {
      slices_.push_back({members_.size(), begin, std::min(kSlice, size - begin)});
    }
    elements_ += size;
  }

  const AdamStep& step_;
  std::vector<Member> members_;
  std::vector<Slice> slices_;
  std::vector<at::Tensor> gradients_;  // kept while they are read
  std::int64_t elements_ = 0;
};

}  // namespace

bool has_adam_pass(const std::vector<AdamGroup>& groups) {
  if (!tensor::is_enabled(tensor::Kernel::adamw)) return false;
  return std::all_of(groups.begin(), groups.end(), [](const AdamGroup& group) {
    return std::all_of(group.parameters.begin(), group.parameters.end(),
                       [](const nn::Parameter* parameter) { return takes(*parameter); });
  });
}

void adam_pass(std::vector<AdamGroup>& groups, const AdamStep& step) {
  const at::NoGradGuard no_grad;
  Pass(groups, step).run_all();
}

}  // namespace titan::optim
