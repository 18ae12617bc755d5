// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/pairwise_probability.hpp"

#include <algorithm>
#include <cmath>

namespace d5::detail {

// Minimises p'Qp over all p that sum to 1, one element of p at a time. Q is symmetric, so Qp and
// p'Qp follow each step without being computed anew.
void couple(std::span<const double> pairs, std::span<double> p, std::span<double> scratch) {
  const std::size_t k = p.size();
  const std::span q = scratch.first(k * k), qp = scratch.subspan(k * k, k);
  for (std::size_t t = 0; t < k; ++t) {
    double diagonal = 0;
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      diagonal += pairs[j * k + t] * pairs[j * k + t];
      q[t * k + j] = -pairs[j * k + t] * pairs[t * k + j];
    }
    q[t * k + t] = diagonal;
  }
  std::ranges::fill(p, 1.0 / double(k));
  const double tolerance = 0.005 / double(k);
  const std::size_t most_rounds = std::max<std::size_t>(100, k);
  for (std::size_t round = 0; round < most_rounds; ++round) {
    double pqp = 0;
    for (std::size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (std::size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    // All elements of Qp are the same at the minimum.
    if (std::ranges::all_of(qp, [&](double v) { return std::fabs(v - pqp) < tolerance; })) return;
    for (std::size_t t = 0; t < k; ++t) {
      const double step = (pqp - qp[t]) / q[t * k + t], norm = 1 + step;
      pqp = (pqp + step * (step * q[t * k + t] + 2 * qp[t])) / (norm * norm);
      p[t] += step;
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t * k + j]) / norm;
        p[j] /= norm;
      }
    }
  }
}

}  // namespace d5::detail
