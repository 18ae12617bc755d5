// SPDX-License-Identifier: Apache-2.0
#include "core/process/program_run.hpp"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <utility>

#include "d5/core/clocks/clock.hpp"

namespace d5::detail {

ProgramRun run_program(Program program, double most_seconds) {
  constexpr double kGrace = 2, kMost = 3600, kMilliseconds = 1000;
  const double deadline = now_seconds() + most_seconds;
  DescriptorPair output = make_pipe(), error = make_pipe();
  program.output = output.there.get();
  if (program.error != Program::kAsOutput) program.error = error.there.get();
  program.ends_with_parent = SIGKILL;  // this thread outlives it
  OwnedProcess process(program);
  output.there.close();
  error.there.close();

  ProgramRun run;
  while (!process.has_ended()) {
    const double left = deadline - now_seconds();
    if (left <= 0) {
      run.is_late = true;
      process.end(kGrace);
      break;
    }
    std::array<pollfd, 3> waiting{pollfd{process.descriptor(), POLLIN, 0},
                                  pollfd{output.here.get(), POLLIN, 0},
                                  pollfd{error.here.get(), POLLIN, 0}};
    (void)::poll(waiting.data(), waiting.size(), int(std::min(left, kMost) * kMilliseconds) + 1);
    take_available(output.here, run.output);
    take_available(error.here, run.error);
  }
  take_available(output.here, run.output);
  take_available(error.here, run.error);
  run.end = process.how();
  return run;
}

}  // namespace d5::detail
