// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/measuring/metric.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Communication volume: bytes that this rank sends and receives in a run of the subject, counted
/// exactly (`Traffic`).
///
/// A record has one sample per run: bytes sent plus received. Its conditions are the rank, the
/// number of ranks, and totals over all runs: for each kind of call ("all_reduce.calls",
/// "all_reduce.bytes_sent", ...); bytes sent to each rank ("sent_to.1"; "sent_to.all" for
/// collectives, whose partners the library chooses); and a histogram of calls by bytes sent
/// ("calls_of_bytes.4096": 4096 to 8191 bytes). `volume_plots` draws them.
///
/// Further conditions are the bytes that the transport's library really sent, inside its
/// collectives too: "library_sent_to.1" by rank of the job, and "library_sent.bytes", or else
/// "library_sent.unknown" with the reason (see `library_traffic.hpp`).
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

  /// All traffic between `begin` and `end`, over all runs.
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

/// Plots of the `CommunicationVolume` records, for each subject of several ranks: bytes by sender
/// and receiver ("volume-matrix"), and calls by their bytes ("volume-sizes").
[[nodiscard]] std::vector<Plot> volume_plots(const std::vector<Measurement>& records);

}  // namespace d5
