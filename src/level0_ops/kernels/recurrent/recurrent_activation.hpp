// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// An activation function in the attributes of ONNX's recurrent operators.
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
  /// Without names, `defaults` are repeated. Alphas and betas are assigned, in order, to the
  /// functions that have them. Throws: ValueError, with `who` in the message, for an unknown name
  /// or a wrong number of names.
  static std::vector<RecurrentActivation> parse(const std::vector<std::string>& names,
                                                const std::vector<float>& alphas,
                                                const std::vector<float>& betas,
                                                const std::vector<std::string>& defaults,
                                                std::size_t count, std::string_view who);

  template <class T>
  [[nodiscard]] T operator()(T x) const;
  /// The slope; at a kink, as in the operator of the same name.
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
