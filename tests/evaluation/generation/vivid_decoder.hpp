// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "d5/evaluation/generation/network_generator.hpp"
#include "d5/evaluation/generation/safetensors_model.hpp"
#include "d5/level1_network/source/models.hpp"

namespace d5::test {

using Tokens = std::vector<TokenId>;

inline constexpr std::int64_t kVocabulary = 256;

/// Texts of three lengths; the last takes several pieces.
inline const std::vector<Tokens> kPrompts{
    {72, 101, 108}, {1}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 200}};

/// A small decoder whose scores depend on all its text: its weights are 20 times those at the start
/// of training, so that attention chooses.
inline Network vivid_decoder(std::int64_t slots, std::int64_t capacity = 96) {
  Network network = models().at("decoder").make({{"layers", 2},
                                                 {"width", 32},
                                                 {"heads", 4},
                                                 {"kv_heads", 2},
                                                 {"hidden", 48},
                                                 {"vocabulary", kVocabulary},
                                                 {"capacity", capacity},
                                                 {"slots", slots},
                                                 {"seed", 11}});
  for (Parameter& parameter : network.parameters()) {
    if (!parameter.name.ends_with(".weight")) continue;
    for (float& weight : parameter.value.span<float>()) weight *= 20;
  }
  return network;
}

/// The decoder of bytes that d5 trained and carries.
inline Network trained_decoder(std::int64_t slots, std::int64_t capacity = 96) {
  const auto root = std::filesystem::path(__FILE__).parent_path() / "../../..";
  return open_safetensors((root / "data/generators/bytes-decoder").string(),
                          {.slots = slots, .capacity = capacity})
      .network;
}

inline NetworkGenerator generator_of(Network network, std::int64_t piece = 8) {
  return NetworkGenerator(make_executor(std::move(network)), nullptr, {.piece = piece});
}

/// Answers of all prompts at once.
inline std::vector<Tokens> answers_of(Generator& generator, const std::vector<Tokens>& prompts,
                                      const GenerationLimits& limits,
                                      const Sampling& sampling = {}) {
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Sampling own = sampling;
    own.request = std::uint32_t(i);
    slots.push_back(generator.admit(prompts[i], limits, own));
  }
  std::vector<Tokens> answers(generator.slots());
  while (generator.active() > 0) {
    for (const GeneratedToken& next : generator.step()) answers[next.slot].push_back(next.token);
  }
  std::vector<Tokens> result;
  for (const std::size_t slot : slots) {
    result.push_back(answers[slot]);
    generator.release(slot);
  }
  return result;
}

}  // namespace d5::test
