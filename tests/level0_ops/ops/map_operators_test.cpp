// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Words = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

namespace {

template <class Key, class V>
Map map_of(std::vector<Key> keys, const std::vector<V>& values) {
  Sequence sequence{TensorDesc{dtype_of<V>, Shape{}}, {}};
  for (const V& value : values) sequence.values.emplace_back(Tensor::scalar(value));
  return {std::move(keys), std::make_shared<const Value>(std::move(sequence))};
}

/// The case's operator on `map` in place of its input.
OperatorRunner run_on(const Map& map, const std::string& line) {
  OperatorCase op_case = parse_case(line);
  op_case.inputs.at(0) = map;
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), op_case.node,
                        op_case.inputs, Mode::inference, Guard::on);
  runner.forward();
  return runner;
}
template <class T>
std::vector<T> row(const Map& map, const std::string& line) {
  const OperatorRunner runner = run_on(map, line);
  CHECK(runner.output(0).tensor().shape().rank() == 2);
  const auto y = runner.output(0).tensor().span<T>();
  return {y.begin(), y.end()};
}

}  // namespace

TEST_CASE("DictVectorizer puts values at the places of their keys") {
  const Map map = map_of<std::string, float>({"c", "?", "a"}, {8, 9, 4});
  const std::string line = "ai.onnx.ml.DictVectorizer scalar string_vocabulary=a,c,b,z";
  CHECK(row<float>(map, line) == std::vector<float>{4, 8, 0, 0});
  CHECK(row<std::string>(map_of<std::int64_t, std::string>({3}, {"x"}),
                         "ai.onnx.ml.DictVectorizer scalar int64_vocabulary=1x3") ==
        Words{"", "x"});
  CHECK(row<double>(map_of<std::string, double>({}, {}), line) == std::vector<double>(4));
  CHECK_THROWS_AS(run_on(map_of<std::int64_t, float>({3}, {1}), line), TypeError);
  CHECK_THROWS_AS(run_case(line), TypeError);
  CHECK_THROWS_AS(run_on(map, "ai.onnx.ml.DictVectorizer scalar"), ValueError);
}

TEST_CASE("CastMap lines values up in the order of their keys") {
  const Map map = map_of<std::int64_t, float>({3, -1, 0}, {8.7f, -4.7f, 2});
  const std::string line = "ai.onnx.ml.CastMap scalar cast_to=";
  CHECK(row<float>(map, line + "TO_FLOAT") == std::vector<float>{-4.7f, 2, 8.7f});
  CHECK(row<std::int64_t>(map, line + "TO_INT64") == Numbers{-4, 2, 8});
  CHECK(row<std::string>(map, line + "TO_STRING") == Words{"-4.7", "2.0", "8.7"});
  CHECK(row<float>(map_of<std::int64_t, std::string>({1}, {"-2.5"}), line + "TO_FLOAT") ==
        std::vector<float>{-2.5});
}

TEST_CASE("CastMap puts values at their keys where that is wanted") {
  const Map map = map_of<std::int64_t, float>({3, 1}, {8, 4});
  const std::string line = "ai.onnx.ml.CastMap scalar map_form=SPARSE max_map=";
  CHECK(row<float>(map, line + "5") == std::vector<float>{0, 4, 0, 8, 0});
  CHECK_THROWS_AS(run_on(map, line + "3"), ValueError);
  CHECK_THROWS_AS(run_on(map_of<std::int64_t, float>({-1}, {1}), line + "3"), ValueError);
  CHECK_THROWS_AS(run_on(map, line + "0"), ValueError);
  CHECK_THROWS_AS(run_on(map, line + "9223372036854775807"), Error);
  CHECK_THROWS_AS(run_on(map, "ai.onnx.ml.CastMap scalar map_form=THIN"), ValueError);
  CHECK_THROWS_AS(run_on(map, "ai.onnx.ml.CastMap scalar cast_to=TO_BOOL"), ValueError);
  CHECK_THROWS_AS(run_on(map_of<std::string, float>({"a"}, {1}), line + "3"), TypeError);
}

TEST_CASE("values of a map that are no scalars are refused") {
  const Sequence values{TensorDesc{DType::float32, Shape{}}, {Tensor::of<float>({2}, {1, 2})}};
  const Map map{Numbers{1}, std::make_shared<const Value>(values)};
  CHECK_THROWS_AS(run_on(map, "ai.onnx.ml.CastMap scalar"), ShapeError);
}

TEST_CASE("ZipMap makes a map of each row") {
  const OperatorRunner runner = run_case("ai.onnx.ml.ZipMap 2x2{1,2,3,4} classlabels_strings=b,a");
  const Sequence& maps = runner.output(0).sequence();
  REQUIRE(maps.values.size() == 2);
  CHECK(to_string(runner.output(0).desc()) == "sequence of map of float32 scalar");
  CHECK(std::get<Words>(maps.values[1].map().keys) == Words{"b", "a"});
  const Sequence& scores = maps.values[1].map().values->sequence();
  CHECK(scores.values.at(0).tensor().item<float>() == 3);
  CHECK(scores.values.at(1).tensor().item<float>() == 4);
}

TEST_CASE("ZipMap takes one row, no rows, and refuses other numbers of columns") {
  const std::string rest = " classlabels_int64s=5x6";
  CHECK(run_case("ai.onnx.ml.ZipMap 2" + rest).output(0).sequence().values.size() == 1);
  CHECK(run_case("ai.onnx.ml.ZipMap 0x2" + rest).output(0).sequence().values.empty());
  CHECK_THROWS_AS(run_case("ai.onnx.ml.ZipMap 2x3" + rest), ShapeError);
  CHECK_THROWS_AS(run_case("ai.onnx.ml.ZipMap 2x2"), ValueError);
  CHECK_THROWS_AS(run_case("ai.onnx.ml.ZipMap 2x2 classlabels_strings=b,b"), ValueError);
  CHECK_THROWS_AS(run_case("ai.onnx.ml.ZipMap 2x2 classlabels_int64s=1x1"), ValueError);
}
