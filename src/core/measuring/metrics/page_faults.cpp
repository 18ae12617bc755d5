// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "core/measuring/process_counter.hpp"

namespace d5 {
namespace {

double faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_minflt + usage.ru_majflt);
}

/// Minor and major page faults of one call, summed over all threads of the process. A subject with
/// resident memory has none. Many mean that each call allocates memory from the system and returns
/// it.
class PageFaults final : public detail::ProcessCounter {
 public:
  PageFaults() : ProcessCounter("page_faults", "1", Quantity::count, faults) {}
};

}  // namespace

namespace metric {
void register_page_faults(Registry<MetricEntry>& registry) {
  registry.add("page_faults",
               MetricEntry::of<PageFaults>("page faults of one call, summed over threads"));
}
}  // namespace metric

}  // namespace d5
