// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/models.hpp"

namespace d5 {

/// Writes a network layer by layer: each call adds a node after the one before, names its tensors
/// after the layer, and draws its weights from a stream of that name.
///
/// Shapes: images are NxCxHxW float32; `channels` follow from layer to layer.
class ModelBuilder {
 public:
  ModelBuilder(std::string name, const ModelOptions& options);

  void input(const std::string& name, std::vector<onnx::Dim> dims);

  struct Convolution {
    std::int64_t in, out, kernel;
    std::int64_t stride = 1, pad = 0;
    bool bias = true;
  };
  /// Weights: normal of variance 2 / (out * kernel^2), the fan-out form, biases zero.
  /// Source: He et al., "Delving Deep into Rectifiers" (2015).
  void conv(const std::string& name, const Convolution& shape);
  /// Weights and biases uniform in +-1/sqrt(in).
  /// Source: LeCun et al., "Efficient BackProp" (1998), section 4.6, in its uniform form.
  void linear(const std::string& name, std::int64_t in, std::int64_t out);
  /// The last layer, `linear` whose output is called "logits".
  void classifier(const std::string& name, std::int64_t in, std::int64_t classes);
  /// Scale 1, shift 0, running mean 0 and variance 1; in training its running
  /// statistics are taken over after each run.
  void batch_norm(const std::string& name, std::int64_t channels);
  void max_pool(const std::string& name, std::int64_t kernel, std::int64_t stride,
                std::int64_t pad = 0);
  void dropout(const std::string& name, float ratio);
  /// Any operator of one input without attributes: "Relu", "Flatten", "GlobalAveragePool".
  void apply(const std::string& op_type, const std::string& name);
  /// Adds the tensor `other` to the present one.
  void add(const std::string& name, const std::string& other);

  /// The tensor that the next layer reads.
  [[nodiscard]] const std::string& current() const { return current_; }
  void set_current(std::string tensor) { current_ = std::move(tensor); }

  /// The network with output "logits"; with_loss adds input "label" (int64 N) and output "loss",
  /// the mean cross entropy.
  [[nodiscard]] Network finish();

 private:
  void node(const std::string& op_type, const std::string& name, std::vector<std::string> inputs,
            std::map<std::string, onnx::Attribute, std::less<>> attributes = {});
  void affine(const std::string& name, std::int64_t in, std::int64_t out,
              const std::string& output);

  Network network_;
  ModelOptions options_;
  std::string current_;
};

}  // namespace d5
