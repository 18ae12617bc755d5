// SPDX-License-Identifier: Apache-2.0
#include "core/machine/process_clock.hpp"
#include "core/measuring/process_counter.hpp"

namespace d5 {
namespace {

/// Processor time of one call, summed over all threads of the process.
class CpuTime final : public detail::ProcessCounter {
 public:
  CpuTime() : ProcessCounter("cpu_time", "s", Quantity::time, detail::process_seconds) {}
};

}  // namespace

namespace metric {
void register_cpu_time(Registry<MetricEntry>& registry) {
  registry.add("cpu_time",
               MetricEntry::of<CpuTime>("processor time of one call, summed over threads"));
}
}  // namespace metric

}  // namespace d5
