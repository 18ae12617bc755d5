// SPDX-License-Identifier: Apache-2.0
// Share of a training step spent waiting for other ranks' gradients: hand-written MPI (one blocking
// MPI_Allreduce of all gradients after backpropagation), compared with `consistent_decentralized`,
// whose calls are progressed by the rank itself (poll) or by a thread:
//
//     mpirun -np 2 bench_exposed_share --model resnet-20 --batch 32 --samples 30
//
// Each sample runs all contestants, in rotating order, and is the time of a step on the slowest
// rank, from a barrier on. `alone` is a step without communication. The time that the exchange adds
// to it is exposed, whether waiting or slower computation; the metric `exposed_share` of `d5 train`
// counts only waiting. `apart` is the distance of the parameters from those of hand-written MPI
// after the same number of steps: 0 on two ranks, where sums of two numbers have one order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/command_line.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level3_distributed/communicator/progress_thread.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

namespace {

using namespace d5;

struct Options {
  std::string model = "resnet-20", framework = "torch";
  std::int64_t batch = 32;
  int samples = 30;
};

struct Contestant {
  std::string name;
  std::shared_ptr<ThreeStepOptimizer> local;
  std::function<void()> step;
  std::vector<double> seconds = {};
};

std::shared_ptr<ThreeStepOptimizer> momentum(const Network& network, const Options& options) {
  return std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers()
          .at("momentum")
          .make(make_executor(network.copy(), {.frameworks = {options.framework}}), "loss",
                {{"learning_rate", 1e-3}}));
}

/// The gradients share one arena, whose padding is summed too.
Contestant by_hand(const std::shared_ptr<ThreeStepOptimizer>& local, const Batch& batch) {
  const auto& parameters = local->executor().network().parameters();
  const auto arena =
      cut_into_buckets(parameters, {.least = std::numeric_limits<std::size_t>::max()});
  return {"MPI by hand", local, [local, &batch, arena, count = parameters.size()] {
            local->begin_step(batch);
            (void)local->run_gradients(batch);
            for (const GradientBucket& part : arena) {
              Tensor gradients = part.data;
              world()->all_reduce(gradients);
            }
            if (!local->begin_updates()) return;
            local->update_parameters({0, count}, 1.0 / world()->size());
            local->end_step();
          }};
}

std::vector<Contestant> contestants(const Options& options, const Network& network,
                                    const Batch& batch) {
  std::vector<Contestant> all;
  const auto alone = momentum(network, options);
  all.push_back({"alone", alone, [alone, &batch] { (void)alone->step(batch); }});
  all.push_back(by_hand(momentum(network, options), batch));
  // A separate group, because a communicator with a thread belongs to that thread.
  const std::shared_ptr<Communicator> thread = std::make_shared<ProgressThread>(world()->split(0));
  for (const char* all_reduce : {"mpi", "node_memory"}) {
    for (const bool polls : {true, false}) {
      const auto local = momentum(network, options);
      const std::shared_ptr<DistributedOptimizer> scheme =
          distributed_optimizers()
              .at("consistent_decentralized")
              .make(local, polls ? world() : thread, {{"all_reduce", all_reduce}});
      all.push_back({fmt::format("d5 {}, {}", all_reduce, polls ? "poll" : "thread"), local,
                     [scheme, &batch] { (void)scheme->step(batch); }});
    }
  }
  return all;
}

double sample(const Contestant& contestant) {
  world()->barrier();
  const double begin = now_seconds();  // inside: a step, to the last update
  contestant.step();
  Tensor seconds = Tensor::scalar(now_seconds() - begin);
  world()->all_reduce(seconds, Reduction::maximum);
  return seconds.item<double>();
}

/// The largest difference of two elements.
double apart(const Contestant& a, const Contestant& b) {
  double most = 0;
  const auto& theirs = b.local->executor().network().parameters();
  for (std::size_t p = 0; const Parameter& parameter : a.local->executor().network().parameters()) {
    const Tensor &x = parameter.value, &y = theirs[p++].value;
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      most = std::max(most, std::abs(double(x.data<float>()[i]) - double(y.data<float>()[i])));
    }
  }
  return most;
}

void print(const std::vector<Contestant>& all) {
  TextTable table({"what",
                   {"ms", TextTable::Align::right},
                   "95%",
                   {"exposed", TextTable::Align::right},
                   "95%",
                   {"apart", TextTable::Align::right}});
  for (const Contestant& contestant : all) {
    const Summary time = summarise(contestant.seconds);
    const Comparison hidden = compare(all.front().seconds, contestant.seconds);
    table.add({contestant.name, fmt::format("{:.2f}", time.median * 1e3),
               fmt::format("[{:.2f}, {:.2f}]", time.median_interval.low * 1e3,
                           time.median_interval.high * 1e3),
               fmt::format("{:.1f}%", 100 * (1 - hidden.ratio)),
               fmt::format("[{:.1f}, {:.1f}]", 100 * (1 - hidden.ratio_interval.high),
                           100 * (1 - hidden.ratio_interval.low)),
               fmt::format("{:.2g}", apart(contestant, all[1]))});
  }
  fmt::print("{}", table.to_text(Format::table));
}

}  // namespace

int main(int argc, char** argv) {
  benchmarks::CommandLine line(
      "The share of a training step that waits for gradients of other ranks.");
  Options options;
  line.add("--model", &options.model, "a network of 'd5 list networks'");
  line.add("--framework", &options.framework, "framework that computes");
  line.add("--batch", &options.batch, "samples of each rank");
  line.add("--samples", &options.samples, "samples per contestant");
  if (const auto status = line.parse(argc, argv)) return *status;

  share_threads();
  const Network network =
      models().at(options.model).make({{"with_loss", true}, {"training", true}});
  const std::uint64_t seed = static_cast<std::uint64_t>(world()->rank());
  const Batch batch{.values = random_inputs(network, {.batch = options.batch}, seed),
                    .size = options.batch};
  auto all = contestants(options, network, batch);
  for (const auto& contestant : all) (void)sample(contestant);  // makes what it keeps
  for (int i = 0; i < options.samples; ++i) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      auto& contestant = all[(k + static_cast<std::size_t>(i)) % all.size()];
      contestant.seconds.push_back(sample(contestant));
    }
  }
  if (world()->rank() != 0) return 0;
  fmt::print("{}, batch {} on each of {} ranks, {}\n", options.model, options.batch,
             world()->size(), options.framework);
  print(all);
}
