// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"
#include "evaluation/accuracy/judged_text.hpp"
#include "evaluation/pipeline/characters.hpp"

namespace d5::accuracy_measure {
namespace {

using Characters = std::vector<std::string_view>;

/// Characters to insert, delete or replace (Levenshtein's distance).
std::size_t edits_between(const Characters& a, const Characters& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// 1 - character error rate: edits from the right text to the answer, over the characters of the
/// right texts, all samples together; 0 for more edits than characters.
///
/// Source: Levenshtein, "Binary Codes Capable of Correcting Deletions, Insertions, and Reversals"
/// (1966).
class CharacterAccuracy final : public AccuracyMeasure {
 public:
  double judge(const ValueMap& answer, const ValueMap& right) override {
    const char* name = "character_accuracy";
    const std::string& given = detail::judged_text("text", answer, name, "the answer");
    const std::string& truth = detail::judged_text("text", right, name, "the data set");
    const Characters characters = detail::characters_of(truth);
    samples_.push_back({double(edits_between(detail::characters_of(given), characters)),
                        double(characters.size())});
    if (characters.empty()) return given.empty() ? 1 : 0;
    const std::size_t last = samples_.size() - 1;
    return share({&last, 1});
  }
  [[nodiscard]] Compared compares() const override { return {"text", "text"}; }
  void miss(const ValueMap& right) override {
    double length = 0;
    if (right.contains("text")) {
      const auto& text = detail::judged_text("text", right, "character_accuracy", "the data set");
      length = double(detail::characters_of(text).size());
    }
    samples_.push_back({length, length});
  }
  [[nodiscard]] Measurement record() const override {
    return detail::accuracy_record("character_accuracy", samples_.size(),
                                   [&](std::span<const std::size_t> some) { return share(some); });
  }

 private:
  struct Sample {
    double edits = 0, characters = 0;
  };

  [[nodiscard]] double share(std::span<const std::size_t> some) const {
    double edits = 0, characters = 0;
    for (const std::size_t s : some) {
      edits += samples_[s].edits;
      characters += samples_[s].characters;
    }
    if (characters == 0) return std::numeric_limits<double>::quiet_NaN();
    return std::max(0.0, 1 - edits / characters);
  }

  std::vector<Sample> samples_;
};

}  // namespace

void register_character_accuracy(Registry<AccuracyMeasureEntry>& registry) {
  registry.add("character_accuracy", {"1 - character error rate (CER) of texts",
                                      [] { return std::make_shared<CharacterAccuracy>(); }});
}

}  // namespace d5::accuracy_measure
