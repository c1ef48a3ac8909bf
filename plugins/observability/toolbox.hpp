#pragma once

#include <atomic>
#include <deque>
#include <span>
#include <utility>

#include "plugins/observability/tool.hpp"

namespace titan::observability {

/// The tools of one instance of the plugin: passes each event and duty on to those that want it. An observing tool that
/// fails is taken out with one warning, and the others go on.
class Toolbox {
 public:
  Toolbox(sdk::Host host, std::span<const ToolEntry> entries);

  std::uint32_t events() const;
  std::uint32_t duties() const;

  void run_begin(const titan_run_event& event);
  void step_end(const titan_step_event& event);
  void validation(const titan_validation_event& event);
  void run_end(const titan_run_end_event& event);
  void collective(const titan_collective_event& event);
  void span(const titan_span_event& event);
  void dump(const titan_dump_event& event);

  void attach(const sdk::GuardHandles& handles);
  void step_begin(std::int64_t step);
  /// Tools stand inside each other in the table's order.
  void around(const titan_pass& pass);
  /// The gravest of the tools' judgements; texts of those who made it are joined.
  void judge(const titan_outcome& outcome, titan_judgement& out);
  void breakpoint(std::string_view label, const titan_string* names, const titan_tensor* tensors,
                  std::uint32_t num_tensors);

 private:
  struct Member {
    explicit Member(ToolPointer made) : tool(std::move(made)), events(tool->events()), duties(tool->duties()) {}

    ToolPointer tool;
    std::atomic<std::uint32_t> events;  // a dump may fail on another thread
    std::uint32_t duties;
  };
  template <class Event>
  void deliver(std::uint32_t bit, const char* name, void (Tool::*callback)(const Event&), const Event& event);

  sdk::Host host_;
  std::deque<Member> members_;
  Judgement judgement_;
};

}  // namespace titan::observability
