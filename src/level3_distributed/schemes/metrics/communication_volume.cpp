// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communication_volume.hpp"

#include "d5/core/measurement.hpp"

namespace d5 {

void CommunicationVolume::begin(int repetitions) {
  repetitions_ = repetitions;
  at_begin_ = communicator_->traffic();
}

void CommunicationVolume::end() {
  const Traffic run = communicator_->traffic().since(at_begin_);
  for (const auto& [name, line] : run.by_call) {
    auto& sum = sum_.by_call[name];
    sum.calls += line.calls;
    sum.bytes_sent += line.bytes_sent;
    sum.bytes_received += line.bytes_received;
  }
  const auto total = run.total();
  samples_.push_back(static_cast<double>(total.bytes_sent + total.bytes_received) / repetitions_);
}

void CommunicationVolume::summarise(Measurement& result) const {
  result.samples = samples_;
  result.conditions["rank"] = std::to_string(communicator_->rank());
  result.conditions["ranks"] = std::to_string(communicator_->size());
  for (const auto& [name, line] : sum_.by_call) {
    result.conditions[name + ".calls"] = std::to_string(line.calls);
    result.conditions[name + ".bytes_sent"] = std::to_string(line.bytes_sent);
    result.conditions[name + ".bytes_received"] = std::to_string(line.bytes_received);
  }
}

namespace distributed_metric {
void register_communication_volume(Registry<MetricEntry>& registry) {
  registry.add("communication_volume", MetricEntry("bytes that a rank sends and receives", [] {
                 return std::make_shared<CommunicationVolume>(world());
               }));
}
}  // namespace distributed_metric

}  // namespace d5
