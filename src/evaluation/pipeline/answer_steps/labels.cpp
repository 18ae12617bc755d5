// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/characters.hpp"

namespace d5::answer_step {
namespace {

struct LabelsOptions {
  std::string of = "classes", to = "labels", words;

  void declare(OptionList& options) {
    options.add("of", of, "name of the classes' numbers");
    options.add("to", to, "name of the words");
    options.add("words", words,
                "words of the classes in order, one a line; network:KEY takes them from the "
                "network's metadata, asset:NAME from a file of the model");
  }
};

/// Words of the model's classes by their numbers, int64 of any shape. A data set's own words do not
/// replace them.
class LabelsStep final : public AnswerStep {
 public:
  using Options = LabelsOptions;
  explicit LabelsStep(const Options& options)
      : options_(options), words_(detail::lines_of(options.words)) {}

  void run(ValueMap& values) const override {
    const Tensor& classes = value_for(values, options_.of, "labels");
    if (classes.dtype() != DType::int64) {
      throw TypeError(fmt::format("answer step labels: '{}' is {}, expected int64",
                                  printable(options_.of), to_string(classes.desc())));
    }
    Tensor words = Tensor::empty(DType::string, classes.shape());
    for (std::int64_t i = 0; i < classes.elements(); ++i) {
      words.data<std::string>()[i] = word_of(classes.data<std::int64_t>()[i]);
    }
    values[options_.to] = std::move(words);
  }

 private:
  [[nodiscard]] const std::string& word_of(std::int64_t number) const {
    if (number >= 0 && number < std::int64_t(words_.size())) return words_[std::size_t(number)];
    throw ShapeError(
        fmt::format("answer step labels: class {}, expected 0 to {}: there are {} words", number,
                    std::int64_t(words_.size()) - 1, words_.size()));
  }

  Options options_;
  std::vector<std::string> words_;
};

}  // namespace

void register_labels(Registry<AnswerStepEntry>& registry) {
  registry.add("labels", AnswerStepEntry::of<LabelsStep>("words of the classes by their numbers"));
}

}  // namespace d5::answer_step
