// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/metric.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5 {

/// Bytes that this rank sends and receives a run of the subject, counted exactly (`Traffic`).
///
/// A record's samples are bytes sent plus received, one a run. Its conditions tell rank, ranks, and
/// for each kind of call the totals: "all_reduce.calls", "all_reduce.bytes_sent", ...
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), level 3 metrics.
class CommunicationVolume final : public Metric {
 public:
  explicit CommunicationVolume(std::shared_ptr<Communicator> communicator)
      : communicator_(std::move(communicator)) {}
  [[nodiscard]] std::string name() const override { return "communication_volume"; }
  [[nodiscard]] std::string unit() const override { return "byte"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::bytes; }
  void begin(int repetitions) override;
  void end() override;
  void summarise(Measurement& result) const override;

  /// Everything between `begin` and `end`, of all runs.
  [[nodiscard]] const Traffic& traffic() const { return sum_; }

 private:
  std::shared_ptr<Communicator> communicator_;
  int repetitions_ = 1;
  Traffic at_begin_, sum_;
  std::vector<double> samples_;
};

}  // namespace d5
