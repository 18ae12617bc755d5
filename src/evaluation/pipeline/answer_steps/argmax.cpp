// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct ArgmaxOptions {
  std::string of, to = "mask";
  void declare(OptionList& options) {
    options.add("of", of,
                "name of the scores, whose first dimension is the class; empty: the only value");
    options.add("to", to, "name of the resulting classes");
  }
};

/// The class with the largest score at each place: int64, with the scores' other dimensions. The
/// lower of classes with equal scores.
class ArgmaxStep final : public AnswerStep {
 public:
  using Options = ArgmaxOptions;
  explicit ArgmaxStep(const Options& options) : options_(options) {}
  void run(ValueMap& values) const override {
    const Tensor& scores = value_for(values, options_.of, "argmax");
    if (scores.shape().rank() == 0 || scores.elements() == 0) {
      throw ShapeError("answer step argmax: gets " + to_string(scores.desc()) +
                       ", expected a dimension of classes");
    }
    const auto row = detail::score_row(scores, "argmax");
    const auto dims = scores.shape().dims();
    Tensor mask = Tensor::zeros(DType::int64, Shape(dims.subspan(1)));
    const auto places = static_cast<std::size_t>(mask.elements());
    auto* best = mask.data<std::int64_t>();
    for (std::int64_t c = 1; c < dims[0]; ++c) {
      const double* here = row.data() + std::size_t(c) * places;
      for (std::size_t i = 0; i < places; ++i) {
        if (here[i] > row[std::size_t(best[i]) * places + i]) best[i] = c;
      }
    }
    values[options_.to] = std::move(mask);
  }

 private:
  Options options_;
};

}  // namespace

void register_argmax(Registry<AnswerStepEntry>& registry) {
  registry.add("argmax", AnswerStepEntry::of<ArgmaxStep>(
                             "class with the largest score at each place: a segmentation mask"));
}

}  // namespace d5::answer_step
