#include "plugins/parallel/data_parallel/unit.hpp"

#include <utility>

namespace titan::parallel {
namespace {

FlatLayout shard(const UnitPlan& plan, const strategy::Group& group) {
  std::vector<Shape> shapes;
  for (const strategy::Parameter& parameter : plan.parameters) shapes.push_back(parameter.part().sizes);
  FlatLayout layout(shapes, group.size(), group.rank());
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    const Rows mine = layout.entries()[i].mine;
    plan.parameters[i].shard(plan.shards, 0, mine.first, mine.count);
    plan.parameters[i].take_over(strategy::Form::both);
  }
  return layout;
}

}  // namespace

ShardedUnit::ShardedUnit(const UnitPlan& plan, strategy::Mesh mesh)
    : layout_(shard(plan, mesh.group(plan.shards))),
      parameters_(plan, layout_, mesh),
      gradients_(plan, layout_, mesh) {}

void ShardedUnit::materialise(const strategy::Precision& precision) {
  parameters_.materialise(precision);
  gradients_.materialise(precision);
}

void ShardedUnit::abandon() {
  gradients_.abandon();
  parameters_.hold(false);
  parameters_.release();
  for (const at::Tensor& tensor : parameters_.tensors()) tensor.mutable_grad().reset();
}

ReplicatedUnit::ReplicatedUnit(const UnitPlan& plan, std::shared_ptr<GradientBucket> bucket)
    : bucket_(std::move(bucket)), number_(bucket_->add_unit(std::string(plan.module.name()), plan.parameters)) {
  for (const strategy::Parameter& parameter : plan.parameters) parameter.take_over(strategy::Form::gradient);
}

}  // namespace titan::parallel
