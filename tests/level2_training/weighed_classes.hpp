// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"

namespace d5::test {

/// Linear scores of three classes, and a loss in which not all samples count alike. All is float64,
/// so that sums in another order differ in the last digits alone.
struct WeighedClasses {
  enum class Form {
    node,    ///< SoftmaxCrossEntropyLoss
    masked,  ///< a sum divided by a sum of weights, of plain nodes
    sum,     ///< SoftmaxCrossEntropyLoss, whose reduction is a sum
  };
  static constexpr std::int64_t kFeatures = 4, kClasses = 3;
  std::optional<std::int64_t> ignored = {};
  std::vector<double> weights = {};  ///< by class; empty: all 1
  Form form = Form::node;
  std::vector<double> first = {0.3, -0.1, 0.2, -0.4, 0.25, 0.1, 0.05, -0.2, 0.15, 0.4, -0.3, 0.2};

  [[nodiscard]] Network network() const {
    Network network("weighed");
    network.add_input("x", DType::float64, {"N", kFeatures});
    network.add_input("label", DType::int64, {"N"});
    network.add_parameter("w", Tensor::of<double>({kFeatures, kClasses}, first));
    network.add_node("MatMul", {"x", "w"}, {"logits"});
    std::vector<double> of_class = weights.empty() ? std::vector<double>(kClasses, 1.0) : weights;
    if (form == Form::masked) {
      network.add_constant("nobody", Tensor::scalar(*ignored));
      network.add_constant("zero_class", Tensor::scalar(std::int64_t{0}));
      network.add_constant("zero", Tensor::scalar(0.0));
      network.add_constant("one", Tensor::scalar(1.0));
      network.add_constant("of_class", Tensor::vector(of_class));
      network.add_constant("last", Tensor::vector(std::vector<std::int64_t>{-1}));
      network.add_node("Equal", {"label", "nobody"}, {"out"});
      network.add_node("Where", {"out", "zero_class", "label"}, {"safe"});
      network.add_node("Gather", {"of_class", "safe"}, {"all_weights"});
      network.add_node("Where", {"out", "zero", "all_weights"}, {"weight"});
      network.add_node("LogSoftmax", {"logits"}, {"log"});
      network.add_node("Unsqueeze", {"safe", "last"}, {"column"});
      network.add_node("GatherElements", {"log", "column"}, {"chosen"},
                       {{"axis", std::int64_t{1}}});
      network.add_node("Squeeze", {"chosen", "last"}, {"row"});
      network.add_node("Mul", {"row", "weight"}, {"weighed"});
      network.add_node("ReduceSum", {"weighed"}, {"total"}, {{"keepdims", std::int64_t{0}}});
      network.add_node("ReduceSum", {"weight"}, {"count"}, {{"keepdims", std::int64_t{0}}});
      network.add_node("Neg", {"total"}, {"lost"});
      network.add_node("Max", {"count", "one"}, {"floor"});
      network.add_node("Div", {"lost", "floor"}, {"loss"});
    } else {
      std::map<std::string, onnx::Attribute, std::less<>> attributes;
      if (ignored) attributes["ignore_index"] = *ignored;
      if (form == Form::sum) attributes["reduction"] = std::string("sum");
      std::vector<std::string> inputs{"logits", "label"};
      if (!weights.empty()) {
        network.add_constant("of_class", Tensor::vector(of_class));
        inputs.emplace_back("of_class");
      }
      network.add_node("SoftmaxCrossEntropyLoss", inputs, {"loss"}, attributes);
    }
    network.add_output("logits");
    network.add_output("loss");
    return network;
  }

  struct Answer {
    double loss = 0;
    std::vector<double> gradient = std::vector<double>(kFeatures * kClasses, 0.0);
    std::int64_t right = 0, seen = 0;
  };
  /// The formula in float64: sum of weights times -log softmax, divided by the sum of weights.
  [[nodiscard]] Answer answer(const std::vector<double>& w, const std::vector<double>& x,
                              const std::vector<std::int64_t>& labels) const {
    Answer result;
    double all = 0;
    for (std::size_t n = 0; n < labels.size(); ++n) {
      if (labels[n] == ignored) continue;
      const double weight = weights.empty() ? 1 : weights[std::size_t(labels[n])];
      std::vector<double> p(kClasses, 0.0);
      double sum = 0;
      std::size_t largest = 0;
      for (std::size_t c = 0; c < kClasses; ++c) {
        double score = 0;
        for (std::size_t f = 0; f < kFeatures; ++f) {
          score += x[n * kFeatures + f] * w[f * kClasses + c];
        }
        p[c] = std::exp(score);
        sum += p[c];
        if (p[c] > p[largest]) largest = c;
      }
      ++result.seen;
      result.right += largest == std::size_t(labels[n]) ? 1 : 0;
      result.loss -= weight * std::log(p[std::size_t(labels[n])] / sum);
      for (std::size_t c = 0; c < kClasses; ++c) {
        const double error = weight * (p[c] / sum - (labels[n] == std::int64_t(c) ? 1 : 0));
        for (std::size_t f = 0; f < kFeatures; ++f) {
          result.gradient[f * kClasses + c] += error * x[n * kFeatures + f];
        }
      }
      all += weight;
    }
    if (form == Form::sum) return result;
    result.loss /= all;
    for (double& element : result.gradient) element /= all;
    return result;
  }
};

/// Features and labels that are drawn; about every third label, and each of samples
/// [`none_from`, `none_to`), is `ignored`.
struct WeighedSamples {
  std::vector<double> x;
  std::vector<std::int64_t> labels;

  WeighedSamples(std::int64_t count, std::optional<std::int64_t> ignored, std::uint64_t seed = 5,
                 std::int64_t none_from = 0, std::int64_t none_to = 0) {
    RandomStream random(seed);
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t f = 0; f < WeighedClasses::kFeatures; ++f) {
        x.push_back(random.normal_double());
      }
      const auto drawn = std::int64_t(random.below(WeighedClasses::kClasses));
      const bool leave = random.below(3) == 0 || (n >= none_from && n < none_to);
      labels.push_back(leave && ignored ? *ignored : drawn);
    }
  }
  [[nodiscard]] std::shared_ptr<TensorDataset> dataset() const {
    const auto count = std::int64_t(labels.size());
    return std::make_shared<TensorDataset>(
        "weighed", std::vector<std::pair<std::string, Tensor>>{
                       {"x", Tensor::of<double>({count, WeighedClasses::kFeatures}, x)},
                       {"label", Tensor::vector(labels)}});
  }
  /// Samples [first, first + count).
  [[nodiscard]] WeighedSamples part(std::int64_t first, std::int64_t count) const {
    WeighedSamples result(0, {});
    const std::int64_t f = WeighedClasses::kFeatures;
    result.x.assign(x.begin() + first * f, x.begin() + (first + count) * f);
    result.labels.assign(labels.begin() + first, labels.begin() + first + count);
    return result;
  }
};

/// Plain descent by the formula, in batches in order: the weights after `epochs`.
inline std::vector<double> descended(const WeighedClasses& model, const WeighedSamples& samples,
                                     std::int64_t batch_size, double rate, int epochs = 1) {
  std::vector<double> w = model.first;
  const auto count = std::int64_t(samples.labels.size());
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (std::int64_t first = 0; first < count; first += batch_size) {
      const auto part = samples.part(first, std::min(batch_size, count - first));
      const auto answer = model.answer(w, part.x, part.labels);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * answer.gradient[i];
    }
  }
  return w;
}

/// The cases that a mean over samples gets wrong.
inline std::vector<WeighedClasses> weighed_cases() {
  using Form = WeighedClasses::Form;
  const std::vector<double> uneven{0.25, 2.0, 5.0};
  return {{.ignored = -100},
          {.weights = uneven},
          {.ignored = -100, .weights = uneven},
          {.ignored = 1},
          {.ignored = 1, .weights = uneven},
          {.ignored = -1, .form = Form::masked},
          {.ignored = -100, .weights = {1.5, 1.0, 4.0}, .form = Form::masked},
          {.ignored = -100, .weights = uneven, .form = Form::sum},
          {.form = Form::sum},
          {}};
}

}  // namespace d5::test
