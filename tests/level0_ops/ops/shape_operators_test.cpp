// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, and change no value.
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Reshape copies dimensions for 0 and fills in one -1") {
  CHECK(shape_of("Reshape 2x3x4 int64:{0,-1}") == "2x12");
  CHECK(shape_of("Reshape 2x3x4 int64:{4,6}") == "4x6");
  CHECK(shape_of("Reshape@1 2x3x4 shape=24") == "24");
  CHECK(shape_of("Reshape 0x3 int64:{3,0} allowzero=1") == "3x0");
  CHECK(shape_of("Reshape scalar int64:{1,1}") == "1x1");
  CHECK_THROWS_AS(run_case("Reshape 2x3 int64:{4,-1}"), ShapeError);
  CHECK_THROWS_AS(run_case("Reshape 2x3 int64:{7}"), ShapeError);
  CHECK_THROWS_AS(run_case("Reshape 2x3 int64:{-1,-1}"), ValueError);
  CHECK_THROWS_AS(run_case("Reshape 2x3 int64:{2,3,0}"), ShapeError);
  CHECK_THROWS_AS(run_case("Reshape 2x3 int64:{4611686018427387904,4}"), ShapeError);
  check_gradient("Reshape 2x3 int64:{3,2}", 1);
}

TEST_CASE("Flatten, Squeeze and Unsqueeze keep the elements") {
  CHECK(shape_of("Flatten 2x3x4") == "2x12");
  CHECK(shape_of("Flatten 2x3x4 axis=0") == "1x24");
  CHECK(shape_of("Flatten 2x3x4 axis=-1") == "6x4");
  CHECK_THROWS_AS(run_case("Flatten 2x3 axis=3"), ValueError);
  CHECK(shape_of("Squeeze 1x3x1") == "3");
  CHECK(shape_of("Squeeze 1x3x1 int64:{-1}") == "1x3");
  CHECK(shape_of("Squeeze@1 1x3x1 axes=0") == "3x1");
  CHECK_THROWS_AS(run_case("Squeeze 1x3x1 int64:{1}"), ShapeError);
  CHECK(shape_of("Unsqueeze 3x4 int64:{0,-1}") == "1x3x4x1");
  CHECK(shape_of("Unsqueeze@1 3x4 axes=1") == "3x1x4");
  CHECK_THROWS_AS(run_case("Unsqueeze 3 int64:{1,1}"), ValueError);
  CHECK_THROWS_AS(run_case("Unsqueeze 3 int64:{5}"), ValueError);
  check_gradient("Flatten 2x3x2", 1);
}

TEST_CASE("Transpose permutes dimensions, and reverses them by default") {
  CHECK(result_of("Transpose 2x3{1,2,3,4,5,6}") == Floats{1, 4, 2, 5, 3, 6});
  CHECK(result_of("Transpose 1x2x3{1,2,3,4,5,6} perm=2x0x1") == Floats{1, 4, 2, 5, 3, 6});
  CHECK(shape_of("Transpose 2x0x3 perm=1x2x0") == "0x3x2");
  CHECK(result_of<std::string>("Transpose string:2x2{a,b,c,d}") ==
        std::vector<std::string>{"a", "c", "b", "d"});
  CHECK_THROWS_AS(run_case("Transpose 2x3 perm=0x0"), ValueError);
  CHECK_THROWS_AS(run_case("Transpose 2x3 perm=0x1x2"), ShapeError);
  check_gradient("Transpose 2x3x4 perm=1x2x0", 1);
  check_gradient("Transpose 13x17x5 perm=2x0x1", 1);
}

TEST_CASE("Concat and Split undo each other") {
  CHECK(result_of("Concat 2x1{1,2} 2x2{3,4,5,6} axis=1") == Floats{1, 3, 4, 2, 5, 6});
  CHECK(result_of("Concat {1} 0 {2} axis=-1") == Floats{1, 2});
  CHECK_THROWS_AS(run_case("Concat 2x1 3x1 axis=1"), ShapeError);
  CHECK_THROWS_AS(run_case("Concat 2 float64:2 axis=0"), TypeError);
  CHECK(result_of("Split 2x3{1,2,3,4,5,6} int64:{1,2} axis=1 outputs=2", 0) == Floats{1, 4});
  CHECK(result_of("Split 2x3{1,2,3,4,5,6} int64:{1,2} axis=1 outputs=2", 1) == Floats{2, 3, 5, 6});
  CHECK(result_of("Split {1,2,3,4,5} num_outputs=2 outputs=2", 1) == Floats{4, 5});
  CHECK(result_of("Split@11 {1,2,3,4} split=1x3 outputs=2", 1) == Floats{2, 3, 4});
  CHECK_THROWS_AS(run_case("Split 5 int64:{1,-1,5} outputs=3"), ValueError);
  CHECK_THROWS_AS(run_case("Split 5 int64:{1,2} outputs=2"), ValueError);
  check_gradient("Concat 2x1x2 2x3x2 axis=1", 2);
  check_gradient("Split 2x5 int64:{2,3} axis=1 outputs=2", 1);
}

TEST_CASE("an output of Split without a gradient counts as zero") {
  OperatorRunner runner = run_case("Split {1,2,3} int64:{1,2} outputs=2", Mode::training);
  runner.backward({Tensor(), Tensor::of<float>({2}, {5, 6})});
  const auto grad = runner.grad_input(0).span<float>();
  CHECK(Floats(grad.begin(), grad.end()) == Floats{0, 5, 6});
}

TEST_CASE("Slice takes steps in both directions, and clamps") {
  CHECK(result_of("Slice {0,1,2,3,4} int64:{1} int64:{4}") == Floats{1, 2, 3});
  CHECK(result_of("Slice {0,1,2,3,4} int64:{-1} int64:{-100} - int64:{-2}") == Floats{4, 2, 0});
  CHECK(result_of("Slice {0,1,2,3,4} int64:{-9223372036854775808} int64:{9223372036854775807} "
                  "int64:{0} int64:{9223372036854775807}") == Floats{0});
  CHECK(result_of("Slice 2x3{1,2,3,4,5,6} int32:{1} int32:{3} int32:{-1}") == Floats{2, 3, 5, 6});
  CHECK(result_of("Slice@1 {0,1,2} starts=1 ends=1000") == Floats{1, 2});
  CHECK(shape_of("Slice 4 int64:{3} int64:{1}") == "0");
  CHECK_THROWS_AS(run_case("Slice 4 int64:{0} int64:{1} int64:{0} int64:{0}"), ValueError);
  CHECK_THROWS_AS(run_case("Slice 4 int64:{0,1} int64:{1}"), ShapeError);
  CHECK_THROWS_AS(run_case("Slice 4 int64:{0} int64:{1} int64:{2}"), ValueError);
  check_gradient("Slice 3x5 int64:{0,-1} int64:{2,0} int64:{0,1} int64:{1,-2}", 1);
}

TEST_CASE("Pad adds constants, reflections, edges or copies, and takes away") {
  CHECK(result_of("Pad {1,2} int64:{1,2} scalar{9}") == Floats{9, 1, 2, 9, 9});
  CHECK(result_of("Pad {1,2,3} int64:{2,2} mode=reflect") == Floats{3, 2, 1, 2, 3, 2, 1});
  CHECK(result_of("Pad {1,2,3} int64:{2,1} mode=edge") == Floats{1, 1, 1, 2, 3, 3});
  CHECK(result_of("Pad {1,2,3} int64:{2,1} mode=wrap") == Floats{2, 3, 1, 2, 3, 1});
  CHECK(result_of("Pad {1,2,3} int64:{-1,1}") == Floats{2, 3, 0});
  CHECK(result_of("Pad 2x2{1,2,3,4} int64:{1,0} - int64:{-1}") == Floats{0, 1, 2, 0, 3, 4});
  CHECK(result_of("Pad@2 {1} pads=1x0 value=0.5") == Floats{0.5, 1});
  CHECK(result_of<std::string>("Pad string:{a} int64:{1,0}") == std::vector<std::string>{"", "a"});
  CHECK_THROWS_AS(run_case("Pad 2 int64:{-2,-1}"), ValueError);
  CHECK_THROWS_AS(run_case("Pad 2 int64:{1}"), ShapeError);
  CHECK_THROWS_AS(run_case("Pad 2 int64:{0,0} mode=mirror"), ValueError);
  CHECK_THROWS_AS(run_case("Pad 0 int64:{1,1} mode=edge"), ShapeError);
  for (const std::string mode : {"constant", "reflect", "edge", "wrap"}) {
    check_gradient("Pad 3x4 int64:{1,2,0,1} mode=" + mode, 1);
  }
  check_gradient("Pad 3x4 int64:{-1,2,0,-1}", 1);
}

TEST_CASE("Gather chooses slices, counted from either end") {
  CHECK(result_of("Gather 3x2{1,2,3,4,5,6} int64:{2,-3}") == Floats{5, 6, 1, 2});
  CHECK(result_of("Gather 2x3{1,2,3,4,5,6} int32:scalar{1} axis=1") == Floats{2, 5});
  CHECK(result_of<std::string>("Gather string:{a,b} int64:{1,1}") ==
        std::vector<std::string>{"b", "b"});
  CHECK_THROWS_WITH(run_case("Gather 3x2 int64:{0,3}"),
                    "Gather 'output0': index 3 at position 1 is outside [-3, 2]");
  CHECK_THROWS_AS(run_case("Gather 3 int64:{-4}"), ValueError);
  CHECK_THROWS_AS(run_case("Gather 3 {0}"), TypeError);
  check_gradient("Gather 3x2 int64:2x2{0,2,2,0}", 1);
  check_gradient("Gather 2x3x2 int64:{1,1} axis=1", 1);
}

TEST_CASE("Expand and Tile repeat") {
  CHECK(result_of("Expand 2x1{1,2} int64:{3,1,2}") == Floats{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(result_of("Tile 1x2{1,2} int64:{2,2}") == Floats{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(shape_of("Tile 2x3 int64:{0,1}") == "0x3");
  CHECK(result_of<Float16>("Tile@1 float16:2{1,2} float16:scalar{2} float16:scalar{0}").size() ==
        4);
  CHECK_THROWS_AS(run_case("Tile@1 2 scalar{nan} scalar{0}"), ValueError);
  CHECK_THROWS_AS(run_case("Expand 2x3 int64:{4}"), ShapeError);
  CHECK_THROWS_AS(run_case("Expand 1 int64:{-3}"), ValueError);
  CHECK_THROWS_AS(run_case("Tile 2 int64:{-1}"), ValueError);
  CHECK_THROWS_AS(run_case("Tile 2x3 int64:{1}"), ShapeError);
  check_gradient("Expand 2x1 int64:{3,1,2}", 1);
  check_gradient("Tile 2x3 int64:{2,3}", 1);
}

TEST_CASE("sizes that would take all memory are refused before they are allocated") {
  const std::string huge = "int64:{1000000000000,1000000}";
  CHECK_THROWS_AS(run_case("ConstantOfShape " + huge), MemoryError);
  CHECK_THROWS_AS(run_case("Expand 1 " + huge), MemoryError);
  CHECK_THROWS_AS(run_case("Tile 1x1 " + huge), MemoryError);
  CHECK_THROWS_AS(run_case("Pad 1 int64:{1000000000000000,0}"), MemoryError);
  CHECK_THROWS_AS(run_case("Pad 2 int64:{1000000000000000,0} mode=reflect"), MemoryError);
  CHECK_THROWS_AS(run_case("Tile 4 int64:{4611686018427387904}"), ValueError);
  CHECK_THROWS_AS(run_case("ConstantOfShape int64:{9223372036854775807,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("ConstantOfShape int64:{-1}"), ValueError);
  CHECK_THROWS_AS(run_case("ConstantOfShape int64:2x1%3"), ShapeError);  // a list has one dimension
}

TEST_CASE("Shape, Size and Identity tell and keep what there is") {
  using Numbers = std::vector<std::int64_t>;
  CHECK(result_of<std::int64_t>("Shape 2x3x4") == Numbers{2, 3, 4});
  CHECK(result_of<std::int64_t>("Shape 2x3x4 start=-2 end=-1") == Numbers{3});
  CHECK(result_of<std::int64_t>("Shape 2x3x4 start=2 end=1").empty());
  CHECK(result_of<std::int64_t>("Size 2x3x4") == Numbers{24});
  CHECK(result_of("ConstantOfShape int64:{2}") == Floats{0, 0});
  CHECK(result_of<std::string>("Identity string:{a,b}") == std::vector<std::string>{"a", "b"});
  CHECK(result_of<std::int64_t>("Constant value_ints=1x2") == Numbers{1, 2});
  CHECK_THROWS_AS(run_case("Constant"), FormatError);
  CHECK_THROWS_AS(run_case("Constant value_int=1 value_float=2.0"), FormatError);
}

TEST_CASE("NonZero and Compress find out their own sizes") {
  using Numbers = std::vector<std::int64_t>;
  CHECK(result_of<std::int64_t>("NonZero 2x2{1,0,3,4}") == Numbers{0, 1, 1, 0, 0, 1});
  CHECK(shape_of("NonZero bool:3{0,0,0}") == "1x0");
  CHECK(result_of("Compress 3x2{1,2,3,4,5,6} bool:{0,1,1} axis=0") == Floats{3, 4, 5, 6});
  CHECK_THROWS_AS(run_case("Compress 3 bool:1x3{0,1,1}"), ShapeError);
  CHECK(result_of("Compress 3x2{1,2,3,4,5,6} bool:{0,1,0,0,1}") == Floats{2, 5});
  CHECK_THROWS_AS(run_case("Compress 2x2 bool:{0,1,1} axis=0"), ShapeError);
}

TEST_CASE("a list that only running tells leaves the shape open, a scalar's too") {
  // For each, some lists of that length make a scalar, and others do not, or are wrong.
  const std::string lines[] = {"Squeeze 1x1 int64:2",
                               "ReduceSum 2x3 int64:2 keepdims=0",
                               "ReduceMax 2x3 int64:2 keepdims=0",
                               "ReduceSum scalar int64:1 noop_with_empty_axes=1",
                               "Slice scalar int64:1 int64:1",
                               "Pad scalar int64:2",
                               "Tile scalar int64:1",
                               "Reshape 1 int64:1",
                               "Unsqueeze scalar int64:1",
                               "Expand scalar int64:1",
                               "ConstantOfShape int64:1"};
  for (const std::string& line : lines) {
    INFO(line);
    const OperatorCase one = parse_case(line);
    const auto op = framework("reference").part<OperatorRegistry>().make(one.node);
    std::vector<ValueDesc> inputs;
    for (const Value& value : one.inputs) inputs.push_back(value.desc());
    CHECK_FALSE(op->infer(InferContext(one.node, inputs, {}))[0].is_static());
  }
}

TEST_CASE("an axis that is given twice is refused") {
  for (const std::string line :
       {"Squeeze 1x1 int64:{0,0}", "Unsqueeze 3 int64:{0,-3}", "ReduceSum 2x3 int64:{0,-2}",
        "ReduceProd@13 2x3 axes=1x1", "Slice 2x3 int64:{0,0} int64:{1,1} int64:{1,-1}",
        "Pad 2x3 int64:{1,1,1,1} - int64:{0,0}"}) {
    INFO(line);
    CHECK_THROWS_AS(run_case(line), ValueError);
    CHECK_THROWS_WITH(run_case(line), Catch::Contains("twice"));
  }
}

TEST_CASE("a list without elements is known before it is computed") {
  const OperatorCase reshape = parse_case("Reshape 1 int64:0");
  const auto op = framework("reference").part<OperatorRegistry>().make(reshape.node);
  const auto infer = [&](const Shape& x) {
    const std::vector<ValueDesc> inputs{TensorDesc{DType::float32, x},
                                        TensorDesc{DType::int64, {0}}};
    return op->infer(InferContext(reshape.node, inputs, {}))[0].tensor.shape;
  };
  CHECK(infer({1, 1}) == Shape{});
  CHECK_THROWS_AS(infer({6}), ShapeError);
}
