// SPDX-License-Identifier: Apache-2.0
// Random operators are compared with their distributions. Streams are fixed, so a test that passes
// once always passes.
#include <algorithm>

#include "core/statistics/uniformity.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/operator/drawn_values.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

/// The complaint about the values that `line` draws, taken for those of `claimed`.
std::string complaint(const std::string& line, const std::string& claimed) {
  const OperatorRunner runner = run_case(line);
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < runner.output_count(); ++i) outputs.push_back(runner.output(i));
  const OperatorCase as = parse_case(claimed);
  RandomStream random(1);
  detail::Uniformity draws;
  draws.add(places_of_draws(as.node, as.inputs, outputs, random));
  CHECK(draws.count() >= 20000);
  return draws.complaint();
}
std::string complaint(const std::string& line) { return complaint(line, line); }

/// "{p,p,...}"
std::string list_of(const std::string& p, int count) {
  std::string result = "{" + p;
  for (int i = 1; i < count; ++i) result += "," + p;
  return result + "}";
}

}  // namespace

TEST_CASE("RandomNormal draws from the normal distribution") {
  const std::string line = "RandomNormal shape=100x200 dtype=11 mean=3 scale=2";
  CHECK(complaint(line) == "");
  CHECK(complaint("RandomNormal shape=100x200 dtype=16 mean=3 scale=2") == "");
  CHECK(complaint("RandomNormalLike 100x200") == "");
  CHECK(complaint("RandomNormal shape=20000 mean=2 scale=0") == "");
  CHECK(complaint(line, "RandomNormal shape=100x200 mean=3.1 scale=2") != "");
  CHECK(complaint(line, "RandomNormal shape=100x200 mean=3 scale=2.1") != "");
  CHECK(complaint("RandomUniform shape=20000 low=-1.732 high=1.732", "RandomNormal shape=20000") !=
        "");
}

TEST_CASE("RandomUniform draws from the interval alike") {
  const std::string line = "RandomUniform shape=20000 low=-1 high=4";
  CHECK(complaint(line) == "");
  CHECK(complaint("RandomUniform shape=20000 dtype=10 low=0.1 high=0.2") == "");
  CHECK(complaint("RandomUniformLike float64:100x200") == "");
  CHECK(complaint(line, "RandomUniform shape=20000 low=-1.2 high=4.2") != "");
  CHECK_THROWS_WITH(complaint(line, "RandomUniform shape=20000 low=0 high=4"),
                    Catch::Contains("expected 0 to 4"));
}

TEST_CASE("Bernoulli draws one as often as the input says") {
  const std::string line = "Bernoulli " + list_of("0.3", 20000);
  CHECK(complaint(line) == "");
  CHECK(complaint(line + " dtype=9") == "");
  CHECK(complaint(line, "Bernoulli " + list_of("0.33", 20000)) != "");
  CHECK_THROWS_WITH(complaint(line, "Bernoulli " + list_of("0", 20000)),
                    Catch::Contains("1 with probability 0, or 0"));
  CHECK(result_of<std::int32_t>("Bernoulli {0,1,0,1} dtype=6") ==
        std::vector<std::int32_t>{0, 1, 0, 1});
}

TEST_CASE("Multinomial draws classes in proportion to the exponentials") {
  // Probabilities 0.1, 0.2, 0.3 and 0.4, moved by a thousand, and a class that is impossible.
  const std::string classes = "{997.697414907,998.390562088,998.796027196,-inf,999.083709268";
  const std::string line =
      "Multinomial 2x5" + classes + ",0,-inf,-inf,-inf,-inf} sample_size=20000 dtype=7";
  CHECK(complaint(line) == "");
  const auto y = result_of<std::int64_t>(line);
  CHECK(std::count(y.begin(), y.begin() + 20000, 3) == 0);
  CHECK(std::count(y.begin() + 20000, y.end(), 0) == 20000);
  // 0.1 and 0.2 exchanged; a class that is never drawn.
  const std::string one = "Multinomial 1x5" + classes + "} sample_size=20000";
  CHECK(complaint(one,
                  "Multinomial 1x5{998.390562088,997.697414907,998.796027196,-inf,"
                  "999.083709268} sample_size=20000") != "");
  CHECK_THROWS_WITH(complaint(one, "Multinomial 1x4{0,0,0,0} sample_size=20000"),
                    Catch::Contains("a possible one of 4 classes"));
}

TEST_CASE("Dropout drops its ratio, and scales the rest") {
  const std::string x = "Dropout " + list_of("7", 20000), training = " bool:scalar{1}";
  const std::string line = x + " scalar{0.25}" + training;
  CHECK(complaint(line) == "");
  CHECK(complaint(line + " outputs=2") == "");
  CHECK(complaint(line + " seed=3") == "");
  CHECK(complaint(x + " -" + training) == "");
  CHECK(complaint("Dropout 20000 scalar{0.25}" + training) == "");
  for (const std::string type : {"float16:", "bfloat16:"}) {
    CHECK(complaint("Dropout " + type + list_of("7", 20000) + " scalar{0.1}" + training) == "");
  }
  // Another scale, and right values of which too many are zero.
  CHECK_THROWS_WITH(complaint(line, x + " scalar{0.26}" + training),
                    Catch::Contains("with probability 0.2"));
  CHECK(complaint("Bernoulli " + list_of("0.5", 20000),
                  "Dropout " + list_of("0.75", 20000) + " scalar{0.25}" + training) != "");
  CHECK_THROWS_AS(complaint(line, x + " scalar{0}" + training), ValueError);
}

TEST_CASE("the check of an operator that draws holds it against its distribution") {
  const OperatorCase one = parse_case("Dropout 20000 scalar{0.75} bool:scalar{1}");
  const auto right = test_forward(one, "reference");
  REQUIRE(right.size() == 1);
  CHECK(right[0].status == Status::passed);
  CHECK(right[0].conditions.at("reference") == "its distribution");
  CHECK(right[0].conditions.at("compared") == "the distribution of 20000 draws");
  add_framework("unscaled", "1", [](Framework& framework) {
    framework.part<OperatorRegistry>().add_kernel<onnx::nodes::Dropout>([](PlanContext&) {
      return detail::forward_kernel([](OpContext& run) {
        RandomStream random = run.services().random();
        const auto x = run.input(0).span<float>();
        std::ranges::transform(x, run.output(0).data<float>(),
                               [&](float value) { return random.uniform() < 0.75F ? 0 : value; });
      });
    });
  });
  const auto wrong = test_forward(one, "unscaled");
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].status == Status::failed);
  CHECK_THAT(wrong[0].reason, Catch::Contains("with probability 0.75"));
}

TEST_CASE("a seed tells the numbers in inference; without one each node has its own") {
  const auto of_seed = result_of("RandomNormal shape=8 seed=5");
  CHECK(result_of("RandomNormalLike 8 seed=5") == of_seed);
  CHECK(result_of("RandomNormal shape=8 seed=6") != of_seed);
  CHECK(result_of("RandomNormal shape=8") != of_seed);
  OperatorRunner runner = run_case("RandomNormal shape=8 seed=5");
  runner.forward();
  const auto again = std::as_const(runner).output(0).tensor().span<float>();
  CHECK(std::vector<float>(again.begin(), again.end()) == of_seed);
}

TEST_CASE("draws have the type that is asked for, or the input's, and any shape") {
  CHECK(run_case("RandomUniform shape=3 dtype=16").output(0).tensor().dtype() == DType::bfloat16);
  CHECK(run_case("RandomNormalLike float16:3").output(0).tensor().dtype() == DType::float16);
  CHECK(run_case("RandomNormalLike string:{a,b} dtype=1").output(0).tensor().dtype() ==
        DType::float32);
  CHECK(shape_of("RandomNormal shape=2x0") == "2x0");
  CHECK(shape_of("Bernoulli 0x3%1") == "0x3");
  CHECK(shape_of("Multinomial 0x3 sample_size=2") == "0x2");
  CHECK(shape_of("Multinomial 2x0 sample_size=0") == "2x0");
}

TEST_CASE("what has no distribution is refused") {
  CHECK_THROWS_AS(run_case("RandomNormal shape=3 scale=-1"), ValueError);
  CHECK_THROWS_AS(run_case("RandomNormal shape=3 mean=nan"), ValueError);
  CHECK_THROWS_AS(run_case("RandomNormal shape=-3"), ValueError);
  CHECK_THROWS_AS(run_case("RandomNormal shape=3 dtype=6"), ValueError);
  CHECK_THROWS_AS(run_case("RandomUniform shape=3 low=2 high=1"), ValueError);
  CHECK_THROWS_AS(run_case("RandomUniform shape=3 high=inf"), ValueError);
  CHECK_THROWS_AS(run_case("RandomUniformLike int32:3"), ValueError);
  CHECK_THROWS_AS(run_case("Bernoulli {0.5,1.5}"), ValueError);
  CHECK_THROWS_AS(run_case("Bernoulli {nan}"), ValueError);
  CHECK_THROWS_AS(run_case("Multinomial 2x3 sample_size=-1"), ValueError);
  CHECK_THROWS_AS(run_case("Multinomial 3"), ShapeError);
  CHECK_THROWS_AS(run_case("Multinomial 1x0"), ShapeError);
  CHECK_THROWS_AS(run_case("Multinomial 1x2{nan,0}"), ValueError);
  CHECK_THROWS_AS(run_case("Multinomial 1x2{-inf,-inf}"), ValueError);
}
