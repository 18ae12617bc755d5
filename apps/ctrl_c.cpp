// SPDX-License-Identifier: Apache-2.0
#include "apps/ctrl_c.hpp"

#include <csignal>
#include <memory>
#include <vector>

#include "d5/core/stop_on_signal.hpp"

namespace d5::app {
namespace {

std::unique_ptr<StopOnSignal> listener;

}  // namespace

Interrupt ctrl_c() {
  if (!listener) listener = std::make_unique<StopOnSignal>(std::vector{SIGINT, SIGTERM, SIGHUP});
  return {.token = listener->token()};
}

bool interrupted() { return listener && listener->token().stop_requested(); }

int interrupted_status() {
  constexpr int kSignal = 128;
  const int signal = listener ? listener->arrived() : 0;
  return kSignal + (signal == 0 ? SIGINT : signal);
}

}  // namespace d5::app
