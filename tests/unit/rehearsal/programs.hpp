#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"

namespace titan::rehearsal {

/// A layout of these degrees.
config::Mesh mesh_of(const config::Degrees& degrees, std::int64_t expert_degree = 1);

/// The name that core/comm gives the rank's channel of a group.
std::string channel_of(const config::Mesh& mesh, std::int64_t rank, std::string_view group);

/// What a call is of, where it matters.
struct CallForm {
  std::vector<std::int64_t> sizes{4};
  std::string dtype = "Float";
  std::string module;
};

/// Writes down what a rank does, call after call. Sizes are of the input, elements of 4 bytes ("Float") or 2.
class Program {
 public:
  Program(const config::Mesh& mesh, std::int64_t rank, std::vector<std::int64_t> stands_for = {});

  /// Starts a collective, or a send or receive with the rank's neighbour; gives what wait() takes.
  std::int32_t start(std::string_view op, std::string_view group, const CallForm& form = {});
  std::int32_t send(std::int64_t peer, const CallForm& form = {});
  std::int32_t receive(std::int64_t peer, const CallForm& form = {});
  void wait(std::int32_t start);
  /// Starts a collective and waits for it.
  void call(std::string_view op, std::string_view group, const CallForm& form = {}) { wait(start(op, group, form)); }
  void compute(double flops) { made_.flops += flops; }
  /// What comes now belongs to the step.
  void begin_step();
  void begin_span(std::string_view phase, std::int32_t micro_batch = -1, std::int32_t stage = -1);
  void end_span();

  RehearsedRank& rank() { return made_; }

 private:
  std::int32_t add(RehearsedCall call);

  const config::Mesh& mesh_;
  RehearsedRank made_;
  std::map<RehearsedCall, std::uint32_t> numbers_;
};

/// Bytes of a tensor.
std::int64_t bytes_of(const CallForm& form);

}  // namespace titan::rehearsal
