#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/randn_like.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/compare.hpp"
#include "tests/support/leaf_tree.hpp"

namespace titan::testing {

/// Runs the leaf on inputs of `type` and in fp64, where it is composed of libtorch's operators; compares outputs and
/// the gradients of inputs and parameters.
inline void expect_close_to_fp64(const std::string& kind, const std::map<std::string, nn::Attribute>& attributes,
                                 const LeafTree::Parameters& parameters, const nn::Tensors& inputs,
                                 std::uint32_t num_outputs, at::ScalarType type, double tolerance) {
  const auto run = [&](at::ScalarType as, const nn::Tensors& grads) {
    LeafTree::Parameters cast;
    for (const auto& [name, value] : parameters) cast.emplace_back(name, value.to(type).to(as));
    LeafTree leaf(kind, attributes, cast);
    nn::Tensors in, results;
    for (const auto& input : inputs) {
      in.push_back(input.is_floating_point() ? input.detach().to(type).to(as).requires_grad_(true) : input);
    }
    const auto outputs = leaf(in, num_outputs);
    at::Tensor total = outputs[0].mul(grads[0].to(as)).sum();
    for (std::size_t i = 1; i < outputs.size(); ++i) total = total.add(outputs[i].mul(grads[i].to(as)).sum());
    total.backward();
    results = outputs;
    for (const auto& input : in) {
      if (input.is_floating_point()) results.push_back(input.grad());
    }
    for (const auto& [name, value] : parameters) results.push_back(leaf.gradient(name));
    return results;
  };
  LeafTree probe(kind, attributes, parameters);
  nn::Tensors grads;
  for (const auto& output : probe(inputs, num_outputs)) grads.push_back(at::randn_like(output).to(type));
  const auto ours = run(type, grads), exact = run(at::kDouble, grads);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    ASSERT_TRUE(ours[i].defined()) << i;
    EXPECT_LE(relative_difference(ours[i], exact[i]), tolerance) << c10::toString(type) << ", result " << i;
  }
}

}  // namespace titan::testing
