// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct TopKOptions {
  std::int64_t k = 5, first = 0;
  std::string of;
  void declare(OptionList& options) {
    options.add("k", k, "number of classes", {.least = 1, .most = 1'000'000});
    options.add("first", first,
                "index of class 0's score; scores before it have no class, such as a background's",
                {.least = 0});
    options.add("of", of, "name of the scores; empty: the only value");
  }
};

/// `classes` int64 k and `scores` float32 k, in descending order of score; ties by class number.
class TopKStep final : public AnswerStep {
 public:
  using Options = TopKOptions;
  explicit TopKStep(const Options& options) : options_(options) {}

  void run(ValueMap& values) const override {
    const auto row = detail::score_row(value_for(values, options_.of, "top_k"), "top_k");
    const auto count = static_cast<std::int64_t>(row.size()) - options_.first;
    if (count < options_.k) {
      throw ShapeError(
          fmt::format("answer step top_k: there are {} classes, but k={}", count, options_.k));
    }
    if (std::ranges::any_of(row, [](double x) { return std::isnan(x); })) {
      throw NumericError("answer step top_k: a score is NaN");
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const double* scores = row.data() + options_.first;
    std::ranges::partial_sort(order, order.begin() + options_.k, [&](auto a, auto b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    order.resize(static_cast<std::size_t>(options_.k));
    std::vector<float> best;
    for (const std::int64_t c : order) best.push_back(static_cast<float>(scores[c]));
    values["classes"] = Tensor::vector(order);
    values["scores"] = Tensor::vector(best);
  }

 private:
  Options options_;
};

}  // namespace

void register_top_k(Registry<AnswerStepEntry>& registry) {
  registry.add("top_k",
               AnswerStepEntry::of<TopKStep>("top-k: the k classes with the largest scores"));
}

}  // namespace d5::answer_step
