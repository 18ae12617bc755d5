// SPDX-License-Identifier: Apache-2.0
// The losses of classification: SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

/// Shapes: scores are N x C x d1 x ... x dk, labels N x d1 x ... x dk (int32 or int64), weights C.
/// The loss has the labels' shape, or none if reduced; log_prob has the scores'.
///
///     loss[n, d] = -w[label] * log_prob[n, label, d]; zero where the label is ignore_index
///
/// `mean` divides by the sum of the weights of all labels that are not ignored.
class CrossEntropyLoss final : public Operator {
 public:
  explicit CrossEntropyLoss(const onnx::nodes::SoftmaxCrossEntropyLoss& view)
      : CrossEntropyLoss(view, Input::scores) {
    wants_log_prob_ = view.node().has_output(1);
  }
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
      throw ShapeError(fmt::format("{}: weights are {}, expected {}, one a class", context.who(),
                                   to_string(context.shape(2)), scores[1]));
    }
    std::vector<ValueDesc> outputs{
        TensorDesc{context.dtype(0), reduction_ == Reduction::none ? labels : Shape{}}};
    if (input_ == Input::scores) outputs.push_back(TensorDesc{context.dtype(0), scores});
    return outputs;
  }

  void plan(PlanContext& context) override {
    const Shape& scores = context.shape(0);
    batch_ = context.input(1).elements() == 0 ? 0 : scores[0];
    classes_ = scores[1];
    inner_ = scores.elements(2, scores.rank());
    if (input_ == Input::scores && !wants_log_prob_) {
      saves_ = context.mode() == Mode::training;
      if (saves_) saved_ = context.save(context.input(0));
      if (!saves_) context.request_scratch(context.input(0).bytes());
    }
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    dispatch(RealTypes{}, x.dtype(), context.who(), [&]<class T>() {
      const T* log_prob = x.data<T>();
      if (input_ == Input::scores) {
        T* to = wants_log_prob_ ? context.output(1).data<T>()
                : saves_        ? context.saved(saved_).data<T>()
                                : context.scratch_as<T>();
        log_softmax(log_prob, to);
        log_prob = to;
      }
      const T* weights = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      T* loss = context.output(0).data<T>();
      double sum = 0, weight_sum = 0;
      for_each_label(context.input(1), context.who(), [&](auto place, auto label, auto element) {
        const T weight = label < 0 ? T(0) : weights ? weights[label] : T(1);
        const T value = label < 0 ? T(0) : -weight * log_prob[element];
        if (reduction_ == Reduction::none) loss[place] = value;
        sum += double(value);
        weight_sum += double(weight);
      });
      if (reduction_ == Reduction::sum) *loss = T(sum);
      if (reduction_ == Reduction::mean) *loss = T(sum / weight_sum);
    });
  }

  void backward(GradContext& context) override {
    if (!context.wants_grad(0)) return;
    Tensor& result = context.grad_input(0);
    dispatch(RealTypes{}, result.dtype(), context.who(), [&]<class T>() {
      const T* weights = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      T* dx = result.data<T>();
      std::fill_n(dx, result.elements(), T(0));
      // First the gradient of log_prob: from the loss, then from the output itself.
      if (context.has_grad_output(0)) {
        const T* dloss = context.grad_output(0).data<T>();
        double weight_sum = reduction_ == Reduction::mean ? 0 : 1;
        if (reduction_ == Reduction::mean) {
          for_each_label(context.input(1), context.who(), [&](auto, auto label, auto) {
            if (label >= 0) weight_sum += weights ? double(weights[label]) : 1.0;
          });
        }
        for_each_label(context.input(1), context.who(), [&](auto place, auto label, auto element) {
          if (label < 0) return;
          const T up = dloss[reduction_ == Reduction::none ? place : 0];
          dx[element] = T(-up * (weights ? weights[label] : T(1)) / weight_sum);
        });
      }
      if (input_ == Input::log_probabilities) return;
      if (context.has_grad_output(1)) {
        const T* more = context.grad_output(1).data<T>();
        for (std::int64_t i = 0; i < result.elements(); ++i) dx[i] += more[i];
      }
      const T* log_prob =
          wants_log_prob_ ? context.output(1).data<T>() : context.saved(saved_).data<T>();
      log_softmax_gradient(log_prob, dx);
    });
  }

  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_input(std::size_t input) const override { return input != 0; }
  bool backward_needs_output(std::size_t output) const override { return output == 1; }

 private:
  /// What the first input holds.
  enum class Input { scores, log_probabilities };
  enum class Reduction { none, sum, mean };

  template <class View>
  CrossEntropyLoss(const View& view, Input input) : input_(input), ignored_(view.ignore_index()) {
    const std::string word = view.reduction();
    if (word == "mean") {
      reduction_ = Reduction::mean;
    } else if (word == "sum") {
      reduction_ = Reduction::sum;
    } else if (word == "none") {
      reduction_ = Reduction::none;
    } else {
      throw ValueError(fmt::format("{}: reduction is '{}', expected none, sum or mean",
                                   onnx::describe(view.node()), printable(word)));
    }
  }

  /// `f(place, label, element)`: the label's place, its class, or -1 if ignored, and which of the
  /// scores' elements it chooses.
  template <class F>
  void for_each_label(const Tensor& labels, std::string_view who, F&& f) const {
    dispatch(Types<std::int32_t, std::int64_t>{}, labels.dtype(), who, [&]<class L>() {
      const L* from = labels.data<L>();
      for (std::int64_t n = 0; n < batch_; ++n) {
        for (std::int64_t d = 0; d < inner_; ++d) {
          const std::int64_t place = n * inner_ + d;
          const std::int64_t label = from[place];
          if (ignored_ && label == *ignored_) {
            f(place, std::int64_t{-1}, std::int64_t{0});
            continue;
          }
          if (label < 0 || label >= classes_) {
            throw ValueError(
                fmt::format("{}: label {} at {} is outside [0, {})", who, label, place, classes_));
          }
          f(place, label, (n * classes_ + label) * inner_ + d);
        }
      }
    });
  }

  /// `f(first)`: the place of each distribution's first class; the others follow `inner_` apart.
  template <class F>
  void for_each_distribution(F&& f) const {
    for (std::int64_t n = 0; n < batch_; ++n) {
      for (std::int64_t d = 0; d < inner_; ++d) f(n * classes_ * inner_ + d);
    }
  }

  template <class T>
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

  /// `d` holds the gradient of the logarithms, and then that of the scores.
  template <class T>
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

  Input input_;
  std::optional<std::int64_t> ignored_;
  Reduction reduction_ = Reduction::mean;
  bool wants_log_prob_ = false;
  // Of the plan:
  std::int64_t batch_ = 0, classes_ = 0, inner_ = 1;
  std::size_t saved_ = 0;
  bool saves_ = false;
};

}  // namespace

void register_cross_entropy_loss(OperatorRegistry& registry) {
  registry.add("SoftmaxCrossEntropyLoss", {.since = 12}, [](const onnx::Node& node) {
    return std::make_unique<CrossEntropyLoss>(onnx::nodes::SoftmaxCrossEntropyLoss(node));
  });
  registry.add("NegativeLogLikelihoodLoss", {.since = 12}, [](const onnx::Node& node) {
    return std::make_unique<CrossEntropyLoss>(onnx::nodes::NegativeLogLikelihoodLoss(node));
  });
}

}  // namespace d5::ops
