// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/flat_parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "d5/core/numbers/independent_loop.hpp"
#include "level2_training/optimization/shared/block_sums.hpp"
#include "level2_training/optimization/shared/on_host.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5::detail {
namespace {

/// Copies the elements of `tensor` to `into` and advances it.
void give(const Tensor& tensor, double factor, double*& into) {
  const Tensor here = tensor.on_host();
  dispatch(FloatTypes{}, here.dtype(), "an optimizer's parameter", [&]<class T>() {
    const T* from = here.data<T>();
    sweep(here.elements(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) into[i] = double(Wide<T>(from[i])) * factor;
    });
  });
  into += here.elements();
}

/// Copies elements from `from` to `tensor` and advances `from`.
void take(const double*& from, Tensor& tensor) {
  change_on_host(tensor, [&]<class T>(std::span<T> values) {
    sweep(std::int64_t(values.size()), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) values[std::size_t(i)] = T(Wide<T>(from[i]));
    });
  });
  from += tensor.elements();
}

/// Concatenates the results of `tensor_of` for all parameters.
template <class F>
std::vector<double> flat(Network& network, double factor, const F& tensor_of) {
  std::int64_t count = 0;
  for (const Parameter& parameter : network.parameters()) count += tensor_of(parameter).elements();
  std::vector<double> result(std::size_t(count), 0.0);
  double* into = result.data();
  for (const Parameter& parameter : network.parameters()) give(tensor_of(parameter), factor, into);
  return result;
}

}  // namespace

std::vector<double> flat_values(Network& network) {
  return flat(network, 1, [](const Parameter& p) -> const Tensor& { return p.value; });
}

std::vector<double> flat_gradients(Network& network, double factor) {
  return flat(network, factor, [](const Parameter& p) -> const Tensor& { return p.gradient; });
}

void set_values(Network& network, const std::vector<double>& values) {
  const double* from = values.data();
  for (Parameter& parameter : network.parameters()) take(from, parameter.value);
}

void set_gradients(Network& network, const std::vector<double>& gradients) {
  const double* from = gradients.data();
  for (Parameter& parameter : network.parameters()) take(from, parameter.gradient);
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return block_sums<1>(std::int64_t(x.size()), [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t kSums = 16;  // parallel sums, to hide their latency
    double sums[kSums] = {}, total = 0;
    for (; begin + kSums <= end; begin += kSums) {
      for (std::int64_t s = 0; s < kSums; ++s) {
        sums[s] += x[std::size_t(begin + s)] * y[std::size_t(begin + s)];
      }
    }
    for (; begin < end; ++begin) total += x[std::size_t(begin)] * y[std::size_t(begin)];
    for (const double sum : sums) total += sum;
    return std::array{total};
  })[0];
}

void add_times(std::vector<double>& x, double a, const std::vector<double>& y) {
  sweep(std::int64_t(x.size()), [&](std::int64_t begin, std::int64_t end) {
    D5_INDEPENDENT_LOOP
    for (std::int64_t i = begin; i < end; ++i) x[std::size_t(i)] += a * y[std::size_t(i)];
  });
}

double largest(const std::vector<double>& x) {
  double result = 0;
  for (const double value : x) result = std::max(result, std::abs(value));
  return result;
}

}  // namespace d5::detail
