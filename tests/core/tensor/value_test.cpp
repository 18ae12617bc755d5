// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/value.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

TEST_CASE("a value knows what it is") {
  const Value tensor = Tensor::of<float>({2}, {1, 2});
  const Value sequence = Sequence{TensorDesc{DType::int64, {kUnknownDim}}, {tensor}};
  const Value none = Optional{TensorDesc{DType::float32, {}}, nullptr};
  const Value values = Sequence{tensor.desc(), {tensor}};
  const Value map = Map{std::vector<std::string>{"a"}, std::make_shared<const Value>(values)};
  CHECK(Value().kind() == ValueKind::none);
  CHECK(tensor.kind() == ValueKind::tensor);
  CHECK(sequence.kind() == ValueKind::sequence);
  CHECK(none.kind() == ValueKind::optional);
  CHECK(map.kind() == ValueKind::map);
  CHECK(to_string(tensor.desc()) == "float32 2");
  CHECK(to_string(sequence.desc()) == "sequence of int64 ?");
  CHECK(to_string(none.desc()) == "optional of float32 scalar");
  CHECK(to_string(map.desc()) == "map of float32 2");
  CHECK(map.desc().tensor.dtype == DType::string);
}

TEST_CASE("asking for another kind is an error that says both") {
  Value value = Tensor::scalar(1.0f);
  CHECK(value.tensor().item<float>() == 1.0f);
  CHECK_THROWS_WITH(value.sequence(), "value is float32 scalar, but a sequence was asked for");
  CHECK_THROWS_AS(Value().tensor(), TypeError);
  CHECK_THROWS_AS(value.optional(), TypeError);
  CHECK_THROWS_AS(value.map(), TypeError);
}

TEST_CASE("a sequence is changed in place, its tensors are shared") {
  Value value = Sequence{TensorDesc{DType::float32, {1}}, {}};
  value.sequence().values.push_back(Tensor::of<float>({1}, {3}));
  const Value copy = value;
  CHECK(copy.sequence().values.at(0).tensor().shares_storage_with(
      value.sequence().values.at(0).tensor()));
}

TEST_CASE("only a tensor with known sizes is static") {
  CHECK(ValueDesc(TensorDesc{DType::float32, {2}}).is_static());
  CHECK_FALSE(ValueDesc(TensorDesc{DType::float32, {kUnknownDim}}).is_static());
  CHECK_FALSE(ValueDesc::sequence_of(TensorDesc{DType::float32, {2}}).is_static());
}
