// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/mixing_matrix.hpp"
#include "tests/level3_distributed/this_rank.hpp"

namespace d5::testing {

/// loss = mean of a (x - c)^2 / 2 + b x: its gradient is a (x - c) + b.
inline Network quadratic(double x) {
  Network network("quadratic");
  for (const char* name : {"a", "b", "c"}) network.add_input(name, DType::float64, {"N", 1});
  network.add_parameter("x", Tensor::of<double>({1}, {x}));
  network.add_constant("half", Tensor::scalar(0.5));
  network.add_node("Sub", {"x", "c"}, {"d"});
  network.add_node("Mul", {"d", "d"}, {"square"});
  network.add_node("Mul", {"square", "a"}, {"weighted"});
  network.add_node("Mul", {"weighted", "half"}, {"curved"});
  network.add_node("Mul", {"x", "b"}, {"straight"});
  network.add_node("Add", {"curved", "straight"}, {"f"});
  network.add_node("ReduceMean", {"f"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

inline Batch quadratic_batch(double a, double c, double b = 0) {
  Batch batch;
  batch.values["a"] = Tensor::of<double>({1, 1}, {a});
  batch.values["b"] = Tensor::of<double>({1, 1}, {b});
  batch.values["c"] = Tensor::of<double>({1, 1}, {c});
  batch.size = 1;
  return batch;
}

inline std::shared_ptr<ThreeStepOptimizer> local_optimizer(const std::string& rule, double rate,
                                                           Settings settings = {}) {
  settings.set("learning_rate", rate);
  return std::dynamic_pointer_cast<ThreeStepOptimizer>(
      open_optimizer(rule, make_executor(quadratic(0)), "loss", settings));
}

inline std::shared_ptr<DistributedOptimizer> scheme(const std::string& name,
                                                    const Settings& settings = {},
                                                    double rate = 0.2,
                                                    const std::string& rule = "sgd",
                                                    std::shared_ptr<Communicator> ranks = world()) {
  return distributed_optimizers().at(name).make(local_optimizer(rule, rate), std::move(ranks),
                                                settings);
}

/// Every rank's number, in the order of ranks.
inline std::vector<double> of_all_ranks(double mine) {
  Tensor all = Tensor::empty(DType::float64, {rank_count});
  world()->all_gather(Tensor::of<double>({1}, {mine}), all);
  return {all.data<double>(), all.data<double>() + rank_count};
}

inline double& x_of(Optimizer& optimizer) {
  return *optimizer.executor().network().parameter("x").value.data<double>();
}

/// Each rank's data and initial value.
struct Problem {
  std::vector<double> a, c, x, b = std::vector<double>(4, 0.0);

  [[nodiscard]] Batch batch() const {
    const auto r = std::size_t(this_rank);
    return quadratic_batch(a[r], c[r], b[r]);
  }
  [[nodiscard]] double gradient(std::size_t rank, double at) const {
    return a[rank] * (at - c[rank]) + b[rank];
  }
  void begin(Optimizer& optimizer) const { x_of(optimizer) = x[std::size_t(this_rank)]; }
};

inline const Problem kDifferent{{1, 2, 0.5, 1.5}, {1, -1, 3, 2}, {0.5, 1.5, -2, 4}};
inline const Problem kFlat{{0, 0, 0, 0}, {0, 0, 0, 0}, {0.5, 1.5, -2, 4}};

// A few hundred roundings of numbers around 1, in another order.
inline constexpr double kRounding = 1e-12;

inline std::vector<double> mixed(const MixingMatrix& w, const std::vector<double>& x) {
  std::vector<double> result(x.size(), 0);
  for (int i = 0; i < rank_count; ++i) {
    for (int j = 0; j < rank_count; ++j) result[std::size_t(i)] += w(i, j) * x[std::size_t(j)];
  }
  return result;
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (int r = 0; r < rank_count; ++r) sum += values[std::size_t(r)];
  return sum / rank_count;
}

}  // namespace d5::testing
