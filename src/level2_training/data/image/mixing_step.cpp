// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/mixing_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// The logarithm of a Gamma(shape, 1) number, which itself may be too small for a double.
/// Source: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables" (2000).
double draw_log_gamma(double shape, RandomStream& random) {
  if (shape < 1) {  // Gamma(a) is Gamma(a + 1) times U^(1/a)
    return draw_log_gamma(shape + 1, random) + std::log(1 - random.uniform_double()) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double normal = random.normal_double(), root = 1 + c * normal;
    if (root <= 0) continue;
    const double cube = root * root * root;
    const double uniform = 1 - random.uniform_double();
    if (std::log(uniform) < 0.5 * normal * normal + d - d * cube + d * std::log(cube)) {
      return std::log(d * cube);
    }
  }
}

}  // namespace

double draw_beta(double alpha, RandomStream& random) {
  const double a = draw_log_gamma(alpha, random), b = draw_log_gamma(alpha, random);
  return 1 / (1 + std::exp(b - a));
}

void MixingOptions::declare(OptionList& options) {
  options.add("alpha", alpha, "parameter of the distribution Beta(alpha, alpha) of the share",
              {.above = 0});
  options.add("classes", classes, "number of classes: labels are 0 to classes - 1",
              {.least = 0, .most = 1 << 24});
  options.add("image", image, "field of the images, float32");
  options.add("label", label, "field of the labels");
}

MixingStep::MixingStep(std::string who, std::vector<Dataset::Field> fields,
                       const MixingOptions& options)
    : who_(std::move(who)), options_(options), fields_(std::move(fields)) {
  if (options_.classes < 1) {
    throw ValueError(fmt::format("batch step {}: give the number of classes", who_));
  }
  image_ = place_of(options_.image);
  label_ = place_of(options_.label);
  const TensorDesc &image = fields_[image_].desc, &label = fields_[label_].desc;
  if (image.dtype != DType::float32 || label.dtype != DType::int64) {
    throw TypeError(fmt::format(
        "batch step {}: field '{}' is {} and '{}' is {}, expected float32 and int64; put to_tensor "
        "or normalise at the end of the data set's steps",
        who_, printable(options_.image), to_string(image), printable(options_.label),
        to_string(label)));
  }
  if (image.shape.rank() != 3 || !image.shape.is_static() || label.shape.rank() != 0) {
    throw ShapeError(fmt::format(
        "batch step {}: field '{}' is {} and '{}' is {}, expected images of one size and scalars",
        who_, printable(options_.image), to_string(image), printable(options_.label),
        to_string(label)));
  }
  fields_[label_].desc = {DType::float32, {options_.classes}};
}

std::size_t MixingStep::place_of(const std::string& name) const {
  const auto place = std::ranges::find(fields_, name, &Dataset::Field::name);
  if (place == fields_.end()) {
    throw NotFound(
        fmt::format("batch step {}: there is no field '{}', but {}", who_, printable(name),
                    fmt::join(fields_ | std::views::transform(&Dataset::Field::name), ", ")));
  }
  return std::size_t(place - fields_.begin());
}

void MixingStep::run(std::span<const Tensor> in, RandomStream& random,
                     std::span<Tensor> out) const {
  const std::int64_t samples = in[image_].shape()[0];
  const std::int64_t shift =
      samples > 1 ? 1 + std::int64_t(random.below(std::uint64_t(samples - 1))) : 0;
  const double drawn = draw_beta(options_.alpha, random);
  for (std::size_t f = 0; f < in.size(); ++f) {
    if (f != image_ && f != label_) out[f].copy_from(in[f]);
  }
  const double share = mix(in[image_], shift, drawn, random, out[image_]);
  mix_labels(in[label_], shift, share, out[label_]);
}

void MixingStep::mix_labels(const Tensor& labels, std::int64_t shift, double share,
                            Tensor& out) const {
  const auto classes = labels.span<std::int64_t>();
  for (const std::int64_t label : classes) {
    if (label >= 0 && label < options_.classes) continue;
    throw ValueError(fmt::format("batch step {}: a label is {}, expected 0 to {}; set classes",
                                 who_, label, options_.classes - 1));
  }
  std::ranges::fill(out.span<float>(), 0.0F);
  float* shares = out.data<float>();
  for (std::size_t i = 0; i < classes.size(); ++i, shares += options_.classes) {
    shares[classes[i]] += float(share);
    shares[classes[(i + std::size_t(shift)) % classes.size()]] += float(1 - share);
  }
}

}  // namespace d5::detail
