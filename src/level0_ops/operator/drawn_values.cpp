// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/drawn_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5 {
namespace {

namespace nodes = onnx::nodes;

/// A run of a random node.
struct Run {
  const onnx::Node& node;
  std::span<const Value> inputs, outputs;

  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs.size() && inputs[i].is_tensor();
  }
  [[nodiscard]] bool has_output(std::size_t i) const {
    return i < outputs.size() && outputs[i].is_tensor();
  }
  [[noreturn]] void refuse(std::size_t i, double value, const std::string& expected) const {
    throw ValueError(
        fmt::format("{}: element {} is {}, expected {}", onnx::describe(node), i, value, expected));
  }
  void expect_elements(std::size_t given, std::size_t expected) const {
    if (given == expected) return;
    throw ShapeError(fmt::format("{}: {} values were drawn, expected {}", onnx::describe(node),
                                 given, expected));
  }
};

/// Cumulative probabilities below a value, and up to and including it; equal for continuous
/// distributions.
struct Place {
  double before, upto;
};
constexpr Place kCertain = {0, 1};
using DrawPlaces = std::vector<Place>;

std::vector<double> numbers(const Value& value) {
  const Tensor& tensor = value.tensor();
  std::vector<double> result(std::size_t(tensor.elements()));
  detail::Conversion(tensor.dtype(), DType::float64)
      .run(result.data(), tensor.raw(), tensor.elements());
  return result;
}

double rounded(double value, DType type) {
  Tensor element = Tensor::empty(type, {});
  detail::Conversion(DType::float64, type).run(element.raw(), &value, 1);
  return numbers(element).front();
}

template <class View>
DrawPlaces normal(const Run& run) {
  const View view(run.node);
  const double mean = view.mean(), scale = view.scale();
  const double only = rounded(mean, run.outputs[0].tensor().dtype());
  const auto values = numbers(run.outputs[0]);
  DrawPlaces places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) run.refuse(i, values[i], "a finite number");
    if (scale == 0 && values[i] != only) run.refuse(i, values[i], fmt::format("{}", only));
    if (scale == 0) {
      places.push_back(kCertain);
      continue;
    }
    const double below = std::erfc((mean - values[i]) / (scale * std::sqrt(2.0))) / 2;
    places.push_back({below, below});
  }
  return places;
}

/// Rounding to the element type may reach `high`.
template <class View>
DrawPlaces uniform(const Run& run) {
  const View view(run.node);
  const double low = view.low(), high = view.high();
  const DType type = run.outputs[0].tensor().dtype();
  const double least = rounded(low, type), most = rounded(high, type);
  const auto values = numbers(run.outputs[0]);
  DrawPlaces places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= least && values[i] <= most)) {
      run.refuse(i, values[i], fmt::format("{} to {}", least, most));
    }
    if (low == high) {
      places.push_back(kCertain);
      continue;
    }
    const double below = std::clamp((values[i] - low) / (high - low), 0.0, 1.0);
    places.push_back({below, below});
  }
  return places;
}

/// Input 0 holds the probability of 1.
DrawPlaces bernoulli(const Run& run) {
  const auto p = numbers(run.inputs[0]), values = numbers(run.outputs[0]);
  run.expect_elements(values.size(), p.size());
  DrawPlaces places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool possible = (values[i] == 0 && p[i] < 1) || (values[i] == 1 && p[i] > 0);
    if (!possible) run.refuse(i, values[i], fmt::format("1 with probability {}, or 0", p[i]));
    places.push_back(values[i] == 0 ? Place{0, 1 - p[i]} : Place{1 - p[i], 1});
  }
  return places;
}

/// The classes' probabilities are the row's softmax.
DrawPlaces multinomial(const Run& run) {
  const Shape& shape = run.inputs[0].tensor().shape();
  const std::size_t batch = std::size_t(shape[0]), classes = std::size_t(shape[1]);
  const std::size_t samples = std::size_t(nodes::Multinomial(run.node).sample_size());
  const auto logarithms = numbers(run.inputs[0]), values = numbers(run.outputs[0]);
  run.expect_elements(values.size(), batch * samples);
  DrawPlaces places;
  for (std::size_t row = 0; row < batch && samples > 0; ++row) {
    const auto line = std::span(logarithms).subspan(row * classes, classes);
    const double largest = std::ranges::max(line);
    std::vector<double> sums = {0};
    for (const double x : line) sums.push_back(sums.back() + std::exp(x - largest));
    for (std::size_t i = row * samples; i < (row + 1) * samples; ++i) {
      const bool a_class = values[i] >= 0 && values[i] < double(classes);
      const std::size_t c = a_class ? std::size_t(values[i]) : 0;
      if (!a_class || sums[c] == sums[c + 1]) {
        run.refuse(i, values[i], fmt::format("a possible one of {} classes", classes));
      }
      places.push_back({sums[c] / sums.back(), sums[c + 1] / sums.back()});
    }
  }
  return places;
}

/// Whether `value` equals `expected` in its type, computed at least in float32; tolerates a
/// relative rounding error of 1e-6.
bool is_rounded(double value, double expected, DType type) {
  if (std::isnan(expected)) return std::isnan(value);
  const double a = rounded(expected * (1 - 0x1p-20), type);
  const double b = rounded(expected * (1 + 0x1p-20), type);
  return value >= std::min(a, b) && value <= std::max(a, b);
}

/// An element is 0 with probability `ratio`, otherwise x / (1 - ratio).
DrawPlaces dropout(const Run& run) {
  using View = nodes::Dropout;
  const bool training = run.has_input(View::In::training_mode) &&
                        numbers(run.inputs[View::In::training_mode]).front() != 0;
  const double given =
      run.has_input(View::In::ratio) ? numbers(run.inputs[View::In::ratio]).front() : 0.5;
  const double ratio = training ? given : 0;
  const auto x = numbers(run.inputs[0]), values = numbers(run.outputs[0]);
  run.expect_elements(values.size(), x.size());
  std::vector<double> mask;
  if (run.has_output(View::Out::mask)) {
    mask = numbers(run.outputs[View::Out::mask]);
    run.expect_elements(mask.size(), x.size());
  }
  const DType type = run.outputs[0].tensor().dtype();
  DrawPlaces places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double kept = x[i] / (1 - ratio);
    const bool may_be_kept = is_rounded(values[i], kept, type) && (mask.empty() || mask[i] != 0);
    const bool may_be_dropped = ratio > 0 && values[i] == 0 && (mask.empty() || mask[i] == 0);
    if (!may_be_kept && !may_be_dropped) {
      run.refuse(i, values[i],
                 fmt::format("{} or, with probability {} and as the mask says, 0", kept, ratio));
    }
    places.push_back({may_be_dropped ? 0 : ratio, may_be_kept ? 1 : ratio});
  }
  return places;
}

using Distribution = DrawPlaces (*)(const Run&);

const std::map<std::string_view, Distribution>& distributions() {
  static const std::map<std::string_view, Distribution> all = {
      {"Bernoulli", bernoulli},
      {"Dropout", dropout},
      {"Multinomial", multinomial},
      {"RandomNormal", normal<nodes::RandomNormal>},
      {"RandomNormalLike", normal<nodes::RandomNormalLike>},
      {"RandomUniform", uniform<nodes::RandomUniform>},
      {"RandomUniformLike", uniform<nodes::RandomUniformLike>},
  };
  return all;
}

}  // namespace

bool draws_random_numbers(const onnx::Node& node) {
  // Dropout with a third input is in training mode.
  return node.domain.empty() && distributions().contains(node.op_type) &&
         (node.op_type != "Dropout" || node.has_input(nodes::Dropout::In::training_mode));
}

std::vector<double> places_of_draws(const onnx::Node& node, std::span<const Value> inputs,
                                    std::span<const Value> outputs, RandomStream& random) {
  std::vector<double> result;
  for (const auto& [before, upto] : distributions().at(node.op_type)({node, inputs, outputs})) {
    result.push_back(before + random.uniform_double() * (upto - before));
  }
  return result;
}

}  // namespace d5
