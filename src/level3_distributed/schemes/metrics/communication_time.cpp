// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <thread>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {
namespace {

/// Measures the time of its rank in communication calls and in waits for them.
class Stopwatch final : public CommunicationEvent {
 public:
  void before_call(const CommunicationInfo&) override { start(); }
  void after_call(const CommunicationInfo&) override { stop(); }
  void before_wait(const CommunicationInfo&) override { start(); }
  void after_wait(const CommunicationInfo&) override { stop(); }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  void start() {
    if (std::this_thread::get_id() == rank_ && depth_++ == 0) begin_ = now_seconds();
  }
  void stop() {
    if (std::this_thread::get_id() != rank_ || depth_ == 0) return;
    if (--depth_ == 0) seconds_ += now_seconds() - begin_;
  }
  std::thread::id rank_ = std::this_thread::get_id();  // not a communication thread
  int depth_ = 0;                                      // nesting of waits
  double begin_ = 0, seconds_ = 0;
};

/// Exposed communication time of a run on a rank: the part of the exchange that computation does
/// not hide, and waits for slower ranks.
class CommunicationTime final : public Metric {
 public:
  [[nodiscard]] std::string name() const override { return "communication_time"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    stopwatch_ = std::make_shared<Stopwatch>();
    communicator_->events().add(stopwatch_);
  }
  void end() override {
    communicator_->events().remove(stopwatch_.get());
    samples_.push_back(stopwatch_->seconds() / repetitions_);
  }
  void summarise(Measurement& result) const override { result.samples = samples_; }

 private:
  std::shared_ptr<Communicator> communicator_ = world();
  std::shared_ptr<Stopwatch> stopwatch_;
  int repetitions_ = 1;
  std::vector<double> samples_;
};

}  // namespace

namespace distributed_metric {
void register_communication_time(Registry<MetricEntry>& registry) {
  registry.add("communication_time", MetricEntry::of<CommunicationTime>(
                                         "time of a rank in communication calls and waits"));
}
}  // namespace distributed_metric

}  // namespace d5
