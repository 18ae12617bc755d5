// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "core/measuring/process_counter.hpp"

namespace d5 {
namespace {

double switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_nvcsw);
}

/// Voluntary context switches of one call, summed over all threads of the process: how often a
/// thread yielded its processor to wait for a lock, another thread or a device. A subject that only
/// computes on one thread has none.
class VoluntaryContextSwitches final : public detail::ProcessCounter {
 public:
  VoluntaryContextSwitches()
      : ProcessCounter("voluntary_context_switches", "1", Quantity::count, switches) {}
};

}  // namespace

namespace metric {
void register_voluntary_context_switches(Registry<MetricEntry>& registry) {
  registry.add("voluntary_context_switches",
               MetricEntry::of<VoluntaryContextSwitches>(
                   "voluntary context switches (waits) of one call, summed over threads"));
}
}  // namespace metric

}  // namespace d5
