#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titan/abi/collective.h"
#include "titan/sdk/host.hpp"
#include "titan/sdk/strategy.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::strategy {

enum class Reduce : std::int32_t { sum = TITAN_REDUCE_SUM, max = TITAN_REDUCE_MAX, min = TITAN_REDUCE_MIN };

/// A collective that was started: its tensors must not be touched until wait(). A work that is dropped is waited for,
/// and its error is lost. Moves; belongs to the rank's training thread.
class Work {
 public:
  Work() noexcept = default;
  Work(sdk::Host host, const titan_collective_v1& table, titan_work* work) noexcept
      : host_(host.table()), table_(&table), work_(work) {}
  Work(Work&& other) noexcept : host_(other.host_), table_(other.table_), work_(std::exchange(other.work_, nullptr)) {}
  Work& operator=(Work other) noexcept {
    std::swap(host_, other.host_);
    std::swap(table_, other.table_);
    std::swap(work_, other.work_);
    return *this;
  }
  ~Work() {
    if (work_ != nullptr) host_->error_release(host_, table_->wait(work_));
  }

  /// Whether there is something to wait for.
  explicit operator bool() const noexcept { return work_ != nullptr; }
  /// Waits until the outputs are there. HostError when a peer is lost or the deadline passed. Does nothing without a
  /// collective under way.
  void wait() {
    if (work_ != nullptr) sdk::check(host_, table_->wait(std::exchange(work_, nullptr)));
  }

 private:
  const titan_host* host_ = nullptr;
  const titan_collective_v1* table_ = nullptr;
  titan_work* work_ = nullptr;
};

/// The calling rank's group along an axis. A pointer: copy freely; valid as long as the mesh. Every rank of the group
/// makes the same calls in the same order, with tensors of the same shapes and dtypes. Calls that return a Work do not
/// record gradients.
class Group {
 public:
  Group(sdk::Host host, const titan_collective_v1& table, titan_group* group) noexcept
      : host_(host), table_(&table), group_(group) {}

  /// Position inside the group.
  std::int64_t rank() const { return table_->rank(group_); }
  std::int64_t size() const { return table_->size(group_); }
  std::string_view name() const { return sdk::view(table_->name(group_)); }

  /// In place; contiguous.
  Work all_reduce(const at::Tensor& tensor, Reduce op = Reduce::sum) const {
    return start([&](titan_work** work) {
      return table_->all_reduce(group_, handle::lend(tensor), static_cast<std::int32_t>(op), work);
    });
  }
  /// out [size * n, ...] from in [n, ...], both contiguous, in order of rank.
  Work all_gather(const at::Tensor& out, const at::Tensor& in) const {
    return start(
        [&](titan_work** work) { return table_->all_gather(group_, handle::lend(out), handle::lend(in), work); });
  }
  /// out [n, ...] from in [size * n, ...], both contiguous.
  Work reduce_scatter(const at::Tensor& out, const at::Tensor& in, Reduce op = Reduce::sum) const {
    return start([&](titan_work** work) {
      return table_->reduce_scatter(group_, handle::lend(out), handle::lend(in), static_cast<std::int32_t>(op), work);
    });
  }
  /// Rows of dim 0: in_rows[i] go to rank i, out_rows[i] come from it.
  Work all_to_all(const at::Tensor& out, const at::Tensor& in, const std::vector<std::int64_t>& out_rows,
                  const std::vector<std::int64_t>& in_rows) const {
    return start([&](titan_work** work) {
      return table_->all_to_all(group_, handle::lend(out), handle::lend(in), out_rows.data(), in_rows.data(), work);
    });
  }
  /// In place, from rank `root` of the group.
  Work broadcast(const at::Tensor& tensor, std::uint32_t root) const {
    return start([&](titan_work** work) { return table_->broadcast(group_, handle::lend(tensor), root, work); });
  }
  Work send(const at::Tensor& tensor, std::uint32_t peer, std::uint32_t tag) const {
    return start([&](titan_work** work) { return table_->send(group_, handle::lend(tensor), peer, tag, work); });
  }
  Work receive(const at::Tensor& tensor, std::uint32_t peer, std::uint32_t tag) const {
    return start([&](titan_work** work) { return table_->receive(group_, handle::lend(tensor), peer, tag, work); });
  }
  /// Returns when every rank of the group has called it.
  void barrier() const { host_.check(table_->barrier(group_)); }

  /// Differentiable sum over the ranks; the gradient is summed too.
  at::Tensor differentiable_all_reduce(const at::Tensor& in) const {
    return made([&](titan_tensor* out) { return table_->differentiable_all_reduce(group_, handle::lend(in), out); });
  }
  /// Differentiable join along dim; the gradient is reduce-scattered along it.
  at::Tensor differentiable_all_gather(const at::Tensor& in, std::int64_t dim) const {
    return made(
        [&](titan_tensor* out) { return table_->differentiable_all_gather(group_, handle::lend(in), dim, out); });
  }
  /// Differentiable sum of which this rank keeps its part along dim; the gradient is gathered along it.
  at::Tensor differentiable_reduce_scatter(const at::Tensor& in, std::int64_t dim) const {
    return made(
        [&](titan_tensor* out) { return table_->differentiable_reduce_scatter(group_, handle::lend(in), dim, out); });
  }
  /// Differentiable all_to_all; the gradient goes back the way it came.
  at::Tensor differentiable_all_to_all(const at::Tensor& in, const std::vector<std::int64_t>& out_rows,
                                       const std::vector<std::int64_t>& in_rows) const {
    return made([&](titan_tensor* out) {
      return table_->differentiable_all_to_all(group_, handle::lend(in), out_rows.data(), in_rows.data(), out);
    });
  }

 private:
  template <class Call>
  Work start(Call call) const {
    titan_work* work = nullptr;
    host_.check(call(&work));
    return {host_, *table_, work};
  }
  template <class Call>
  at::Tensor made(Call call) const {
    titan_tensor out = nullptr;
    host_.check(call(&out));
    return handle::own(out);
  }

  sdk::Host host_;
  const titan_collective_v1* table_;
  titan_group* group_;
};

/// One rank's view of the layout. A pointer: copy freely; lives as long as the tree.
class Mesh {
 public:
  Mesh(const sdk::MeshHandle& handle)  // NOLINT(google-explicit-constructor): what apply() receives
      : host_(handle.host), table_(handle.host.require<titan_collective_v1>(TITAN_COLLECTIVE_V1)), mesh_(handle.mesh) {}

  /// This rank's group along an axis ("dp_replicate", "dp_shard", "cp", "tp", "pp"), along folded axes ("dp", "fsdp",
  /// "loss", "stage"), of experts ("ep", "efsdp") or of all ranks ("world"). A group of one rank copies. HostError: no
  /// such axis.
  Group group(std::string_view axis) const {
    titan_group* found = nullptr;
    host_.check(table_->group(mesh_, sdk::borrow(axis), &found));
    return {host_, *table_, found};
  }

  /// Names the module that collectives are made for, in their work records, as long as it lives. Scopes do not nest:
  /// the end of one ends the naming.
  class ModuleScope {
   public:
    ModuleScope(const titan_collective_v1& table, titan_mesh* mesh, std::string_view module)
        : table_(table), mesh_(mesh) {
      table_.set_module(mesh_, sdk::borrow(module));
    }
    ~ModuleScope() { table_.set_module(mesh_, sdk::kAbsent); }
    ModuleScope(const ModuleScope&) = delete;
    ModuleScope& operator=(const ModuleScope&) = delete;

   private:
    const titan_collective_v1& table_;
    titan_mesh* mesh_;
  };
  [[nodiscard]] ModuleScope in_module(std::string_view module) const { return {*table_, mesh_, module}; }

 private:
  sdk::Host host_;
  const titan_collective_v1* table_;
  titan_mesh* mesh_;
};

}  // namespace titan::strategy
