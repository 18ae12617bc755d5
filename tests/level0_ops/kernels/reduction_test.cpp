// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/reduction/reduction.hpp"

#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("reductions along axes") {
  const std::string x = " 2x3{1,2,3,4,5,6} ";
  CHECK(result_of("ReduceSum" + x + "int64:{1}") == Floats{6, 15});
  CHECK(result_of("ReduceSum" + x + "int64:{0}") == Floats{5, 7, 9});
  CHECK(result_of("ReduceMean" + x + "int64:{-1}") == Floats{2, 5});
  CHECK(result_of("ReduceMax" + x + "int64:{1}") == Floats{3, 6});
  CHECK(result_of("ReduceMin" + x + "int64:{0}") == Floats{1, 2, 3});
  CHECK(result_of("ReduceProd" + x + "int64:{1}") == Floats{6, 120});
  CHECK(result_of("ReduceL1 {-1,2,-3}") == Floats{6});
  CHECK(result_of("ReduceL2 {3,-4}") == Floats{5});
  CHECK(result_of("ReduceSumSquare {1,2,3}") == Floats{14});
  CHECK(result_of("ReduceLogSum {1,2,3}")[0] == Approx(std::log(6.0)));
  CHECK(result_of("ReduceLogSumExp {1,2}")[0] == Approx(2 + std::log1p(std::exp(-1.0))));
}

TEST_CASE("axes come as an attribute in old opsets") {
  CHECK(result_of("ReduceSum@11 2x3{1,2,3,4,5,6} axes=1") == Floats{6, 15});
  CHECK(result_of("ReduceMean@13 2x3{1,2,3,4,5,6} axes=0x1 keepdims=0") == Floats{3.5});
  CHECK(result_of("ReduceMax@13 2x3{1,2,3,4,5,6} axes=-2") == Floats{4, 5, 6});
}

TEST_CASE("without axes everything is reduced, or nothing if asked") {
  CHECK(shape_of("ReduceSum 2x3") == "1x1");
  CHECK(shape_of("ReduceSum 2x3 keepdims=0") == "scalar");
  CHECK(shape_of("ReduceSum 2x3x4 int64:{0,2} keepdims=0") == "3");
  CHECK(result_of("ReduceSum {1,2} noop_with_empty_axes=1") == Floats{1, 2});
  CHECK(result_of("ReduceSumSquare {1,-2} noop_with_empty_axes=1") == Floats{1, 4});
  CHECK_THROWS_AS(run_case("ReduceSum 2x3 int64:{2}"), ValueError);
}

TEST_CASE("an empty set has the neutral element") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(result_of("ReduceSum 2x0 int64:{1}") == Floats{0, 0});
  CHECK(result_of("ReduceProd 2x0 int64:{1}") == Floats{1, 1});
  CHECK(result_of("ReduceMax 1x0 int64:{1}") == Floats{-infinity});
  CHECK(result_of("ReduceMin 1x0 int64:{1}") == Floats{infinity});
  CHECK(result_of("ReduceLogSumExp 1x0 int64:{1}") == Floats{-infinity});
  CHECK(shape_of("ReduceSum 0x3 int64:{1}") == "0x1");
}

TEST_CASE("ReduceLogSumExp does not overflow") {
  CHECK(result_of("ReduceLogSumExp {1000,1000}")[0] == Approx(1000 + std::log(2.0)));
  CHECK(result_of("ReduceLogSumExp {-1000,-1000}")[0] == Approx(-1000 + std::log(2.0)));
}

TEST_CASE("NaN wins, and integers and truth values have extremes") {
  CHECK(std::isnan(result_of("ReduceMax {1,nan,2}")[0]));
  CHECK(result_of<std::int32_t>("ReduceMin int32:{3,-7,2}") == std::vector<std::int32_t>{-7});
  CHECK(result_of<bool>("ReduceMax bool:{0,1,0}") == std::vector<bool>{true});
}

TEST_CASE("gradients of reductions agree with central differences") {
  for (const std::string op : {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                               "ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceProd"}) {
    check_gradient(op + " 2x3x4 int64:{1}", 1);
    check_gradient(op + " 2x3x4 int64:{0,2} keepdims=0", 1);
    check_gradient(op + " 2x3", 1);
  }
  check_gradient("ReduceLogSum {1,2,3}", 1);
  check_gradient("ReduceProd 3x3{1,2,3,0,5,6,0,0,2} int64:{1}", 1);  // with zeros
}

TEST_CASE("ArgMax and ArgMin give the first or the last place") {
  using Places = std::vector<std::int64_t>;
  CHECK(result_of<std::int64_t>("ArgMax 2x3{1,3,3,5,4,5} axis=1") == Places{1, 0});
  CHECK(result_of<std::int64_t>("ArgMax 2x3{1,3,3,5,4,5} axis=1 select_last_index=1") ==
        Places{2, 2});
  CHECK(result_of<std::int64_t>("ArgMin 2x3{1,3,3,5,4,5} axis=0") == Places{0, 0, 0});
  CHECK(shape_of("ArgMax 2x3 axis=0 keepdims=0") == "3");
  CHECK_THROWS_AS(run_case("ArgMax 2x0 axis=1"), ShapeError);
  CHECK_THROWS_AS(run_case("ArgMax 2x3 axis=2"), ValueError);
}

TEST_CASE("the work of a reduction is counted from its definition") {
  const auto flop = [](const std::string& line) {
    const OperatorCase op_case = parse_case(line);
    std::vector<ValueDesc> inputs;
    std::vector<const Value*> constants;
    for (const Value& input : op_case.inputs) {
      inputs.push_back(input.desc());
      constants.push_back(&input);
    }
    const auto op = framework("reference").part<OperatorRegistry>().make(op_case.node);
    return op->cost(InferContext(op_case.node, inputs, constants)).flop;
  };
  CHECK(flop("ReduceSum 2x3 int64:{1}") == 6);
  CHECK(flop("ReduceMean 2x3 int64:{1}") == 6 + 2);  // a division a result
  CHECK(flop("ReduceL2 2x3 int64:{1}") == 12 + 2);   // a product and a sum; a root a result
  CHECK(flop("ReduceMax 2x3 int64:{0}") == 6);
  CHECK(flop("ArgMax 2x3 axis=1") == 6);
}
