#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/comm/processes/call_log.hpp"

namespace titan::comm {

/// What a rank answers to an alarm, in a form that travels.
struct Answer {
  std::string place;  // where it is: "step 3, backward, in layers.2"
  std::string waits;  // the call it waits for; empty: none
  std::string stack;  // its functions, where it waits for no call
  CallHistory history;

  std::string encode() const;
  static Answer decode(std::string_view text);
};

/// What the other ranks say.
struct Testimony {
  std::map<std::int64_t, Answer> answers;
  std::set<std::int64_t> asked;
  std::set<std::int64_t> left;  // ended without an error
  std::string store_problem;    // the store did not answer; empty: it did
};

}  // namespace titan::comm
