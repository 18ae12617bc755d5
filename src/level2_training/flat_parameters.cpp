// SPDX-License-Identifier: Apache-2.0
#include "level2_training/flat_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "level2_training/on_host.hpp"

namespace d5::detail {
namespace {

void append(const Tensor& tensor, double factor, std::vector<double>& into) {
  const Tensor here = tensor.on_host();
  dispatch(FloatTypes{}, here.dtype(), "an optimizer's parameter", [&]<class T>() {
    for (const T value : here.span<T>()) into.push_back(double(Wide<T>(value)) * factor);
  });
}

/// Writes as many as `tensor` has, and goes on behind them.
void take(const double*& from, Tensor& tensor) {
  change_on_host(tensor, [&]<class T>(std::span<T> values) {
    for (T& value : values) value = T(Wide<T>(*from++));
  });
}

}  // namespace

std::vector<double> flat_values(Network& network) {
  std::vector<double> result;
  for (const Parameter& parameter : network.parameters()) append(parameter.value, 1, result);
  return result;
}

std::vector<double> flat_gradients(Network& network, double factor) {
  std::vector<double> result;
  for (const Parameter& parameter : network.parameters()) {
    append(parameter.gradient, factor, result);
  }
  return result;
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
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

void add_times(std::vector<double>& x, double a, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += a * y[i];
}

double largest(const std::vector<double>& x) {
  double result = 0;
  for (const double value : x) result = std::max(result, std::abs(value));
  return result;
}

}  // namespace d5::detail
