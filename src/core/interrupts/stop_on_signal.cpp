// SPDX-License-Identifier: Apache-2.0
#include "d5/core/interrupts/stop_on_signal.hpp"

#include <fmt/format.h>
#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

struct Handled {
  int signal;
  struct sigaction former;
};

// State of the living object. A signal handler may only access static objects and post a semaphore.
std::atomic<bool> lives = false;
std::vector<Handled> handled;
std::atomic<int> first_signal = 0;
sem_t arrival;

void restore_all() {
  for (const auto& [signal, former] : handled) sigaction(signal, &former, nullptr);
}

extern "C" void handle(int signal) {
  const int before = errno;
  restore_all();
  first_signal = signal;
  sem_post(&arrival);
  errno = before;
}

}  // namespace

StopOnSignal::StopOnSignal(std::vector<int> signals) {
  if (lives.exchange(true)) {
    throw ValueError("StopOnSignal: another one is at work; share its token");
  }
  handled.clear();
  handled.reserve(signals.size());  // no reallocation while a handler reads it
  first_signal = 0;
  sem_init(&arrival, 0, 0);
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (const int signal : signals) {
    struct sigaction former{};
    sigaction(signal, nullptr, &former);
    // A process started in the background must keep ignoring the signal.
    if (former.sa_handler == SIG_IGN) continue;
    handled.push_back({signal, former});  // before the signal can arrive
    if (sigaction(signal, &action, nullptr) != 0) {
      const std::string reason = std::strerror(errno);
      end();
      throw ValueError(
          fmt::format("StopOnSignal: signal {}: {}; expected one that a process may "
                      "handle, such as SIGINT",
                      signal, reason));
    }
  }
  waiting_ = std::jthread([this](const std::stop_token& ends) {
    while (sem_wait(&arrival) != 0) {  // woken by another signal
    }
    if (!ends.stop_requested()) stop_.request_stop();
  });
}

void StopOnSignal::end() {
  restore_all();
  sem_destroy(&arrival);
  lives = false;
}

int StopOnSignal::arrived() const { return first_signal; }

StopOnSignal::~StopOnSignal() {
  restore_all();
  waiting_.request_stop();
  sem_post(&arrival);
  waiting_.join();
  end();
}

}  // namespace d5
