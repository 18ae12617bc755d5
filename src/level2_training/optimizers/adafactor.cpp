// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/level2_training/tensor_optimizer.hpp"
#include "level2_training/block_sums.hpp"
#include "level2_training/sweep.hpp"

namespace d5 {
namespace {

struct AdafactorOptions {
  enum class Epsilon1 { floor, added };
  double learning_rate = 0.01;
  double beta2_decay = -0.8;
  double epsilon1 = 0;
  double epsilon2 = 1e-3;
  double clipping_threshold = 1;
  double weight_decay = 0;
  Epsilon1 epsilon1_is = Epsilon1::floor;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "that 1 / sqrt(step) does not go above",
                {.least = 0});
    options.add("weight_decay", weight_decay,
                "times learning_rate, share of the parameter that a step takes away", {.least = 0});
    options.add("beta2_decay", beta2_decay, "power of the step that is the new squares' share",
                {.most = 0});
    options.add("epsilon1", epsilon1,
                "where squares are small; 0: the element type's epsilon, or 1e-30 if added",
                {.least = 0});
    options.add("epsilon2", epsilon2, "least size of a parameter that scales its step",
                {.least = 0});
    options.add("clipping_threshold", clipping_threshold,
                "root mean square that an update does not go above", {.least = 1});
    options.add("epsilon1_is", epsilon1_is,
                "the root's and the row mean's floor, as LibTorch's, or added to squares, as the "
                "paper's",
                {"floor", "added"});
  }
};

/// In step t, counted from 1, with c = t^beta2_decay and the root mean square rms(), a matrix has
/// rows' and columns' mean squares for the second moment; dimensions before the last two count
/// matrices, and a vector has its squares:
///
///     R <- (1 - c) R + c * mean of g^2 over columns         C likewise over rows
///     U = g / sqrt(R C / mean(R))
///     w <- (1 - learning_rate * weight_decay) w
///          - max(epsilon2, rms(w)) * min(learning_rate, 1 / sqrt(t)) * U / max(1, rms(U) /
///          threshold)
///
/// epsilon1 is LibTorch's floor of mean(R), its square that of the quotient; or it is added to g^2.
///
/// Source: Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost" (ICML
/// 2018), algorithms 4 and 5.
template <class T>
struct Adafactor {
  using Options = AdafactorOptions;
  static constexpr std::array kSlots{"row_squares", "column_squares", "squares"};
  static Shape slot_shape(std::size_t slot, const Shape& parameter, const Options&) {
    const std::size_t rank = parameter.rank();
    if (rank < 2) return slot == 2 ? parameter : Shape{0};
    if (slot == 2) return Shape{0};
    std::vector<std::int64_t> dims(parameter.begin(), parameter.end());
    dims.erase(dims.end() - (slot == 0 ? 1 : 2));
    return Shape(std::move(dims));
  }

  Adafactor(const Options& options, std::int64_t step)
      : options_(options),
        fresh(T(std::pow(double(step), options.beta2_decay))),
        rate(std::min(options.learning_rate, 1 / std::sqrt(double(step)))) {
    const bool adds = options.epsilon1_is == Options::Epsilon1::added;
    const double usual = adds ? 1e-30 : double(std::numeric_limits<T>::epsilon());
    const double epsilon = options.epsilon1 > 0 ? options.epsilon1 : usual;
    added = adds ? T(epsilon) : T(0);
    mean_floor = adds ? T(0) : T(epsilon);
    // LibTorch's, whose square is zero in float32 where epsilon1 is small.
    floor = adds ? T(0) : T(epsilon * epsilon);
  }

  void operator()(const TensorUpdate<T>& parameter) const {
    const std::int64_t count = parameter.elements();
    if (count == 0) return;
    const T* g = parameter.gradient.data();
    T *w = parameter.value.data(), *u = parameter.scratch.data();
    const double size = std::sqrt(squares_of(w, count) / double(count));
    if (parameter.shape.rank() < 2) {
      T* v = parameter.slots[2].data();
      detail::sweep(count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          v[i] += fresh * (g[i] * g[i] + added - v[i]);
          u[i] = g[i] / std::sqrt(std::max(v[i], floor));
        }
      });
    } else {
      const std::size_t rank = parameter.shape.rank();
      const std::int64_t rows = parameter.shape[rank - 2], columns = parameter.shape[rank - 1];
      for (std::int64_t m = 0; m * rows * columns < count; ++m) {
        factor(g + m * rows * columns, u + m * rows * columns, parameter.slots[0].data() + m * rows,
               parameter.slots[1].data() + m * columns, rows, columns);
      }
    }
    const double spread = std::sqrt(squares_of(u, count) / double(count));
    const double scale = std::max(options_.epsilon2, size) * rate /
                         std::max(1.0, spread / options_.clipping_threshold);
    const T length = T(scale);
    const T kept = T(1 - options_.learning_rate * options_.weight_decay);
    detail::sweep(count, [&](std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) w[i] = kept * w[i] - length * u[i];
    });
  }

 private:
  static double squares_of(const T* values, std::int64_t count) {
    return detail::block_sums<1>(count, [&](std::int64_t begin, std::int64_t end) {
      return std::array{detail::sum_of_squares(values + begin, end - begin)};
    })[0];
  }

  /// Of one matrix.
  void factor(const T* g, T* u, T* row_squares, T* column_squares, std::int64_t rows,
              std::int64_t columns) const {
    const std::int64_t grain_of_rows = std::max<std::int64_t>(1, (1 << 15) / columns);
    parallel_for(rows, grain_of_rows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const T mean =
            T(detail::sum_of_squares(g + r * columns, columns) / double(columns)) + added;
        row_squares[r] += fresh * (mean - row_squares[r]);
      }
    });
    const std::int64_t grain_of_columns = std::max<std::int64_t>(16, (1 << 15) / rows);
    parallel_for(columns, grain_of_columns, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t kStrip = 64;
      for (std::int64_t from = begin; from < end; from += kStrip) {
        const std::int64_t width = std::min(kStrip, end - from);
        double sums[kStrip] = {};
        for (std::int64_t r = 0; r < rows; ++r) {
          const T* row = g + r * columns + from;
          for (std::int64_t c = 0; c < width; ++c) sums[c] += double(row[c]) * double(row[c]);
        }
        for (std::int64_t c = 0; c < width; ++c) {
          T& squares = column_squares[from + c];
          squares += fresh * (T(sums[c] / double(rows)) + added - squares);
        }
      }
    });
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += double(row_squares[r]);
    const T mean = std::max(T(sum / double(rows)), mean_floor);
    parallel_for(rows, grain_of_rows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const T row = row_squares[r];
#pragma GCC ivdep
        for (std::int64_t c = 0; c < columns; ++c) {
          const T square = std::max(row * column_squares[c] / mean, floor);
          u[r * columns + c] = g[r * columns + c] / std::sqrt(square);
        }
      }
    });
  }

  Options options_;
  T fresh;
  double rate;
  T added, mean_floor, floor;
};

}  // namespace

namespace optimizer {

void register_adafactor(Registry<OptimizerEntry>& registry) {
  registry.add("adafactor", TensorOptimizer<Adafactor>::entry(
                                "second moments by rows and columns (Shazeer and Stern, 2018)"));
}

}  // namespace optimizer
}  // namespace d5
