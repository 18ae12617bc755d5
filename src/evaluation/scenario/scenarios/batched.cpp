// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/load_run.hpp"

namespace d5::scenario {
namespace {

struct BatchedOptions {
  std::int64_t batch = 1;
  void declare(OptionList& options) {
    options.add("batch", batch, "samples per query", {.least = 1});
  }
};

/// Queries of many samples, one after the other: the maximum throughput of a machine.
class Batched final : public Scenario {
 public:
  using Options = BatchedOptions;
  explicit Batched(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    detail::LoadRun run(system, options,
                        {.samples_per_query = options_.batch,
                         .latency_from = LatencyFrom::issue,
                         .settles = false,
                         .percentile = 0.5});
    for (std::int64_t now = run.now(); run.goes_on(now) && run.wait_for(0); now = run.now()) {
      run.ask(now);
    }
    return run.end();
  }
  [[nodiscard]] bool overlaps() const override { return false; }

 private:
  Options options_;
};

}  // namespace

void register_batched(Registry<ScenarioEntry>& registry) {
  registry.add("batched",
               ScenarioEntry::of<Batched>("queries of many samples, one after the other"));
}

}  // namespace d5::scenario
