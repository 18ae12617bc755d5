// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/characters.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct CtcOptions {
  std::string of, to = "text", alphabet;
  std::int64_t blank = 0;
  bool lists_blank = false, space = false;
  void declare(OptionList& options) {
    options.add("of", of, "name of the scores, steps x classes; empty: the only value");
    options.add("to", to, "name of the text");
    options.add("alphabet", alphabet,
                "characters of the classes in order, the blank left out: together, or one a line; "
                "network:KEY takes them from the network's metadata, asset:NAME from a file of the "
                "model");
    options.add("blank", blank, "class of the blank; -1: the last", {.least = -1});
    options.add("lists_blank", lists_blank, "the alphabet has an entry for the blank, too");
    options.add("space", space, "a blank space follows the alphabet");
  }
};

/// The best class of each step, repeats and blanks left out, as text: a scalar string; and `score`,
/// the mean probability of the steps that are left, 0 for none.
///
/// Source: Graves et al., "Connectionist Temporal Classification" (2006), best path decoding.
class CtcStep final : public AnswerStep {
 public:
  using Options = CtcOptions;
  explicit CtcStep(const Options& options) : options_(options) {
    const std::string& text = options.alphabet;
    if (text.find('\n') != std::string::npos) {
      characters_ = detail::lines_of(text);
    } else {
      for (const std::string_view one : detail::characters_of(text)) characters_.emplace_back(one);
    }
    if (options.lists_blank && !characters_.empty()) {
      const auto last = std::int64_t(characters_.size()) - 1;
      characters_.erase(characters_.begin() +
                        (options.blank < 0 ? last : std::min(options.blank, last)));
    }
    if (options.space) characters_.emplace_back(" ");
  }

  void run(ValueMap& values) const override {
    const Tensor& scores = value_for(values, options_.of, "ctc");
    const auto classes = std::int64_t(characters_.size()) + 1;
    if (scores.shape().rank() != 2 || scores.shape()[1] != classes) {
      throw ShapeError(fmt::format(
          "answer step ctc: gets {}, expected steps x {}: a blank and the {} characters of the "
          "alphabet",
          to_string(scores.desc()), classes, classes - 1));
    }
    const auto row = detail::score_row(scores, "ctc");
    const std::int64_t blank = options_.blank < 0 ? classes - 1 : options_.blank;
    std::string text;
    double sum = 0;
    std::int64_t before = blank, count = 0;
    for (std::int64_t step = 0; step < scores.shape()[0]; ++step) {
      const double* here = row.data() + step * classes;
      const std::int64_t best = std::max_element(here, here + classes) - here;
      if (best != blank && best != before) {
        text += characters_[std::size_t(best < blank ? best : best - 1)];
        sum += here[best];
        ++count;
      }
      before = best;
    }
    values[options_.to] = Tensor::scalar(std::move(text));
    values["score"] = Tensor::scalar(count > 0 ? float(sum / double(count)) : 0.0F);
  }

 private:
  Options options_;
  std::vector<std::string> characters_;
};

}  // namespace

void register_ctc(Registry<AnswerStepEntry>& registry) {
  registry.add("ctc", AnswerStepEntry::of<CtcStep>(
                          "text from scores of characters by step (CTC, the best path)"));
}

}  // namespace d5::answer_step
