// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pipeline/class_words.hpp"

#include <utility>

namespace d5::detail {
namespace {

class ClassWords final : public AnswerStep {
 public:
  explicit ClassWords(std::vector<std::string> labels) : labels_(std::move(labels)) {}

  void run(ValueMap& values) const override {
    const auto place = values.find("classes");
    if (place == values.end() || values.contains("labels")) return;
    if (!place->second.is_tensor()) return;
    const Tensor& classes = place->second.tensor();
    if (classes.dtype() != DType::int64) return;
    Tensor words = Tensor::empty(DType::string, classes.shape());
    const auto* number = classes.data<std::int64_t>();
    auto* word = words.data<std::string>();
    for (std::int64_t i = 0; i < classes.elements(); ++i) {
      const bool known = number[i] >= 0 && number[i] < std::int64_t(labels_.size());
      word[i] = known ? labels_[std::size_t(number[i])] : "class " + std::to_string(number[i]);
    }
    values["labels"] = std::move(words);
  }

 private:
  std::vector<std::string> labels_;
};

}  // namespace

std::shared_ptr<const AnswerStep> class_words(std::vector<std::string> labels) {
  return std::make_shared<ClassWords>(std::move(labels));
}

}  // namespace d5::detail
