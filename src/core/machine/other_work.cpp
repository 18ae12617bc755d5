// SPDX-License-Identifier: Apache-2.0
#include "core/machine/other_work.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "core/machine/process_clock.hpp"
#include "d5/core/clocks/clock.hpp"

namespace d5::detail {
namespace {

struct Busy {
  double seconds = -1, stolen_seconds = 0;
};

/// Busy time since the system's start, from /proc/stat.
Busy busy_since_start() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen;
  if (!(file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >>
        soft_interrupts >> stolen)) {
    return {};
  }
  const auto steps = double(sysconf(_SC_CLK_TCK));
  return {(user + nice + system + interrupts + soft_interrupts + stolen) / steps, stolen / steps};
}

constexpr double kShortest = 0.1;

}  // namespace

OtherWork::Reading OtherWork::now() {
  const Busy busy = busy_since_start();
  return {now_seconds(), busy.seconds, busy.stolen_seconds, process_seconds()};
}

std::optional<double> OtherWork::processors() const {
  const Reading end = now();
  const double wall = end.wall_seconds - begin_.wall_seconds;
  if (wall < kShortest || begin_.busy_seconds < 0 || end.busy_seconds < 0) return {};
  const double busy = end.busy_seconds - begin_.busy_seconds;
  return std::max(0.0, (busy - (end.own_seconds - begin_.own_seconds)) / wall);
}

std::optional<double> OtherWork::stolen_processors() const {
  const Reading end = now();
  const double wall = end.wall_seconds - begin_.wall_seconds;
  if (wall < kShortest || begin_.busy_seconds < 0 || end.busy_seconds < 0) return {};
  return std::max(0.0, (end.stolen_seconds - begin_.stolen_seconds) / wall);
}

int OtherWork::ready_now() {
  std::ifstream file("/proc/loadavg");
  double load = 0;
  int ready = 1;
  file >> load >> load >> load >> ready;  // "2.09 1.98 1.20 3/125 20678"
  return file ? std::max(0, ready - 1) : 0;
}

void OtherWork::outlast_steps() const {
  constexpr double kEnough = 2 * kShortest;
  const double left = begin_.wall_seconds + kEnough - now_seconds();
  if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
}

}  // namespace d5::detail
