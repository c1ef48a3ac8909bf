#include "core/app/verdict.hpp"

#include <csignal>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <typeinfo>

#include "core/app/compare/runs_differ.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/quit.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

constexpr int kDifferent = 1;

int status_of(Exit exit) { return static_cast<int>(exit); }

Exit exit_of(const std::error_code& code) {
  if (code == std::errc::not_enough_memory || code == std::errc::resource_unavailable_try_again) return Exit::resource;
  const bool refused = code == std::errc::permission_denied || code == std::errc::operation_not_permitted ||
                       code == std::errc::read_only_file_system || code == std::errc::file_exists ||
                       code == std::errc::not_a_directory || code == std::errc::is_a_directory;
  return refused ? Exit::cannot_create : Exit::io;
}

/// libtorch's messages end with a backtrace of addresses.
std::string_view without_backtrace(std::string_view text) {
  return text.substr(0, text.find("\nException raised from"));
}

/// libtorch's types are known by name only: the host does not link it.
bool is_torch_out_of_memory(const std::exception& error) {
  const std::string_view type = typeid(error).name();
  const bool torch = type.find("N3c10") != std::string_view::npos;
  return type.find("OutOfMemoryError") != std::string_view::npos ||
         (torch && std::strstr(error.what(), "allocate memory") != nullptr);
}

Verdict judge_other(const std::exception& error) {
  const Exit exit = is_torch_out_of_memory(error) ? Exit::resource : Exit::internal;
  return {status_of(exit), std::string(without_backtrace(error.what()))};
}

}  // namespace

Verdict judge(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return {status_of(error.exit()), error.what(), error.exit() == Exit::stopped};
  } catch (const Quit& quit) {
    return {.status = 128 + quit.signal(), .message = quit.what(), .is_stop = true, .is_quit = true};
  } catch (const Interrupted& interrupted) {
    // A reader that left (head -1) has seen what it wanted.
    const bool quiet = interrupted.signal() == SIGPIPE;
    return {128 + interrupted.signal(), quiet ? std::string() : std::string(interrupted.what()), true};
  } catch (const RunsDiffer& difference) {
    return {kDifferent, difference.what()};
  } catch (const std::bad_alloc&) {
    return {status_of(Exit::resource), "out of memory"};
  } catch (const std::system_error& error) {
    const Exit exit = exit_of(error.code());
    // Its text, "Resource temporarily unavailable", is that of a thread that could not be started.
    const char* const begin = exit == Exit::resource ? "out of memory, or of threads: the system gives no more: " : "";
    return {status_of(exit), concat(begin, error.what())};
  } catch (const std::exception& error) {
    return judge_other(error);
  } catch (...) {
    return {status_of(Exit::internal), "an exception of unknown type"};
  }
}

void report(const Verdict& verdict) {
  // Further lines of a message are its first one's.
  const std::vector<std::string> lines = split(verdict.message, '\n');
  std::string_view tag = "titan";
  for (std::string_view line : lines) {
    if (const std::size_t end = line.find("] "); line.starts_with('[') && end != std::string_view::npos) {
      tag = line.substr(1, end - 1);
      line.remove_prefix(end + 2);
    }
    log(verdict.is_stop ? LogLevel::warning : LogLevel::error, tag, line);
  }
}

}  // namespace titan::app
