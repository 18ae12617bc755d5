// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/changed_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "level1_network/graph/parameter_words.hpp"

namespace d5::detail {
namespace {

/// A digest of all bits. Source: the multiplication of FNV-1a, on words of 64 bits.
std::uint64_t digest(const Tensor& tensor) {
  constexpr std::uint64_t kPrime = 0x100000001b3u;
  std::uint64_t sum = 0xcbf29ce484222325u;
  const Tensor here = tensor.on_host();
  const auto* bytes = static_cast<const char*>(here.raw());
  for (std::size_t at = 0; at < here.bytes(); at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, here.bytes() - at));
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 32;
  }
  return sum;
}

bool is_zero(const Tensor& tensor) {
  const Tensor here = tensor.on_host();
  const std::string_view bytes(static_cast<const char*>(here.raw()), here.bytes());
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

/// The reason why parameters stay the same: a learning rate of 0, or gradients of 0.
std::string why_unchanged(Optimizer& optimizer) {
  const HyperParameters& numbers = optimizer.hyper_parameters();
  const auto names = numbers.names();
  const bool has_rate = std::ranges::find(names, "learning_rate") != names.end();
  if (has_rate && numbers.at("learning_rate") == 0) return "the learning rate is 0";
  const bool no_gradient = std::ranges::all_of(
      optimizer.executor().network().parameters(),
      [](const Parameter& one) { return is_phantom(one.gradient) || is_zero(one.gradient); });
  if (no_gradient) return "their gradients are 0: the loss does not depend on them";
  return "the steps were left out, or are too small for the parameters' type";
}

}  // namespace

void expect_parameters(const Network& network) {
  const auto& values = network.graph().initializers;
  const bool any = std::ranges::any_of(
      values, [&](const auto& value) { return network.is_parameter(value.first); });
  if (any) return;
  std::string kept;
  for (const auto& words : constant_words(network)) {
    kept += fmt::format("; constant: {}", words);
  }
  throw ValueError(
      fmt::format("network '{}' has no parameters, so that training would change nothing{}; 'd5 "
                  "net show' lists what it holds; weights are floating-point initializers, or "
                  "Constant nodes in the place of a weight",
                  printable(network.name()), kept));
}

bool ChangedParameters::any(Network& network) const {
  const auto& all = network.parameters();
  const bool has_phantoms =
      std::ranges::any_of(all, [](const Parameter& one) { return is_phantom(one.value); });
  return has_phantoms || digests(network) != before_;
}

std::vector<std::uint64_t> ChangedParameters::digests(Network& network) {
  std::vector<std::uint64_t> result;
  for (const Parameter& parameter : network.parameters()) {
    result.push_back(is_phantom(parameter.value) ? 0 : digest(parameter.value));
  }
  return result;
}

void ChangedParameters::expect_any(Optimizer& optimizer, std::int64_t steps) const {
  Network& network = optimizer.executor().network();
  const bool mine = steps == 0 || any(network);
  RankAgreement& ranks = optimizer.agreement();
  if (ranks.ranks_of_model() == 1 ? mine : ranks.any(mine)) return;
  throw NumericError(fmt::format("{} steps changed none of the {} parameters of network '{}': {}",
                                 steps, network.parameters().size(), printable(network.name()),
                                 why_unchanged(optimizer)));
}

}  // namespace d5::detail
