#include "tests/unit/comm/process_job.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace titan::testing {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollDelay = std::chrono::milliseconds(10);
constexpr int kStoreDescriptor = 9;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(std::map<std::string, std::string> variables) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    variables.emplace(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
  }
  std::vector<std::string> out;
  for (const auto& [name, value] : variables) {
    std::string text = name;
    text += '=';
    out.push_back(text + value);
  }
  return out;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

ProcessJob::~ProcessJob() {
  for (Process& process : processes_) {
    if (process.ended) continue;
    ::kill(process.pid, SIGKILL);
    ::waitpid(process.pid, nullptr, 0);
  }
}

std::size_t ProcessJob::start(const std::vector<std::string>& arguments, std::map<std::string, std::string> variables,
                              int store_socket) {
  Process process;
  process.output = folder_.path() / (std::to_string(processes_.size()) + ".log");
  if (store_socket >= 0) variables["TITAN_STORE_FD"] = std::to_string(kStoreDescriptor);
  std::vector<std::string> words{TITAN_PROCESS_RANK}, environment = environment_with(std::move(variables));
  words.insert(words.end(), arguments.begin(), arguments.end());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, process.output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (store_socket >= 0) ::posix_spawn_file_actions_adddup2(&actions, store_socket, kStoreDescriptor);
  const int error = ::posix_spawn(&process.pid, TITAN_PROCESS_RANK, &actions, nullptr, pointers(words).data(),
                                  pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " TITAN_PROCESS_RANK);
  processes_.push_back(process);
  return processes_.size() - 1;
}

std::string ProcessJob::output(std::size_t process) const { return text_of(processes_.at(process).output); }

bool ProcessJob::await_output(std::size_t process, const std::string& text) const {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(60);
  while (output(process).find(text) == std::string::npos) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kPollDelay);
  }
  return true;
}

int ProcessJob::wait(std::size_t index, std::chrono::milliseconds limit) {
  Process& process = processes_.at(index);
  const Clock::time_point end = Clock::now() + limit;
  while (!process.ended) {
    int status = 0;
    if (::waitpid(process.pid, &status, WNOHANG) == process.pid) {
      process.ended = true;
      process.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      break;
    }
    if (Clock::now() > end) return -1;
    std::this_thread::sleep_for(kPollDelay);
  }
  return process.code;
}

void send_bytes(int port, const std::string& bytes, std::chrono::milliseconds open) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    [[maybe_unused]] const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::this_thread::sleep_for(open);
  }
  ::close(socket);
}

std::vector<Listener> listeners(pid_t process) {
  const std::filesystem::path folder = std::filesystem::path("/proc") / std::to_string(process);
  std::set<std::string> sockets;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.rfind("socket:[", 0) == 0) sockets.insert(target.substr(8, target.size() - 9));
  }
  std::vector<Listener> found;
  std::ifstream table(folder / "net" / "tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
    if (state != "0A" || sockets.count(inode) == 0) continue;
    const std::size_t colon = local.find(':');
    found.push_back({local.substr(0, colon), std::stoi(local.substr(colon + 1), nullptr, 16)});
  }
  return found;
}

std::int64_t peak_memory(pid_t process) {
  std::ifstream status(std::filesystem::path("/proc") / std::to_string(process) / "status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    std::int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace titan::testing
