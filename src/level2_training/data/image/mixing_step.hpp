// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level2_training/data/batch_step.hpp"

namespace d5::detail {

/// Options of steps that mix pairs of samples.
struct MixingOptions {
  double alpha = 1;
  std::int64_t classes = 0;
  std::string image = "image", label = "label";

  void declare(OptionList& options);
};

/// Mixes each sample i of a batch with the sample `shift` positions after it, cyclically. Drawn
/// once per batch: the shift, uniformly from 1 to n - 1, and the share of the first sample, from
/// Beta(alpha, alpha). Labels, int64 scalars, become shares of each class: float32 {classes}.
class MixingStep : public BatchStep {
 public:
  using Options = MixingOptions;
  /// `who` names it in messages: "mixup". Throws: ValueError without classes; NotFound, TypeError,
  /// ShapeError if the fields are not a float32 image and a label.
  MixingStep(std::string who, std::vector<Dataset::Field> fields, const MixingOptions& options);
  [[nodiscard]] const std::vector<Dataset::Field>& fields() const final { return fields_; }
  void run(std::span<const Tensor> in, RandomStream& random, std::span<Tensor> out) const final;

 protected:
  /// Mixes a batch of images {n, channels, height, width} by the drawn `share`. Returns the actual
  /// share of sample i in result i.
  virtual double mix(const Tensor& images, std::int64_t shift, double share, RandomStream& random,
                     Tensor& out) const = 0;

 private:
  [[nodiscard]] std::size_t place_of(const std::string& name) const;
  void mix_labels(const Tensor& labels, std::int64_t shift, double share, Tensor& out) const;

  std::string who_;
  MixingOptions options_;
  std::vector<Dataset::Field> fields_;
  std::size_t image_ = 0, label_ = 0;
};

/// A number of Beta(alpha, alpha).
[[nodiscard]] double draw_beta(double alpha, RandomStream& random);

}  // namespace d5::detail
