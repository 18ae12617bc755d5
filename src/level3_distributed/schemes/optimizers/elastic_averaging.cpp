// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "level3_distributed/schemes/mixing/add_times.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"

namespace d5 {
namespace {

struct ElasticAveragingOptions {
  double beta = 0.9, rho = 0;
  EntryChoice all_reduce{"mpi"};

  void declare(OptionList& options) {
    options.add("beta", beta, "share of the way to the ranks' mean that the center moves in a step",
                {.least = 0, .most = 1});
    options.add("rho", rho, "elasticity: pull to the center is learning rate times rho; 0: by beta",
                {.least = 0});
    options.add("all_reduce", all_reduce, "algorithm that sums the distances",
                all_reduces().kind());
  }
};

/// Elastic averaging (EASGD): all ranks keep a copy of a center c and are pulled to it: x_i <- x_i
/// - eta g_i - alpha (x_i - c) and c <- c + alpha sum_i (x_i - c), both from old values, where
///   alpha is beta / n for n ranks, or eta rho. Distances are summed during backpropagation. Test
///   runs use the center, and training ends with it.
///
/// Running statistics of batch normalization are the ranks' mean, from activations at x_i: they fit
/// the center as long as it is close to the ranks.
///
/// Source: Zhang, Choromanska and LeCun, "Deep learning with Elastic Averaging SGD" (2015),
/// equations 5 and 6, and beta = n alpha = 0.9 of its experiments.
class ElasticAveraging final : public detail::OwnParameters {
 public:
  using Options = ElasticAveragingOptions;
  ElasticAveraging(std::shared_ptr<ThreeStepOptimizer> optimizer,
                   std::shared_ptr<Communicator> ranks, const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "elastic_averaging"),
        beta_(options.beta),
        rho_(options.rho),
        all_reduce_(all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings)),
        center_(zeros()),
        distance_(zeros()),
        sum_(zeros()) {
    if (rho_ > 0) (void)learning_rate();
    center_.copy_from(values());
  }

  const ValueMap& step(const Batch& batch) override {
    detail::subtract(values(), center_, distance_);
    sum_.copy_from(distance_);
    const auto sum = all_reduce_->start(communicator(), sum_);
    return step_then(
        batch,
        [&] {
          sum->wait();
          const double pull = checked_pull();
          Tensor x = values();
          detail::add_times(x, -pull, distance_);
          detail::add_times(center_, pull, sum_);
        },
        [&] { (void)sum->done(); });
  }

  void begin_test() override {
    OwnParameters::begin_test();
    lend_center();
  }
  void run(Trainer& trainer, const Interrupt& interrupt) override {
    OwnParameters::run(trainer, interrupt);
    lend_center();
  }

 private:
  /// Puts the center into the network, after `MeanModel` has put in the mean of the running
  /// statistics.
  void lend_center() {
    Tensor x = values();
    x.copy_from(center_);
  }

  double checked_pull() {
    const int ranks = communicator().size();
    if (rho_ == 0) return beta_ / ranks;
    const double pull = learning_rate() * rho_;
    if (pull * ranks <= 1) return pull;
    throw ValueError(fmt::format(
        "scheme elastic_averaging: with rho {}, learning rate {} and {} ranks the center would go "
        "{} of the way to their mean, expected 1 at most; lower rho to {} or less, or give beta",
        rho_, learning_rate(), ranks, pull * ranks, rho_ / (pull * ranks)));
  }

  Memory memory() const override { return {{"center", center_}}; }

  double beta_, rho_;
  std::shared_ptr<AllReduce> all_reduce_;
  Tensor center_, distance_, sum_;
};

}  // namespace

namespace distributed_optimizer {

void register_elastic_averaging(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("elastic_averaging",
               DistributedOptimizerEntry::of<ElasticAveraging>(
                   "elastic averaging between ranks and a center (EASGD, Zhang et al., 2015)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
