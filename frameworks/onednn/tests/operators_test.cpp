// SPDX-License-Identifier: Apache-2.0
// Tests of oneDNN's operators, forward and backward, and of the cases that it refuses.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "tests/level0_ops/framework_suite.hpp"

using namespace d5;

namespace {

bool passed(const Measurement& record) { return record.status == Status::passed; }
const testing::FrameworkSuite kSuite("onednn", D5_ONEDNN_TEST_DIR, passed, 2);

void expect_passed(const std::vector<Measurement>& records) {
  REQUIRE_FALSE(records.empty());
  for (const auto& record : records) {
    INFO(record.subject << ": " << record.metric << ": " << record.reason);
    CHECK(passed(record));
  }
}

std::string refusal(const std::string& line, Mode mode = Mode::inference) {
  const OperatorCase op_case = parse_case(line);
  try {
    const OperatorRunner runner(framework("onednn").part<OperatorRegistry>(), op_case.node,
                                op_case.inputs, mode);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("oneDNN computes what the reference computes") { kSuite.check_forward(); }

TEST_CASE("oneDNN's gradients are the slopes of its own forward") { kSuite.check_gradients(); }

TEST_CASE("oneDNN computes forward what the reference computes") {
  for (const CaseLine& one : read_cases(D5_ONEDNN_TEST_DIR "/forward_only.txt", 3)) {
    // Sums in another order, and functions by polynomials: some ulps of numbers of order 1 to 10.
    expect_passed(test_forward(
        one.draw(), "onednn", {.tolerance = ForwardTolerance{.relative = 1e-4, .absolute = 1e-5}}));
  }
}

TEST_CASE("the gradient of a single input channel's data goes to whom the plan asks next") {
  const auto who_runs = [](std::int64_t channels, bool by_data) {
    Network network("first layer");
    network.add_input("x", DType::float32,
                      {std::int64_t{2}, channels, std::int64_t{8}, std::int64_t{8}});
    network.add_parameter("w", Tensor::zeros(DType::float32, {4, channels, 3, 3}));
    network.add_node("Conv", {"x", "w"}, {"y"});
    network.add_node("ReduceMean", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
    network.add_output("loss");
    ExecutorOptions options{.frameworks = {"onednn", "reference"}};
    if (by_data) options.gradients = {"x"};
    const auto executor = make_executor(network, options);
    const Tensor x = Tensor::zeros(DType::float32, {2, channels, 8, 8});
    (void)executor->inference_and_backprop({{"x", x}}, "loss");
    return planned_steps(*executor).front().framework;
  };
  CHECK(who_runs(1, true) == "reference");
  CHECK(who_runs(1, false) == "onednn");  // as in training the first layer
  CHECK(who_runs(2, true) == "onednn");
}

TEST_CASE("oneDNN and LibTorch compute the same") {
  const auto is_torch = [](const FrameworkInfo& info) { return info.name == "torch"; };
  if (std::ranges::none_of(frameworks(), is_torch)) return;
  int compared = 0;
  for (const OperatorCase& op_case : kSuite.cases_that_run(0)) {
    if (!framework("torch").part<OperatorRegistry>().knows(op_case.node)) continue;
    const auto records = test_forward(
        op_case, "onednn",
        {.reference = "torch", .tolerance = ForwardTolerance{.relative = 1e-4, .absolute = 1e-5}});
    if (records.at(0).status == Status::unsupported) continue;  // torch lacks these types
    expect_passed(records);
    ++compared;
  }
  CHECK(compared > 60);
}

TEST_CASE("kernels that were planned for fewer threads are right with more, and the other way") {
  const int before = threads();
  const OperatorCase op_case = parse_case("Conv 2x16x20x20 32x16x3x3 32 pads=1x1x1x1", 5);
  const auto& registry = framework("onednn").part<OperatorRegistry>();
  for (const auto& [planned, run] : {std::pair{1, 2}, {2, 1}}) {
    set_threads(planned);
    OperatorRunner conv(registry, op_case.node, op_case.inputs);
    conv.forward();
    const Tensor first = conv.output(0).tensor().copy();
    set_threads(run);
    conv.forward();
    const auto got = conv.output(0).tensor().span<float>(), expected = first.span<float>();
    CHECK(std::equal(got.begin(), got.end(), expected.begin()));
  }
  set_threads(before);
}

TEST_CASE("an invalid ratio of Dropout is an error even if nothing is dropped") {
  const auto& registry = framework("onednn").part<OperatorRegistry>();
  for (const char* line : {"Dropout@11 3 ratio=1.5", "Dropout 3 scalar{-0.5}", "Dropout 3 {nan}"}) {
    const OperatorCase op_case = parse_case(line);
    OperatorRunner dropout(registry, op_case.node, op_case.inputs);
    CHECK_THROWS_AS(dropout.forward(), ValueError);
  }
}

TEST_CASE("oneDNN refuses by name what it does not do") {
  CHECK(refusal("Relu 3").empty());
  CHECK_THAT(refusal("Relu float64:3"), Catch::Contains("float64"));
  CHECK_THAT(refusal("Add int64:3 int64:3"), Catch::Contains("int64"));
  CHECK_THAT(refusal("Relu 0x3"), Catch::Contains("without elements"));
  CHECK_THAT(refusal("Dropout 3 scalar{0.5} bool:scalar{1}"), Catch::Contains("drops"));
  CHECK_THAT(refusal("MaxPool 1x1x2x2 kernel_shape=1x1 pads=1x0x0x0"), Catch::Contains("padding"));
  CHECK_THAT(refusal("AveragePool 1x1x2 kernel_shape=1 pads=0x1"), Catch::Contains("padding"));
  CHECK_THAT(refusal("MaxPool 1x1x4 kernel_shape=1073741824 auto_pad=SAME_LOWER"),
             Catch::Contains("four times"));
  CHECK_THAT(refusal("LSTM 3x2x4 1x20x4 1x20x5 1x40 - - - 1x15"), Catch::Contains("peepholes"));
  CHECK_THAT(refusal("MatMulInteger uint8:2x3 uint8:3x2"), Catch::Contains("int8"));
  CHECK_THAT(refusal("LRN 2x6x2x2 size=4"), Catch::Contains("even size"));
  CHECK_THAT(refusal("ReduceMax 2x3 int64:{0}", Mode::training), Catch::Contains("gradient"));
  CHECK_THAT(refusal("AveragePool 1x2x5x5 kernel_shape=2x2 strides=2x2 ceil_mode=1 "
                     "count_include_pad=1"),
             Catch::Contains("behind the padding"));
}
