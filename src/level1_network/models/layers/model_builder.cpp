// SPDX-License-Identifier: Apache-2.0
#include "level1_network/models/layers/model_builder.hpp"

#include "d5/core/tensor/random.hpp"

namespace d5 {
namespace {

using Integers = std::vector<std::int64_t>;

Tensor filled(std::int64_t size, float value) {
  Tensor result = Tensor::empty(DType::float32, {size});
  for (float& element : result.span<float>()) element = value;
  return result;
}

}  // namespace

ModelBuilder::ModelBuilder(std::string name, const ModelOptions& options,
                           Initialization initialization)
    : network_(std::move(name)), options_(options), initialization_(std::move(initialization)) {}

void ModelBuilder::set_opset(int version) {
  onnx::Model model = network_.model();
  model.opset_imports[""] = version;
  network_.rewrite(std::move(model));
}

void ModelBuilder::input(const std::string& name, std::vector<onnx::Dim> dims, DType dtype) {
  network_.add_input(name, dtype, std::move(dims));
  current_ = name;
}

void ModelBuilder::node(const std::string& op_type, const std::string& name,
                        std::vector<std::string> inputs,
                        std::map<std::string, onnx::Attribute, std::less<>> attributes,
                        std::string output) {
  current_ = output.empty() ? name + ".out" : std::move(output);
  network_.add_node(op_type, std::move(inputs), {current_}, std::move(attributes), name);
}

void ModelBuilder::parameter(const std::string& name, const Shape& shape, Fans fans,
                             const InitialWeights& draw) {
  RandomStream random(options_.seed, stream_of(name));
  network_.add_parameter(name, draw(shape, fans, random));
}

void ModelBuilder::constant(const std::string& name, Tensor value) {
  network_.add_constant(name, std::move(value));
}

void ModelBuilder::update(const std::string& constant, const std::string& tensor) {
  network_.add_update(constant, tensor);
}

void ModelBuilder::conv(const std::string& name, const Convolution& shape) {
  RandomStream random(options_.seed, stream_of(name));
  const std::int64_t window = shape.kernel * shape.kernel, in = shape.in / shape.groups;
  const Fans fans{.in = in * window, .out = shape.out / shape.groups * window};
  network_.add_parameter(
      name + ".weight",
      initialization_.conv({shape.out, in, shape.kernel, shape.kernel}, fans, random));
  std::vector<std::string> inputs{current_, name + ".weight"};
  if (shape.bias) {
    network_.add_parameter(name + ".bias", initialization_.conv_bias({shape.out}, fans, random));
    inputs.push_back(name + ".bias");
  }
  node("Conv", name, std::move(inputs),
       {{"kernel_shape", Integers{shape.kernel, shape.kernel}},
        {"strides", Integers{shape.stride, shape.stride}},
        {"pads", Integers(4, shape.pad)},
        {"group", shape.groups}});
}

void ModelBuilder::affine(const std::string& name, std::int64_t in, std::int64_t out,
                          const std::string& output) {
  RandomStream random(options_.seed, stream_of(name));
  const Fans fans{.in = in, .out = out};
  network_.add_parameter(name + ".weight", initialization_.linear({out, in}, fans, random));
  network_.add_parameter(name + ".bias", initialization_.linear_bias({out}, fans, random));
  node("Gemm", name, {current_, name + ".weight", name + ".bias"}, {{"transB", std::int64_t{1}}},
       output);
}

void ModelBuilder::linear(const std::string& name, std::int64_t in, std::int64_t out) {
  affine(name, in, out, name + ".out");
}

void ModelBuilder::classifier(const std::string& name, std::int64_t in, std::int64_t classes) {
  affine(name, in, classes, "logits");
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

void ModelBuilder::pool(const std::string& op_type, const std::string& name,
                        const Pooling& window) {
  node(op_type, name, {current_},
       {{"kernel_shape", Integers{window.kernel, window.kernel}},
        {"strides", Integers{window.stride, window.stride}},
        {"pads", Integers(4, window.pad)},
        {"ceil_mode", std::int64_t{window.size == Rounding::up}}});
}

void ModelBuilder::max_pool(const std::string& name, const Pooling& window) {
  pool("MaxPool", name, window);
}

void ModelBuilder::average_pool(const std::string& name, const Pooling& window) {
  pool("AveragePool", name, window);
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

void ModelBuilder::concat(const std::string& name, std::vector<std::string> tensors) {
  node("Concat", name, std::move(tensors), {{"axis", std::int64_t{1}}});
}

Network ModelBuilder::finish(std::vector<onnx::Dim> label) {
  network_.add_output("logits");
  if (options_.with_loss) {
    const bool has_places = label.size() > 1;  // the loss expects classes before places
    network_.add_input("label", DType::int64, std::move(label));
    if (has_places) node("Transpose", "loss.scores", {"logits"}, {{"perm", Integers{0, 2, 1}}});
    const std::string scores = has_places ? current_ : "logits";
    node("SoftmaxCrossEntropyLoss", "loss", {scores, "label"}, {}, "loss");
    network_.add_output("loss");
  }
  return std::move(network_);
}

}  // namespace d5
