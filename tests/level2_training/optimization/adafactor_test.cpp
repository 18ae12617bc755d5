// SPDX-License-Identifier: Apache-2.0
// Matrices of every size go ways of their own; torch_optimizer_test follows small ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "tests/level2_training/noisy_descent.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

namespace {

/// The formulas of Shazeer and Stern's algorithm 4 with LibTorch's epsilons, element by element.
class Adafactor {
 public:
  Adafactor(const Shape& shape, std::vector<double> w)
      : columns_(shape[shape.rank() - 1]),
        rows_(shape[shape.rank() - 2]),
        w_(std::move(w)),
        r_(w_.size() / std::size_t(columns_)),
        c_(w_.size() / std::size_t(rows_)) {}

  const std::vector<double>& step(const std::vector<double>& g) {
    const double share = std::pow(++t_, -0.8), epsilon = 2.220446049250313e-16;
    const std::int64_t size = rows_ * columns_, matrices = std::int64_t(w_.size()) / size;
    std::vector<double> rows(r_.size()), columns(c_.size()), u(w_.size());
    const auto each = [&](const auto& body) {
      for (std::int64_t m = 0; m < matrices; ++m) {
        for (std::int64_t r = 0; r < rows_; ++r) {
          for (std::int64_t c = 0; c < columns_; ++c) {
            body(std::size_t(m), std::size_t(m * rows_ + r), std::size_t(m * columns_ + c),
                 std::size_t((m * rows_ + r) * columns_ + c));
          }
        }
      }
    };
    each([&](std::size_t, std::size_t r, std::size_t c, std::size_t i) {
      rows[r] += g[i] * g[i] / double(columns_);
      columns[c] += g[i] * g[i] / double(rows_);
    });
    for (std::size_t r = 0; r < r_.size(); ++r) r_[r] = (1 - share) * r_[r] + share * rows[r];
    for (std::size_t c = 0; c < c_.size(); ++c) c_[c] = (1 - share) * c_[c] + share * columns[c];
    std::vector<double> means(std::size_t(matrices), 0.0);
    for (std::size_t r = 0; r < r_.size(); ++r) {
      means[r / std::size_t(rows_)] += r_[r] / double(rows_);
    }
    double squares_of_w = 0, squares_of_u = 0;
    each([&](std::size_t m, std::size_t r, std::size_t c, std::size_t i) {
      const double square = r_[r] * c_[c] / std::max(means[m], epsilon);
      u[i] = g[i] / std::sqrt(std::max(square, epsilon * epsilon));
      squares_of_w += w_[i] * w_[i], squares_of_u += u[i] * u[i];
    });
    const double count = double(w_.size());
    const double length = std::max(1e-3, std::sqrt(squares_of_w / count)) *
                          std::min(0.01, 1 / std::sqrt(t_)) /
                          std::max(1.0, std::sqrt(squares_of_u / count));
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] -= length * u[i];
    return w_;
  }

 private:
  std::int64_t columns_, rows_;
  std::vector<double> w_, r_, c_;
  double t_ = 0;
};

std::vector<double> factored_values(const Tensor& tensor) {
  return {tensor.span<double>().begin(), tensor.span<double>().end()};
}

}  // namespace

TEST_CASE("Adafactor is its formula for matrices of every size") {
  for (const Shape& shape : {Shape{9, 1, 1}, Shape{7, 3, 3}, Shape{3000, 3, 3}, Shape{2, 5, 16},
                             Shape{3, 17, 1}, Shape{3, 130, 40}, Shape{2, 257, 256}}) {
    CAPTURE(shape);
    const Tensor start = test::random_tensor<double>(shape, 1);
    auto executor = std::make_unique<test::ScriptedExecutor>(
        std::vector<std::pair<std::string, Tensor>>{{"w", start.copy()}},
        [&](Network& network, std::int64_t step) {
          network.parameter("w").gradient.copy_from(
              test::random_tensor<double>(shape, std::uint64_t(step) + 2));
          return 0.0;
        });
    const auto optimizer = optimizers().at("adafactor").make(std::move(executor), "loss", {});
    Adafactor expected(shape, factored_values(start));
    for (std::uint64_t step = 0; step < 3; ++step) {
      optimizer->step({});
      const auto& right =
          expected.step(factored_values(test::random_tensor<double>(shape, step + 2)));
      const auto given = factored_values(optimizer->executor().network().parameter("w").value);
      double difference = 0;
      for (std::size_t i = 0; i < right.size(); ++i) {
        difference = std::max(difference, std::abs(given[i] - right[i]));
      }
      CHECK(difference < 1e-14);  // elements below 4, three steps of few roundings
    }
  }
}
