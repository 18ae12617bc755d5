// SPDX-License-Identifier: Apache-2.0
#include "fuzz/judge.hpp"

#include <fmt/format.h>
#include <sys/time.h>

#include <typeinfo>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "fuzz/fuzzer.hpp"

/// LeakSanitizer's, null where the program is built without it.
extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));

namespace d5::fuzz {
namespace {

constexpr std::size_t kBudget = std::size_t{32} << 20;  // bytes
/// A case has inputs, outputs and memory to run in, in two frameworks, each within the budget.
constexpr double kMostBytes = 8 * double(kBudget);
constexpr int kMostSeconds = 10;

/// While it lives, SIGPROF ends the process that computes for too long. Processor time: a busy
/// machine makes no case slower.
class TimeLimit {
 public:
  TimeLimit() { set(kMostSeconds); }
  ~TimeLimit() { set(0); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  static void set(int seconds) {
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

/// The most resident memory since it was made, above what there was then.
class MemoryGrowth {
 public:
  MemoryGrowth() {
    peak_->begin(1);
    peak_->end();  // what is resident now
    peak_->begin(1);
  }
  [[nodiscard]] double bytes() const {
    peak_->end();
    Measurement record;
    peak_->summarise(record);
    return record.samples.size() == 2 ? record.samples[1] - record.samples[0] : 0;
  }

 private:
  std::shared_ptr<Metric> peak_ = MetricChoice("peak_memory").make();
};

Verdict found(std::string text) { return {Verdict::Kind::found, std::move(text)}; }

Verdict run(const std::string& bytes) {
  const TimeLimit limit;
  try {
    std::string wrong = run_case(bytes);
    return wrong.empty() ? Verdict{} : found(std::move(wrong));
  } catch (const ContractError& error) {
    return found(fmt::format("a broken contract: {}", error.what()));
  } catch (const Error&) {
    return {Verdict::Kind::refused};
  } catch (const std::exception& error) {
    return found(fmt::format("no d5::Error but {}: {}", typeid(error).name(), error.what()));
  }
}

}  // namespace

bool lost_memory() {
  return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0;
}

void set_budget() { set_memory_budget(kBudget); }

Verdict judge(const std::string& bytes) {
  const MemoryGrowth growth;
  Verdict verdict = run(bytes);
  if (const double most = growth.bytes(); most > kMostBytes) {
    verdict = found(fmt::format("{:.0f} MiB resident, under a memory budget of {} MiB",
                                most / (1 << 20), kBudget >> 20));
  }
  return verdict;
}

}  // namespace d5::fuzz
