// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct SoftmaxOptions {
  std::string of, to;
  void declare(OptionList& options) {
    options.add("of", of, "name of the scores; empty: the only value");
    options.add("to", to, "name of the probabilities; empty: that of the scores");
  }
};

/// exp(x) / sum of exp(x), over all elements.
class SoftmaxStep final : public AnswerStep {
 public:
  using Options = SoftmaxOptions;
  explicit SoftmaxStep(const Options& options) : options_(options) {}
  void run(ValueMap& values) const override {
    const Tensor& scores = value_for(values, options_.of, "softmax");
    std::vector<double> row = detail::score_row(scores, "softmax");
    const double most = row.empty() ? 0 : *std::ranges::max_element(row);
    double sum = 0;
    for (double& x : row) sum += x = std::exp(x - most);
    Tensor result = Tensor::empty(DType::float32, scores.shape());
    float* out = result.data<float>();
    for (const double x : row) *out++ = static_cast<float>(x / sum);
    const std::string name = !options_.to.empty()   ? options_.to
                             : !options_.of.empty() ? options_.of
                                                    : values.begin()->first;
    values[name] = std::move(result);
  }

 private:
  Options options_;
};

}  // namespace

void register_softmax(Registry<AnswerStepEntry>& registry) {
  registry.add("softmax",
               AnswerStepEntry::of<SoftmaxStep>("softmax: turns scores into probabilities"));
}

}  // namespace d5::answer_step
