#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/nn/tree.hpp"
#include "core/tensor/guard.hpp"
#include "tests/support/declare.hpp"
#include "tests/support/error_text.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using titan::testing::declare;
using titan::testing::error_text;

titan_string text(std::string_view value) { return {value.data(), value.size()}; }
std::string read(titan_string value) {
  return value.data == nullptr ? "(absent)" : std::string(value.data, value.size);
}

/// A callback made of a C++ function, as the SDK makes them.
using Body =
    std::function<titan_error*(titan_frame*, const titan_tensor*, std::uint32_t, titan_tensor*, std::uint32_t)>;
titan_error* run_body(void* self, titan_frame* frame, const titan_tensor* in, std::uint32_t num_in, titan_tensor* out,
                      std::uint32_t num_out) {
  return (*static_cast<Body*>(self))(frame, in, num_in, out, num_out);
}

class TreeTable : public ::testing::Test {
 protected:
  titan_tree* handle() { return reinterpret_cast<titan_tree*>(&tree_); }

  titan_module custom(titan_module parent, std::string_view name, Body body) {
    bodies_.push_back(std::make_unique<Body>(std::move(body)));
    titan_module made = 0;
    EXPECT_EQ(
        error_text(table_.add_custom(handle(), parent, text(name), run_body, bodies_.back().get(), nullptr, &made)),
        "");
    return made;
  }

  /// The text of the error that a call of the module ends in.
  std::string call_error(titan_module module, std::uint32_t num_out = 1) {
    try {
      tree_.call(module, {at::ones({2})}, nullptr, num_out);
    } catch (const Error& error) {
      exit_ = error.exit();
      return error.what();
    }
    return {};
  }

  const titan_tree_v1& table_ = *tree_interface();
  std::vector<std::unique_ptr<Body>> bodies_;
  Tree tree_;
  Exit exit_ = Exit::done;
};

TEST_F(TreeTable, AttributesArriveAndAreChecked) {
  const auto add = [&](std::vector<titan_attribute> attributes) {
    titan_module made = 0;
    return error_text(table_.add_leaf(handle(), TITAN_MODULE_ROOT, text("norm"), text("titan.rms_norm"),
                                      attributes.data(), static_cast<std::uint32_t>(attributes.size()), &made));
  };
  const titan_attribute eps{text("eps"), TITAN_ATTRIBUTE_FLOAT, 0, 0, 1e-5, {}};
  const titan_attribute extra{text("epz"), TITAN_ATTRIBUTE_INT, 0, 1, 0, {}};
  const titan_attribute wrong{text("eps"), TITAN_ATTRIBUTE_STRING, 0, 0, 0, text("small")};
  const titan_attribute infinite{text("eps"), TITAN_ATTRIBUTE_FLOAT, 0, 0, INFINITY, {}};
  const titan_attribute kind{text("eps"), 9, 0, 0, 0, {}};
  EXPECT_THAT(add({}), HasSubstr("[norm] attribute is missing: eps"));
  EXPECT_THAT(add({eps, extra}), HasSubstr("[norm] unknown attribute: epz, known are: eps"));
  EXPECT_THAT(add({eps, eps}), HasSubstr("[norm] attribute is given twice: eps"));
  EXPECT_THAT(add({wrong}), HasSubstr("[norm] attribute must be a number: eps"));
  EXPECT_THAT(add({infinite}), HasSubstr("[norm] attribute must be finite: eps"));
  EXPECT_THAT(add({kind}), HasSubstr("unknown attribute kind: number 9"));
  EXPECT_EQ(add({eps}), "");
}

TEST_F(TreeTable, NullPointersAreErrors) {
  titan_module made = 0;
  const titan_parameter parameter = declare("weight", {1, 1});
  EXPECT_NE(error_text(table_.add_leaf(nullptr, 0, text("a"), text("titan.linear"), nullptr, 0, &made)), "");
  EXPECT_NE(error_text(table_.add_leaf(handle(), 0, {nullptr, 3}, text("titan.linear"), nullptr, 0, &made)), "");
  EXPECT_NE(error_text(table_.add_leaf(handle(), 0, text("a"), text("titan.linear"), nullptr, 1, &made)), "");
  EXPECT_NE(error_text(table_.add_leaf(handle(), 0, text("a"), text("titan.linear"), nullptr, 0, nullptr)), "");
  EXPECT_NE(error_text(table_.add_custom(handle(), 0, text("a"), nullptr, nullptr, nullptr, &made)), "");
  EXPECT_NE(error_text(table_.add_parameter(nullptr, 0, &parameter)), "");
  EXPECT_NE(error_text(table_.add_parameter(handle(), 0, nullptr)), "");
  EXPECT_NE(error_text(table_.add_to_chain(nullptr, 1, 0)), "");
  EXPECT_NE(error_text(table_.set_loss(nullptr, 1)), "");
  EXPECT_NE(error_text(table_.call(nullptr, 1, nullptr, 0, nullptr, 0)), "");
  EXPECT_NE(error_text(table_.next(nullptr, {}, nullptr, 0, nullptr, 0)), "");
  EXPECT_NE(error_text(table_.attach(handle(), 0, 0, nullptr, nullptr, nullptr)), "");
  EXPECT_NE(error_text(table_.parameter(handle(), 0, 0, nullptr)), "");
  EXPECT_EQ(tree_.num_modules(), 1U);
}

TEST_F(TreeTable, WalkingAnswersForModulesThatDoNotExist) {
  EXPECT_EQ(table_.num_modules(nullptr), 0U);
  EXPECT_EQ(read(table_.module_name(handle(), 9)), "(absent)");
  EXPECT_EQ(read(table_.module_kind(handle(), 9)), "(absent)");
  EXPECT_EQ(table_.module_parent(handle(), 9), TITAN_MODULE_ROOT);
  EXPECT_EQ(table_.num_parameters(handle(), 9), 0U);
  EXPECT_EQ(table_.chain_size(handle()), 0U);
  EXPECT_EQ(table_.chain_block(handle(), 3), TITAN_MODULE_ROOT);
  EXPECT_EQ(table_.frame_module(nullptr), TITAN_MODULE_ROOT);
}

TEST_F(TreeTable, WalkingTellsWhatWasDeclared) {
  const titan_module leaf = tree_.add_leaf(TITAN_MODULE_ROOT, "layers.3.wq", "titan.linear", {});
  const std::vector<std::int64_t> shape = {4, 6};
  titan_parameter declared = declare("weight", shape);
  declared.split = TITAN_SPLIT_COLUMN;
  declared.init = TITAN_INIT_NORMAL;
  declared.std = 0.25;
  ASSERT_EQ(error_text(table_.add_parameter(handle(), leaf, &declared)), "");
  ASSERT_EQ(error_text(table_.add_to_chain(handle(), leaf, 0)), "");
  EXPECT_EQ(table_.num_modules(handle()), 2U);
  EXPECT_EQ(read(table_.module_name(handle(), leaf)), "layers.3.wq");
  EXPECT_EQ(read(table_.module_kind(handle(), leaf)), "titan.linear");
  EXPECT_EQ(table_.num_parameters(handle(), leaf), 1U);
  EXPECT_EQ(table_.chain_size(handle()), 1U);
  EXPECT_EQ(table_.chain_block(handle(), 0), leaf);
  titan_parameter found{};
  found.struct_size = sizeof found;
  ASSERT_EQ(error_text(table_.parameter(handle(), leaf, 0, &found)), "");
  EXPECT_EQ(read(found.name), "weight");
  EXPECT_EQ(found.shape[1], 6);
  EXPECT_EQ(found.split, TITAN_SPLIT_COLUMN);
  EXPECT_EQ(found.std, 0.25);
  EXPECT_THAT(error_text(table_.parameter(handle(), leaf, 1, &found)), HasSubstr("no such parameter: number 1"));
}

TEST_F(TreeTable, StructSizesAreRespected) {
  const titan_module leaf = tree_.add_leaf(TITAN_MODULE_ROOT, "a", "titan.linear", {});
  const std::vector<std::int64_t> shape = {1, 1};
  titan_parameter parameter = declare("weight", shape);
  parameter.struct_size = offsetof(titan_parameter, std);
  EXPECT_THAT(error_text(table_.add_parameter(handle(), leaf, &parameter)), HasSubstr("shorter"));
  parameter.struct_size = sizeof parameter + 64;
  EXPECT_EQ(error_text(table_.add_parameter(handle(), leaf, &parameter)), "");
  titan_parameter found{};
  found.struct_size = offsetof(titan_parameter, value);
  found.value = found.std = 77;
  ASSERT_EQ(error_text(table_.parameter(handle(), leaf, 0, &found)), "");
  EXPECT_EQ(found.num_dims, 2U);
  EXPECT_EQ(found.value, 77);
  EXPECT_EQ(found.std, 77);
}

TEST_F(TreeTable, CallsReachChildrenOnly) {
  titan_module outer = 0, other = 0, inner = 0, asked = 0;
  std::string error;
  outer = custom(
      TITAN_MODULE_ROOT, "outer",
      [&](titan_frame* frame, const titan_tensor* in, std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) {
        EXPECT_EQ(table_.frame_module(frame), outer);
        return table_.call(frame, asked, in, num_in, out, num_out);
      });
  const auto plus_one = [](titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
    out[0] = handle::release(handle::borrow(in[0]) + 1);
    return static_cast<titan_error*>(nullptr);
  };
  inner = custom(outer, "inner", plus_one);
  other = custom(TITAN_MODULE_ROOT, "other", plus_one);
  asked = inner;
  EXPECT_EQ(tree_.call(outer, {at::ones({1})}).front().item<float>(), 2.0F);
  asked = outer;
  EXPECT_THAT(call_error(outer), HasSubstr("[outer] can call only modules below it: asked for outer"));
  asked = other;
  EXPECT_THAT(call_error(outer), HasSubstr("asked for other"));
  asked = 99;
  EXPECT_THAT(call_error(outer), HasSubstr("no such module: number 99"));
}

TEST_F(TreeTable, CallChecksInputsAndOutputs) {
  titan_module outer = 0, leaf = 0;
  std::vector<std::string> errors;
  outer = custom(TITAN_MODULE_ROOT, "outer",
                 [&](titan_frame* frame, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
                   const titan_tensor null = nullptr, two[] = {in[0], in[0]};
                   titan_tensor outs[2] = {nullptr, nullptr};
                   errors.push_back(error_text(table_.call(frame, leaf, nullptr, 1, outs, 1)));
                   errors.push_back(error_text(table_.call(frame, leaf, &null, 1, outs, 1)));
                   errors.push_back(error_text(table_.call(frame, leaf, two, 2, nullptr, 1)));
                   errors.push_back(error_text(table_.call(frame, leaf, in, 1, outs, 1)));
                   errors.push_back(error_text(table_.call(frame, leaf, two, 2, outs, 2)));
                   EXPECT_EQ(outs[0], nullptr);
                   return table_.call(frame, leaf, two, 2, out, 1);
                 });
  leaf = tree_.add_leaf(outer, "act", "titan.swiglu", {});
  EXPECT_EQ(call_error(outer), "");
  ASSERT_EQ(errors.size(), 5U);
  EXPECT_THAT(errors[0], HasSubstr("NULL: in"));
  EXPECT_THAT(errors[1], HasSubstr("[outer.act] an input is NULL: number 0"));
  EXPECT_THAT(errors[2], HasSubstr("NULL: out"));
  EXPECT_THAT(errors[3], HasSubstr("[outer.act] wrong number of inputs: takes 2, given 1"));
  EXPECT_THAT(errors[4], HasSubstr("[outer.act] wrong number of outputs: gives 1, asked for 2"));
}

TEST_F(TreeTable, ErrorsKeepTheirCodeAndNameTheInnermostModule) {
  titan_module outer = 0, inner = 0;
  outer = custom(TITAN_MODULE_ROOT, "layers.0",
                 [&](titan_frame* frame, const titan_tensor* in, std::uint32_t num_in, titan_tensor* out,
                     std::uint32_t num_out) { return table_.call(frame, inner, in, num_in, out, num_out); });
  inner =
      custom(outer, "attention", [](titan_frame*, const titan_tensor*, std::uint32_t, titan_tensor*, std::uint32_t) {
        return new_abi_error(TITAN_ERROR_CONFIG, "head dim must be even: 7");
      });
  EXPECT_EQ(call_error(outer), "[layers.0.attention] head dim must be even: 7");
  EXPECT_EQ(exit_, Exit::config);
  const titan_module odd = custom(TITAN_MODULE_ROOT, "odd", [](auto&&...) { return new_abi_error(4711, "hm"); });
  EXPECT_EQ(call_error(odd), "[odd] hm");
  EXPECT_EQ(exit_, Exit::internal);
}

TEST_F(TreeTable, BrokenCallbacksAreErrors) {
  const titan_module throwing =
      custom(TITAN_MODULE_ROOT, "throwing", [](auto&&...) -> titan_error* { throw std::runtime_error("oh no"); });
  EXPECT_EQ(call_error(throwing), "[throwing] a C++ exception crossed the plugin boundary: oh no");
  const titan_module odd = custom(TITAN_MODULE_ROOT, "odd", [](auto&&...) -> titan_error* { throw 7; });
  EXPECT_EQ(call_error(odd), "[odd] a C++ exception crossed the plugin boundary");
  const titan_module lazy = custom(TITAN_MODULE_ROOT, "lazy", [](auto&&...) -> titan_error* { return nullptr; });
  EXPECT_EQ(call_error(lazy), "[lazy] the callback left an output unset: number 0");
  EXPECT_EQ(exit_, Exit::internal);
}

TEST_F(TreeTable, NextRunsWithoutAFrameAfterItsCall) {
  struct Kept {
    const titan_tree_v1* table;
    titan_next next{};
  } kept{&table_};
  const titan_around_fn around = [](void* self, titan_frame* frame, titan_next next, const titan_tensor* in,
                                    std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) {
    auto& state = *static_cast<Kept*>(self);
    state.next = next;
    return state.table->next(frame, next, in, num_in, out, num_out);
  };
  // Calls a module below it, as blocks do: the frame must serve as a caller.
  const titan_module module =
      custom(TITAN_MODULE_ROOT, "m",
             [&](titan_frame* frame, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
               EXPECT_EQ(table_.frame_module(frame), tree_.num_modules() - 2);
               return table_.call(frame, static_cast<titan_module>(tree_.num_modules() - 1), in, 1, out, 1);
             });
  custom(module, "inner", [](titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
    out[0] = handle::release(handle::borrow(in[0]) * 3);
    return static_cast<titan_error*>(nullptr);
  });
  ASSERT_EQ(error_text(table_.attach(handle(), module, 5, around, &kept, nullptr)), "");
  EXPECT_EQ(tree_.call(module, {at::ones({1})}).front().item<float>(), 3.0F);
  const at::Tensor two = at::ones({1}) * 2;
  const titan_tensor in = handle::lend(two);
  titan_tensor out = nullptr;
  ASSERT_EQ(error_text(table_.next(nullptr, kept.next, &in, 1, &out, 1)), "");
  EXPECT_EQ(handle::own(out).item<float>(), 6.0F);
}

TEST_F(TreeTable, InterceptorsRunAroundAndAreFreed) {
  struct Seen {
    const titan_tree_v1* table;
    int calls = 0, freed = 0;
  } seen{&table_};
  const titan_around_fn around = [](void* self, titan_frame* frame, titan_next next, const titan_tensor* in,
                                    std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) {
    auto& state = *static_cast<Seen*>(self);
    ++state.calls;
    titan_next elsewhere = next;
    elsewhere.module += 1;
    EXPECT_THAT(error_text(state.table->next(frame, elsewhere, in, num_in, out, num_out)),
                HasSubstr("next belongs to another call"));
    titan_tensor once = nullptr;
    if (titan_error* error = state.table->next(frame, next, in, num_in, &once, 1)) return error;
    const at::Tensor kept = handle::own(once);
    const titan_tensor again = handle::lend(kept);
    return state.table->next(frame, next, &again, 1, out, num_out);
  };
  {
    Tree tree;
    auto* const owner = reinterpret_cast<titan_tree*>(&tree);
    Body triple = [](titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
      out[0] = handle::release(handle::borrow(in[0]) * 3);
      return static_cast<titan_error*>(nullptr);
    };
    const ModuleId module = tree.add_custom(TITAN_MODULE_ROOT, "m", run_body, &triple, nullptr);
    const auto destroy = [](void* self) { ++static_cast<Seen*>(self)->freed; };
    ASSERT_EQ(error_text(table_.attach(owner, module, 5, around, &seen, destroy)), "");
    EXPECT_NE(error_text(table_.attach(owner, 99, 5, around, &seen, destroy)), "");
    EXPECT_EQ(seen.freed, 0) << "a refused interceptor stays the caller's";
    EXPECT_EQ(tree.call(module, {at::ones({1})}).front().item<float>(), 9.0F);
  }
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.freed, 1);
}

TEST_F(TreeTable, DeclaredInterceptorsRunAndUnknownBitsAreRefused) {
  static int calls;
  calls = 0;
  const titan_around_fn around = [](void* table, titan_frame* frame, titan_next next, const titan_tensor* in,
                                    std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) {
    ++calls;
    return static_cast<const titan_tree_v1*>(table)->next(frame, next, in, num_in, out, num_out);
  };
  auto* const table = const_cast<titan_tree_v1*>(&table_);
  const titan_module module =
      custom(0, "m", [](titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
        out[0] = handle::release(at::Tensor(handle::borrow(in[0])));
        return static_cast<titan_error*>(nullptr);
      });
  const auto attach = [&](titan_module id, std::uint32_t declared, titan_around_fn body) {
    return error_text(table_.attach_declared(handle(), id, 0, declared, body, table, nullptr));
  };
  for (const std::uint32_t declared : {0U, 1U, 2U, 3U}) EXPECT_EQ(attach(module, declared, around), "") << declared;
  EXPECT_THAT(attach(module, 4, around), HasSubstr("[m] unknown bits in what an interceptor declares: 4"));
  EXPECT_THAT(attach(module, 0, nullptr), HasSubstr("around"));
  EXPECT_THAT(attach(TITAN_MODULE_ROOT, 1, around), HasSubstr("the root is never called"));
  EXPECT_NE(attach(99, 1, around), "");
  EXPECT_NE(error_text(table_.attach_declared(nullptr, module, 0, 1, around, table, nullptr)), "");
  tree_.call(module, {at::ones({1})});
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace titan::nn
