// SPDX-License-Identifier: Apache-2.0
#include "d5/core/stop_on_signal.hpp"

#include <fmt/format.h>
#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "d5/core/error.hpp"

namespace d5 {
namespace {

// Of the one that lives. A handler may reach static objects alone, and post a semaphore.
std::atomic<bool> lives = false;
struct sigaction former;
sem_t arrived;

extern "C" void handle(int signal) {
  const int before = errno;
  sigaction(signal, &former, nullptr);
  sem_post(&arrived);
  errno = before;
}

}  // namespace

StopOnSignal::StopOnSignal(int signal) : signal_(signal) {
  if (lives.exchange(true)) {
    throw ValueError("StopOnSignal: another one is at work; share its token");
  }
  sem_init(&arrived, 0, 0);
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  if (sigaction(signal_, &action, &former) != 0) {
    const std::string reason = std::strerror(errno);
    sem_destroy(&arrived);
    lives = false;
    throw ValueError(
        fmt::format("StopOnSignal: signal {}: {}; expected one that a process may "
                    "handle, such as SIGINT",
                    signal_, reason));
  }
  // Who started this process in the background does not want it to hear the signal.
  if (former.sa_handler == SIG_IGN) sigaction(signal_, &former, nullptr);
  waiting_ = std::jthread([this](const std::stop_token& ends) {
    while (sem_wait(&arrived) != 0) {  // woken by another signal
    }
    if (!ends.stop_requested()) stop_.request_stop();
  });
}

StopOnSignal::~StopOnSignal() {
  sigaction(signal_, &former, nullptr);
  waiting_.request_stop();
  sem_post(&arrived);
  waiting_.join();
  sem_destroy(&arrived);
  lives = false;
}

}  // namespace d5
