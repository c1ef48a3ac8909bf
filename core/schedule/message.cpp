#include "core/schedule/message.hpp"

namespace titan::schedule {
namespace {

bool goes_up(std::int32_t kind) {
  return kind == TITAN_ACTION_SEND_FORWARD || kind == TITAN_ACTION_FORWARD || kind == TITAN_ACTION_RECEIVE_BACKWARD;
}

std::optional<Message> between_ranks(const std::optional<Message>& message, const Table& table) {
  if (!message || table.owner(message->from_stage) == table.owner(message->to_stage)) return std::nullopt;
  return message;
}

}  // namespace

std::optional<Message> message_of(const titan_action& action, std::uint32_t num_stages) {
  const bool up = goes_up(action.kind);
  if (up ? action.stage + 1 >= num_stages : action.stage == 0) return std::nullopt;
  const std::uint32_t other = up ? action.stage + 1 : action.stage - 1;
  const bool is_gradient = action.kind == TITAN_ACTION_SEND_BACKWARD || action.kind == TITAN_ACTION_RECEIVE_BACKWARD;
  if (is_send(action)) return Message{is_gradient, action.stage, other, action.micro_batch};
  return Message{is_gradient, other, action.stage, action.micro_batch};
}

std::optional<Message> input_of(const titan_action& action, const Table& table) {
  titan_action receive = action;
  receive.kind = action.kind == TITAN_ACTION_FORWARD ? TITAN_ACTION_RECEIVE_FORWARD : TITAN_ACTION_RECEIVE_BACKWARD;
  return between_ranks(message_of(receive, table.num_stages()), table);
}

std::optional<Message> output_of(const titan_action& action, const Table& table) {
  titan_action send = action;
  send.kind = action.kind == TITAN_ACTION_FORWARD ? TITAN_ACTION_SEND_FORWARD : TITAN_ACTION_SEND_BACKWARD;
  return between_ranks(message_of(send, table.num_stages()), table);
}

titan_action sending(const Message& message) {
  return {message.is_gradient ? TITAN_ACTION_SEND_BACKWARD : TITAN_ACTION_SEND_FORWARD, message.from_stage,
          message.micro_batch, 0};
}

titan_action receiving(const Message& message) {
  return {message.is_gradient ? TITAN_ACTION_RECEIVE_BACKWARD : TITAN_ACTION_RECEIVE_FORWARD, message.to_stage,
          message.micro_batch, 0};
}

}  // namespace titan::schedule
