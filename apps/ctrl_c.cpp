// SPDX-License-Identifier: Apache-2.0
#include "apps/ctrl_c.hpp"

#include <csignal>
#include <memory>

#include "d5/core/stop_on_signal.hpp"

namespace d5::app {
namespace {

std::unique_ptr<StopOnSignal> listener;

}  // namespace

Interrupt ctrl_c() {
  if (!listener) listener = std::make_unique<StopOnSignal>(SIGINT);
  return {.token = listener->token()};
}

bool interrupted() { return listener && listener->token().stop_requested(); }

}  // namespace d5::app
