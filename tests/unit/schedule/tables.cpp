#include "tests/unit/schedule/tables.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/base/text.hpp"

namespace titan::schedule {
namespace {

const std::map<std::string, std::int32_t> kKinds = {{"F", TITAN_ACTION_FORWARD},
                                                    {"B", TITAN_ACTION_BACKWARD},
                                                    {"SEND_F", TITAN_ACTION_SEND_FORWARD},
                                                    {"RECV_F", TITAN_ACTION_RECEIVE_FORWARD},
                                                    {"SEND_B", TITAN_ACTION_SEND_BACKWARD},
                                                    {"RECV_B", TITAN_ACTION_RECEIVE_BACKWARD}};

titan_action action_of(const std::string& word) {
  const auto digit = [](char c) { return static_cast<std::uint32_t>(c - '0'); };
  return {kKinds.at(word.substr(1, word.size() - 2)), digit(word.front()), digit(word.back()), 0};
}

}  // namespace

std::vector<titan_action> actions(const std::string& text) {
  std::vector<titan_action> found;
  for (const std::string& word : split(text, ' ')) found.push_back(action_of(word));
  return found;
}

Table two_ranks() {
  return {"1F1B",
          {"tok_embeddings", "layers.0", "layers.1", "output"},
          2,
          true,
          {{{{0, 0, 2, 0}}, actions("0F0 0SEND_F0 0F1 0RECV_B0 0SEND_F1 0B0 0RECV_B1 0B1")},
           {{{1, 2, 2, 0}}, actions("1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1")}}};
}

Table two_ranks_of_two_stages() {
  return {
      "Interleaved1F1B",
      {"a", "b", "c", "d"},
      1,
      true,
      {{{{0, 0, 1, 0}, {2, 2, 1, 0}}, actions("0F0 0SEND_F0 2RECV_F0 2F0 2SEND_F0 2RECV_B0 2B0 2SEND_B0 0RECV_B0 0B0")},
       {{{1, 1, 1, 0}, {3, 3, 1, 0}},
        actions("1RECV_F0 1F0 1SEND_F0 3RECV_F0 3F0 3B0 3SEND_B0 1RECV_B0 1B0 1SEND_B0")}}};
}

std::vector<titan_action>::iterator find(RankPlan& rank, const std::string& action) {
  const auto found = std::find_if(rank.actions.begin(), rank.actions.end(),
                                  [&](const titan_action& one) { return name_of(one) == action; });
  if (found == rank.actions.end()) throw std::invalid_argument("no such action: " + action);
  return found;
}

}  // namespace titan::schedule
