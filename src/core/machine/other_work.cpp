// SPDX-License-Identifier: Apache-2.0
#include "core/machine/other_work.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "core/machine/process_clock.hpp"
#include "d5/core/clock.hpp"

namespace d5::detail {
namespace {

/// Since the system started, as /proc/stat counts it.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen;
  if (!(file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >>
        soft_interrupts >> stolen)) {
    return -1;
  }
  return (user + nice + system + interrupts + soft_interrupts + stolen) /
         double(sysconf(_SC_CLK_TCK));
}

}  // namespace

OtherWork::Reading OtherWork::now() { return {now_seconds(), busy_seconds(), process_seconds()}; }

std::optional<double> OtherWork::processors() const {
  constexpr double kShortest = 0.1;
  const Reading end = now();
  const double wall = end.wall_seconds - begin_.wall_seconds;
  if (wall < kShortest || begin_.busy_seconds < 0 || end.busy_seconds < 0) return {};
  const double busy = end.busy_seconds - begin_.busy_seconds;
  return std::max(0.0, (busy - (end.own_seconds - begin_.own_seconds)) / wall);
}

}  // namespace d5::detail
