// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/subject_runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/machine/pinning.hpp"
#include "core/measuring/turn_clock.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/machine/threads.hpp"

namespace d5::detail {
namespace {

std::size_t last_level_cache_bytes() {
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE), l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long known = std::max(l2, l3);
  return known > 0 ? std::size_t(known) : std::size_t(64) << 20;  // if the system hides it
}

}  // namespace

ColdCache::ColdCache() : lines_(2 * last_level_cache_bytes() / sizeof(Line)) {}

void ColdCache::evict() {
  parallel_for(std::int64_t(lines_.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      // Volatile, so that the compiler does not remove the unused writes.
      volatile unsigned char& byte = lines_[std::size_t(i)].bytes[0];
      byte = static_cast<unsigned char>(byte + 1);
    }
  });
}

double SubjectRunner::time_run() const {
  if (subject_.synchronise) subject_.synchronise();  // excludes earlier work of the device
  // The clock starts. Inside: the calls through std::function (about 1 ns each), the wait for the
  // device, and one reading of the clock (`clock_cost`). Nothing else.
  const double begin = now_seconds();
  for (int i = 0; i < repetitions_; ++i) subject_.run();
  if (subject_.synchronise) subject_.synchronise();
  const double end = now_seconds();
  // The clock has stopped.
  return end - begin;
}

void SubjectRunner::prepare() {
  options_.interrupt.check("measure");
  if (subject_.prepare) subject_.prepare();
  if (cold_cache_) cold_cache_->evict();
  return_to_own_core();
}

void SubjectRunner::start(double deadline) {
  if (subject_.life == Subject::Life::once) return;
  for (; warmups_ < options_.warmup && (warmups_ == 0 || now_seconds() < deadline); ++warmups_) {
    prepare();
    (void)time_run();
  }
  if (cold_cache_) return;
  constexpr int kMost = 1 << 28;
  while (repetitions_ < kMost) {
    prepare();
    const double seconds = time_run();
    if (seconds >= options_.seconds_per_sample || now_seconds() > deadline) break;
    repetitions_ *= 2;
  }
}

void SubjectRunner::settle() {
  if (subject_.life == Subject::Life::once) return;
  TurnClock().settle(shortest_, [&] {
    prepare();
    return time_run();
  });
}

void SubjectRunner::sample(MetricRuns& metrics) {
  prepare();
  const auto hung = metrics.hang_up(subject_.events);
  metrics.begin(repetitions_);
  const double seconds = time_run();
  metrics.end(seconds / repetitions_);
  shortest_ = std::min(shortest_, seconds);
}

Measurement SubjectRunner::record() const {
  Measurement record = subject_.record;
  record.conditions["threads"] = identity(threads());
  record.conditions["pinning"] = setting(pinning());
  if (subject_.life == Subject::Life::once) return record;
  record.conditions["cache"] = identity(cold_cache_ ? "cold" : "hot");
  record.conditions["repetitions"] = aside(repetitions_);
  record.conditions["warmup"] = setting(options_.warmup);
  return record;
}

}  // namespace d5::detail
