// SPDX-License-Identifier: Apache-2.0
// Classification losses: SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

using LabelTypes = Types<std::int32_t, std::int64_t>;

/// Meaning of the first input.
enum class Input { scores, log_probabilities };
enum class Reduction { none, sum, mean };

struct LossAttributes {
  Input input;
  std::optional<std::int64_t> ignored;
  Reduction reduction = Reduction::mean;
};

/// L is the labels' type.
template <class T, class L>
class CrossEntropyLossKernel final : public Kernel {
 public:
  CrossEntropyLossKernel(const LossAttributes& attributes, PlanContext& context)
      : a_(attributes),
        batch_(context.input(1).elements() == 0 ? 0 : context.shape(0)[0]),
        classes_(context.shape(0)[1]),
        inner_(context.shape(0).elements(2, context.shape(0).rank())),
        outputs_log_prob_(context.wants_output(1)) {
    if (a_.input != Input::scores || outputs_log_prob_) return;
    if (context.wants_backward()) {
      saved_ = context.save(context.input(0));
    } else {
      context.request_scratch(context.input(0).bytes());
    }
  }

  void forward(OpContext& context) override {
    const T* log_prob = context.input(0).data<T>();
    if (a_.input == Input::scores) {
      T* to = outputs_log_prob_ ? context.output(1).data<T>()
              : saved_          ? context.saved(*saved_).template data<T>()
                                : context.scratch_as<T>();
      log_softmax(log_prob, to);
      log_prob = to;
    }
    const T* weights = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    T* loss = context.output(0).data<T>();
    double sum = 0, weight_sum = 0;
    for_each_label(context, [&](auto place, auto label, auto element) {
      const T weight = label < 0 ? T(0) : weights ? weights[label] : T(1);
      const T value = label < 0 ? T(0) : -weight * log_prob[element];
      if (a_.reduction == Reduction::none) loss[place] = value;
      sum += double(value);
      weight_sum += double(weight);
    });
    if (a_.reduction == Reduction::sum) *loss = T(sum);
    if (a_.reduction == Reduction::mean) *loss = T(sum / weight_sum);
  }

  void backward(GradContext& context) override {
    if (!context.wants_grad(0)) return;
    Tensor& result = context.grad_input(0);
    const T* weights = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    T* dx = result.data<T>();
    std::fill_n(dx, result.elements(), T(0));
    // First the gradient of log_prob: from the loss, then from the output log_prob.
    if (context.has_grad_output(0)) {
      const T* dloss = context.grad_output(0).data<T>();
      double weight_sum = a_.reduction == Reduction::mean ? 0 : 1;
      if (a_.reduction == Reduction::mean) {
        for_each_label(context, [&](auto, auto label, auto) {
          if (label >= 0) weight_sum += weights ? double(weights[label]) : 1.0;
        });
      }
      for_each_label(context, [&](auto place, auto label, auto element) {
        if (label < 0) return;
        const T up = dloss[a_.reduction == Reduction::none ? place : 0];
        dx[element] = T(-up * (weights ? weights[label] : T(1)) / weight_sum);
      });
    }
    if (a_.input == Input::log_probabilities) return;
    if (context.has_grad_output(1)) {
      const T* more = context.grad_output(1).data<T>();
      for (std::int64_t i = 0; i < result.elements(); ++i) dx[i] += more[i];
    }
    const T* log_prob =
        outputs_log_prob_ ? context.output(1).data<T>() : context.saved(*saved_).template data<T>();
    log_softmax_gradient(log_prob, dx);
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {1, 2}, .backward_reads_outputs = {1}};
  }

 private:
  /// Calls `f(place, label, element)` with the label's index, its class, or -1 if ignored, and the
  /// index of its score.
  template <class Context, class F>
  void for_each_label(const Context& context, F&& f) const {
    const L* labels = context.input(1).template data<L>();
    for (std::int64_t n = 0; n < batch_; ++n) {
      for (std::int64_t d = 0; d < inner_; ++d) {
        const std::int64_t place = n * inner_ + d;
        const std::int64_t label = labels[place];
        if (a_.ignored && label == *a_.ignored) {
          f(place, std::int64_t{-1}, std::int64_t{0});
          continue;
        }
        if (label < 0 || label >= classes_) {
          throw ValueError(fmt::format("{}: label {} at {} is outside [0, {})", context.who(),
                                       label, place, classes_));
        }
        f(place, label, (n * classes_ + label) * inner_ + d);
      }
    }
  }

  /// Calls `f(first)` with the index of each distribution's first class; the others follow with
  /// stride `inner_`.
  template <class F>
  void for_each_distribution(F&& f) const {
    for (std::int64_t n = 0; n < batch_; ++n) {
      for (std::int64_t d = 0; d < inner_; ++d) f(n * classes_ * inner_ + d);
    }
  }

  void log_softmax(const T* scores, T* to) const {
    for_each_distribution([&](std::int64_t first) {
      const T* from = scores + first;
      T* out = to + first;
      T largest = classes_ > 0 ? from[0] : T(0);
      for (std::int64_t c = 1; c < classes_; ++c) largest = std::max(largest, from[c * inner_]);
      double sum = 0;
      for (std::int64_t c = 0; c < classes_; ++c) sum += std::exp(from[c * inner_] - largest);
      const T log_sum = T(std::log(sum));
      for (std::int64_t c = 0; c < classes_; ++c) {
        out[c * inner_] = from[c * inner_] - largest - log_sum;
      }
    });
  }

  /// Converts `d` from the gradient of the logarithms to that of the scores.
  void log_softmax_gradient(const T* log_prob, T* d) const {
    for_each_distribution([&](std::int64_t first) {
      double sum = 0;
      for (std::int64_t c = 0; c < classes_; ++c) sum += double(d[first + c * inner_]);
      for (std::int64_t c = 0; c < classes_; ++c) {
        const std::int64_t i = first + c * inner_;
        d[i] -= T(std::exp(log_prob[i]) * sum);
      }
    });
  }

  LossAttributes a_;
  std::int64_t batch_, classes_, inner_;
  bool outputs_log_prob_;
  std::optional<std::size_t> saved_;  // the logarithms, if they are not an output
};

/// Shapes: scores are N x C x d1 x ... x dk, labels N x d1 x ... x dk (int32 or int64), weights C.
/// The loss has the labels' shape, or none if reduced; log_prob has the scores'.
///
///     loss[n, d] = -w[label] * log_prob[n, label, d]; zero if the label is ignore_index
///
/// `mean` divides by the sum of the weights of all labels except ignored ones.
class CrossEntropyLoss final : public Operator {
 public:
  explicit CrossEntropyLoss(const onnx::nodes::SoftmaxCrossEntropyLoss& view)
      : CrossEntropyLoss(view, Input::scores) {}
  explicit CrossEntropyLoss(const onnx::nodes::NegativeLogLikelihoodLoss& view)
      : CrossEntropyLoss(view, Input::log_probabilities) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& scores = context.shape(0);
    if (scores.rank() < 2) {
      throw ShapeError(fmt::format("{}: scores are {}, expected N x C or more", context.who(),
                                   to_string(scores)));
    }
    Shape labels{scores[0]};
    for (std::size_t i = 2; i < scores.rank(); ++i) labels.push_back(scores[i]);
    if (context.shape(1) != labels) {
      throw ShapeError(fmt::format("{}: labels are {}, expected {} for scores of {}", context.who(),
                                   to_string(context.shape(1)), to_string(labels),
                                   to_string(scores)));
    }
    if (context.has_input(2) && context.shape(2) != Shape{scores[1]}) {
      throw ShapeError(fmt::format("{}: weights are {}, expected {}, one per class", context.who(),
                                   to_string(context.shape(2)), scores[1]));
    }
    if (context.has_input(2) && context.dtype(2) != context.dtype(0)) {
      throw TypeError(fmt::format("{}: weights are {}, expected {} as the scores", context.who(),
                                  name_of(context.dtype(2)), name_of(context.dtype(0))));
    }
    if (context.dtype(1) != DType::int32 && context.dtype(1) != DType::int64) {
      throw TypeError(fmt::format("{}: labels are {}, expected int32 or int64", context.who(),
                                  name_of(context.dtype(1))));
    }
    std::vector<ValueDesc> outputs{
        TensorDesc{context.dtype(0), attributes_.reduction == Reduction::none ? labels : Shape{}}};
    if (attributes_.input == Input::scores) outputs.push_back(TensorDesc{context.dtype(0), scores});
    return outputs;
  }

  /// Excludes the weights, which are settings, not trained.
  Places gradients() const override { return {0}; }

  /// LogSoftmax's five operations per score; per label its weight and the sums.
  Cost cost(const InferContext& context) const override {
    const double scores =
        attributes_.input == Input::scores ? double(context.input(0).elements()) : 0;
    const bool mean = attributes_.reduction == Reduction::mean;
    const double per_label = (context.has_input(2) ? (mean ? 2 : 1) : 0) +
                             (attributes_.reduction == Reduction::none ? 0 : 1);
    return with_flop(context, 5 * scores + per_label * double(context.input(1).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return kernel_for(LabelTypes{}, wide.dtype(1), wide, [&]<class L>() {
        return std::make_unique<CrossEntropyLossKernel<T, L>>(attributes_, wide);
      });
    });
  }

 private:
  template <class View>
  CrossEntropyLoss(const View& view, Input input) : attributes_{input, view.ignore_index()} {
    const std::string word = view.reduction();
    if (word == "mean") {
      attributes_.reduction = Reduction::mean;
    } else if (word == "sum") {
      attributes_.reduction = Reduction::sum;
    } else if (word == "none") {
      attributes_.reduction = Reduction::none;
    } else {
      throw ValueError(fmt::format("{}: reduction is '{}', expected none, sum or mean",
                                   onnx::describe(view.node()), printable(word)));
    }
  }

  LossAttributes attributes_;
};

}  // namespace

void register_cross_entropy_loss(OperatorRegistry& registry) {
  registry.add<CrossEntropyLoss, onnx::nodes::SoftmaxCrossEntropyLoss>();
  registry.add<CrossEntropyLoss, onnx::nodes::NegativeLogLikelihoodLoss>();
}

}  // namespace d5::ops
