// SPDX-License-Identifier: Apache-2.0
#include "apps/ctrl_c.hpp"

#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "d5/core/interrupts/stop_on_signal.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

namespace d5::app {
namespace {

std::unique_ptr<StopOnSignal> listener;
bool ended_with_others = false;

}  // namespace

Interrupt ctrl_c() {
  if (!listener) {
    std::vector<int> signals{SIGINT, SIGTERM, SIGHUP};
    if (is_launched()) signals.push_back(kLaunchersCtrlC);
    listener = std::make_unique<StopOnSignal>(std::move(signals));
  }
  return {.token = listener->token()};
}

void end_with_others() { ended_with_others = true; }

bool interrupted() { return ended_with_others || (listener && listener->token().stop_requested()); }

int interrupted_status() {
  constexpr int kSignal = 128;
  const int signal = listener ? listener->arrived() : 0;
  return kSignal + (signal == 0 || signal == kLaunchersCtrlC ? SIGINT : signal);
}

}  // namespace d5::app
