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

/// Page faults of one call, summed over all threads of the process, whether or not a page had to
/// come from disk. A subject whose memory is all there has none; many mean that it asks the system
/// for memory and gives it back in each call.
class PageFaults final : public detail::ProcessCounter {
 public:
  PageFaults() : ProcessCounter("page_faults", "1", Quantity::count, faults) {}
};

}  // namespace

namespace metric {
void register_page_faults(Registry<MetricEntry>& registry) {
  registry.add("page_faults",
               MetricEntry::of<PageFaults>("page faults of one call, all threads together"));
}
}  // namespace metric

}  // namespace d5
