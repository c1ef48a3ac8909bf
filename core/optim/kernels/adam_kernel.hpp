#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace titan::optim::kernels {

/// What one step of Adam multiplies by, worked out in fp64. With g = gradient_scale * gradient (Adam: + weight_decay *
/// parameter), the moments m and v follow g and g * g, and
///   parameter = decay * parameter - step_size * m / (sqrt(v) * inverse_correction + eps).
struct AdamFactors {
  float gradient_scale = 1;
  float weight_decay = 0;  // of Adam: added to the gradient
  float decay = 1;         // of AdamW: 1 - lr * weight decay
  float keep_avg = 0;      // 1 - beta1: the share of the new gradient
  float beta2 = 0;
  float keep_square = 0;  // 1 - beta2
  float step_size = 0;    // lr / (1 - beta1^step)
  float inverse_correction = 1;
  float eps = 0;
};

/// `count` elements of one parameter. `copy`, the same values in the other dtype, is written along; null: there is
/// none.
template <class Storage, class Gradient, class Copy>
struct AdamSlice {
  Storage* parameter;
  const Gradient* gradient;
  Storage* exp_avg;
  Storage* exp_avg_sq;
  Copy* copy;
  std::int64_t count;
};

/// Updates parameter and moments in place, in fp32. No two arrays overlap.
void adam(const AdamFactors& factors, const AdamSlice<float, float, c10::BFloat16>& slice);
void adam(const AdamFactors& factors, const AdamSlice<float, c10::BFloat16, c10::BFloat16>& slice);
void adam(const AdamFactors& factors, const AdamSlice<c10::BFloat16, float, float>& slice);
void adam(const AdamFactors& factors, const AdamSlice<c10::BFloat16, c10::BFloat16, float>& slice);

}  // namespace titan::optim::kernels
