// SPDX-License-Identifier: Apache-2.0
// Run by failing_rank_job_test under mpirun: rank 1 fails in the way that its argument names, while
// the others wait for it in a collective, for ever.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "d5/level3_distributed/communicator.hpp"

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
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
