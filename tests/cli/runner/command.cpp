#include "tests/cli/runner/command.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::map<std::string, std::string> clean_environment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && !text.starts_with("TITAN_")) {
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// File modes count for root's programs too.
void give_up_privileges() {
  ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
  ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
}

[[noreturn]] void fail_in_child(const char* what) {
  ::perror(what);
  ::_exit(127);
}

}  // namespace

std::string Outcome::text() const {
  std::ostringstream text;
  text << "status " << status << (was_killed ? " (killed)" : "") << (was_too_slow ? " (too slow)" : "")
       << "\n--- stdout\n"
       << out << "\n--- stderr\n"
       << err << "\n---";
  return text.str();
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  std::ifstream file(path, std::ios::binary);
  text << file.rdbuf();
  return text.str();
}

Process::Process(pid_t pid, fs::path out, fs::path err, double limit_s)
    : pid_(pid), out_(std::move(out)), err_(std::move(err)), limit_s_(limit_s) {}

Process::Process(Process&& other) noexcept
    : pid_(other.pid_),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      limit_s_(other.limit_s_),
      is_reaped_(std::exchange(other.is_reaped_, true)),
      outcome_(std::move(other.outcome_)) {}

Process::~Process() {
  if (is_reaped_) return;
  ::kill(pid_, SIGKILL);
  reap(0);
}

void Process::signal(int number) const {
  if (!is_reaped_) ::kill(pid_, number);
}

bool Process::is_running() { return !reap(WNOHANG); }

bool Process::reap(int options) {
  if (is_reaped_) return true;
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, options, &usage) != pid_) return false;
  is_reaped_ = true;
  outcome_.was_killed = WIFSIGNALED(status);
  outcome_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome_.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  outcome_.peak_memory_bytes = 1024 * usage.ru_maxrss;
  return true;
}

Outcome Process::wait() {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s_);
  while (!reap(WNOHANG)) {
    if (Clock::now() > deadline) {
      ::kill(pid_, SIGKILL);
      outcome_.was_too_slow = true;
      reap(0);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  outcome_.out = read(out_);
  outcome_.err = read(err_);
  return outcome_;
}

Command::Command(fs::path program, const TemporaryFolder& folder)
    : program_(std::move(program)),
      working_folder_(folder.path()),
      capture_folder_(folder.path()),
      environment_(clean_environment()) {}

Command& Command::args(std::initializer_list<std::string> more) {
  args_.insert(args_.end(), more);
  return *this;
}

Command& Command::args(const std::vector<std::string>& more) {
  args_.insert(args_.end(), more.begin(), more.end());
  return *this;
}

Command& Command::env(const std::string& name, const std::string& value) {
  environment_[name] = value;
  return *this;
}

Command& Command::in(fs::path working_folder) {
  working_folder_ = std::move(working_folder);
  return *this;
}

Command& Command::redirect(int stream, const std::string& file) {
  files_[stream] = file;
  return *this;
}

Command& Command::redirect(int stream, int descriptor) {
  descriptors_[stream] = descriptor;
  return *this;
}

Command& Command::terminal(const std::string& device) {
  terminal_ = device;
  return *this;
}

Command& Command::input(const std::string& file) { return redirect(STDIN_FILENO, file); }
Command& Command::input(int descriptor) { return redirect(STDIN_FILENO, descriptor); }

Command& Command::limit(double seconds) {
  limit_s_ = seconds;
  return *this;
}

Command& Command::address_space(std::uint64_t bytes) {
  address_space_ = bytes;
  return *this;
}

Process Command::start() {
  // Several commands may share a folder.
  static std::atomic<int> num_started = 0;
  const std::string number = std::to_string(num_started++);
  const fs::path out = capture_folder_ / (".stdout." + number);
  const fs::path err = capture_folder_ / (".stderr." + number);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) execute(out, err);
  return Process(pid, out, err, limit_s_);
}

Outcome Command::run() { return start().wait(); }

void Command::connect(int stream, const fs::path& captured) const {
  int source = -1;
  if (const auto descriptor = descriptors_.find(stream); descriptor != descriptors_.end()) {
    source = descriptor->second;
  } else {
    const auto file = files_.find(stream);
    const fs::path path = file == files_.end() ? captured : fs::path(file->second);
    if (path.empty()) {
      ::close(stream);
      return;
    }
    source = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  if (source < 0 || ::dup2(source, stream) < 0) fail_in_child("cannot redirect");
}

void Command::connect_input() const {
  const auto file = files_.find(STDIN_FILENO);
  if (file != files_.end() && file->second.empty()) {
    ::close(STDIN_FILENO);
    return;
  }
  if (const auto given = descriptors_.find(STDIN_FILENO); given != descriptors_.end()) {
    if (::dup2(given->second, STDIN_FILENO) < 0) fail_in_child("cannot redirect");
    return;
  }
  const std::string path = file != files_.end() ? file->second : terminal_.empty() ? "/dev/null" : terminal_;
  const int source = ::open(path.c_str(), terminal_ == path ? O_RDWR : O_RDONLY);
  if (source < 0 || (source != STDIN_FILENO && ::dup2(source, STDIN_FILENO) < 0))
    fail_in_child("cannot open the input");
  if (source != STDIN_FILENO) ::close(source);
}

void Command::execute(const fs::path& out, const fs::path& err) const {
  // Test programs may have changed these; a shell's child has the defaults.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  if (!terminal_.empty()) {
    ::setsid();
    // The first terminal that the leader of a session opens is the session's.
    const int opened = ::open(terminal_.c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0) fail_in_child("cannot open the terminal");
  }
  connect(STDERR_FILENO, terminal_.empty() ? err : fs::path(terminal_));
  connect(STDOUT_FILENO, terminal_.empty() ? out : fs::path(terminal_));
  connect_input();
  if (::chdir(working_folder_.c_str()) != 0) fail_in_child("cannot enter the working folder");

  give_up_privileges();
  const rlimit limit{address_space_, address_space_};
  if (address_space_ != 0 && ::setrlimit(RLIMIT_AS, &limit) != 0) fail_in_child("cannot limit the address space");

  std::vector<std::string> args{program_.string()};
  args.insert(args.end(), args_.begin(), args_.end());
  std::vector<std::string> environment;
  for (const auto& [name, value] : environment_) environment.push_back(name + '=' + value);
  ::execve(program_.c_str(), pointers(args).data(), pointers(environment).data());
  fail_in_child("cannot execute");
}

}  // namespace titan::cli
