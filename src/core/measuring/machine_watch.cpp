// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/machine_watch.hpp"

#include <chrono>
#include <thread>

#include "core/clocks/virtual_clock.hpp"
#include "core/machine/machine.hpp"
#include "core/measuring/trust.hpp"
#include "core/peak/processor_speed.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/statistics/statistics.hpp"

namespace d5::detail {

MachineWatch::MachineWatch() : is_virtual_(virtual_clock_of_thread() != nullptr) {
  if (is_virtual_) return;
  began_ = read_scheduler();
  ask_for_speed();
}

void MachineWatch::look() {
  constexpr double kWhile = 0.25;  // a check of 0.05 ms is then 0.02% of the time
  if (is_virtual_ || now_seconds() - looked_ < kWhile) return;
  ask_for_speed();
}

void MachineWatch::ask_for_speed() {
  if (const double speed = processor_speed(); speed > 0) speeds_.push_back(speed);
  looked_ = now_seconds();
}

MachineEvidence MachineWatch::seen(const WaitedTime& waited) {
  MachineEvidence result{.own_threads = threads(), .processors = machine().hardware_threads};
  if (is_virtual_) return result;
  ask_for_speed();
  result.waited = waited;
  result.speeds = speeds_;
  if (!speeds_.empty()) keep_processor_speed(result.own_threads, summarise(speeds_).median);
  result.best_speed = best_processor_speed(result.own_threads);
  result.others = other_work_.processors();
  result.stolen = other_work_.stolen_processors();
  return result;
}

bool MachineWatch::sees_other_work(const WaitedTime& waited) {
  if (matters(waited)) return true;
  if (OtherWork::ready_now() == 0) return false;
  // d5's idle threads may still have spun, and been counted.
  constexpr auto kIdle = std::chrono::milliseconds(1);
  std::this_thread::sleep_for(kIdle);
  return OtherWork::ready_now() > 0;
}

MachineEvidence MachineWatch::evidence(const WaitedTime& waited) {
  if (!is_virtual_ && !other_work_.processors() && sees_other_work(waited)) {
    other_work_.outlast_steps();
  }
  return seen(waited);
}

MachineEvidence MachineWatch::evidence() { return evidence(waited()); }

MachineEvidence MachineWatch::evidence_so_far() { return seen(waited()); }

WaitedTime MachineWatch::waited() const {
  return is_virtual_ ? WaitedTime{} : waited_between(began_, read_scheduler());
}

}  // namespace d5::detail
