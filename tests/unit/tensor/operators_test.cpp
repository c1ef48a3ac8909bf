#include "core/tensor/operators.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/tensor/interface.hpp"
#include "core/tensor/random_source.hpp"
#include "tests/support/error_text.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::tensor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using titan::testing::error_text;

titan_string text(std::string_view value) { return {value.data(), value.size()}; }

titan_op find(std::string_view name, std::string_view overload) {
  titan_op op = nullptr;
  EXPECT_EQ(error_text(tensor_interface()->op_find(text(name), text(overload), &op)), "");
  return op;
}

std::string find_error(std::string_view name, std::string_view overload) {
  titan_op op = nullptr;
  return error_text(tensor_interface()->op_find(text(name), text(overload), &op));
}

titan_value tensor(const at::Tensor& value) {
  titan_value made{TITAN_VALUE_TENSOR, 0, {}};
  made.as.tensor = handle::lend(value);
  return made;
}

titan_value number(std::int32_t kind, std::int64_t value) {
  titan_value made{kind, 0, {}};
  made.as.integer = value;
  return made;
}

titan_value floating(double value) {
  titan_value made{TITAN_VALUE_FLOAT, 0, {}};
  made.as.floating = value;
  return made;
}

titan_value ints(const std::vector<std::int64_t>& values) {
  titan_value made{TITAN_VALUE_INTS, static_cast<std::uint32_t>(values.size()), {}};
  made.as.ints = values.data();
  return made;
}

titan_value tensors(const std::vector<titan_tensor>& handles) {
  titan_value made{TITAN_VALUE_TENSORS, static_cast<std::uint32_t>(handles.size()), {}};
  made.as.tensors = handles.data();
  return made;
}

/// Calls and gives the outputs; a failed call fails the test.
std::vector<at::Tensor> call(titan_op op, const std::vector<titan_value>& args, std::uint32_t num_out = 1) {
  std::vector<titan_tensor> out(num_out, nullptr);
  EXPECT_EQ(error_text(tensor_interface()->op_call(op, args.data(), static_cast<std::uint32_t>(args.size()), out.data(),
                                                   num_out)),
            "");
  std::vector<at::Tensor> results;
  for (const titan_tensor each : out) results.push_back(handle::own(each));
  return results;
}

std::string call_error(titan_op op, const std::vector<titan_value>& args, std::uint32_t num_out = 1) {
  std::vector<titan_tensor> out(num_out, nullptr);
  std::string error = error_text(
      tensor_interface()->op_call(op, args.data(), static_cast<std::uint32_t>(args.size()), out.data(), num_out));
  for (const titan_tensor each : out) EXPECT_EQ(each, nullptr) << "an output of a failed call";
  return error;
}

TEST(Operators, CallFillsDefaults) {
  const at::Tensor sum = call(find("aten::add", "Tensor"), {tensor(at::ones({2})), tensor(at::ones({2}))}).front();
  EXPECT_TRUE(sum.equal(at::ones({2}) * 2));
}

TEST(Operators, ResultsRecordGradients) {
  const at::Tensor x = at::tensor({3.0F}).requires_grad_(true);
  call(find("aten::mul", "Tensor"), {tensor(x), tensor(x)}).front().backward();
  EXPECT_EQ(x.grad().item<float>(), 6.0F);
}

TEST(Operators, TakesEveryKindOfArgument) {
  const at::Tensor x = at::arange(6).view({2, 3});
  EXPECT_TRUE(call(find("aten::view", ""), {tensor(x), ints({3, 2})}).front().equal(x.view({3, 2})));
  EXPECT_TRUE(call(find("aten::mul", "Scalar"), {tensor(x), number(TITAN_VALUE_INT, 2)}).front().equal(x * 2));
  EXPECT_TRUE(call(find("aten::mul", "Scalar"), {tensor(x), floating(0.5)}).front().equal(x * 0.5));
  EXPECT_TRUE(call(find("aten::leaky_relu", ""), {tensor(-at::ones({1})), number(TITAN_VALUE_INT, 2)})
                  .front()
                  .equal(at::ones({1}) * -2));
  EXPECT_EQ(call(find("aten::to", "dtype"), {tensor(x), number(TITAN_VALUE_DTYPE, TITAN_BFLOAT16)}).front().dtype(),
            at::kBFloat16);
  const titan_value none{TITAN_VALUE_NONE, 0, {}}, yes = number(TITAN_VALUE_BOOL, 1);
  EXPECT_TRUE(call(find("aten::sum", "dim_IntList"), {tensor(x), ints({1}), yes, none}).front().equal(x.sum(1, true)));
  titan_value mode{TITAN_VALUE_STRING, 4, {}};
  mode.as.text = "tanh and more";
  EXPECT_TRUE(call(find("aten::gelu", ""), {tensor(at::ones({1})), mode}).front().defined());
}

TEST(Operators, ListsOfTensorsGoInAndComeOut) {
  const at::Tensor x = at::arange(4);
  const auto halves = call(find("aten::split", "Tensor"), {tensor(x), number(TITAN_VALUE_INT, 2)}, 2);
  ASSERT_EQ(halves.size(), 2U);
  const std::vector<titan_tensor> swapped = {handle::lend(halves[1]), handle::lend(halves[0])};
  EXPECT_TRUE(call(find("aten::cat", ""), {tensors(swapped)}).front().equal(at::tensor({2, 3, 0, 1}, at::kLong)));
  const at::Tensor rows = at::tensor({1}, at::kLong), square = x.view({2, 2});
  const std::vector<titan_tensor> index = {nullptr, handle::lend(rows)};
  EXPECT_TRUE(call(find("aten::index", "Tensor"), {tensor(square), tensors(index)}).front().equal(square.slice(1, 1)));
}

TEST(Operators, FindRefusesUnknownNamesAndListsOverloads) {
  EXPECT_THAT(find_error("aten::no_such_thing", ""), HasSubstr("no operator of that name: aten::no_such_thing"));
  EXPECT_THAT(find_error("aten::add", "Tensr"), AllOf(HasSubstr("\"Tensor\""), HasSubstr("\"Scalar\"")));
  EXPECT_NE(error_text(tensor_interface()->op_find({nullptr, 0}, text(""), nullptr)), "");
}

TEST(Operators, FindRefusesWhatChangesItsArguments) {
  EXPECT_THAT(find_error("aten::add_", "Tensor"), HasSubstr("change their arguments are refused"));
  EXPECT_THAT(find_error("aten::add", "out"), HasSubstr("change their arguments are refused"));
}

TEST(Operators, FindGivesOneHandleAnOperator) {
  EXPECT_EQ(find("aten::add", "Tensor"), find("aten::add", "Tensor"));
  const titan_string schema = tensor_interface()->op_schema(find("aten::add", "Tensor"));
  EXPECT_THAT(std::string(schema.data, schema.size), HasSubstr("aten::add.Tensor(Tensor self, Tensor other"));
}

TEST(Operators, CallRefusesWrongArguments) {
  const titan_op add = find("aten::add", "Tensor");
  const at::Tensor x = at::ones({2});
  const titan_value one = number(TITAN_VALUE_INT, 1);
  EXPECT_THAT(call_error(add, {tensor(x), tensor(x), one, one}), HasSubstr("too many arguments"));
  EXPECT_THAT(call_error(add, {tensor(x)}), AllOf(HasSubstr("Tensor other"), HasSubstr("missing")));
  EXPECT_THAT(call_error(add, {tensor(x), one}), AllOf(HasSubstr("Tensor other"), HasSubstr("given an int")));
  EXPECT_THAT(call_error(add, {tensor(x), titan_value{TITAN_VALUE_NONE, 0, {}}}), HasSubstr("given none"));
  EXPECT_THAT(call_error(add, {tensor(x), tensor({})}), HasSubstr("the handle is NULL"));
  EXPECT_THAT(call_error(add, {tensor(x), titan_value{99, 0, {}}}), HasSubstr("unknown kind 99"));
  EXPECT_THAT(call_error(find("aten::view", ""), {tensor(x), tensors({handle::lend(x)})}), HasSubstr("given tensors"));
  EXPECT_THAT(call_error(find("aten::cat", ""), {tensors({nullptr})}), HasSubstr("handle 0 is NULL"));
  EXPECT_THAT(call_error(find("aten::to", "dtype"), {tensor(x), number(TITAN_VALUE_DTYPE, 77)}),
              HasSubstr("unknown dtype number 77"));
  EXPECT_THAT(call_error(find("aten::to", "dtype"), {tensor(x), number(TITAN_VALUE_INT, 6)}),
              HasSubstr("given an int"));
}

TEST(Operators, CallRefusesWrongNumberOfOutputs) {
  const at::Tensor x = at::ones({2});
  EXPECT_THAT(call_error(find("aten::add", "Tensor"), {tensor(x), tensor(x)}, 2), HasSubstr("gives 1, asked for 2"));
  EXPECT_THAT(call_error(find("aten::item", ""), {tensor(at::ones({}))}), HasSubstr("a result is not a tensor"));
}

TEST(Operators, CallPassesOnWhatLibtorchSaysWithoutItsBacktrace) {
  const std::string error = call_error(find("aten::add", "Tensor"), {tensor(at::ones({2})), tensor(at::ones({3}))});
  EXPECT_THAT(error, HasSubstr("The size of tensor a (2) must match the size of tensor b (3)"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("frame #")));
}

TEST(RandomOperators, DrawFromTheGeneratorOfTheirScope) {
  const titan_op bernoulli = find("aten::bernoulli", "p");
  const at::Tensor x = at::ones({64});
  const auto draw = [&](const at::Generator& generator) {
    const RandomSource source(generator);
    return call(bernoulli, {tensor(x), floating(0.5)}).front();
  };
  const at::Generator one = at::detail::createCPUGenerator(1), same = at::detail::createCPUGenerator(1);
  const at::Tensor first = draw(one);
  EXPECT_TRUE(draw(same).equal(first));
  EXPECT_FALSE(draw(one).equal(first)) << "the generator went on";
  EXPECT_EQ(random_source(), nullptr) << "the scope has ended";
}

TEST(RandomOperators, ThatKnowLibtorchsGeneratorOnlyAreRefused) {
  const at::Tensor x = at::ones({4});
  const std::string error =
      call_error(find("aten::native_dropout", ""), {tensor(x), floating(0.5), number(TITAN_VALUE_BOOL, 1)}, 2);
  EXPECT_THAT(error, AllOf(HasSubstr("aten::native_dropout"), HasSubstr("use one that takes a generator")));
  EXPECT_THAT(call_error(find("aten::rand_like", ""), {tensor(x)}), HasSubstr("aten::rand_like"));
  EXPECT_TRUE(call(find("aten::dropout", ""), {tensor(x), floating(0), number(TITAN_VALUE_BOOL, 1)}).front().equal(x))
      << "nothing is drawn";
}

TEST(Operators, CallRefusesNullPointers) {
  titan_tensor out = nullptr;
  EXPECT_THAT(error_text(tensor_interface()->op_call(nullptr, nullptr, 0, &out, 1)), HasSubstr("NULL"));
  EXPECT_THAT(error_text(tensor_interface()->op_call(find("aten::add", "Tensor"), nullptr, 2, &out, 1)),
              HasSubstr("NULL"));
  EXPECT_EQ(tensor_interface()->op_schema(nullptr).data, nullptr);
}

}  // namespace
}  // namespace titan::tensor
