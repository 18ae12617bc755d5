// SPDX-License-Identifier: Apache-2.0
#include "evaluation/predictor/clockwork.hpp"

#include <future>
#include <mutex>
#include <thread>

#include "core/thread_pool/new_thread.hpp"
#include "d5/evaluation/load/load_clock.hpp"
#include "d5/evaluation/predictor/text_predictor.hpp"

namespace d5::predictor {
namespace {

/// A clockwork on a thread of its own, by the machine's clock.
class ClockworkSystem final : public SystemUnderTest {
 public:
  ClockworkSystem(const detail::ClockworkOptions& options, Prompts& prompts)
      : clockwork_(options), prompts_(prompts) {
    std::promise<std::shared_ptr<LoadClock>> made;
    thread_ =
        detail::new_thread<std::jthread>("clockwork", [this, &made](const std::stop_token& stop) {
          const auto clock = monotonic_load_clock();  // sets the timer slack of this thread
          made.set_value(clock);
          tick(*clock, stop);
        });
    clock_ = made.get_future().get();
  }
  ~ClockworkSystem() override {
    thread_.request_stop();
    clock_->wake();
  }
  ClockworkSystem(const ClockworkSystem&) = delete;
  ClockworkSystem& operator=(const ClockworkSystem&) = delete;

  [[nodiscard]] std::string name() const override { return "clockwork"; }
  [[nodiscard]] std::int64_t samples() const override { return prompts_.size(); }
  void issue(std::span<const Query> queries) override {
    {
      const std::lock_guard lock(mutex_);
      for (const Query& query : queries) clockwork_.ask(query.id, clock_->now());
    }
    clock_->wake();
  }

 private:
  void tick(LoadClock& clock, const std::stop_token& stop) {
    constexpr std::int64_t kIdle = 1'000'000'000;  // ns; a request wakes it
    while (!stop.stop_requested()) {
      std::int64_t next = 0;
      {
        const std::lock_guard lock(mutex_);
        next = clockwork_.next().value_or(clock.now() + kIdle);
      }
      clock.wait_until(next);
      const std::lock_guard lock(mutex_);
      clockwork_.pass(
          clock.now(), [this](const QueryProgress& piece) { progress({piece}); },
          [this](const QueryAnswer& answer) { complete({answer}); });
    }
  }

  std::mutex mutex_;  ///< guards the clockwork
  detail::Clockwork clockwork_;
  Prompts& prompts_;
  std::shared_ptr<LoadClock> clock_;
  std::jthread thread_;
};

/// Generates text at known times: the truth that clients and metrics are held against.
class ClockworkPredictor final : public TextPredictor {
 public:
  using Options = detail::ClockworkOptions;
  ClockworkPredictor(const ModelAssets&, const PredictorOptions&, const Options& options)
      : options_(options) {}
  [[nodiscard]] std::string name() const override { return "clockwork"; }
  [[nodiscard]] std::unique_ptr<SystemUnderTest> system(Prompts& prompts) override {
    return std::make_unique<ClockworkSystem>(options_, prompts);
  }

 private:
  Options options_;
};

}  // namespace

void register_clockwork(Registry<PredictorEntry>& registry) {
  registry.add("clockwork", PredictorEntry::of<ClockworkPredictor>(
                                "generates text at known times, piece by piece"));
}

}  // namespace d5::predictor
