// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/communication_volume.hpp"

#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"
#include "d5/level3_distributed/communicator/library_traffic.hpp"

namespace d5 {

/// Message sizes and partners over all runs.
class CommunicationVolume::Messages final : public CommunicationEvent {
 public:
  void complete(const CommunicationInfo& call) override {
    if (call.bytes_sent == 0) return;
    ++calls_[std::bit_floor(static_cast<std::uint64_t>(call.bytes_sent))];
    sent_to_[call.call == "send" ? std::to_string(call.peer) : "all"] += call.bytes_sent;
  }
  void tell(Measurement& result) const {
    for (const auto& [peer, bytes] : sent_to_) {
      result.conditions["sent_to." + peer] = aside(bytes);
    }
    for (const auto& [bytes, calls] : calls_) {
      result.conditions["calls_of_bytes." + std::to_string(bytes)] = aside(calls);
    }
  }

 private:
  std::map<std::uint64_t, std::int64_t> calls_;
  std::map<std::string, std::int64_t> sent_to_;
};

/// Bytes that the library really sent, over all runs.
class CommunicationVolume::LibraryBytes {
 public:
  void begin() { at_begin_ = sent_so_far(); }
  void end() {
    const std::vector<std::int64_t> now = sent_so_far();
    if (!unknown_.empty()) return;
    sum_.resize(now.size());
    for (std::size_t rank = 0; rank < now.size(); ++rank) sum_[rank] += now[rank] - at_begin_[rank];
  }
  void tell(Measurement& result) const {
    if (!unknown_.empty()) {
      result.conditions["library_sent.unknown"] = aside(unknown_);
      return;
    }
    for (std::size_t rank = 0; rank < sum_.size(); ++rank) {
      if (sum_[rank] == 0) continue;
      result.conditions["library_sent_to." + std::to_string(rank)] = aside(sum_[rank]);
    }
    result.conditions["library_sent.bytes"] =
        aside(std::accumulate(sum_.begin(), sum_.end(), std::int64_t{0}));
  }

 private:
  std::vector<std::int64_t> sent_so_far() {
    if (!unknown_.empty()) return {};
    try {
      return library_bytes_sent();
    } catch (const Error& reason) {
      unknown_ = reason.what();
      return {};
    }
  }
  std::string unknown_;
  std::vector<std::int64_t> at_begin_, sum_;
};

CommunicationVolume::CommunicationVolume(std::shared_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)),
      messages_(std::make_shared<Messages>()),
      library_(std::make_shared<LibraryBytes>()) {}

/// Removes the observer, because a run that threw has no `end`.
CommunicationVolume::~CommunicationVolume() { communicator_->events().remove(messages_.get()); }

void CommunicationVolume::begin(int repetitions) {
  repetitions_ = repetitions;
  at_begin_ = communicator_->traffic();
  communicator_->events().add(messages_);
  library_->begin();
}

void CommunicationVolume::end() {
  library_->end();
  communicator_->events().remove(messages_.get());
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
  result.conditions["rank"] = identity(communicator_->rank());
  result.conditions["ranks"] = identity(communicator_->size());
  for (const auto& [name, line] : sum_.by_call) {
    result.conditions[name + ".calls"] = aside(line.calls);
    result.conditions[name + ".bytes_sent"] = aside(line.bytes_sent);
    result.conditions[name + ".bytes_received"] = aside(line.bytes_received);
  }
  messages_->tell(result);
  library_->tell(result);
}

namespace distributed_metric {
void register_communication_volume(Registry<MetricEntry>& registry) {
  registry.add("communication_volume", MetricEntry("bytes that a rank sends and receives", [] {
                 return std::make_shared<CommunicationVolume>(world());
               }));
}
}  // namespace distributed_metric

}  // namespace d5
