// SPDX-License-Identifier: Apache-2.0
#include "core/machine/thread_waits.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "tests/busy_processors.hpp"
#include "tests/core/subjects.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using detail::SchedulerReading;
using Tells = SchedulerReading::Tells;

namespace {

using Files = std::map<std::string, std::string>;

/// A fake of the system's files, in a folder of its own.
class SaidBySystem : testing::TemporaryFolder {
 public:
  explicit SaidBySystem(const Files& files = {}) {
    std::filesystem::create_directories(path() / "task");
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((path() / name).parent_path());
      std::ofstream(path() / name) << text;
    }
  }
  [[nodiscard]] SchedulerReading read() const {
    return detail::read_scheduler(
        {.tasks = (path() / "task").string(), .pressure = (path() / "pressure").string()});
  }
};

constexpr const char* kPressure =
    "some avg10=64.63 avg60=48.18 avg300=18.68 total=69406523\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
constexpr const char* kStatus =
    "Name:\td5\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t22\n";

}  // namespace

TEST_CASE("each thread's wait for a processor is read from its schedstat") {
  const SaidBySystem system(Files{{"task/12/schedstat", "698717 2012615 22\n"},
                                  {"task/13/schedstat", "5000000000 1500000000 3\n"},
                                  {"pressure", kPressure}});
  const auto reading = system.read();
  CHECK(reading.tells == Tells::waits);
  REQUIRE(reading.threads.size() == 2);
  CHECK(reading.threads.at(12).waited_seconds == Approx(0.002012615));
  CHECK(reading.threads.at(12).turns == 22);
  CHECK(reading.threads.at(13).waited_seconds == Approx(1.5));
  CHECK(reading.pressure_seconds == Approx(69.406523));
}

TEST_CASE("without schedstat the pressure stands for waits, then involuntary switches do") {
  // A system that does not count says 0 of a thread that has run.
  const SaidBySystem zeros(Files{{"task/12/schedstat", "0 0 0\n"}, {"pressure", kPressure}});
  CHECK(zeros.read().tells == Tells::pressure);
  const SaidBySystem none(Files{{"task/12/status", kStatus}, {"pressure", kPressure}});
  CHECK(none.read().tells == Tells::pressure);
  const SaidBySystem switches(Files{{"task/12/status", kStatus}});
  CHECK(switches.read().tells == Tells::preemptions);
  CHECK(switches.read().threads.at(12).preemptions == 22);
}

TEST_CASE("a system that tells nothing is no error, and says so") {
  const SaidBySystem nothing;
  CHECK(nothing.read().tells == Tells::nothing);
  CHECK(detail::waited_between(nothing.read(), nothing.read()).waited_seconds == 0);
  CHECK_THAT(detail::absence_of_waits(Tells::nothing), Catch::Contains("/proc/self/schedstat"));
  CHECK_THAT(detail::absence_of_waits(Tells::pressure), Catch::Contains("/proc/pressure/cpu"));
  CHECK(detail::absence_of_waits(Tells::waits).empty());
}

TEST_CASE("waits add up over threads, those that began meanwhile among them") {
  const SchedulerReading begin{
      .at_seconds = 10, .tells = Tells::waits, .threads = {{1, {0.5, 100}}, {2, {0.25, 10}}}};
  const SchedulerReading end{
      .at_seconds = 12, .tells = Tells::waits, .threads = {{1, {0.75, 100}}, {3, {0.125, 0}}}};
  const auto waited = detail::waited_between(begin, end);
  CHECK(waited.wall_seconds == 2);
  CHECK(waited.waited_seconds == Approx(0.375));
  CHECK(waited.share() == Approx(0.1875));
}

TEST_CASE("the time to wake up is no wait") {
  const SchedulerReading begin{.at_seconds = 0, .tells = Tells::waits, .threads = {{1, {0, 0}}}};
  SchedulerReading end{.at_seconds = 1, .tells = Tells::waits, .threads = {{1, {0.008, 1000}}}};
  CHECK(detail::waited_between(begin, end).waited_seconds == 0);  // 8 µs each
  // A thread that is woken behind one that looks for a change for 100 µs.
  end.threads.at(1) = {0.46, 4600};
  CHECK(detail::waited_between(begin, end).share() == Approx(0.414));
}

TEST_CASE("pressure and involuntary switches become waits") {
  SchedulerReading begin{.at_seconds = 0, .tells = Tells::pressure, .pressure_seconds = 1};
  SchedulerReading end{.at_seconds = 2, .tells = Tells::pressure, .pressure_seconds = 1.5};
  CHECK(detail::waited_between(begin, end).share() == Approx(0.25));
  begin = {.at_seconds = 0, .tells = Tells::preemptions, .threads = {{1, {.preemptions = 5}}}};
  end = {.at_seconds = 1, .tells = Tells::preemptions, .threads = {{1, {.preemptions = 205}}}};
  CHECK(detail::waited_between(begin, end).share() == Approx(0.2));
}

TEST_CASE("a span adds up while it lives") {
  detail::ThreadWaits waits;
  CHECK(waits.sum().wall_seconds == 0);
  for (int i = 0; i < 2; ++i) {
    const detail::ThreadWaits::Span span(waits);
    testing::wait(0.005);
  }
  CHECK(waits.sum().wall_seconds >= 0.01);
  CHECK(waits.sum().waited_seconds >= 0);
}
