// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/operator_reduction.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/case/case_text.hpp"

using namespace d5;
using Catch::Contains;

namespace {

namespace nodes = onnx::nodes;

/// The effect of a fault after the right kernel ran.
using CaseFault = std::function<void(OpContext&)>;

class FaultyKernel final : public Kernel {
 public:
  FaultyKernel(std::unique_ptr<Kernel> right, CaseFault fault)
      : right_(std::move(right)), fault_(std::move(fault)) {}
  void forward(OpContext& context) override {
    right_->forward(context);
    fault_(context);
  }
  void backward(GradContext& context) override { right_->backward(context); }

 private:
  std::unique_ptr<Kernel> right_;
  CaseFault fault_;
};

void off_by_one(OpContext& context) { context.output(0).span<float>().front() += 1; }

template <class View>
void add_fault(Framework& framework, CaseFault fault) {
  framework.part<OperatorRegistry>().add_kernel<View>([fault](PlanContext& context) {
    auto right = d5::framework("reference").part<OperatorRegistry>().plan(context);
    return std::make_unique<FaultyKernel>(std::move(right), fault);
  });
}

/// The framework "faulty": each operator has one fault.
void use_faulty() {
  static const bool once = [] {
    add_framework("faulty", "1", [](Framework& framework) {
      add_fault<nodes::Conv>(framework, [](OpContext& context) {
        if (context.input(1).shape()[1] > 4) off_by_one(context);
      });
      add_fault<nodes::ConvInteger>(framework, [](OpContext& context) {
        const bool is_in_groups = context.input(0).shape()[1] != context.input(1).shape()[1];
        if (is_in_groups) context.output(0).span<std::int32_t>().front() += 1;
      });
      add_fault<nodes::Add>(framework, [](OpContext& context) {
        for (const float x : context.input(1).span<float>()) {
          if (x == 7) off_by_one(context);
        }
      });
      add_fault<nodes::Exp>(framework, [](OpContext& context) {
        if (context.input(0).elements() > 2) std::raise(SIGSEGV);
      });
      add_fault<nodes::Sqrt>(framework, [](OpContext& context) {
        while (context.input(0).elements() > 2) {
          std::this_thread::sleep_for(std::chrono::seconds(1));
        }
      });
      add_fault<nodes::Tanh>(framework, [](OpContext& context) {
        if (context.input(0).elements() > 3) throw ValueError("no more than 3 elements");
      });
      add_fault<nodes::Sigmoid>(framework, [](OpContext& context) {
        static int runs = 0;
        if (++runs % 2 == 0) off_by_one(context);
      });
      add_fault<nodes::Clip>(framework, [](OpContext& context) { off_by_one(context); });
    });
    return true;
  }();
  (void)once;
}

ReducedCase reduced(const std::string& line, CaseReductionOptions options = {}) {
  use_faulty();
  options.check.frameworks = {"faulty"};
  options.check.gradient = false;
  return reduce_case(read_case(line), options);
}

}  // namespace

TEST_CASE("a line in pieces is the same line again") {
  for (const std::string line :
       {"Conv@11 2x3x9x9 float64:4x3x3x3 pads=1x1x1x1 auto_pad=NOTSET", "Relu scalar",
        "Reshape 2x6 int64:{3,-1}", "Clip int8:5%100 - int8:{3}", "Relu {}", "Gemm 4x4~4 4x4~4",
        "Dropout 8 outputs=2", "Add int64:1x2{1,2} int64:1x2{3,4} -> int64:1x2{4,6}",
        "example.LogCosh 0x3"}) {
    CHECK(detail::to_line(detail::text_of_case(line)) == line);
  }
}

TEST_CASE("a fault of wide convolutions ends at five channels, and all else goes") {
  const ReducedCase small =
      reduced("Conv 6x24x12x12 8x12x3x3 8 pads=1x1x1x1 strides=2x2 group=2 kernel_shape=3x3");
  CHECK(small.line.line == "Conv 1x5x1 1x5x1");
  CHECK(small.is_smallest);
  CHECK(small.test == "forward");
  CHECK_THAT(small.difference, Contains("expected"));
  CHECK(small.tries < 100);
}

TEST_CASE("sizes that are multiples of each other shrink together") {
  // Two groups stay where one would hide the fault.
  CHECK(reduced("ConvInteger uint8:2x24x6x6 uint8:8x12x3x3 group=2").line.line ==
        "ConvInteger uint8:1x2x1 uint8:2x1x1 group=2");
}

TEST_CASE("the value that matters is what stays of a list") {
  CHECK(reduced("Add {1,2,3,4,5,6} {5,6,7,8,9,10}").line.line == "Add {1} {7}");
}

TEST_CASE("optional inputs and what was expected go") {
  CHECK(reduced("Clip {1,2} {-3} {3} -> {1,2}").line.line == "Clip {1}");
}

TEST_CASE("a crash and a hang end at the smallest case that brings them") {
  CaseReductionOptions isolated;
  isolated.check.forward.isolation.most_seconds = 30;
  const ReducedCase crash = reduced("Exp 4x8", isolated);
  CHECK(crash.line.line == "Exp 3");
  CHECK_THAT(crash.difference, Contains("SIGSEGV"));
  isolated.check.forward.isolation.most_seconds = 1;
  const ReducedCase hang = reduced("Sqrt 1x4%9", isolated);
  CHECK(hang.line.line == "Sqrt 3%9");
  CHECK_THAT(hang.difference, Contains("no answer within 1 s"));
}

TEST_CASE("a complaint ends at the smallest case that brings the same one") {
  const ReducedCase small = reduced("Tanh 2x8");
  CHECK(small.line.line == "Tanh 4");
  CHECK_THAT(small.difference, Contains("no more than 3 elements"));
}

TEST_CASE("a case that fails on the reference, too, is reported as wrong") {
  CHECK_THROWS_WITH(reduced("Conv 1x3x5x5 4x2x3x3"), Contains("the reference fails alike"));
}

TEST_CASE("an intermittent failure is tried several times") {
  const ReducedCase small = reduced("Sigmoid 4x4");
  CHECK(small.line.line == "Sigmoid scalar");
  CHECK(small.differing_runs > 0);
  CHECK(small.differing_runs < small.runs);
}

TEST_CASE("what is right is not reduced, and an operator that is not there is said") {
  const ReducedCase right = reduced("Conv 1x3x5x5 4x3x3x3");
  CHECK(right.difference.empty());
  CHECK(right.tries == 0);
  CHECK(right.line.line == "Conv 1x3x5x5 4x3x3x3");
  CHECK_THROWS_AS(reduced("Relu 3"), Unsupported);
}

TEST_CASE("the smallest case so far is kept at the time limit or an interrupt") {
  const std::string whole = "Conv 6x24x12x12 8x24x3x3 pads=1x1x1x1";
  const ReducedCase none = reduced(whole, {.most_seconds = 0});
  CHECK(none.line.line == whole);
  CHECK_FALSE(none.is_smallest);
  std::stop_source stop;
  CaseReductionOptions options;
  options.check.forward.interrupt = {.token = stop.get_token()};
  options.on_try = [&](const CaseReductionProgress& now) {
    if (now.line != whole) stop.request_stop();
  };
  const ReducedCase some = reduced(whole, options);
  CHECK_FALSE(some.is_smallest);
  CHECK(some.line.line != whole);
}

TEST_CASE("the record names the smallest case and the command that shows it") {
  use_faulty();
  const auto check = [](const std::string& line) {
    return check_operator(read_case(line),
                          {.frameworks = {"faulty"}, .gradient = false, .reduce = true});
  };
  const auto records = check("Conv 2x8x6x6 4x8x3x3");
  REQUIRE(records.size() == 1);
  CHECK(records[0].metric == "reduced_elements");
  CHECK(records[0].samples == std::vector<double>{10});
  CHECK(records[0].status == Status::failed);
  CHECK(records[0].subject == "Conv 2x8x6x6 4x8x3x3");
  CHECK(records[0].conditions.at("case") == "Conv 1x5x1 1x5x1");
  CHECK_THAT(records[0].command,
             Contains("op check \"Conv 1x5x1 1x5x1\"") || Contains("op check 'Conv 1x5x1 1x5x1'"));
  CHECK(check("Conv 1x3x5x5 4x3x3x3")[0].status == Status::passed);
}
