// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/svm_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

SvmKernel::SvmKernel(const std::string& type, const std::optional<std::vector<float>>& parameters,
                     std::string_view who) {
  constexpr std::array<std::string_view, 4> words = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  const auto word = std::ranges::find(words, type);
  if (word == words.end()) {
    throw ValueError(fmt::format("{}: kernel_type is {}, expected LINEAR, POLY, RBF or SIGMOID",
                                 who, printable(type)));
  }
  type_ = Type(word - words.begin());
  if (parameters && !parameters->empty()) {
    if (parameters->size() != 3) {
      throw ValueError(fmt::format("{}: {} kernel_params, expected gamma, coef0 and degree", who,
                                   parameters->size()));
    }
    gamma_ = double((*parameters)[0]);
    coef0_ = double((*parameters)[1]);
    degree_ = double((*parameters)[2]);
  } else if (type_ != Type::linear) {
    throw ValueError(fmt::format("{}: kernel_params are missing, which {} needs", who, type));
  }
}

}  // namespace d5::detail
