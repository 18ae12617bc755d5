// SPDX-License-Identifier: Apache-2.0
#include "level1_network/model_builder.hpp"

#include <cmath>

#include "d5/core/random.hpp"

namespace d5 {
namespace {

using Integers = std::vector<std::int64_t>;

template <class Draw>
Tensor drawn(const Shape& shape, Draw draw) {
  Tensor result = Tensor::empty(DType::float32, shape);
  for (float& value : result.span<float>()) value = draw();
  return result;
}

Tensor filled(std::int64_t size, float value) {
  return drawn({size}, [=] { return value; });
}

}  // namespace

ModelBuilder::ModelBuilder(std::string name, const ModelOptions& options)
    : network_(std::move(name)), options_(options) {}

void ModelBuilder::input(const std::string& name, std::vector<onnx::Dim> dims) {
  network_.add_input(name, DType::float32, std::move(dims));
  current_ = name;
}

void ModelBuilder::node(const std::string& op_type, const std::string& name,
                        std::vector<std::string> inputs,
                        std::map<std::string, onnx::Attribute, std::less<>> attributes) {
  const std::string output = name + ".out";
  network_.add_node(op_type, std::move(inputs), {output}, std::move(attributes), name);
  current_ = output;
}

void ModelBuilder::conv(const std::string& name, const Convolution& shape) {
  RandomStream random(options_.seed, stream_of(name));
  const float deviation = std::sqrt(2.0f / float(shape.out * shape.kernel * shape.kernel));
  network_.add_parameter(name + ".weight", drawn({shape.out, shape.in, shape.kernel, shape.kernel},
                                                 [&] { return deviation * random.normal(); }));
  std::vector<std::string> inputs{current_, name + ".weight"};
  if (shape.bias) {
    network_.add_parameter(name + ".bias", filled(shape.out, 0));
    inputs.push_back(name + ".bias");
  }
  node("Conv", name, std::move(inputs),
       {{"kernel_shape", Integers{shape.kernel, shape.kernel}},
        {"strides", Integers{shape.stride, shape.stride}},
        {"pads", Integers(4, shape.pad)}});
}

void ModelBuilder::affine(const std::string& name, std::int64_t in, std::int64_t out,
                          const std::string& output) {
  RandomStream random(options_.seed, stream_of(name));
  const float bound = 1.0f / std::sqrt(float(in));
  const auto draw = [&] { return bound * (2 * random.uniform() - 1); };
  network_.add_parameter(name + ".weight", drawn({out, in}, draw));
  network_.add_parameter(name + ".bias", drawn({out}, draw));
  network_.add_node("Gemm", {current_, name + ".weight", name + ".bias"}, {output},
                    {{"transB", std::int64_t{1}}}, name);
  current_ = output;
}

void ModelBuilder::linear(const std::string& name, std::int64_t in, std::int64_t out) {
  affine(name, in, out, name + ".out");
}

void ModelBuilder::classifier(const std::string& name, std::int64_t in, std::int64_t classes) {
  affine(name, in, options_.classes > 0 ? options_.classes : classes, "logits");
}

void ModelBuilder::batch_norm(const std::string& name, std::int64_t channels) {
  network_.add_parameter(name + ".scale", filled(channels, 1));
  network_.add_parameter(name + ".shift", filled(channels, 0));
  network_.add_constant(name + ".mean", filled(channels, 0));
  network_.add_constant(name + ".variance", filled(channels, 1));
  std::vector<std::string> inputs{current_, name + ".scale", name + ".shift", name + ".mean",
                                  name + ".variance"};
  if (!options_.training) return node("BatchNormalization", name, std::move(inputs));
  const std::string output = name + ".out";
  network_.add_node("BatchNormalization", std::move(inputs),
                    {output, name + ".new_mean", name + ".new_variance"},
                    {{"training_mode", std::int64_t{1}}}, name);
  network_.add_update(name + ".mean", name + ".new_mean");
  network_.add_update(name + ".variance", name + ".new_variance");
  current_ = output;
}

void ModelBuilder::max_pool(const std::string& name, std::int64_t kernel, std::int64_t stride,
                            std::int64_t pad) {
  node("MaxPool", name, {current_},
       {{"kernel_shape", Integers{kernel, kernel}},
        {"strides", Integers{stride, stride}},
        {"pads", Integers(4, pad)}});
}

void ModelBuilder::dropout(const std::string& name, float ratio) {
  network_.add_constant(name + ".ratio", Tensor::scalar(ratio));
  network_.add_constant(name + ".training", Tensor::scalar(options_.training));
  node("Dropout", name, {current_, name + ".ratio", name + ".training"});
}

void ModelBuilder::apply(const std::string& op_type, const std::string& name) {
  node(op_type, name, {current_});
}

void ModelBuilder::add(const std::string& name, const std::string& other) {
  node("Add", name, {current_, other});
}

Network ModelBuilder::finish() {
  network_.add_output("logits");
  if (options_.with_loss) {
    network_.add_input("label", DType::int64, {"N"});
    network_.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"}, {}, "loss");
    network_.add_output("loss");
  }
  return std::move(network_);
}

}  // namespace d5
