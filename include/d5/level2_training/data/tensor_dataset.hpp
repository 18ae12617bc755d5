// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// Samples in memory: one tensor per field; dimension 0 is the sample.
///
///     TensorDataset points("points", {{"x", x}, {"label", label}});
class TensorDataset final : public Dataset {
 public:
  /// Throws: ShapeError if a tensor is a scalar or their numbers of samples differ; ValueError
  /// without tensors.
  TensorDataset(std::string name, std::vector<std::pair<std::string, Tensor>> fields);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  std::string name_;
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
  std::vector<Tensor> tensors_;
};

}  // namespace d5
