// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/numbers/independent_loop.hpp"
#include "d5/level2_training/optimization/tensor_optimizer.hpp"
#include "level2_training/optimization/shared/block_sums.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

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
    options.add("learning_rate", learning_rate,
                "upper bound of the relative step size 1 / sqrt(step)", {.least = 0});
    options.add(
        "weight_decay", weight_decay,
        "decoupled weight decay: each step shrinks the parameter by learning_rate times this",
        {.least = 0});
    options.add(
        "beta2_decay", beta2_decay,
        "exponent of the second moment's decay: new squares have the weight step^beta2_decay",
        {.most = 0});
    options.add("epsilon1", epsilon1,
                "regularisation of small squares; 0: the element type's epsilon, or 1e-30 if added",
                {.least = 0});
    options.add("epsilon2", epsilon2,
                "minimum of the parameter's root mean square that scales its step", {.least = 0});
    options.add("clipping_threshold", clipping_threshold,
                "clipping threshold of an update's root mean square", {.least = 1});
    options.add("epsilon1_is", epsilon1_is,
                "use of epsilon1: floor of the root and the row mean, as in LibTorch, or added to "
                "squares, as in the paper",
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
    // LibTorch's floor, whose square underflows to zero in float32 for a small epsilon1.
    floor = adds ? T(0) : T(epsilon * epsilon);
  }

  void operator()(const TensorUpdate<T>& parameter) const {
    const std::int64_t count = parameter.elements();
    if (count == 0) return;
    T *w = parameter.value.data(), *u = parameter.scratch.data();
    const auto [size, spread] = turn(parameter);
    const double scale =
        std::max(options_.epsilon2, std::sqrt(size / double(count))) * rate /
        std::max(1.0, std::sqrt(spread / double(count)) / options_.clipping_threshold);
    const T length = T(scale);
    const T kept = T(1 - options_.learning_rate * options_.weight_decay);
    detail::sweep(count, [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) w[i] = kept * w[i] - length * u[i];
    });
  }

 private:
  using Sums = std::array<double, 2>;                            // sums of squares of w and of U
  static constexpr std::int64_t kBlock = std::int64_t{1} << 13;  // approximate number of elements

  /// Updates the moments, and writes U to the scratch memory.
  Sums turn(const TensorUpdate<T>& parameter) const {
    const std::int64_t count = parameter.elements();
    const T *g = parameter.gradient.data(), *w = parameter.value.data();
    T* u = parameter.scratch.data();
    const auto squares_of = [w, u](std::int64_t begin, std::int64_t end) {
      return Sums{detail::sum_of_squares(w + begin, end - begin),
                  detail::sum_of_squares(u + begin, end - begin)};
    };
    const std::size_t rank = parameter.shape.rank();
    if (rank < 2) {
      T* v = parameter.slots[2].data();
      return detail::block_sums<2>(count, [&](std::int64_t begin, std::int64_t end) {
        D5_INDEPENDENT_LOOP
        for (std::int64_t i = begin; i < end; ++i) {
          v[i] += fresh * (g[i] * g[i] + added - v[i]);
          u[i] = g[i] / std::sqrt(std::max(v[i], floor));
        }
        return squares_of(begin, end);
      });
    }
    const std::int64_t rows = parameter.shape[rank - 2], columns = parameter.shape[rank - 1];
    const std::int64_t size = rows * columns, matrices = count / size;
    T *row_squares = parameter.slots[0].data(), *column_squares = parameter.slots[1].data();
    constexpr std::int64_t kLarge = std::int64_t{1} << 16;
    if (size < kLarge) {
      return detail::block_sums<2>(
          matrices,
          [&](std::int64_t begin, std::int64_t end) {
            Matrices some{g + begin * size,
                          u + begin * size,
                          row_squares + begin * rows,
                          column_squares + begin * columns,
                          rows,
                          columns,
                          end - begin};
            factor(some);
            return squares_of(begin * size, end * size);
          },
          std::max<std::int64_t>(1, kBlock / size));
    }
    Sums all = {};
    for (std::int64_t m = 0; m < matrices; ++m) {
      const Matrices one{g + m * size,
                         u + m * size,
                         row_squares + m * rows,
                         column_squares + m * columns,
                         rows,
                         columns,
                         1};
      parallel_for(rows, std::max<std::int64_t>(1, kLarge / columns),
                   [&](std::int64_t begin, std::int64_t end) { add_rows(one, begin, end); });
      parallel_for(columns, std::max<std::int64_t>(16, kLarge / rows),
                   [&](std::int64_t begin, std::int64_t end) { add_columns(one, begin, end); });
      const T mean = mean_of(one.row_squares, rows);
      const Sums sums = detail::block_sums<2>(
          rows,
          [&](std::int64_t begin, std::int64_t end) {
            divide(one, begin, end, mean);
            return squares_of(m * size + begin * columns, m * size + end * columns);
          },
          std::max<std::int64_t>(1, kBlock / columns));
      for (std::size_t i = 0; i < sums.size(); ++i) all[i] += sums[i];
    }
    return all;
  }

  /// One behind another.
  struct Matrices {
    const T* g;
    T *u, *row_squares, *column_squares;
    std::int64_t rows, columns, count;
  };

  void factor(Matrices some) const {
    constexpr std::int64_t kSmall = 16;
    const std::int64_t rows = some.rows, columns = some.columns;
    // Networks have millions of 1 x 1 and 3 x 3 filters, so their loops are specialised.
    if (rows == 1 && columns == 1) return factor_single(some);
    if (rows == 3 && columns == 3) return factor_small<kSmall>(some, 3, 3);
    if (rows <= kSmall && columns <= kSmall) return factor_small<kSmall>(some, rows, columns);
    for (; some.count > 0; --some.count) {
      add_rows(some, 0, rows);
      add_columns(some, 0, columns);
      divide(some, 0, rows, mean_of(some.row_squares, rows));
      some.g += rows * columns, some.u += rows * columns;
      some.row_squares += rows, some.column_squares += columns;
    }
  }

  /// Matrices of one element each.
  void factor_single(const Matrices& some) const {
    const T *g = some.g, part = fresh, more = added, least_mean = mean_floor, least = floor;
    T *u = some.u, *row = some.row_squares, *column = some.column_squares;
    D5_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < some.count; ++i) {
      const T square = g[i] * g[i] + more;
      row[i] += part * (square - row[i]);
      column[i] += part * (square - column[i]);
      const T share = row[i] / std::max(row[i], least_mean);
      u[i] = g[i] / std::sqrt(std::max(share * column[i], least));
    }
  }

  template <std::int64_t kSmall>
  [[gnu::always_inline]] void factor_small(const Matrices& some, std::int64_t rows,
                                           std::int64_t columns) const {
    const std::int64_t size = rows * columns;
    const T part = fresh, more = added, least_mean = mean_floor, least = floor;
    const double in_row = 1 / double(columns), in_column = 1 / double(rows);
    // Writes the squared quotient in place of U.
    D5_INDEPENDENT_LOOP
    for (std::int64_t m = 0; m < some.count; ++m) {
      const T* g = some.g + m * size;
      T *u = some.u + m * size, *row_squares = some.row_squares + m * rows;
      T* column_squares = some.column_squares + m * columns;
      double column_sums[kSmall] = {}, total = 0;
      for (std::int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          const double square = double(g[r * columns + c]) * double(g[r * columns + c]);
          sum += square;
          column_sums[c] += square;
        }
        row_squares[r] += part * (T(sum * in_row) + more - row_squares[r]);
        total += double(row_squares[r]);
      }
      for (std::int64_t c = 0; c < columns; ++c) {
        column_squares[c] += part * (T(column_sums[c] * in_column) + more - column_squares[c]);
      }
      const T scale = 1 / std::max(T(total * in_column), least_mean);
      for (std::int64_t r = 0; r < rows; ++r) {
        const T share = row_squares[r] * scale;
        for (std::int64_t c = 0; c < columns; ++c) u[r * columns + c] = share * column_squares[c];
      }
    }
    const T* g = some.g;
    T* u = some.u;
    D5_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < some.count * size; ++i) {
      u[i] = g[i] / std::sqrt(std::max(u[i], least));
    }
  }

  // Rows of the first matrix.
  void add_rows(const Matrices& one, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t r = begin; r < end; ++r) {
      const double squares = detail::sum_of_squares(one.g + r * one.columns, one.columns);
      one.row_squares[r] += fresh * (T(squares / double(one.columns)) + added - one.row_squares[r]);
    }
  }
  void add_columns(const Matrices& one, std::int64_t begin, std::int64_t end) const {
    detail::sum_squares_of_columns(
        one.g, one.rows, one.columns, begin, end, [&](std::int64_t column, double sum) {
          T& squares = one.column_squares[column];
          squares += fresh * (T(sum / double(one.rows)) + added - squares);
        });
  }
  [[nodiscard]] T mean_of(const T* row_squares, std::int64_t rows) const {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += double(row_squares[r]);
    return std::max(T(sum / double(rows)), mean_floor);
  }
  /// U of some rows.
  void divide(const Matrices& one, std::int64_t begin, std::int64_t end, T mean) const {
    for (std::int64_t r = begin; r < end; ++r) {
      const T share = one.row_squares[r] / mean;
      const T* g = one.g + r * one.columns;
      T* u = one.u + r * one.columns;
      D5_INDEPENDENT_LOOP
      for (std::int64_t c = 0; c < one.columns; ++c) {
        u[c] = g[c] / std::sqrt(std::max(share * one.column_squares[c], floor));
      }
    }
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
                                "Adafactor, factored second moments (Shazeer and Stern, 2018)"));
}

}  // namespace optimizer
}  // namespace d5
