// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

TEST_CASE("LabelEncoder of opset 1 turns texts into places, and places into texts") {
  const std::string line = "ai.onnx.ml.LabelEncoder@1 ";
  CHECK(result_of<std::int64_t>(line + "string:{b,x,a} classes_strings=a,b default_int64=-5") ==
        Integers{1, -5, 0});
  CHECK(result_of<std::string>(line + "int64:{1,2,-1} classes_strings=a,b default_string=?") ==
        Texts{"b", "?", "?"});
}

TEST_CASE("LabelEncoder finds each element in its keys") {
  CHECK(result_of<float>("ai.onnx.ml.LabelEncoder string:{b,c} keys_strings=a,b values_floats=1x2 "
                         "default_float=0.5") == std::vector<float>{2, 0.5});
  CHECK(result_of<std::string>("ai.onnx.ml.LabelEncoder int64:2x1{3,4} keys_int64s=3 "
                               "values_strings=x") == Texts{"x", "_Unused"});
  CHECK(shape_of("ai.onnx.ml.LabelEncoder int64:0x2 keys_int64s=3 values_strings=x") == "0x2");
}

TEST_CASE("LabelEncoder takes all NaN for one key, and both zeros") {
  CHECK(result_of<std::int64_t>("ai.onnx.ml.LabelEncoder {nan,-0,-nan} keys_floats=nanx0 "
                                "values_int64s=1x2") == Integers{1, 2, 1});
}

TEST_CASE("the last of a repeated key counts from opset 4 on, the first before") {
  const std::string rest = " int64:{1} keys_int64s=1x1 values_int64s=5x6";
  CHECK(result_of<std::int64_t>("ai.onnx.ml.LabelEncoder@2" + rest) == Integers{5});
  CHECK(result_of<std::int64_t>("ai.onnx.ml.LabelEncoder@4" + rest) == Integers{6});
}

TEST_CASE("LabelEncoder refuses malformed tables") {
  const std::string line = "ai.onnx.ml.LabelEncoder int64:{1} ";
  CHECK_THROWS_AS(run_case(line + "keys_int64s=1x2 values_int64s=5"), ValueError);
  CHECK_THROWS_AS(run_case(line + "keys_int64s=1 keys_floats=1.5 values_int64s=5"), ValueError);
  CHECK_THROWS_AS(run_case(line + "values_int64s=5"), ValueError);
  CHECK_THROWS_AS(run_case(line + "keys_strings=a values_int64s=5"), TypeError);
}

TEST_CASE("CategoryMapper turns texts into integers, and integers into texts") {
  const std::string table = " cats_strings=a,b cats_int64s=7x9 default_int64=-5 default_string=?";
  CHECK(result_of<std::int64_t>("ai.onnx.ml.CategoryMapper string:{b,x}" + table) ==
        Integers{9, -5});
  CHECK(result_of<std::string>("ai.onnx.ml.CategoryMapper int64:{7,8}" + table) == Texts{"a", "?"});
  CHECK_THROWS_AS(run_case("ai.onnx.ml.CategoryMapper int64:{7} cats_strings=a cats_int64s=7x9"),
                  ValueError);
}
