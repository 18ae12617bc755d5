// SPDX-License-Identifier: Apache-2.0
#include "apps/ctrl_c.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

namespace d5::app {
namespace {

/// A signal handler may hardly do anything: it writes a byte, and a thread that waits for it asks
/// to stop.
std::array<int, 2> signal_pipe{-1, -1};
volatile std::sig_atomic_t signals = 0;

void on_signal(int number) {
  if (signals > 0) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  signals = 1;
  const char byte = 0;
  (void)!write(signal_pipe[1], &byte, 1);
}

std::stop_source& stop() {
  static std::stop_source source;
  return source;
}

void listen() {
  if (pipe2(signal_pipe.data(), O_CLOEXEC) != 0) return;  // Ctrl-C kills, as without d5
  std::thread([source = stop()]() mutable {
    char byte = 0;
    if (read(signal_pipe[0], &byte, 1) == 1) source.request_stop();
  }).detach();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

Interrupt ctrl_c() {
  static const bool listening = (listen(), true);
  (void)listening;
  return {.token = stop().get_token()};
}

bool interrupted() { return signals > 0; }

}  // namespace d5::app
