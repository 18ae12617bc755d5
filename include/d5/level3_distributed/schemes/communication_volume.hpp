// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/measuring/metric.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Bytes that this rank sends and receives a run of the subject, counted exactly (`Traffic`).
///
/// A record's samples are bytes sent plus received, one a run. Its conditions tell rank, ranks, and
/// of all runs: for each kind of call the totals ("all_reduce.calls", "all_reduce.bytes_sent",
/// ...); the bytes sent to each rank ("sent_to.1"; "sent_to.all" of collectives, whose partners
/// their library chooses); and how many calls sent from so many bytes to twice as many
/// ("calls_of_bytes.4096"). `volume_plots` draws them.
///
/// Beside that stands what the transport's library really sent meanwhile, the inside of its
/// collectives included: "library_sent_to.1", by rank of the job, and "library_sent.bytes", or in
/// its place "library_sent.unknown" with the reason (`library_traffic.hpp` tells how to ask for
/// it).
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), level 3 metrics.
class CommunicationVolume final : public Metric {
 public:
  explicit CommunicationVolume(std::shared_ptr<Communicator> communicator);
  ~CommunicationVolume() override;
  [[nodiscard]] std::string name() const override { return "communication_volume"; }
  [[nodiscard]] std::string unit() const override { return "byte"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::bytes; }
  void begin(int repetitions) override;
  void end() override;
  void summarise(Measurement& result) const override;

  /// Everything between `begin` and `end`, of all runs.
  [[nodiscard]] const Traffic& traffic() const { return sum_; }

 private:
  class Messages;
  class LibraryBytes;
  std::shared_ptr<Communicator> communicator_;
  std::shared_ptr<Messages> messages_;
  std::shared_ptr<LibraryBytes> library_;
  int repetitions_ = 1;
  Traffic at_begin_, sum_;
  std::vector<double> samples_;
};

/// Of the records of `CommunicationVolume` among `records`, for each subject of several ranks: who
/// sent how much to whom ("volume-matrix"), and calls by their bytes ("volume-sizes").
[[nodiscard]] std::vector<Plot> volume_plots(const std::vector<Measurement>& records);

}  // namespace d5
