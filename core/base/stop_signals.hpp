#pragma once

#include <csignal>
#include <vector>

namespace titan {

/// Two copies of one signal within this time are one request: a closing terminal and `timeout` send theirs twice.
inline constexpr double kOneRequestSeconds = 1;

/// Asks for no end: a rank writes down what it knows, and goes on.
inline constexpr int kDumpSignal = SIGUSR2;

/// The signals that ask for an end: SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR1, without SIGHUP where it is ignored
/// (nohup).
std::vector<int> stop_signals();

}  // namespace titan
