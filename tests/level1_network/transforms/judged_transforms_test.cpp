// SPDX-License-Identifier: Apache-2.0
// A transformed network runs beside the original, and is kept if it is right.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "tests/level1_network/transform_networks.hpp"

using namespace d5;
using namespace d5::transformed;
using Catch::Contains;

namespace {

/// Puts an Identity in the place of each node of one operator: right where that changes nothing.
class Skipping final : public Transform {
 public:
  struct Options {
    std::string op_type = "Relu";
    void declare(OptionList& options) { options.add("op_type", op_type, "which operator"); }
  };
  explicit Skipping(const Options& options) : op_type_(options.op_type) {}
  TransformReport apply(Network& network) const override {
    Splice change;
    for (onnx::Node node : network.graph().nodes) {
      if (node.op_type != op_type_) continue;
      change.remove.push_back(node.outputs.front());
      node.op_type = "Identity";
      change.nodes.push_back(std::move(node));
    }
    if (change.nodes.empty()) return {};
    TransformReport report{"skipped " + op_type_};
    network.splice(std::move(change));
    return report;
  }

 private:
  std::string op_type_;
};

EntryChoice skipping(const std::string& op_type) {
  static const bool registered = [] {
    transforms().add("skipping", TransformEntry::of<Skipping>("skips an operator"));
    return true;
  }();
  (void)registered;
  return {"skipping", {{"op_type", op_type}}};
}

/// y = tanh(relu(|sin x|) + relu(cos x)): of its two Relu the first changes nothing.
Network waves() {
  Network network("waves");
  network.add_input("x", DType::float32, {std::int64_t{64}});
  network.add_node("Sin", {"x"}, {"sine"});
  network.add_node("Abs", {"sine"}, {"size"}, {}, "magnitude");
  network.add_node("Relu", {"size"}, {"a"}, {}, "needless");
  network.add_node("Cos", {"x"}, {"cosine"});
  network.add_node("Relu", {"cosine"}, {"b"}, {}, "cutting");
  network.add_node("Add", {"a", "b"}, {"sum"});
  network.add_node("Tanh", {"sum"}, {"y"});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("a network that answers otherwise is refused with the node that differs") {
  Network network = waves();
  CHECK_THROWS_AS(apply_transforms(network, {skipping("Relu")}), ContractError);
  CHECK_THROWS_WITH(apply_transforms(network, {skipping("Relu")}),
                    Contains("transform 'skipping:op_type=Relu' is refused") &&
                        Contains("Relu 'cutting'") && Contains("where rounding explains"));
  CHECK(network.producer("b")->op_type == "Relu");
  // The steps before it stay.
  Network other = waves();
  other.add_node("Exp", {"sine"}, {"unread"});
  CHECK_THROWS_AS(apply_transforms(other, {{"dead-code"}, skipping("Abs")}), ContractError);
  CHECK(other.graph().nodes.size() == 7);
}

TEST_CASE("a network that answers the same is kept, without a doubt") {
  Network network("needless");
  network.add_input("x", DType::float32, {std::int64_t{64}});
  network.add_node("Exp", {"x"}, {"e"});
  network.add_node("Relu", {"e"}, {"y"});
  network.add_output("y");
  const auto steps = apply_transforms(network, {skipping("Relu")});
  CHECK(steps.at(0).report.what == "skipped Relu");
  CHECK(steps.at(0).report.left.empty());
  CHECK(doubt_of(network).empty());
  CHECK(network.producer("y")->op_type == "Identity");
}

TEST_CASE("a network that does not run any more is refused") {
  Network network("sizes");
  network.add_input("x", DType::float32, {std::int64_t{2}, std::int64_t{3}});
  network.add_input("z", DType::float32, {std::int64_t{3}, std::int64_t{2}});
  network.add_node("Transpose", {"z"}, {"t"}, {{"perm", Ints{1, 0}}});
  network.add_node("Add", {"x", "t"}, {"y"});
  network.add_output("y");
  CHECK_THROWS_WITH(apply_transforms(network, {skipping("Transpose")}),
                    Contains("what it makes of network 'sizes' does not run"));
}

TEST_CASE("numbers beyond float16 are found by running it") {
  const auto grown = [] {
    Network network("grown");
    network.add_input("x", DType::float32, {std::int64_t{64}});
    network.add_constant("many", Tensor::scalar(300.0F));
    network.add_node("Mul", {"x", "many"}, {"a"}, {}, "once");
    network.add_node("Mul", {"a", "many"}, {"b"}, {}, "twice");
    network.add_node("Mul", {"b", "many"}, {"c"}, {}, "thrice");
    network.add_node("Tanh", {"c"}, {"d"});
    network.add_node("Div", {"c", "b"}, {"y"}, {}, "ratio");
    network.add_output("y");
    network.add_output("d");
    return network;
  };
  Network network = grown();
  CHECK_THROWS_WITH(apply_transforms(network, {{"half-precision"}}),
                    Contains("half-precision") && Contains("larger range") &&
                        (Contains("Mul 'twice'") || Contains("Mul 'thrice'")));
  CHECK_NOTHROW(apply_transforms(network, {{"half-precision", {{"type", "bfloat16"}}}}));
  CHECK(doubt_of(network).empty());
}

TEST_CASE("a network that is too large to be tried out is in doubt, and so is its file") {
  Network network("large");
  const std::int64_t many = 8192;
  network.add_input("a", DType::float32, {many, many});
  network.add_input("b", DType::float32, {many, many});
  network.add_node("MatMul", {"a", "b"}, {"y"});
  network.add_node("Neg", {"a"}, {"unread"});
  network.add_output("y");
  const auto steps = apply_transforms(network, {{"dead-code"}});
  CHECK(network.graph().nodes.size() == 1);
  REQUIRE(steps.at(0).report.left.size() == 1);
  CHECK_THAT(steps.at(0).report.left[0], Contains("not judged: a run takes 1.1e+12 FLOP"));
  CHECK_THAT(doubt_of(network), Contains("transform 'dead-code' was not judged"));
  CHECK(doubt_of(written(network)) == doubt_of(network));
  CHECK_THAT(to_table(steps).to_text(Format::csv), Contains("not judged: a run takes"));
  forget_doubt(network);
  CHECK(doubt_of(network).empty());
}

TEST_CASE("a network that does not run on drawn inputs is in doubt") {
  Network network("fed");
  network.add_input("x", DType::float32, {std::int64_t{1}});
  network.add_constant("sizes", Tensor::vector<std::int64_t>({7, 7}));
  network.add_node("Reshape", {"x", "sizes"}, {"y"});
  network.add_node("Neg", {"x"}, {"unread"});
  network.add_output("y");
  const auto steps = apply_transforms(network, {{"dead-code"}});
  CHECK_THAT(steps.at(0).report.left.at(0), Contains("not judged: "));
  CHECK_FALSE(doubt_of(network).empty());
}
