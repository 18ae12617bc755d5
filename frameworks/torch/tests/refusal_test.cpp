// SPDX-License-Identifier: Apache-2.0
// Tests that torch gets no node that the reference refuses, and stays within its memory limit.
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

/// A network of one node whose inputs are all fed, so that nothing is known before a run.
Network network_of(const OperatorCase& op_case) {
  onnx::Model model;
  model.ir_version = 10;
  model.opset_imports[op_case.node.domain] = op_case.node.opset;
  model.graph.nodes = {op_case.node};
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    onnx::Type type;
    type.kind = ValueKind::tensor;
    type.dtype = op_case.inputs[i].tensor().dtype();
    model.graph.inputs.push_back({op_case.node.inputs[i], type});
  }
  for (const auto& name : op_case.node.outputs) model.graph.outputs.push_back({name, {}});
  return Network(std::move(model));
}

ValueMap fed(const OperatorCase& op_case) {
  ValueMap result;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    result[op_case.node.inputs[i]] = op_case.inputs[i];
  }
  return result;
}

void run_by_own_executor(const OperatorCase& op_case) {
  const auto executor = framework("torch").part<ExecutorRegistry>().at("torch").make(
      network_of(op_case), ExecutorOptions{});
  (void)executor->inference(fed(op_case));
}

void run_alone(const OperatorCase& op_case) {
  OperatorRunner(framework("torch").part<OperatorRegistry>(), op_case.node, op_case.inputs)
      .forward();
}

/// Limits a tensor to 16 MiB during its lifetime.
class SmallBudget {
 public:
  SmallBudget() : before_(memory_budget()) { set_memory_budget(std::size_t{16} << 20); }
  ~SmallBudget() { set_memory_budget(before_); }

 private:
  std::size_t before_;
};

}  // namespace

TEST_CASE("what the reference refuses torch refuses, node by node and in its own executor") {
  for (const char* line : {
           "Conv 1x1x4x4 1x1x3x3 pads=1x1",
           "Conv 1x1x4x4 1x1x3x3 pads=-1x0x0x0",
           "Conv 1x1x4x4 1x1x3x3 strides=1",
           "Conv 1x1x4x4 1x1x3x3 strides=1x0",
           "Conv 1x1x4x4 1x1x3x3 dilations=1x-1",
           "Conv 1x1x4x4 1x1x3x3 dilations=1x4611686018427387904",
           "Conv 1x1x4x4 1x1x3x3 kernel_shape=4611686018427387904x3",
           "Conv 1x1x4x4 1x1x5x5",
           "MaxPool 1x1x4x4 kernel_shape=2",
           "MaxPool 1x1x4x4 kernel_shape=2x2 pads=1x1",
           "MaxPool 1x1x4x4 kernel_shape=0x2",
           "AveragePool 1x1x4x4 kernel_shape=2x2x2",
           "AveragePool 1x1x4x4 kernel_shape=2x2 strides=4611686018427387904x1",
           "Slice 3x4 int64:{0} int64:{2} int64:{5}",
           "Slice 3x4 int64:{0} int64:{2} int64:{0} int64:{0}",
           "Slice 3x4 int64:{0,0} int64:{2}",
           "Pad 2x3 int64:{-5,0,0,0}",
           "Pad 2x3 int64:{1,1}",
           "Gather 3x4 int64:{7}",
           "Gather 3x4 int64:{-9223372036854775808}",
           "Div int64:2 int64:{1,0}",
           "Div int8:2 int8:{1,0}",
           "Expand 2x3 int64:{5}",
           "Tile 2x3 int64:{-1,2}",
           "Reshape 2x3 int64:{4,-1}",
           "Split 7x2 int64:{3,3} outputs=2",
           "Dropout 3 scalar{1.5}",
       }) {
    INFO(line);
    const OperatorCase op_case = parse_case(line);
    CHECK_THROWS_AS(make_executor(network_of(op_case))->inference(fed(op_case)), Error);
    CHECK_THROWS_AS(run_alone(op_case), Error);
    CHECK_THROWS_AS(run_by_own_executor(op_case), Error);
  }
}

TEST_CASE("what torch's windows cannot do is said before they run") {
  for (const char* line :
       {"Conv 1x2x0x4 3x2x3x3 auto_pad=SAME_UPPER", "GlobalMaxPool 0x2x3",
        "MaxPool 1x1x3x3 kernel_shape=1x2 pads=1x0x1x0 outputs=2",
        "LpPool 1x0x4x4 kernel_shape=2x2", "Hardmax 3x0", "Attention 1x2x3x4 1x2x0x4 1x2x0x4",
        "LayerNormalization 2x0 0", "GridSample 1x1x3x4 1x0x3x2"}) {
    INFO(line);
    CHECK_THROWS_AS(run_alone(parse_case(line)), Unsupported);
    CHECK_THROWS_AS(run_by_own_executor(parse_case(line)), Unsupported);
  }
}

TEST_CASE("numbers that torch's own functions would crash on do no harm") {
  for (const char* line : {
           "Div int64:{-9223372036854775808} int64:{-1}",
           "Div int8:{-128} int8:{-1}",
           "Mod int64:{-9223372036854775808} int64:{-1}",
           "Mod int32:{-2147483648} int32:{-1} fmod=1",
           "GridSample 1x1x2x2 1x1x2x2{nan,1e30,-1e30,inf} padding_mode=reflection",
           "GridSample 1x1x2x2 1x1x2x2{nan,1e30,-1e30,inf} padding_mode=border mode=nearest",
           "GridSample 1x1x2x2 1x1x2x2{nan,1e30,-1e30,inf} mode=cubic",
       }) {
    INFO(line);
    CHECK_NOTHROW(run_alone(parse_case(line)));
    CHECK_NOTHROW(run_by_own_executor(parse_case(line)));
  }
}

TEST_CASE("torch allocates within the memory budget") {
  const OperatorCase large = parse_case("Expand int8:1 int64:{33554432}");
  const OperatorCase padded =
      parse_case("AveragePool 1x1x2x2 kernel_shape=2x2 strides=1000000x1 pads=20000000x0x0x0");
  const SmallBudget budget;
  CHECK_THROWS_AS(run_by_own_executor(large), MemoryError);
  CHECK_THROWS_AS(run_by_own_executor(padded), MemoryError);
  CHECK_THROWS_AS(run_alone(padded), MemoryError);
  CHECK_THROWS_WITH(run_alone(padded), Catch::Contains("AveragePool"));
}

TEST_CASE("the memory budget is of all that torch holds") {
  Network network("copies");
  network.add_input("x", DType::int8, {1});
  network.add_constant("size", Tensor::vector<std::int64_t>({6 << 20}));
  for (const char* name : {"a", "b", "c"}) {
    network.add_node("Expand", {"x", "size"}, {name});
    network.add_output(name);
  }
  const auto executor =
      framework("torch").part<ExecutorRegistry>().at("torch").make(network, ExecutorOptions{});
  const SmallBudget budget;  // above two of them
  CHECK_THROWS_AS(executor->inference({{"x", Tensor::zeros(DType::int8, {1})}}), MemoryError);
}

TEST_CASE("torch's own executor checks what it is fed as every executor does") {
  Network network("pair");
  network.add_input("a", DType::float32, {"N"});
  network.add_input("b", DType::float32, {"N"});
  network.add_node("Relu", {"a"}, {"x"});
  network.add_node("Relu", {"b"}, {"y"});
  for (const char* name : {"x", "y"}) network.add_output(name);
  const auto executor =
      framework("torch").part<ExecutorRegistry>().at("torch").make(network, ExecutorOptions{});
  const Tensor two = Tensor::zeros(DType::float32, {2}), three = Tensor::zeros(DType::float32, {3});
  CHECK_NOTHROW(executor->inference({{"a", two}, {"b", two}}));
  CHECK_THROWS_WITH(executor->inference({{"a", two}, {"b", three}}), Catch::Contains("N is 2"));
  CHECK_THROWS_AS(executor->inference({{"a", two}}), NotFound);
  CHECK_THROWS_AS(executor->inference({{"a", two}, {"b", Value()}}), TypeError);
  CHECK_NOTHROW(executor->inference({{"a", three}, {"b", three}}));
}
