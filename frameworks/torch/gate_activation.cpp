// SPDX-License-Identifier: Apache-2.0
#include "gate_activation.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace d5::torch {
namespace {

using T = at::Tensor;

struct Known {
  const char* name;
  T (*function)(const T& x, double alpha, double beta);
  bool has_alpha, has_beta;
  double alpha, beta;
};

const Known kKnown[] = {
    {"sigmoid", [](const T& x, double, double) { return at::sigmoid(x); }, false, false, 0, 0},
    {"tanh", [](const T& x, double, double) { return at::tanh(x); }, false, false, 0, 0},
    {"relu", [](const T& x, double, double) { return at::relu(x); }, false, false, 0, 0},
    {"affine", [](const T& x, double a, double b) { return x * a + b; }, true, true, 1, 0},
    {"leakyrelu", [](const T& x, double a, double) { return at::leaky_relu(x, a); }, true, false,
     0.01, 0},
    {"thresholdedrelu",
     [](const T& x, double a, double) { return at::where(x >= a, x, at::Scalar(0)); }, true, false,
     1, 0},
    {"scaledtanh", [](const T& x, double a, double b) { return at::tanh(x * b) * a; }, true, true,
     1, 1},
    {"hardsigmoid", [](const T& x, double a, double b) { return at::clamp(x * a + b, 0, 1); }, true,
     true, 0.2, 0.5},
    {"elu", [](const T& x, double a, double) { return at::elu(x, a); }, true, false, 1, 0},
    {"softsign", [](const T& x, double, double) { return x / (x.abs() + 1); }, false, false, 0, 0},
    {"softplus", [](const T& x, double, double) { return at::softplus(x); }, false, false, 0, 0}};

/// The standard ignores case.
const Known& known(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return *std::ranges::find(kKnown, name, &Known::name);
}

/// The next given number, for a function that uses one.
double next(bool takes, const std::vector<float>* given, std::size_t& used, double usual) {
  return takes && given && used < given->size() ? (*given)[used++] : usual;
}

}  // namespace

std::vector<GateActivation> gate_activations(const onnx::Node& node,
                                             const std::vector<std::string>& usual) {
  const auto* names = node.attribute<std::vector<std::string>>("activations");
  const auto* alphas = node.attribute<std::vector<float>>("activation_alpha");
  const auto* betas = node.attribute<std::vector<float>>("activation_beta");
  const std::string* direction = node.attribute<std::string>("direction");
  const std::size_t directions = direction && *direction == "bidirectional" ? 2 : 1;
  const bool named = names && !names->empty();
  std::vector<GateActivation> result;
  std::size_t alpha = 0, beta = 0;
  for (std::size_t i = 0; i < directions * usual.size(); ++i) {
    const Known& one = known(named ? (*names)[i] : usual[i % usual.size()]);
    result.push_back({.function = one.function,
                      .alpha = next(one.has_alpha, alphas, alpha, one.alpha),
                      .beta = next(one.has_beta, betas, beta, one.beta)});
  }
  return result;
}

}  // namespace d5::torch
