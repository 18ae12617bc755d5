// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/rounding_judge.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "level1_network/validation/float64_network.hpp"
#include "level1_network/validation/other_sums.hpp"
#include "tests/level1_network/subgraph_networks.hpp"
#include "tests/level1_network/toy_framework.hpp"

using namespace d5;

namespace {

/// y = tanh(... tanh(x w) ... w), `depth` times, `width` wide, and the mean of its squares as loss.
Network chain(std::int64_t depth, std::int64_t width) {
  Network network("chain");
  network.add_input("x", DType::float32, {4, width});
  std::string now = "x";
  for (std::int64_t i = 0; i < depth; ++i) {
    const std::string layer = std::to_string(i);
    Tensor w = Tensor::empty(DType::float32, {width, width});
    RandomStream random(7, static_cast<std::uint32_t>(i));
    for (float& value : w.span<float>()) {
      value = static_cast<float>(2 * random.normal() / std::sqrt(double(width)));
    }
    network.add_parameter("w" + layer, w);
    network.add_node("MatMul", {now, "w" + layer}, {"m" + layer});
    network.add_node("Tanh", {"m" + layer}, {"t" + layer});
    now = "t" + layer;
  }
  network.add_node("Identity", {now}, {"y"});
  network.add_node("Mul", {"y", "y"}, {"squares"});
  network.add_node("ReduceMean", {"squares"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("y");
  network.add_output("loss");
  return network;
}

/// The bound of "output y", relative to its largest number.
double bound_of(const Network& network) {
  const auto reference = make_executor(network), subject = make_executor(network);
  for (const auto& m : test_executor(*subject, *reference, random_inputs(network))) {
    CHECK(m.status == Status::passed);
    if (m.conditions.at("tensor") == "output y") return m.conditions.at("bound").number().value();
  }
  FAIL("there is no record of output y");
  return 0;
}

const Measurement& judged_record(const std::vector<Measurement>& records,
                                 const std::string& tensor) {
  for (const auto& one : records) {
    if (one.conditions.at("tensor") == tensor) return one;
  }
  FAIL("there is no record of " << tensor);
  return records.front();
}

}  // namespace

TEST_CASE("the bound grows with depth") {
  const double shallow = bound_of(chain(1, 64)), deep = bound_of(chain(30, 64));
  CHECK(shallow > 8 * 0x1p-23);
  CHECK(shallow < 1e-5);
  CHECK(deep > 3 * shallow);
  CHECK(deep < 1e-2);
}

TEST_CASE("an error of twice the bound is found in an output and in a gradient") {
  const auto executor = make_executor(chain(5, 16));
  const ValueMap inputs = random_inputs(executor->network());
  const auto right = answers_of(*executor, inputs, {.loss = "loss"});
  RoundingJudge judge(*executor, inputs, {.loss = "loss"});
  auto far_off = right;  // makes the judge find its last bounds, which are wider than its first
  for (Answer& answer : far_off) {
    answer.value = answer.value.tensor().copy();
    answer.value.tensor().span<float>()[0] += 1e3F;
  }
  for (const auto& failed : judge.judge({}, far_off)) CHECK(failed.status == Status::failed);
  for (const auto& passed : judge.judge({}, right)) {
    REQUIRE(passed.status == Status::passed);
    const std::string tensor = passed.conditions.at("tensor").text();
    auto wrong = right;
    auto place = std::ranges::find(wrong, tensor, &Answer::tensor);
    place->value = place->value.tensor().copy();
    auto values = place->value.tensor().span<float>();
    const auto largest = std::ranges::max_element(values, {}, [](float v) { return std::fabs(v); });
    *largest *= static_cast<float>(1 + 2 * passed.conditions.at("bound").number().value());
    const auto records = judge.judge({}, wrong);
    INFO(tensor);
    CHECK(judged_record(records, tensor).status == Status::failed);
    CHECK(std::ranges::count(records, Status::failed, &Measurement::status) == 1);
  }
}

namespace {

/// y of `op` of x, 1x1, before and in an If, whose results are moved.
Network branches_of(const std::string& op) {
  using subgraphs::graph, subgraphs::node;
  Network network("branches");
  network.add_input("which", DType::boolean, {});
  network.add_input("x", DType::float32, {1, 1});
  network.add_node(op, {"x"}, {"outside"});
  network.add_node("If", {"which"}, {"h"},
                   {{"then_branch", graph({}, {node("Identity", {"outside"}, {"a"})}, {"a"})},
                    {"else_branch", graph({}, {node(op, {"x"}, {"b"})}, {"b"})}});
  network.add_node("Flatten", {"h"}, {"y"});
  network.add_output("y");
  return network;
}

Status judged_beside(const std::string& op, float error) {
  const ValueMap inputs = {{"which", Tensor::scalar(true)},
                           {"x", Tensor::of<float>({1, 1}, {-12})}};
  const auto executor = make_executor(branches_of(op));
  auto answers = answers_of(*executor, inputs, {});
  answers.front().value = answers.front().value.tensor().copy();
  answers.front().value.tensor().span<float>()[0] += error;
  return RoundingJudge(*executor, inputs, {}).judge({}, answers).front().status;
}

}  // namespace

TEST_CASE("what an If gives and what is moved are held to the range of the function behind") {
  CHECK(judged_beside("Sigmoid", 2e-7F) == Status::passed);  // 2 ulps of 1, of 6e-6
  CHECK(judged_beside("Sigmoid", 1e-5F) == Status::failed);
  CHECK(judged_beside("Exp", 2e-7F) == Status::failed);
}

namespace {

/// The sum, or the mean, of each of two rows of 1000.
Network of_rows(const std::string& op) {
  Network network("rows");
  network.add_input("x", DType::float32, {2, 1000});
  network.add_constant("axes", Tensor::vector<std::int64_t>({-1}));
  network.add_node(op, {"x", "axes"}, {"y"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("y");
  return network;
}

ValueMap tenths() {
  Tensor x = Tensor::empty(DType::float32, {2, 1000});
  std::ranges::fill(x.span<float>(), 0.1F);
  return {{"x", x}};
}

/// 1000 times 0.1 in float32, one after the other: 99.99905.
float one_by_one() {
  float sum = 0;
  for (int i = 0; i < 1000; ++i) sum += 0.1F;
  return sum;
}

Status judged_sum(float y) {
  const auto executor = make_executor(of_rows("ReduceSum"));
  RoundingJudge judge(*executor, tenths(), {});
  return judge.judge({}, {{"output y", Tensor::of<float>({2}, {y, y})}}).front().status;
}

}  // namespace

TEST_CASE("long sums can be added up one number after the other, to the bit") {
  const auto sums = with_other_sums(of_rows("ReduceSum"), tenths());
  REQUIRE(sums);
  CHECK(make_executor(*sums)->inference(tenths()).at("y").tensor().span<float>()[1] ==
        one_by_one());
  const auto means = with_other_sums(of_rows("ReduceMean"), tenths());
  REQUIRE(means);
  CHECK(make_executor(*means)->inference(tenths()).at("y").tensor().span<float>()[1] ==
        one_by_one() / 1000);
  CHECK_FALSE(with_other_sums(chain(1, 8), random_inputs(chain(1, 8))));
}

TEST_CASE("sums along several axes, and along all, are added one number after the other, too") {
  struct Case {
    Shape shape;
    std::vector<std::int64_t> axes;
  };
  const auto [shape, axes] =
      GENERATE(values<Case>({{{2, 10, 100}, {-1, 1}}, {{10, 2, 100}, {0, 2}}, {{10, 100}, {}}}));
  Network network("several");
  network.add_input("x", DType::float32, std::vector<onnx::Dim>(shape.begin(), shape.end()));
  std::vector<std::string> inputs = {"x"};
  if (!axes.empty()) {
    network.add_constant("axes", Tensor::vector<std::int64_t>(axes));
    inputs.push_back("axes");
  }
  network.add_node("ReduceSum", inputs, {"y"});
  network.add_output("y");
  Tensor x = Tensor::empty(DType::float32, shape);
  std::ranges::fill(x.span<float>(), 0.1F);
  const auto sums = with_other_sums(network, {{"x", x}});
  REQUIRE(sums);
  const Tensor y = make_executor(*sums)->inference({{"x", x}}).at("y").tensor();
  CHECK(y.shape().rank() == shape.rank());
  for (const float sum : y.span<float>()) CHECK(sum == one_by_one());
}

TEST_CASE("a sum added one number after the other is right, one that is off by more is not") {
  const float exact = 1000 * 0.1F, error = exact - one_by_one();
  CHECK(error > 100 * 8 * 0x1p-23F);  // what a bound without it allows of 100
  CHECK(judged_sum(one_by_one()) == Status::passed);
  CHECK(judged_sum(exact - 3 * error) == Status::failed);
}

TEST_CASE("one more run of a kind lies above nineteen and their tail once in 10,000 times") {
  // Exponential distances: the largest of 19 is exceeded in one of 20 draws.
  constexpr int kDraws = 200'000, kRuns = 19;
  RandomStream random(3, 0);
  const auto drawn = [&] { return -std::log(1 - random.uniform_double()); };
  int above_largest = 0, above_tail = 0;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<double> distances(kRuns);
    for (double& distance : distances) distance = drawn();
    const double largest = std::ranges::max(distances), another = drawn();
    above_largest += another > largest;
    above_tail += another > largest + unseen_tail(distances);
  }
  CHECK(above_largest == Approx(kDraws / 20.0).epsilon(0.05));
  CHECK(above_tail < 2 * kDraws / 10'000);
  CHECK(above_tail > 0);
  CHECK(unseen_tail({2, 2, 2, 2}) == 0);
  CHECK(unseen_tail({2}) == 0);
}

TEST_CASE("parameters and random numbers are as before when it was judged") {
  const auto executor = make_executor(chain(2, 8));
  const Tensor before = executor->network().parameter_arena().copy();
  const ValueMap inputs = random_inputs(executor->network());
  RoundingJudge judge(*executor, inputs, {.loss = "loss"});
  (void)judge.judge({}, answers_of(*executor, inputs, {.loss = "loss"}));
  CHECK(compare_values(executor->network().parameter_arena(), before, {0, 0}).equal);
}

TEST_CASE("what has no kernel for float64 is judged in its own types, and says why") {
  Network network("total");
  network.add_input("x", DType::float32, {std::int64_t{3}});
  network.add_node("Total", {"x"}, {"y"});
  network.add_output("y");
  const ExecutorOptions mixed{.frameworks = {toy::name(), "reference"}};
  const auto subject = make_executor(network, mixed), reference = make_executor(network, mixed);
  const auto records =
      test_executor(*subject, *reference, {{"x", Tensor::of<float>({3}, {1, 2, 3})}});
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == Status::passed);
  CHECK(records[0].conditions.at("judge") == "the network's own types");
  CHECK_THAT(records[0].conditions.at("no float64").text(), Catch::Contains("float64"));
  CHECK(judged_record(test_executor(*make_executor(chain(1, 4)), *make_executor(chain(1, 4)),
                                    random_inputs(chain(1, 4))),
                      "output y")
            .conditions.at("judge") == "float64");
}

TEST_CASE("a tolerance that was asked for takes the place of the bound") {
  const auto subject = make_executor(chain(2, 8)), reference = make_executor(chain(2, 8));
  const auto records = test_executor(*subject, *reference, random_inputs(subject->network()),
                                     ForwardTolerance{.relative = 1e-3, .absolute = 0});
  CHECK(records.at(0).conditions.at("tolerance") == "rtol 0.001, atol 0");
  CHECK(records.at(0).conditions.count("bound") == 0);
}

TEST_CASE("a network of rounding alone is mistrusted, for nothing was compared") {
  // The mean is taken off twice: what is left of the second is rounding.
  Network network("nothing");
  network.add_input("x", DType::float32, {std::int64_t{50}});
  network.add_node("ReduceMean", {"x"}, {"mean"});
  network.add_node("Sub", {"x", "mean"}, {"centred"});
  network.add_node("ReduceMean", {"centred"}, {"y"});
  network.add_output("y");
  const auto subject = make_executor(network), reference = make_executor(network);
  const auto records = test_executor(*subject, *reference, random_inputs(network));
  CHECK(records.at(0).status == Status::mistrusted);
  CHECK_THAT(records.at(0).reason, Catch::Contains("rounding alone"));

  RoundingJudge judge(*reference, random_inputs(network), {});
  const Value one = Tensor::of<float>({1}, {1});
  CHECK(judge.judge({}, {{"output y", one}}).at(0).status == Status::failed);
}

TEST_CASE("in float64 a network casts, fills and holds constants in float64") {
  Network network("types");
  network.add_input("x", DType::float16, {std::int64_t{2}});
  network.add_constant("shape", Tensor::vector(std::vector<std::int64_t>{2}));
  network.add_parameter("w", Tensor::of<float>({2}, {0.1F, 3}));
  network.add_node("Cast", {"x"}, {"wide"}, {{"to", std::int64_t(DType::float32)}});
  network.add_node("ConstantOfShape", {"shape"}, {"zeros"});
  network.add_node("Constant", {}, {"half"}, {{"value_float", 0.5F}});
  network.add_node("Add", {"wide", "zeros"}, {"a"});
  network.add_node("Mul", {"a", "w"}, {"b"});
  network.add_node("Mul", {"b", "half"}, {"y"});
  network.add_output("y");
  const auto executor = make_executor(in_float64(network));
  const ValueMap inputs{{"x", Tensor::of<Float16>({2}, {Float16(2), Float16(4)})}};
  const auto y = executor->inference(in_float64(inputs)).at("y").tensor().span<double>();
  CHECK(y[0] == double(0.1F));
  CHECK(y[1] == 6);
  CHECK(network.fetch("w").dtype() == DType::float32);
}
