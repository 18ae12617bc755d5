// SPDX-License-Identifier: Apache-2.0
#include "core/machine/thread_waits.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace d5::detail {
namespace {

using Tells = SchedulerReading::Tells;
using Text = std::array<char, 4096>;  // a file's content, without allocation

/// The beginning of a file; empty if it cannot be read.
std::string_view text_of(const std::string& path, Text& into) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t size = ::read(file, into.data(), into.size());
  ::close(file);
  return {into.data(), size > 0 ? std::size_t(size) : 0};
}

/// The integer in `text` after `name` and blanks; negative if there is none.
std::int64_t number_behind(std::string_view text, std::string_view name) {
  const auto place = text.find(name);
  if (place == std::string_view::npos) return -1;
  text.remove_prefix(place + name.size());
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Parses a line "RAN WAITED TURNS", with times in nanoseconds. False if malformed, or if the
/// system does not count: a reading thread must have had a turn.
bool read_waits(std::string_view text, SchedulerReading::Thread& thread) {
  std::array<std::int64_t, 3> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (auto& number : numbers) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) return false;
    at = next;
  }
  thread.waited_seconds = 1e-9 * double(numbers[1]);
  thread.turns = numbers[2];
  return true;
}

}  // namespace

SchedulerReading read_scheduler(const SchedulerFiles& files) {
  SchedulerReading reading;
  Text text;
  bool any_turn = false, any_status = false;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir(files.tasks.c_str()), ::closedir);
  while (const dirent* entry = tasks ? ::readdir(tasks.get()) : nullptr) {
    const int number = std::atoi(entry->d_name);
    if (number <= 0) continue;
    const std::string folder = files.tasks + "/" + entry->d_name;
    SchedulerReading::Thread thread;
    if (read_waits(text_of(folder + "/schedstat", text), thread)) {
      any_turn = any_turn || thread.turns > 0;
    } else {
      const auto preemptions =
          number_behind(text_of(folder + "/status", text), "nonvoluntary_ctxt_switches:");
      if (preemptions < 0) continue;  // the thread has ended
      any_status = true;
      thread.preemptions = preemptions;
    }
    reading.threads.emplace(number, thread);
  }
  const auto pressure = number_behind(text_of(files.pressure, text), "total=");
  reading.pressure_seconds = 1e-6 * double(std::max<std::int64_t>(pressure, 0));
  reading.tells = any_turn        ? Tells::waits
                  : pressure >= 0 ? Tells::pressure
                  : any_status    ? Tells::preemptions
                                  : Tells::nothing;
  reading.at_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return reading;
}

WaitedTime waited_between(const SchedulerReading& begin, const SchedulerReading& end) {
  // Wake-up latency to an idle processor, which is not a wait for other work.
  constexpr double kWaking = 10e-6;
  // Time slice of other work on a processor. Systems set 0.7 ms to 4 ms.
  constexpr double kOthersTurn = 1e-3;
  WaitedTime waited{.tells = end.tells, .wall_seconds = end.at_seconds - begin.at_seconds};
  if (end.tells == Tells::pressure) {
    waited.waited_seconds = end.pressure_seconds - begin.pressure_seconds;
    return waited;
  }
  for (const auto& [number, now] : end.threads) {
    const auto known = begin.threads.find(number);
    const auto before = known == begin.threads.end() ? SchedulerReading::Thread{} : known->second;
    if (end.tells == Tells::preemptions) {
      waited.waited_seconds += kOthersTurn * double(now.preemptions - before.preemptions);
    } else {
      waited.waited_seconds += std::max(0.0, now.waited_seconds - before.waited_seconds -
                                                 kWaking * double(now.turns - before.turns));
    }
  }
  return waited;
}

std::string absence_of_waits(Tells tells) {
  switch (tells) {
    case Tells::waits:
      return "";
    case Tells::pressure:
      return "the system does not count threads' waits for a processor (/proc/self/schedstat); the "
             "pressure on all processors (/proc/pressure/cpu) is used instead";
    case Tells::preemptions:
      return "the system does not count threads' waits for a processor (/proc/self/schedstat), nor "
             "pressure (/proc/pressure/cpu); involuntary switches are used instead";
    case Tells::nothing:
      break;
  }
  return "the system has no scheduler statistics (/proc/self/schedstat, /proc/pressure/cpu): waits "
         "for a processor are not detected";
}

ThreadWaits::Span::~Span() {
  const WaitedTime more = waited_between(begin_, read_scheduler());
  waits_.sum_.tells = more.tells;
  waits_.sum_.wall_seconds += more.wall_seconds;
  waits_.sum_.waited_seconds += more.waited_seconds;
}

}  // namespace d5::detail
