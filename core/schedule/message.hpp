#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "core/schedule/table.hpp"

namespace titan::schedule {

/// What is sent from one rank to another: the output of a stage, or the gradient of its input.
struct Message {
  bool is_gradient = false;
  std::uint32_t from_stage = 0, to_stage = 0;
  std::uint32_t micro_batch = 0;
  auto operator<=>(const Message&) const = default;
};

/// The message that an action sends or receives; nothing where there is no stage on that side.
std::optional<Message> message_of(const titan_action& action, std::uint32_t num_stages);
/// The message whose arrival a forward or backward waits for, or nothing: it starts from tokens, from the loss, or from
/// what its own rank has made.
std::optional<Message> input_of(const titan_action& action, const Table& table);
/// The message that a forward or backward makes for another rank, or nothing.
std::optional<Message> output_of(const titan_action& action, const Table& table);

/// The actions that send and receive a message.
titan_action sending(const Message& message);
titan_action receiving(const Message& message);

}  // namespace titan::schedule
