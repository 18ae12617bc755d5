// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/recurrent/recurrent_activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "level0_ops/kernels/elementwise/swish.hpp"

namespace d5::detail {
namespace {

struct Known {
  std::string_view name;
  RecurrentActivation::Kind kind;
  bool has_alpha, has_beta;
  float alpha, beta;
};

using Kind = RecurrentActivation::Kind;
constexpr std::array<Known, 11> kKnown{
    {{"Sigmoid", Kind::sigmoid, false, false, 0, 0},
     {"Tanh", Kind::tanh, false, false, 0, 0},
     {"Relu", Kind::relu, false, false, 0, 0},
     {"Affine", Kind::affine, true, true, 1, 0},
     {"LeakyRelu", Kind::leaky_relu, true, false, 0.01f, 0},
     {"ThresholdedRelu", Kind::thresholded_relu, true, false, 1, 0},
     {"ScaledTanh", Kind::scaled_tanh, true, true, 1, 1},
     {"HardSigmoid", Kind::hard_sigmoid, true, true, 0.2f, 0.5f},
     {"Elu", Kind::elu, true, false, 1, 0},
     {"Softsign", Kind::softsign, false, false, 0, 0},
     {"Softplus", Kind::softplus, false, false, 0, 0}}};

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::vector<RecurrentActivation> RecurrentActivation::parse(
    const std::vector<std::string>& names, const std::vector<float>& alphas,
    const std::vector<float>& betas, const std::vector<std::string>& defaults, std::size_t count,
    std::string_view who) {
  if (!names.empty() && names.size() != count) {
    throw ValueError(
        fmt::format("{}: activations has {} names, expected {}", who, names.size(), count));
  }
  std::vector<RecurrentActivation> result(count);
  std::size_t next_alpha = 0, next_beta = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names.empty() ? defaults[i % defaults.size()] : names[i];
    // The ONNX standard ignores case.
    const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                    [&](const Known& k) { return same_word(k.name, name); });
    if (known == kKnown.end()) {
      std::string all;
      for (const Known& k : kKnown) all += fmt::format(" {}", k.name);
      throw ValueError(
          fmt::format("{}: activation '{}' is unknown; known:{}", who, printable(name), all));
    }
    result[i].kind_ = known->kind;
    const bool given_alpha = known->has_alpha && next_alpha < alphas.size();
    const bool given_beta = known->has_beta && next_beta < betas.size();
    result[i].alpha_ = given_alpha ? alphas[next_alpha++] : known->alpha;
    result[i].beta_ = given_beta ? betas[next_beta++] : known->beta;
  }
  return result;
}

template <class T>
T RecurrentActivation::operator()(T x) const {
  const T a = T(alpha_), b = T(beta_);
  switch (kind_) {
    case Kind::sigmoid:
      return sigmoid(x);
    case Kind::tanh:
      return std::tanh(x);
    case Kind::relu:
      return x < 0 ? T(0) : x;
    case Kind::affine:
      return a * x + b;
    case Kind::leaky_relu:
      return x < 0 ? a * x : x;
    case Kind::thresholded_relu:
      return x >= a ? x : T(0);
    case Kind::scaled_tanh:
      return a * std::tanh(b * x);
    case Kind::hard_sigmoid:
      return std::clamp(a * x + b, T(0), T(1));
    case Kind::elu:
      return x < 0 ? a * std::expm1(x) : x;
    case Kind::softsign:
      return x / (T(1) + std::abs(x));
    case Kind::softplus:
      return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

template <class T>
T RecurrentActivation::slope(T x) const {
  const T a = T(alpha_), b = T(beta_);
  switch (kind_) {
    case Kind::sigmoid: {
      const T y = (*this)(x);
      return y * (T(1) - y);
    }
    case Kind::tanh: {
      const T y = std::tanh(x);
      return T(1) - y * y;
    }
    case Kind::relu:
      return x > 0 ? T(1) : T(0);
    case Kind::affine:
      return a;
    case Kind::leaky_relu:
      return x > 0 ? T(1) : a;
    case Kind::thresholded_relu:
      return x > a ? T(1) : T(0);
    case Kind::scaled_tanh: {
      const T y = std::tanh(b * x);
      return a * b * (T(1) - y * y);
    }
    case Kind::hard_sigmoid: {
      const T y = a * x + b;
      return y > 0 && y < 1 ? a : T(0);
    }
    case Kind::elu:
      return x <= 0 ? a * std::exp(x) : T(1);
    case Kind::softsign: {
      const T y = T(1) + std::abs(x);
      return T(1) / (y * y);
    }
    case Kind::softplus: {
      const T e = std::exp(-std::abs(x));  // does not overflow
      return x >= 0 ? T(1) / (T(1) + e) : e / (T(1) + e);
    }
  }
  return T(1);
}

template float RecurrentActivation::operator()(float) const;
template double RecurrentActivation::operator()(double) const;
template float RecurrentActivation::slope(float) const;
template double RecurrentActivation::slope(double) const;

}  // namespace d5::detail
