// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/step_parts.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "d5/core/results/measurement.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {
namespace {

using detail::StepParts;

/// One part of the step's time: one sample per step on each rank.
class StepPart final : public TrainingMetric {
 public:
  using Of = std::function<double(const StepParts&)>;
  StepPart(std::string name, std::string unit, Of of)
      : name_(std::move(name)),
        unit_(std::move(unit)),
        clock_(std::make_shared<Clock>(samples_, std::move(of))) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string unit() const override { return unit_; }
  [[nodiscard]] Quantity quantity() const override {
    return unit_ == "s" ? Quantity::time : Quantity::ratio;
  }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  void begin(int) override { ranks_->events().add(clock_); }
  void end() override { ranks_->events().remove(clock_.get()); }

  void before_epoch(Trainer& trainer, std::int64_t epoch) override {
    clock_->before_epoch(trainer, epoch);
  }
  void before_batch(Trainer& trainer, const Batch& batch) override {
    clock_->before_batch(trainer, batch);
  }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    clock_->after_batch(trainer, batch, outputs);
  }
  void after_test(Trainer& trainer) override { clock_->after_test(trainer); }

 private:
  class Clock final : public detail::StepClock {
   public:
    Clock(std::vector<double>& samples, Of of) : samples_(samples), of_(std::move(of)) {}

   private:
    void stepped(const StepParts& parts, const detail::TimeRange& step) override {
      samples_.push_back(of_(parts));
      Trace::add({.kind = TraceRecord::Kind::overlapping,
                  .begin_ns = step.begin_ns,
                  .end_ns = step.end_ns,
                  .level = "training",
                  .name = "step",
                  .arguments = {{"compute_s", parts.compute},
                                {"overlapped_s", parts.overlapped},
                                {"exposed_s", parts.exposed},
                                {"idle_s", parts.idle}}});
    }
    std::vector<double>& samples_;
    Of of_;
  };

  std::string name_, unit_;
  std::shared_ptr<Communicator> ranks_ = world();
  std::shared_ptr<Clock> clock_;
};

void add(Registry<MetricEntry>& registry, const std::string& name, const std::string& summary,
         const std::string& unit, const StepPart::Of& of) {
  registry.add(name,
               MetricEntry(summary, [=] { return std::make_shared<StepPart>(name, unit, of); }));
}

}  // namespace

namespace distributed_metric {
void register_step_parts(Registry<MetricEntry>& registry) {
  add(registry, "compute_time", "time of a step in computation without communication", "s",
      &StepParts::compute);
  add(registry, "overlapped_time", "time of a step in computation overlapped with communication",
      "s", &StepParts::overlapped);
  add(registry, "exposed_time",
      "exposed communication: time of a step in which a rank waits for it", "s",
      &StepParts::exposed);
  add(registry, "idle_time", "time of a step in which a rank waits for its batch", "s",
      &StepParts::idle);
  add(registry, "exposed_share", "share of exposed communication in a step's time", "1",
      [](const StepParts& parts) { return parts.exposed / parts.step(); });
}
}  // namespace distributed_metric

}  // namespace d5
