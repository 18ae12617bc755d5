// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: words without stop words, in upper or lower case.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/letter_case.hpp"

namespace d5::ops {
namespace {

using StringNormalizerView = onnx::nodes::StringNormalizer;

enum class CaseChange { none, lower, upper };

CaseChange case_change(const StringNormalizerView& view) {
  const std::string word = view.case_change_action();
  if (word == "NONE") return CaseChange::none;
  if (word == "LOWER") return CaseChange::lower;
  if (word == "UPPER") return CaseChange::upper;
  throw ValueError(fmt::format("{}: case_change_action is {}, expected NONE, LOWER or UPPER",
                               onnx::describe(view.node()), printable(word)));
}

/// What becomes of a word.
class Words {
 public:
  explicit Words(const StringNormalizerView& view) : change_(case_change(view)) {
    const auto stopwords = view.stopwords().value_or(std::vector<std::string>{});
    folds_ = view.is_case_sensitive() == 0 && !stopwords.empty();
    if (folds_ || change_ != CaseChange::none) letters_.emplace(view.locale().value_or(""));
    for (const std::string& word : stopwords) stopwords_.insert(folds_ ? lower(word) : word);
  }

  [[nodiscard]] bool keeps(const std::string& word) const {
    return !stopwords_.contains(folds_ ? lower(word) : word);
  }
  [[nodiscard]] std::string normalized(const std::string& word) const {
    if (change_ == CaseChange::none) return word;
    return change_ == CaseChange::upper ? letters_->upper(word) : lower(word);
  }

 private:
  [[nodiscard]] std::string lower(const std::string& word) const { return letters_->lower(word); }

  CaseChange change_;
  bool folds_ = false;  // stop words are found in any case
  std::optional<detail::LetterCase> letters_;
  std::unordered_set<std::string> stopwords_;
};

/// Shapes: [C] or [1, C], with those that are kept; one empty text where none is.
class StringNormalizer final : public MovingOperator {
 public:
  explicit StringNormalizer(const StringNormalizerView& view) : words_(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    Shape y = context.shape(StringNormalizerView::In::X);
    if (y.rank() != 1 && !(y.rank() == 2 && y[0] == 1)) {
      throw ShapeError(
          fmt::format("{}: X is {}, expected C or 1xC texts", context.who(), to_string(y)));
    }
    y[y.rank() - 1] = kUnknownDim;
    return {TensorDesc{DType::string, y}};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([this](OpContext& run) {
      const Tensor& x = run.input(StringNormalizerView::In::X);
      std::vector<std::string> kept;
      for (const std::string& word : x.span<std::string>()) {
        if (words_.keeps(word)) kept.push_back(words_.normalized(word));
      }
      if (kept.empty()) kept.emplace_back();
      Shape shape = x.shape();
      shape[shape.rank() - 1] = std::int64_t(kept.size());
      std::string* y =
          run.allocate(StringNormalizerView::Out::Y, {DType::string, shape}).data<std::string>();
      for (std::string& word : kept) *y++ = std::move(word);
    });
  }

 private:
  Words words_;
};

}  // namespace

void register_string_normalizer(OperatorRegistry& registry) {
  registry.add<StringNormalizer, StringNormalizerView>();
}

}  // namespace d5::ops
