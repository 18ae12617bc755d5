// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/level1_network/source/models.hpp"
#include "level1_network/models/layers/initial_weights.hpp"

namespace d5 {

/// Initialization of the layers' weights.
struct Initialization {
  InitialWeights conv = he_fan_out, conv_bias = constant(0);
  InitialWeights linear = lecun_uniform, linear_bias = lecun_uniform;
};

/// Builds a network layer by layer. Each call adds a node after the previous one, names its tensors
/// after the layer, and draws its weights from a stream of that name.
///
/// Shapes: images are NxCxHxW float32; `channels` follow from layer to layer.
class ModelBuilder {
 public:
  ModelBuilder(std::string name, const ModelOptions& options, Initialization initialization = {});

  /// Sets the opset of all nodes. Call it before the first.
  void set_opset(int version);

  void input(const std::string& name, std::vector<onnx::Dim> dims, DType dtype = DType::float32);

  struct Convolution {
    std::int64_t in, out, kernel;
    std::int64_t stride = 1, pad = 0, groups = 1;
    bool bias = true;
  };
  void conv(const std::string& name, const Convolution& shape);
  void linear(const std::string& name, std::int64_t in, std::int64_t out);
  /// The last layer, a `linear` layer with the output "logits".
  void classifier(const std::string& name, std::int64_t in, std::int64_t classes);
  /// Batch normalization: scale 1, shift 0, running mean 0 and variance 1; in training its running
  /// statistics are updated after each run.
  void batch_norm(const std::string& name, std::int64_t channels);

  enum class Rounding { down, up };  ///< up: a window that only begins within the image counts
  struct Pooling {
    std::int64_t kernel, stride;
    std::int64_t pad = 0;
    Rounding size = Rounding::down;
  };
  void max_pool(const std::string& name, const Pooling& window);
  void average_pool(const std::string& name, const Pooling& window);
  void dropout(const std::string& name, float ratio);
  /// Any operator of one input without attributes: "Relu", "Flatten", "GlobalAveragePool".
  void apply(const std::string& op_type, const std::string& name);
  /// Adds the tensor `other` to the current one.
  void add(const std::string& name, const std::string& other);
  /// Concatenates several tensors along the channels.
  void concat(const std::string& name, std::vector<std::string> tensors);

  /// Adds any other node. Without a name for its output, that is called "<name>.out".
  void node(const std::string& op_type, const std::string& name, std::vector<std::string> inputs,
            std::map<std::string, onnx::Attribute, std::less<>> attributes = {},
            std::string output = "");
  /// Adds a parameter, drawn from a stream of its name.
  void parameter(const std::string& name, const Shape& shape, Fans fans,
                 const InitialWeights& draw);
  void constant(const std::string& name, Tensor value);
  /// Makes runs overwrite the constant with the tensor (`Network::add_update`).
  void update(const std::string& constant, const std::string& tensor);

  /// The tensor that the next layer reads.
  [[nodiscard]] const std::string& current() const { return current_; }
  void set_current(std::string tensor) { current_ = std::move(tensor); }
  [[nodiscard]] const Initialization& initialization() const { return initialization_; }

  /// The network with output "logits"; with_loss adds input "label" (int64) and output "loss", the
  /// mean cross entropy. Shapes: logits NxC and labels N, or logits NxTxC and labels NxT.
  [[nodiscard]] Network finish(std::vector<onnx::Dim> label = {"N"});

 private:
  void affine(const std::string& name, std::int64_t in, std::int64_t out,
              const std::string& output);
  void pool(const std::string& op_type, const std::string& name, const Pooling& window);

  Network network_;
  ModelOptions options_;
  Initialization initialization_;
  std::string current_;
};

}  // namespace d5
