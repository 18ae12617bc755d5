// SPDX-License-Identifier: Apache-2.0
// The judges themselves: what is wrong must be called wrong.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level0_ops/validation/heatmap.hpp"
#include "tests/interrupted_everywhere.hpp"
#include "tests/level0_ops/run_case.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

class SquareKernel final : public Kernel {
 public:
  explicit SquareKernel(double factor) : factor_(factor) {}
  void forward(OpContext& context) override {
    dispatch(RealTypes{}, context.input(0).dtype(), "Square", [&]<class T>() {
      const auto x = context.input(0).span<T>();
      T* y = context.output(0).data<T>();
      for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i];
    });
  }
  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.input(0).dtype(), "Square", [&]<class T>() {
      const auto x = context.input(0).span<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      for (std::size_t i = 0; i < x.size(); ++i) dx[i] = T(factor_) * x[i] * dy[i];
    });
  }

 private:
  double factor_;
};

/// y = x^2, with a derivative that may be wrong.
class Square final : public ElementwiseOperator {
 public:
  explicit Square(double factor) : factor_(factor) {}
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  Places gradients() const override { return {0}; }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<SquareKernel>(factor_);
  }

 private:
  double factor_;
};

/// A framework with Square, also under the name of an operator whose output ONNX calls
/// non-differentiable; "wrong" has a derivative that is off by a part in a thousand.
void add_wrong_frameworks() {
  static const bool once = [] {
    for (const auto& [name, factor] : {std::pair{"right", 2.0}, {"wrong", 2.002}}) {
      add_framework(name, "1", [factor = factor](Framework& framework) {
        for (const char* op : {"Square", "STFT"}) {
          framework.part<OperatorRegistry>().add(
              op, {}, [factor](const onnx::Node&) { return std::make_unique<Square>(factor); });
        }
      });
    }
    return true;
  }();
  (void)once;
}

Value case_floats(std::initializer_list<float> values) {
  return Tensor::of<float>({std::int64_t(values.size())}, values);
}

}  // namespace

TEST_CASE("a right gradient passes and a slightly wrong one fails, in both modes") {
  add_wrong_frameworks();
  for (const GradientMode mode : {GradientMode::full, GradientMode::projection}) {
    const GradientOptions options{.mode = mode};
    const auto right = test_gradient(parse_case("Square 20"), "right", options);
    REQUIRE(right.size() == 1);
    CHECK(right[0].status == Status::passed);
    CHECK(right[0].samples.at(0) < 1e-5);
    const auto wrong = test_gradient(parse_case("Square 20"), "wrong", options);
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].status == Status::failed);
    CHECK_FALSE(wrong[0].reason.empty());
  }
}

TEST_CASE("a gradient is judged even where ONNX calls the output non-differentiable") {
  add_wrong_frameworks();
  const OperatorCase stft = parse_case("STFT 1x4x1 int64:scalar{2}");
  CHECK(test_gradient(stft, "right").at(0).status == Status::passed);
  CHECK(test_gradient(stft, "wrong").at(0).status == Status::failed);
}

TEST_CASE("large inputs are checked by projections, small ones in full") {
  add_wrong_frameworks();
  CHECK(test_gradient(parse_case("Square 200"), "right").at(0).conditions.at("mode") == "full");
  CHECK(test_gradient(parse_case("Square 201"), "right").at(0).conditions.at("mode") ==
        "projection");
}

TEST_CASE("an operator that a framework lacks is unsupported, with a reason") {
  const auto gradient = test_gradient(parse_case("Square 3"), "reference");
  CHECK(gradient.at(0).status == Status::unsupported);
  CHECK(gradient.at(0).reason == "operator Square");
  CHECK(test_forward(parse_case("Square 3"), "reference").at(0).status == Status::unsupported);
}

TEST_CASE("a framework without float64 is held against the reference's gradient") {
  for (const auto& [name, factor] : {std::pair{"narrow", 1.0}, {"narrow_wrong", 1.001}}) {
    add_framework(name, "1", [factor = factor](Framework& framework) {
      framework.part<OperatorRegistry>().add_kernel("Relu", {}, [factor](PlanContext& context) {
        return kernel_for(Types<float>{}, context.dtype(0), context,
                          [&]<class T>() { return std::make_unique<SquareKernel>(factor); });
      });
    });
  }
  // At 1 and 0 the slope of x^2 / 2 is that of Relu.
  const OperatorCase relu = parse_case("Relu {1,0}");
  const auto right = test_gradient(relu, "narrow").at(0);
  CHECK(right.status == Status::passed);
  CHECK(right.conditions.at("mode") == "reference");
  const auto wrong = test_gradient(relu, "narrow_wrong").at(0);
  CHECK(wrong.status == Status::failed);
  CHECK_THAT(wrong.reason, Catch::Contains("gradient of input 0"));
  CHECK(test_forward(parse_case("Relu {1}"), "narrow").at(0).status == Status::passed);
  // A fault in every type does not concern float64 alone.
  CHECK(test_gradient(parse_case("Relu string:{a}"), "narrow").at(0).status == Status::failed);
}

TEST_CASE("a judge in float64 sees what the reference itself rounds") {
  const OperatorCase sum = parse_case("Gemm 16x512 512x16");
  const Measurement own = test_forward(sum, "reference").at(0);
  CHECK(own.samples == std::vector{0.0});
  const Measurement rounded = test_forward(sum, "reference", {.exact = true}).at(0);
  CHECK(rounded.status == Status::passed);
  CHECK(rounded.samples.at(0) > 0);
  CHECK(rounded.samples.at(0) < 1e-5);
  CHECK(rounded.conditions.at("reference") == "reference in float64");
  // The nearest float to the exact value is right to the last bit.
  CHECK(test_forward(parse_case("Sqrt {2,3,5}"), "reference", {.exact = true}).at(0).samples ==
        std::vector{0.0});
}

TEST_CASE("norms stand beside the error that judges, where they were asked for") {
  const auto records = test_forward(parse_case("Add {1,2,4} {1,1,1} -> {2,3,3}"), "reference",
                                    {.errors = ErrorDetail::norms});
  const auto of = [&](const std::string& metric) {
    const auto place = std::ranges::find(records, metric, &Measurement::metric);
    REQUIRE(place != records.end());
    return *place;
  };
  CHECK(of("error").status == Status::failed);
  CHECK(of("l1_error").samples == std::vector{2.0});
  CHECK(of("max_error").conditions.at("at") == "2");
  CHECK(of("ulp_error").samples == std::vector{0x1p22 + 0x1p21});  // 3 to 4 to 5
  CHECK(of("ulp_error").status == Status::passed);
  CHECK(test_forward(parse_case("Add {1} {1} -> {2}"), "reference").size() == 1);
}

TEST_CASE("a case that says what it expects is its own judge") {
  add_wrong_frameworks();
  const auto judged = [](const std::string& line) {
    const auto results = test_forward(parse_case(line), "right");
    REQUIRE(results.size() == 1);
    CHECK(results[0].conditions.at("reference") == "the case");
    return results[0];
  };
  CHECK(judged("Square {1,2,3} -> {1,4,9}").status == Status::passed);
  CHECK(judged("Square {1,2,3} -> {1,4,9.1}").status == Status::failed);
  CHECK_THAT(judged("Square {1,2,3} -> {1,4,9.1}").reason, Catch::Contains("value[2]: got 9"));
  CHECK_THAT(judged("Square {1,2} -> 1x2{1,4}").reason, Catch::Contains("expected float32 1x2"));
  CHECK(
      test_forward(parse_case("MaxPool 1x1x2{1,2} kernel_shape=2 -> - int64:1x1x1{1}"), "reference")
          .size() == 1);
}

TEST_CASE("a number of a shorter type may be as far off as that type rounds") {
  for (const auto& [type, spacing] : {std::pair{"bfloat16", 0x1p-7}, {"float16", 0x1p-10}}) {
    const auto status = [&](double off) {
      const std::string line = fmt::format("Relu {}:{{1}} -> {}:{{{}}}", type, type, 1 + off);
      return test_forward(parse_case(line), "reference").at(0).status;
    };
    CHECK(status(spacing) == Status::passed);
    CHECK(status(16 * spacing) == Status::failed);
  }
  CHECK(test_forward(parse_case("Relu {1} -> {1.001}"), "reference").at(0).status ==
        Status::failed);
}

TEST_CASE("an output that differs has a picture of where, which its record names") {
  add_wrong_frameworks();
  const testing::TemporaryFolder folder;
  const ForwardOptions options{.errors = ErrorDetail::norms, .heatmaps = folder / "pictures"};
  const auto wrong = test_forward(parse_case("Square {1,2,3} -> {1,4,8}"), "right", options);
  REQUIRE(wrong[0].artefacts.size() == 1);
  const Artefact& picture = wrong[0].artefacts[0];
  CHECK_THAT(picture.name, Catch::Contains("pictures/Square__1,2,3__-") &&
                               Catch::EndsWith("-right-output_0-difference.png"));
  const std::string png = read_file(picture.name);
  CHECK(picture.sha256 == detail::sha256(png));
  CHECK(png == encode_png(heatmap(case_floats({0, 0, 1}).tensor())));
  CHECK_THAT(wrong[0].command, Catch::Contains("--norms --heatmap "));
  CHECK(wrong[1].artefacts.empty());  // a norm
  const auto right = test_forward(parse_case("Square {1,2,3} -> {1,4,9}"), "right", options);
  CHECK(right[0].artefacts.empty());
  CHECK_THROWS_AS(
      test_forward(parse_case("Square {1} -> {2}"), "right", {.heatmaps = "/proc/no/such/folder"}),
      IoError);
}

TEST_CASE("an exception becomes a failed record") {
  const auto results = test_forward(parse_case("Gemm 2x3 2x3"), "reference");
  CHECK(results.at(0).status == Status::failed);
  CHECK_THAT(results.at(0).reason, Catch::Contains("the inner sizes must agree"));
}

TEST_CASE("a test can be ended between any two runs, and is no failed record then") {
  add_wrong_frameworks();
  const OperatorCase square = parse_case("Square 2");
  CHECK(testing::interrupted_everywhere([&](const Interrupt& interrupt) {
          (void)test_forward(square, "right", {.reference = "wrong", .interrupt = interrupt});
        }) >= 2);
  for (const GradientMode mode : {GradientMode::full, GradientMode::projection}) {
    CHECK(testing::interrupted_everywhere([&](const Interrupt& interrupt) {
            (void)test_gradient(square, "right", {.mode = mode, .interrupt = interrupt});
          }) >= 6);
  }
}

TEST_CASE("test_forward gives one record an output") {
  const auto results =
      test_forward(parse_case("MaxPool 1x1x4 kernel_shape=2 outputs=2"), "reference");
  REQUIRE(results.size() == 2);
  for (const auto& result : results) CHECK(result.status == Status::passed);
}

TEST_CASE("every example case passes its gradient check") {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) {
    WARN("D5_SOURCE_DIR is not set: skipped");
    return;
  }
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/tests/cases")) {
    // Large ones, to be measured: their gradients take minutes, and pass as those of small ones do.
    if (entry.path().filename().string().starts_with("deepbench_")) continue;
    for (const CaseLine& one : read_cases(entry.path().string(), 1)) {
      INFO(one.line);
      for (const auto& result : test_gradient(one.draw(), "reference")) {
        INFO(result.reason);
        CHECK(result.status == Status::passed);
      }
    }
  }
}
