// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/independent_loop.hpp"
#include "d5/level2_training/optimization/tensor_optimizer.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level2_training/optimization/shared/adam_step.hpp"
#include "level2_training/optimization/shared/block_sums.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5 {
namespace {

struct MuonOptions {
  enum class Adjustment { original, match_rms_adamw };
  double learning_rate = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  std::vector<double> coefficients = {3.4445, -4.775, 2.0315};
  double epsilon = 1e-7;
  std::int64_t iterations = 5;
  Adjustment adjustment = Adjustment::original;
  double adamw_learning_rate = 1e-3;
  double adamw_weight_decay = 0.01;
  double adamw_beta1 = 0.9;
  double adamw_beta2 = 0.999;
  double adamw_epsilon = 1e-8;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "step size of matrices", {.least = 0});
    options.add("weight_decay", weight_decay,
                "decoupled weight decay: each step shrinks a matrix by learning_rate times this",
                {.least = 0});
    options.add("momentum", momentum, "momentum factor: share of a matrix's momentum that is kept",
                {.least = 0, .below = 1});
    options.add("nesterov", nesterov,
                "Nesterov momentum: mix the gradient with the momentum once more");
    options.add("coefficients", coefficients,
                "three coefficients of the Newton-Schulz iteration a X + b X^3 + c X^5");
    options.add("epsilon", epsilon, "minimum norm by which a matrix is divided", {.above = 0});
    options.add("iterations", iterations, "number of Newton-Schulz iterations",
                {.least = 1, .below = 100});
    options.add("adjustment", adjustment, "adjustment of the step size to a matrix's shape",
                {"original", "match_rms_adamw"});
    options.add("adamw_learning_rate", adamw_learning_rate,
                "AdamW's step size, for parameters that are not matrices", {.least = 0});
    options.add("adamw_weight_decay", adamw_weight_decay,
                "AdamW's decoupled weight decay: each step shrinks the parameter by "
                "adamw_learning_rate times this",
                {.least = 0});
    options.add("adamw_beta1", adamw_beta1, "decay rate of AdamW's first moment",
                {.least = 0, .below = 1});
    options.add("adamw_beta2", adamw_beta2, "decay rate of AdamW's second moment",
                {.least = 0, .below = 1});
    options.add("adamw_epsilon", adamw_epsilon, "added to the square root of AdamW's second moment",
                {.least = 0});
  }
};

/// Orthogonalises the momentum of matrices, so that its singular values are near 1. Parameters with
/// other than two dimensions use AdamW.
///
///     M <- momentum * M + (1 - momentum) * G
///     U = M, or nesterov's (1 - momentum) * G + momentum * M
///     X = U / max(|U|, epsilon)
///     `iterations` times: X <- a X + b (X X^T) X + c (X X^T)^2 X
///     W <- (1 - learning_rate * weight_decay) W - learning_rate * s * X
///
/// For rows x columns, s = sqrt(max(1, rows / columns)), or 0.2 sqrt(max(rows, columns)) to match
/// AdamW's steps. LibTorch iterates in bfloat16, d5 in the parameter's type.
///
/// Source: Jordan et al., "Muon: An Optimizer for Hidden Layers in Neural Networks" (2024); the
/// match after Liu et al., "Muon is Scalable for LLM Training" (2025).
template <class T>
struct Muon {
  using Options = MuonOptions;
  static constexpr std::array kSlots{"moment", "first_moment", "second_moment"};
  static Shape slot_shape(std::size_t slot, const Shape& parameter, const Options&) {
    return (parameter.rank() == 2) == (slot == 0) ? parameter : Shape{0};
  }

  Muon(const Options& options, std::int64_t step) : options_(options), adam_(rest(options), step) {
    if (options.coefficients.size() == 3) return;
    throw ValueError("optimizer muon: option 'coefficients' has " +
                     std::to_string(options.coefficients.size()) +
                     " numbers, expected three: a, b and c");
  }

  void operator()(const TensorUpdate<T>& parameter) const {
    if (parameter.elements() == 0) return;
    if (parameter.shape.rank() == 2) return update_matrix(parameter);
    const T* g = parameter.gradient.data();
    T *w = parameter.value.data(), *m = parameter.slots[1].data(), *v = parameter.slots[2].data();
    const T kept = T(1 - options_.adamw_learning_rate * options_.adamw_weight_decay);
    detail::sweep(parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) w[i] = kept * w[i] - adam_(g[i], m[i], v[i]);
    });
  }

 private:
  struct Rest {
    double learning_rate, beta1, beta2, epsilon;
  };
  static Rest rest(const Options& options) {
    return {options.adamw_learning_rate, options.adamw_beta1, options.adamw_beta2,
            options.adamw_epsilon};
  }

  void update_matrix(const TensorUpdate<T>& parameter) const {
    const std::int64_t count = parameter.elements();
    const std::int64_t rows = parameter.shape[0], columns = parameter.shape[1];
    const T* g = parameter.gradient.data();
    T *w = parameter.value.data(), *moment = parameter.slots[0].data();
    T* u = parameter.scratch.data();
    const T momentum = T(options_.momentum), fresh = T(1 - options_.momentum);
    const bool nesterov = options_.nesterov;
    const auto [squares] = detail::block_sums<1>(count, [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) {
        moment[i] += fresh * (g[i] - moment[i]);
        u[i] = nesterov ? g[i] + momentum * (moment[i] - g[i]) : moment[i];
      }
      return std::array{detail::sum_of_squares(u + begin, end - begin)};
    });
    const T scale = T(1 / std::max(std::sqrt(squares), options_.epsilon));
    detail::sweep(count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) u[i] *= scale;
    });
    std::vector<T> memory(u, u + count);
    const T* x = iterate(memory, rows, columns);
    const double sizes = options_.adjustment == Options::Adjustment::original
                             ? std::sqrt(std::max(1.0, double(rows) / double(columns)))
                             : 0.2 * std::sqrt(double(std::max(rows, columns)));
    const T length = T(options_.learning_rate * sizes);
    const T kept = T(1 - options_.learning_rate * options_.weight_decay);
    detail::sweep(count, [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) w[i] = kept * w[i] - length * x[i];
    });
  }

  /// Multiplies along the shorter side: X X^T, or X^T X for a tall matrix.
  const T* iterate(std::vector<T>& x, std::int64_t rows, std::int64_t columns) const {
    const T a = T(options_.coefficients[0]), b = T(options_.coefficients[1]);
    const T c = T(options_.coefficients[2]);
    const bool tall = rows > columns;
    const std::int64_t side = std::min(rows, columns);
    std::vector<T> gram(std::size_t(side * side)), update(gram.size()), next(x.size());
    using View = detail::MatrixView<T>;
    using ConstView = detail::MatrixView<const T>;
    for (std::int64_t i = 0; i < options_.iterations; ++i) {
      const ConstView plain{x.data(), rows, columns, columns};
      const ConstView turned{x.data(), columns, rows, columns, true};
      const ConstView square{gram.data(), side, side, side},
          polynomial{update.data(), side, side, side};
      detail::matrix_product<T>(tall ? turned : plain, tall ? plain : turned,
                                View{gram.data(), side, side, side});
      update = gram;
      detail::matrix_product<T>(square, square, View{update.data(), side, side, side}, c, b);
      next = x;
      detail::matrix_product<T>(tall ? plain : polynomial, tall ? polynomial : plain,
                                View{next.data(), rows, columns, columns}, T(1), a);
      x.swap(next);
    }
    return x.data();
  }

  Options options_;
  detail::AdamStep<T> adam_;
};

}  // namespace

namespace optimizer {

void register_muon(Registry<OptimizerEntry>& registry) {
  registry.add("muon", TensorOptimizer<Muon>::entry(
                           "Muon, orthogonalised momentum of matrices (Jordan et al., 2024)"));
}

}  // namespace optimizer
}  // namespace d5
