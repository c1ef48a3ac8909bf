#include "core/launch/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/stop_signals.hpp"

namespace titan::launch {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw ResourceError("[launch] cannot open a pipe: ", reason(errno));
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Everything the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct Preparation {
  explicit Preparation(const ChildProgram& program)
      : path(program.program), inherited(program.inherited), descriptor_limit(program.descriptor_limit) {
    words.push_back(path.native());
    words.insert(words.end(), program.arguments.begin(), program.arguments.end());
    for (const auto& [name, value] : program.variables) texts.push_back(concat(name, "=", value));
    arguments = pointers(words);
    environment = pointers(texts);
    if (!nothing.is_open()) throw ResourceError("[launch] cannot open /dev/null: ", reason(errno));
  }

  std::filesystem::path path;
  std::vector<int> inherited;
  std::optional<rlimit> descriptor_limit;
  std::vector<std::string> words;
  std::vector<std::string> texts;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  Pipe output = open_pipe();
  Pipe errors = open_pipe();
  Pipe failure = open_pipe();
  FileDescriptor nothing = open_descriptor("/dev/null", O_RDONLY);
  pid_t parent = ::getpid();
};

void restore_signals() {
  for (const int number : {SIGPIPE, SIGXFSZ, SIGCHLD, SIGTTOU}) ::signal(number, SIG_DFL);
  // Until the program takes it: by default it ends a process.
  ::signal(kDumpSignal, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool connect_streams(const Preparation& ready) {
  for (const int descriptor : ready.inherited) {
    if (::fcntl(descriptor, F_SETFD, 0) != 0) return false;
  }
  return ::dup2(ready.nothing.get(), STDIN_FILENO) >= 0 && ::dup2(ready.output.writing.get(), STDOUT_FILENO) >= 0 &&
         ::dup2(ready.errors.writing.get(), STDERR_FILENO) >= 0;
}

[[noreturn]] void run_child(const Preparation& ready) {
  constexpr int kCannotExecute = 127;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above.
  if (::getppid() != ready.parent) ::_exit(kCannotExecute);
  restore_signals();
  if (ready.descriptor_limit) ::setrlimit(RLIMIT_NOFILE, &*ready.descriptor_limit);
  if (connect_streams(ready)) ::execve(ready.path.c_str(), ready.arguments.data(), ready.environment.data());
  const int error = errno;
  if (::write(ready.failure.writing.get(), &error, sizeof error) < 0) ::_exit(kCannotExecute);
  ::_exit(kCannotExecute);
}

/// The errno of a child that could not become the program, or 0; waits until it did or did not.
int failure_of(Preparation& ready) {
  ready.failure.writing = FileDescriptor();
  int error = 0;
  ssize_t got = -1;
  do {
    got = ::read(ready.failure.reading.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

void do_not_block(const FileDescriptor& descriptor) { ::fcntl(descriptor.get(), F_SETFL, O_RDONLY | O_NONBLOCK); }

}  // namespace

ChildProcess::ChildProcess(const ChildProgram& program) {
  Preparation ready(program);
  pid_ = ::fork();
  if (pid_ < 0) throw ResourceError("[launch] cannot start a process: ", reason(errno));
  if (pid_ == 0) run_child(ready);
  // Both do it: whoever comes first, the group is there before a signal is sent to it.
  ::setpgid(pid_, pid_);
  if (const int error = failure_of(ready); error != 0) {
    ::waitpid(pid_, nullptr, 0);
    throw ResourceError("[launch] cannot execute ", printable(program.program.native()), ": ", reason(error));
  }
  standard_output_ = std::move(ready.output.reading);
  standard_error_ = std::move(ready.errors.reading);
  do_not_block(standard_output_);
  do_not_block(standard_error_);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      has_ended_(other.has_ended_),
      standard_output_(std::move(other.standard_output_)),
      standard_error_(std::move(other.standard_error_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  kill_group();
  if (!has_ended_) ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::optional<ChildChange> ChildProcess::poll_change() {
  if (has_ended_ || pid_ < 0) return std::nullopt;
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  // Not reaped yet: its number stays its group's, and nobody else's.
  if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != ECHILD) return std::nullopt;
    pid_ = -1;
    has_ended_ = true;
    return ChildChange{.kind = ChildChange::Kind::ended, .is_status_lost = true};
  }
  if (info.si_pid == pid_) {
    has_ended_ = true;
    const int signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    return ChildChange{ChildChange::Kind::ended, signal != 0 ? 128 + signal : info.si_status, signal};
  }
  if (::waitid(P_PID, id, &info, WSTOPPED | WCONTINUED | WNOHANG) != 0 || info.si_pid != pid_) return std::nullopt;
  if (info.si_code == CLD_CONTINUED) return ChildChange{ChildChange::Kind::continued, 0, 0};
  return ChildChange{ChildChange::Kind::stopped, 0, info.si_status};
}

void ChildProcess::signal(int number) const {
  if (!has_ended_) ::kill(pid_, number);
}

void ChildProcess::kill_group() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

}  // namespace titan::launch
