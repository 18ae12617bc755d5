// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/validation/heatmap.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "tests/interrupted_everywhere.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Passes = RepeatabilityOptions::Passes;

namespace {

/// {5, 1}, then {5, 2}, ...; so are its gradients, if `backward_drifts`.
class DriftingKernel final : public Kernel {
 public:
  explicit DriftingKernel(bool backward_drifts) : backward_drifts_(backward_drifts) {}
  void forward(OpContext& context) override { write(context.output(0), backward_drifts_); }
  void backward(GradContext& context) override { write(context.grad_input(0), !backward_drifts_); }

 private:
  void write(Tensor& to, bool steady) {
    to.data<float>()[0] = 5;
    to.data<float>()[1] = steady ? 6 : float(++runs_);
  }
  bool backward_drifts_;
  int runs_ = 0;
};

class CrashingKernel final : public Kernel {
 public:
  void forward(OpContext&) override { std::raise(SIGSEGV); }
};

void add_frameworks() {
  static const bool once = [] {
    const auto add = [](const std::string& name, const auto& make) {
      add_framework(name, "1", [make](Framework& framework) {
        framework.part<OperatorRegistry>().add_kernel("Relu", {},
                                                      [make](PlanContext&) { return make(); });
      });
    };
    add("drifting", [] { return std::make_unique<DriftingKernel>(false); });
    add("drifting backward", [] { return std::make_unique<DriftingKernel>(true); });
    add("crashing", [] { return std::make_unique<CrashingKernel>(); });
    return true;
  }();
  (void)once;
}

const OperatorCase kRelu = parse_case("Relu {1,2}");

}  // namespace

TEST_CASE("a result that differs from run to run is not repeatable, and its variance is reported") {
  add_frameworks();
  const auto drifting = test_repeatability(kRelu, "drifting", {.runs = 3});
  REQUIRE(drifting.size() == 4);
  CHECK(drifting[0].metric == "repeatability");
  CHECK(drifting[0].conditions.at("tensor") == "output 0");
  CHECK(drifting[0].samples == std::vector{1.0});
  CHECK(drifting[0].status == Status::failed);
  CHECK(drifting[1].metric == "variance_over_runs");
  CHECK(drifting[1].samples == std::vector{1.0});  // the variance of 1, 2, 3
  CHECK(drifting[1].conditions.at("at") == "1");
  CHECK(drifting[2].conditions.at("tensor") == "gradient of input 0");
  CHECK(drifting[2].status == Status::passed);
}

TEST_CASE("gradients that differ from run to run are found where outputs do not") {
  add_frameworks();
  const auto records = test_repeatability(kRelu, "drifting backward", {.runs = 3});
  REQUIRE(records.size() == 4);
  CHECK(records[0].status == Status::passed);
  CHECK(records[2].metric == "repeatability");
  CHECK(records[2].conditions.at("tensor") == "gradient of input 0");
  CHECK(records[2].status == Status::failed);
  CHECK(records[3].samples == std::vector{1.0});
  CHECK_THAT(records[2].command, Catch::EndsWith("--repeat 3"));
  const auto forward =
      test_repeatability(kRelu, "drifting backward", {.runs = 3, .passes = Passes::forward});
  CHECK(forward.size() == 2);
  CHECK_THAT(forward[0].command, Catch::EndsWith("--no-gradient --repeat 3"));
}

TEST_CASE("the same bits pass, in every output and gradient") {
  const auto records = test_repeatability(parse_case("Gemm 3x4 4x2 2"), "reference", {.runs = 3});
  REQUIRE(records.size() == 2 * (1 + 3));
  for (const auto& record : records) {
    CHECK(record.status == Status::passed);
    CHECK(record.samples == std::vector{0.0});
  }
  CHECK(test_repeatability(parse_case("Shape 2x3"), "reference", {.runs = 2}).size() == 1);
}

TEST_CASE("what cannot run says so, and no run is no repetition") {
  CHECK(test_repeatability(parse_case("Square 3"), "reference", {.runs = 2}).at(0).status ==
        Status::unsupported);
  CHECK_THROWS_AS(test_repeatability(kRelu, "reference", {.runs = 1}), ValueError);
}

TEST_CASE("the deviation over the runs has a picture, which its record names") {
  add_frameworks();
  const testing::TemporaryFolder folder;
  const auto records =
      test_repeatability(kRelu, "drifting", {.runs = 3, .heatmaps = folder / "pictures"});
  CHECK(records[0].artefacts.empty());
  REQUIRE(records[1].artefacts.size() == 1);
  CHECK_THAT(records[1].artefacts[0].name, Catch::EndsWith("-drifting-output_0-deviation.png"));
  // The square root of the variance of 5, 5, 5 and of 1, 2, 3.
  CHECK(read_file(records[1].artefacts[0].name) ==
        encode_png(heatmap(Tensor::vector(std::vector<double>{0, 1}))));
  CHECK(records[3].artefacts.empty());
}

TEST_CASE("a crash while it is repeated is a failed record, isolated") {
  add_frameworks();
  const auto records =
      test_repeatability(kRelu, "crashing", {.runs = 2, .isolation = {.most_seconds = 20}});
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == Status::failed);
  CHECK_THAT(records[0].reason, Catch::Contains("SIGSEGV"));
  const auto drifting =
      test_repeatability(kRelu, "drifting", {.runs = 2, .isolation = {.most_seconds = 20}});
  CHECK(drifting.size() == 4);
}

TEST_CASE("repeating can be ended between any two runs") {
  CHECK(testing::interrupted_everywhere([&](const Interrupt& interrupt) {
          (void)test_repeatability(kRelu, "reference", {.runs = 2, .interrupt = interrupt});
        }) >= 6);
}
