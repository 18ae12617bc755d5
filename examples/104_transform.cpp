// SPDX-License-Identifier: Apache-2.0
// A custom transform: removes additions of the constant zero. Registration makes it available in
// chains, like d5's own transforms.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include "d5/d5.hpp"

namespace {

class DropZeroAdd final : public d5::Transform {
 public:
  d5::TransformReport apply(d5::Network& network) const override {
    const auto is_zero = [&](const std::string& name) {
      const auto& values = network.graph().initializers;
      const auto value = values.find(name);
      return value != values.end() && !network.is_parameter(name) &&
             value->second.elements() == 1 && value->second.dtype() == d5::DType::float32 &&
             value->second.reshaped({}).item<float>() == 0;
    };
    std::map<std::string, std::string, std::less<>> instead;
    for (const d5::onnx::Node& node : network.graph().nodes) {
      if (node.op_type == "Add" && is_zero(node.inputs[1])) {
        instead[node.outputs[0]] = node.inputs[0];
      }
    }
    network.redirect(instead);  // the sums are dead code now
    return {instead.empty() ? "" : "bypassed " + std::to_string(instead.size()) + " additions"};
  }
};

}  // namespace

int main() {
  using namespace d5;
  transforms().add("drop-zero-add", TransformEntry::of<DropZeroAdd>("x + 0 is x"));

  Network network = models().at("lenet").make();
  network.add_constant("zero", Tensor::scalar(0.0F));
  onnx::Node add;
  add.op_type = "Add";
  add.inputs = {"fc1.out", "zero"};
  add.outputs = {"moved"};
  network.insert_node("fc1.out", add);

  const ValueMap image = random_inputs(network);
  const Tensor before = make_executor(network)->inference(image).at("logits").tensor().copy();
  const auto applied = apply_transforms(network, {{"drop-zero-add"}, {"dead-code"}});
  std::cout << to_table(applied).to_text(Format::table);
  const Tensor after = make_executor(network)->inference(image).at("logits").tensor().copy();
  return std::ranges::equal(before.span<float>(), after.span<float>()) &&
                 applied.back().nodes_after == 12
             ? 0
             : 1;
}
