// SPDX-License-Identifier: Apache-2.0
// Recipes: read and made real, or refused.
#include <filesystem>

#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

const std::string& sound() {
  static const std::string text = read_file(D5_SOURCE_DIR "/recipes/mnist-lenet-quick.yaml");
  return text;
}

/// A word is what stands between spaces and signs.
std::string with_other_word(const std::string& text, RandomStream& random) {
  constexpr std::string_view kSigns = " \n{}:,";
  const auto at = std::size_t(random.below(text.size()));
  const std::size_t before = text.find_last_of(kSigns, at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find_first_of(kSigns, begin), text.size());
  static const std::array<std::string, 12> kWords = {
      "adam",      "sgd",    "nesterov",      "ordered", "drop", "lenet",
      "resnet-18", "sample", "learning_rate", "at_most", "loss", "true"};
  const std::string word = one_in(random, 2) ? pick(random, kWords) : some_text(random);
  return text.substr(0, begin) + word + text.substr(end);
}

}  // namespace

std::string name() { return "recipe"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  std::string text = sound();
  for (auto changes = 1 + random.below(3); changes > 0; --changes) {
    switch (random.below(5)) {
      case 0:
        text = with_damage(text, random);
        break;
      case 1:
        text = with_other_word(text, random);
        break;
      default:
        text = with_other_number(text, random);
    }
  }
  return text;
}

std::string run_case(const std::string& text) {
  Recipe recipe = Recipe::parse(text, "case.yaml");
  const std::string sum = recipe.checksum();
  (void)recipe.command();
  if (Recipe::parse(text, "other.yaml").checksum() != sum) return "its checksum differs";
  TrainingSession session(recipe);
  return {};
}

}  // namespace d5::fuzz
