// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/samples/distributed_sampler.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

/// LeNet on the digits that d5 carries, trained by all ranks.
namespace d5::test {

inline std::shared_ptr<DistributedOptimizer> lenet_with(Settings settings,
                                                        const std::string& bucket_bytes = "65536",
                                                        double rate = 0.05,
                                                        const std::string& rule = "sgd",
                                                        Settings options = {}) {
  options.set("learning_rate", rate);
  settings.set("bucket_bytes", bucket_bytes);
  const Network network = models().at("lenet").make({{"seed", 4}, {"with_loss", true}});
  return distributed_optimizers()
      .at("consistent_decentralized")
      .make(std::dynamic_pointer_cast<ThreeStepOptimizer>(
                optimizers().at(rule).make(make_executor(network), "loss", options)),
            world(), settings);
}

inline const std::shared_ptr<const Dataset>& digits() {
  share_threads();
  static const auto data =
      datasets()
          .at("mnist")
          .make(Interrupt{}, {{"subset", "sample"}, {"train_samples", 96}, {"test_samples", 1}})
          .train;
  return data;
}

constexpr int kBatches = 4;  // an epoch: 96 digits by 24

/// The mean over all ranks.
inline double mean_of_all(std::vector<double>::const_iterator begin,
                          std::vector<double>::const_iterator end) {
  Tensor sum = Tensor::scalar(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  world()->all_reduce(sum);
  return sum.item<double>() / world()->size();
}

/// Mean losses of this rank's parts, step by step.
inline std::vector<double> trained(Optimizer& optimizer, int steps, std::int64_t epoch = 0) {
  const int n = world()->size();
  const auto mine = distributed_sampler(digits(), samplers().at("shuffle"),
                                        {{"batch_size", 24 / n}, {"seed", 2}}, world()->rank(), n);
  std::vector<double> losses;
  for (; steps > 0; ++epoch) {
    mine->reset(epoch);
    for (const Batch* batch = mine->next(); batch && steps > 0; batch = mine->next(), --steps) {
      losses.push_back(optimizer.step(*batch).at("loss").tensor().item<float>());
    }
  }
  return losses;
}

inline std::vector<float> parameters_of(Optimizer& optimizer) {
  std::vector<float> all;
  for (const Parameter& parameter : optimizer.executor().network().parameters()) {
    const auto values = parameter.value.span<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

inline bool same_on_all_ranks(const std::vector<float>& mine) {
  const auto count = static_cast<std::int64_t>(mine.size());
  Tensor all = Tensor::empty(DType::float32, {count * world()->size()});
  world()->all_gather(Tensor::vector<float>(mine), all);
  for (int r = 0; r < world()->size(); ++r) {
    const Tensor its = all.slice(r * count, (r + 1) * count);
    if (std::memcmp(its.raw(), mine.data(), its.bytes()) != 0) return false;
  }
  return true;
}

inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  }
  return largest;
}

}  // namespace d5::test
