// SPDX-License-Identifier: Apache-2.0
// Run by failing_rank_job_test under mpirun: rank 1 fails in the way that its argument names, while
// the others wait for it in a collective, for ever.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"
#include "d5/level3_distributed/decorators/fault_injection.hpp"

namespace {

using namespace d5;

/// The world with a timeout of 2 s, and a possible fault in rank 1's third call.
std::shared_ptr<Communicator> watched(const std::string& way) {
  std::shared_ptr<Communicator> ranks = world();
  for (const char* kind : {"hang", "kill"}) {
    if (way != kind) continue;
    FaultOptions fault = fault_of(way + ":rank=1,step=3");
    fault.counts = FaultOptions::Counts::calls;
    ranks = std::make_shared<FaultInjection>(ranks, fault);
  }
  return std::make_shared<CallTimeout>(ranks,
                                       CallTimeoutOptions{.timeout = std::chrono::seconds(2)});
}

int run_watched(const std::string& way) {
  const auto ranks = watched(way);
  std::printf("pid %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  ranks->barrier();
  Tensor sum = Tensor::zeros(DType::float32, {64});
  ranks->all_reduce(sum);
  if (way == "stop" && ranks->rank() == 1) std::raise(SIGSTOP);
  if (way == "late" && ranks->rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  }
  all_reduces().at("ring").make()->start(*ranks, sum)->wait();
  ranks->all_reduce(sum);
  std::printf("rank %d came to the end\n", ranks->rank());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  for (const char* of_watched : {"stop", "hang", "kill", "late"}) {
    if (way == of_watched) return run_watched(way);
  }
  auto all = d5::world();
  all->barrier();
  if (all->rank() == 1) {
    if (way == "throws") throw std::runtime_error("the loss is not a number");
    if (way == "dies") std::raise(SIGKILL);
    if (way == "exits") return 3;
    if (way == "aborts") all->abort("gave up");
  }
  if (way != "none") all->barrier();
  std::printf("rank %d came to the end\n", all->rank());
  return 0;
}
