// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "d5/core/numbers/independent_loop.hpp"
#include "d5/level2_training/optimization/tensor_optimizer.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level2_training/optimization/shared/block_sums.hpp"
#include "level2_training/optimization/shared/inverse_root.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5 {
namespace {

struct ShampooOptions {
  enum class Graft { none, sgd, adagrad };
  double learning_rate = 0.01;
  double weight_decay = 0;
  double epsilon = 1e-4;
  std::int64_t every = 10;
  std::int64_t largest_side = 512;
  Graft graft = Graft::adagrad;
  double graft_epsilon = 1e-10;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "step size along the preconditioned gradient",
                {.least = 0});
    options.add("weight_decay", weight_decay,
                "L2 weight decay: this times the parameter is added to its gradient", {.least = 0});
    options.add("epsilon", epsilon, "initial diagonal of the preconditioners", {.least = 0});
    options.add("every", every,
                "interval, in steps, of computing the preconditioners' inverse roots",
                {.least = 1});
    options.add("largest_side", largest_side,
                "maximum size of a full preconditioner; larger ones are diagonal", {.least = 0});
    options.add("graft", graft, "grafting: rule that sets the length of a tensor's step",
                {"none", "sgd", "adagrad"});
    options.add("graft_epsilon", graft_epsilon, "added to the square root in AdaGrad's grafting",
                {.least = 0});
  }
};

/// A tensor is a matrix G of its first dimension by all others, with g <- g + weight_decay * w:
///
///     L <- L + G G^T, R <- R + G^T G, both from epsilon I
///     D = L^(-1/4) G R^(-1/4), of a vector L^(-1/2) g
///     w <- w - learning_rate * |S| / |D| * D, S being G or AdaGrad's step; or without the quotient
///
/// A side longer than `largest_side` has the diagonal alone.
///
/// Source: Gupta, Koren and Singer, "Shampoo: Preconditioned Stochastic Tensor Optimization" (ICML
/// 2018), algorithm 1, and algorithm 2 for vectors; grafting after Anil et al., "Scalable Second
/// Order Optimization for Deep Learning" (2020).
template <class T>
struct Shampoo {
  using Options = ShampooOptions;
  enum Slot : std::size_t { left, right, left_root, right_root, squares };
  static constexpr std::array kSlots{"left", "right", "left_root", "right_root", "squares"};
  static Shape slot_shape(std::size_t slot, const Shape& parameter, const Options& options) {
    if (slot == squares) return options.graft == Options::Graft::adagrad ? parameter : Shape{0};
    const auto [rows, columns] = sides(parameter);
    const bool is_left = slot == left || slot == left_root;
    if (!is_left && parameter.rank() < 2) return Shape{0};
    const std::int64_t side = is_left ? rows : columns;
    if (side <= options.largest_side) return Shape{side, side};
    return slot == left || slot == right ? Shape{side} : Shape{0};
  }

  Shampoo(const Options& options, std::int64_t step)
      : options_(options), roots_are_due((step - 1) % options.every == 0) {}

  void operator()(const TensorUpdate<T>& parameter) const {
    const std::int64_t count = parameter.elements();
    if (count == 0) return;
    const auto [rows, columns] = sides(parameter.shape);
    const bool is_vector = parameter.shape.rank() < 2;
    T *w = parameter.value.data(), *direction = parameter.scratch.data();
    const T* slope = parameter.gradient.data();
    std::vector<T> decayed;
    if (const T decay = T(options_.weight_decay); decay != 0) {
      decayed.resize(std::size_t(count));
      detail::sweep(count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          decayed[std::size_t(i)] = slope[i] + decay * w[i];
        }
      });
      slope = decayed.data();
    }

    const double power = is_vector ? 2 : 4;
    const ConstView g{slope, rows, columns, columns}, turned{slope, columns, rows, columns, true};
    accumulate(g, turned, parameter.slots[left]);
    prepare(parameter.slots[left], parameter.slots[left_root], rows, power);
    apply_left(parameter, g, direction, power);
    if (!is_vector) {
      accumulate(turned, g, parameter.slots[right]);
      prepare(parameter.slots[right], parameter.slots[right_root], columns, power);
      apply_right(parameter, direction, rows, columns, power);
    }

    const T length =
        T(options_.learning_rate * graft(slope, direction, count, parameter.slots[squares]));
    detail::sweep(count, [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) w[i] -= length * direction[i];
    });
  }

 private:
  using View = detail::MatrixView<T>;
  using ConstView = detail::MatrixView<const T>;

  static std::pair<std::int64_t, std::int64_t> sides(const Shape& shape) {
    if (shape.rank() == 0) return {1, 1};
    return {shape[0], shape.elements(1, shape.rank())};
  }

  /// The number of lines of `elements` elements that justifies a thread.
  static std::int64_t grain(std::int64_t elements) {
    return std::max<std::int64_t>(1, (std::int64_t{1} << 16) / std::max<std::int64_t>(1, elements));
  }

  /// sum <- sum + g `turned`, or the diagonal of that.
  static void accumulate(const ConstView& g, const ConstView& turned, std::span<T> sum) {
    const std::int64_t side = g.rows;
    if (std::int64_t(sum.size()) == side * side) {
      return detail::matrix_product<T>(g, turned, View{sum.data(), side, side, side}, T(1), T(1));
    }
    parallel_for(side, grain(g.columns), [&](std::int64_t begin, std::int64_t end) {
      if (g.transposed) {
        return detail::sum_squares_of_columns(
            g.data, g.columns, side, begin, end,
            [&](std::int64_t i, double squares) { sum[std::size_t(i)] += T(squares); });
      }
      for (std::int64_t i = begin; i < end; ++i) {
        sum[std::size_t(i)] += T(detail::sum_of_squares(g.data + i * g.stride, g.columns));
      }
    });
  }

  /// Computes the root of a matrix; that of a diagonal is computed where it is applied.
  void prepare(std::span<const T> sum, std::span<T> root, std::int64_t side, double power) const {
    if (!roots_are_due || std::int64_t(sum.size()) != side * side) return;
    detail::inverse_root(sum.data(), root.data(), side, power, options_.epsilon);
  }
  [[nodiscard]] T root_of(T diagonal, double power) const {
    const double shifted = double(diagonal) + options_.epsilon;
    return shifted == 0 ? T(0) : T(std::pow(shifted, -1 / power));
  }

  void apply_left(const TensorUpdate<T>& parameter, const ConstView& g, T* direction,
                  double power) const {
    const std::int64_t rows = g.rows, columns = g.columns;
    if (!parameter.slots[left_root].empty()) {
      const ConstView root{parameter.slots[left_root].data(), rows, rows, rows};
      return detail::matrix_product<T>(root, g, View{direction, rows, columns, columns});
    }
    parallel_for(rows, grain(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T root = root_of(parameter.slots[left][std::size_t(i)], power);
        const T* from = g.data + i * columns;
        D5_INDEPENDENT_LOOP
        for (std::int64_t j = 0; j < columns; ++j) direction[i * columns + j] = root * from[j];
      }
    });
  }
  void apply_right(const TensorUpdate<T>& parameter, T* direction, std::int64_t rows,
                   std::int64_t columns, double power) const {
    if (!parameter.slots[right_root].empty()) {
      const std::vector<T> before(direction, direction + rows * columns);
      const ConstView root{parameter.slots[right_root].data(), columns, columns, columns};
      return detail::matrix_product<T>(ConstView{before.data(), rows, columns, columns}, root,
                                       View{direction, rows, columns, columns});
    }
    std::vector<T> roots(parameter.slots[right].begin(), parameter.slots[right].end());
    for (T& root : roots) root = root_of(root, power);
    parallel_for(rows, grain(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        D5_INDEPENDENT_LOOP
        for (std::int64_t j = 0; j < columns; ++j) {
          direction[i * columns + j] *= roots[std::size_t(j)];
        }
      }
    });
  }

  /// |S| / |D|
  double graft(const T* slope, const T* direction, std::int64_t count, std::span<T> squares) const {
    if (options_.graft == Options::Graft::none) return 1;
    const bool adagrad = options_.graft == Options::Graft::adagrad;
    const auto sums = detail::block_sums<2>(count, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t size = end - begin;
      return std::array{adagrad ? adagrad_squares(slope + begin, squares.data() + begin, size)
                                : detail::sum_of_squares(slope + begin, size),
                        detail::sum_of_squares(direction + begin, size)};
    });
    return sums[1] == 0 ? 0 : std::sqrt(sums[0] / sums[1]);
  }
  /// Sum of squares of AdaGrad's step.
  double adagrad_squares(const T* g, T* sums, std::int64_t count) const {
    constexpr std::int64_t kSome = 1024;
    const T epsilon = T(options_.graft_epsilon);
    std::array<T, kSome> step;
    double squares = 0;
    for (std::int64_t begin = 0; begin < count; begin += kSome) {
      const std::int64_t some = std::min(kSome, count - begin);
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < some; ++i) {
        const T slope = g[begin + i];
        T& sum = sums[begin + i];
        sum += slope * slope;
        step[std::size_t(i)] = slope == 0 ? T(0) : slope / (std::sqrt(sum) + epsilon);
      }
      squares += detail::sum_of_squares(step.data(), some);
    }
    return squares;
  }

  Options options_;
  bool roots_are_due;
};

}  // namespace

namespace optimizer {

void register_shampoo(Registry<OptimizerEntry>& registry) {
  registry.add("shampoo",
               TensorOptimizer<Shampoo>::entry("Shampoo, one preconditioner per dimension of a "
                                               "matrix (Gupta et al., 2018; Anil et al., 2020)"));
}

}  // namespace optimizer
}  // namespace d5
