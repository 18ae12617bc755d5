// SPDX-License-Identifier: Apache-2.0
// Time of a step after backpropagation: gradients of 25 million parameters in 160 tensors are
// averaged over the ranks of one machine and clipped by their global norm, then Adam updates the
// parameters:
//
//     mpirun -np 2 bench_gradient_exchange_update --samples 15
//
// `step` is what training does; `step-in-passes` is the same with weight, sum, norm, clip and
// update as separate passes over all gradients. `sweeps` and `sweeps-in-passes` are norm, clip and
// update alone, on existing gradients. Each sample runs all contestants, in rotating order, and is
// the time of the slowest rank from a barrier on.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/command_line.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level2_training/optimization/gradient_norm.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

namespace {

using namespace d5;

constexpr double kMost = 1;  // norm

/// Executor with alternating small and large parameters, as of biases and weights, whose gradients
/// are given.
class GradientsAtHand final : public GraphExecutor {
 public:
  GradientsAtHand() {
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < 160; ++i) {
      const std::int64_t size = i % 2 == 0 ? 256 * (1 + i / 2 % 8) : 7690 * (i / 2 + 1);
      names.push_back(fmt::format("p{}", i));
      network_.add_parameter(names.back(), Tensor::zeros(DType::float32, {size}));
    }
    network_.add_node("Sum", names, {"loss"});
    network_.add_output("loss");
    outputs_["loss"] = Tensor::scalar(1.0f);
  }
  const ValueMap& inference(const ValueMap&) override { return outputs_; }
  const ValueMap& inference_and_backprop(const ValueMap&, std::string_view) override {
    return outputs_;
  }
  void set_loss_factor(double) override {}  // backpropagation would carry it along
  const Tensor& gradient(std::string_view) const override { throw NotFound("no gradients"); }
  void set_mode(NetworkMode) override {}
  NetworkMode mode() const override { return NetworkMode::as_written; }
  ValueMap state() const override { return {}; }
  void restore(const ValueMap&) override {}
  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return "none"; }

 private:
  Network network_{"parameters"};
  EventList events_;
  ValueMap outputs_;
};

std::shared_ptr<ThreeStepOptimizer> adam(bool clips) {
  auto optimizer = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers().at("adam").make(std::make_shared<GradientsAtHand>(), "loss"));
  if (clips) optimizer->add(step_modifiers().at("clip_norm").make({{"most", kMost}}));
  return optimizer;
}

struct Contestant {
  std::string name;
  std::shared_ptr<ThreeStepOptimizer> optimizer;
  std::function<void()> run;
  std::vector<double> seconds = {};
};

/// Norm, clipping and update in separate passes.
void sweep_in_passes(ThreeStepOptimizer& optimizer, const std::vector<GradientBucket>& buckets) {
  Network& network = optimizer.executor().network();
  const double factor = std::min(1.0, kMost / gradient_norm(network));
  for (const GradientBucket& bucket : buckets) {
    Tensor data = bucket.data;
    world()->scale_local(data, factor);
  }
  static const Batch batch;
  optimizer.begin_step(batch);
  if (!optimizer.begin_updates()) return;
  optimizer.update_parameters({0, network.parameters().size()}, 1);
  optimizer.end_step();
}

std::vector<Contestant> contestants(const std::string& algorithm) {
  static const Batch batch;
  std::vector<Contestant> all;
  const auto local = adam(true);
  const std::shared_ptr<DistributedOptimizer> step =
      distributed_optimizers()
          .at("consistent_decentralized")
          .make(local, world(), {{"all_reduce", algorithm}});
  all.push_back({"step", local, [step] { step->step(batch); }});

  const auto passes = adam(false);
  const auto buckets = cut_into_buckets(passes->executor().network().parameters());
  const std::shared_ptr<AllReduce> all_reduce = all_reduces().at(algorithm).make({});
  all.push_back({"step-in-passes", passes, [=] {
                   for (const GradientBucket& bucket : buckets) {
                     Tensor data = bucket.data;
                     world()->scale_local(data, 1.0 / world()->size());
                   }
                   std::vector<std::unique_ptr<Request>> under_way;
                   for (const GradientBucket& bucket : buckets) {
                     Tensor data = bucket.data;
                     under_way.push_back(all_reduce->start(*world(), data));
                   }
                   for (auto& request : under_way) request->wait();
                   sweep_in_passes(*passes, buckets);
                 }});
  const auto alone = adam(true);
  all.push_back({"sweeps", alone, [alone] { alone->step(batch); }});
  all.push_back({"sweeps-in-passes", passes, [=] { sweep_in_passes(*passes, buckets); }});
  return all;
}

double sample(const Contestant& contestant) {
  for (Parameter& parameter : contestant.optimizer->executor().network().parameters()) {
    std::ranges::fill(parameter.gradient.span<float>(), 1e-3f);
  }
  world()->barrier();
  const double begin = now_seconds();  // inside: what follows backpropagation, to the step's end
  contestant.run();
  Tensor seconds = Tensor::scalar(now_seconds() - begin);
  world()->all_reduce(seconds, Reduction::maximum);
  return seconds.item<double>();
}

void print(const std::vector<Contestant>& all) {
  TextTable table({"what", {"ms", TextTable::Align::right}, "95%"});
  for (const Contestant& contestant : all) {
    const Summary time = summarise(contestant.seconds);
    table.add({contestant.name, fmt::format("{:.1f}", time.median * 1e3),
               fmt::format("[{:.1f}, {:.1f}]", time.median_interval.low * 1e3,
                           time.median_interval.high * 1e3)});
  }
  fmt::print("{} ranks\n{}", world()->size(), table.to_text(Format::table));
  for (const std::size_t fused : {0, 2}) {
    const Comparison ratio = compare(all[fused + 1].seconds, all[fused].seconds);
    fmt::print("{}: {:.2f} times as fast as {}, 95% [{:.2f}, {:.2f}]\n", all[fused].name,
               ratio.ratio, all[fused + 1].name, ratio.ratio_interval.low,
               ratio.ratio_interval.high);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmarks::CommandLine line(
      "The time of a step after backpropagation, of 25 million gradients.");
  int samples = 15;
  std::string algorithm = "node_memory";
  bool plain = false;
  line.add("--samples", &samples, "samples per contestant");
  line.add("--all-reduce", &algorithm, "all-reduce algorithm for the gradients");
  line.add("--plain", &plain, "NAME SECONDS... a line, for other programs");
  if (const auto status = line.parse(argc, argv)) return *status;

  set_threads(1);
  auto all = contestants(algorithm);
  for (const auto& contestant : all) (void)sample(contestant);  // makes what it keeps
  for (int i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      auto& contestant = all[(k + static_cast<std::size_t>(i)) % all.size()];
      contestant.seconds.push_back(sample(contestant));
    }
  }
  if (world()->rank() != 0) return 0;
  if (!plain) print(all);
  for (const auto& contestant : all) {
    if (plain) fmt::print("{} {}\n", contestant.name, fmt::join(contestant.seconds, " "));
  }
}
