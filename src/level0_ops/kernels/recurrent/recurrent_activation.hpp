// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// One of the activation functions that ONNX's recurrent operators name in attributes.
class RecurrentActivation {
 public:
  enum class Kind {
    sigmoid,
    tanh,
    relu,
    affine,
    leaky_relu,
    thresholded_relu,
    scaled_tanh,
    hard_sigmoid,
    elu,
    softsign,
    softplus
  };

  /// `count` functions from the attributes `activations`, `activation_alpha` and `activation_beta`.
  /// `defaults` are repeated where no names are given. Alphas and betas go, in order, to the
  /// functions that take them. Throws: ValueError for an unknown name or a wrong number of them, in
  /// the name of `who`.
  static std::vector<RecurrentActivation> parse(const std::vector<std::string>& names,
                                                const std::vector<float>& alphas,
                                                const std::vector<float>& betas,
                                                const std::vector<std::string>& defaults,
                                                std::size_t count, std::string_view who);

  template <class T>
  [[nodiscard]] T operator()(T x) const;
  /// At a kink, that of the operator of the same name.
  template <class T>
  [[nodiscard]] T slope(T x) const;

 private:
  Kind kind_ = Kind::sigmoid;
  float alpha_ = 0, beta_ = 0;
};

extern template float RecurrentActivation::operator()(float) const;
extern template double RecurrentActivation::operator()(double) const;
extern template float RecurrentActivation::slope(float) const;
extern template double RecurrentActivation::slope(double) const;

}  // namespace d5::detail
