// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "tests/level2_training/python_script.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// loss = mean over samples of (x . w - t)^2.
Network sum_of_squares() {
  Network network("sum_of_squares");
  network.add_input("x", DType::float64, {"N", 3});
  network.add_input("t", DType::float64, {"N", 1});
  network.add_parameter("w", Tensor::zeros(DType::float64, {3, 1}));
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_node("Sub", {"y", "t"}, {"d"});
  network.add_node("Mul", {"d", "d"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

}  // namespace

TEST_CASE("stochastic L-BFGS follows its algorithm written with matrices") {
  const testing::TemporaryFolder folder;
  if (!test::run_script("least_squares.py", folder.path().string())) return;
  const auto rows = test::read_doubles(folder.path() / "data.bin");
  const auto ways = test::read_doubles(folder.path() / "ways.bin");
  std::vector<double> x, t;
  for (std::size_t i = 0; i < rows.size(); ++i) (i % 4 == 3 ? t : x).push_back(rows[i]);
  const auto n = std::int64_t(t.size());
  const auto data = std::make_shared<TensorDataset>(
      "sum_of_squares", std::vector<std::pair<std::string, Tensor>>{
                            {"x", Tensor::of<double>({n, 3}, std::span<const double>(x))},
                            {"t", Tensor::of<double>({n, 1}, std::span<const double>(t))}});
  const auto optimizer = open_optimizer("stochastic_lbfgs", make_executor(sum_of_squares()), "loss",
                                        {{"learning_rate", 0.1}, {"every", 3}, {"history", 2}});
  const auto sampler = samplers().at("ordered").make(data, {{"batch_size", 5}});
  std::size_t at = 0;
  double largest = 0;
  for (std::int64_t epoch = 0; at < ways.size(); ++epoch) {
    sampler->reset(epoch);
    while (const Batch* batch = sampler->next()) {
      optimizer->step(*batch);
      const auto w = optimizer->executor().network().parameter("w").value.span<double>();
      for (std::size_t i = 0; i < 3; ++i, ++at) {
        const double difference = std::abs(w[i] - ways[at]);
        if (!(difference <= largest)) largest = difference;  // a NaN too
      }
    }
  }
  // Curvature is measured over 0.02: roundings of 1e-16 become 1e-14 of it, and a few steps enlarge
  // them.
  CHECK(largest < 1e-10);
  if (std::getenv("D5_TEST_TABLE")) std::printf("| `stochastic_lbfgs` | | | %.1e | |\n", largest);
  CHECK(at == ways.size());
}
