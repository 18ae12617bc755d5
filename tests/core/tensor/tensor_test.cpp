// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/tensor.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"

using namespace d5;

TEST_CASE("a tensor holds what it was made of") {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(x.dtype() == DType::float32);
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.elements() == 6);
  CHECK(x.bytes() == 24);
  CHECK(x.data<float>()[5] == 6);
  CHECK(reinterpret_cast<std::uintptr_t>(x.raw()) % 64 == 0);
  CHECK(to_string(x) == "float32 2x3 [1, 2, 3, 4, 5, 6]");
}

TEST_CASE("the wrong element type or number of values is an error") {
  const Tensor x = Tensor::of<float>({2}, {1, 2});
  CHECK_THROWS_WITH(x.data<double>(), "tensor is float32 2, but float64 was asked for");
  CHECK_THROWS_AS(x.data<double>(), TypeError);
  CHECK_THROWS_AS(x.item<float>(), ShapeError);
  CHECK_THROWS_AS(Tensor::of<float>({3}, {1, 2}), ShapeError);
  CHECK(Tensor::scalar<std::int64_t>(7).item<std::int64_t>() == 7);
}

TEST_CASE("copies of the handle, reshapes and slices share storage; copy does not") {
  Tensor x = Tensor::of<std::int32_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor row = x.slice(1, 2);
  Tensor flat = x.reshaped({6});
  Tensor own = x.copy();
  CHECK(row.shape() == Shape{1, 2});
  row.data<std::int32_t>()[0] = 30;
  CHECK(flat.data<std::int32_t>()[2] == 30);
  CHECK(own.data<std::int32_t>()[2] == 3);
  CHECK(row.shares_storage_with(x));
  CHECK_FALSE(own.shares_storage_with(x));
  CHECK_THROWS_AS(x.reshaped({5}), ShapeError);
  CHECK_THROWS_AS(x.slice(2, 4), ValueError);
  CHECK_THROWS_AS(x.slice(2, 1), ValueError);
  CHECK_THROWS_AS(Tensor::scalar(1.0f).slice(0, 0), ValueError);
  CHECK(x.slice(3, 3).elements() == 0);
}

TEST_CASE("a view keeps its storage alive and stays inside it") {
  Tensor view;
  {
    const Tensor block = Tensor::zeros(DType::uint8, {64});
    view = block.view(16, {DType::float32, {4}});
    CHECK_THROWS_AS(block.view(52, TensorDesc{DType::float32, {4}}), ShapeError);
    CHECK_THROWS_AS(block.view(SIZE_MAX, TensorDesc{DType::float32, {4}}), ShapeError);
    CHECK_THROWS_AS(block.view(2, TensorDesc{DType::float32, {4}}), ValueError);
    CHECK_THROWS_AS(block.view(0, TensorDesc{DType::string, {1}}), TypeError);
  }
  CHECK(view.data<float>()[3] == 0.0f);
}

TEST_CASE("copying into a tensor asks for the same type and shape") {
  Tensor x = Tensor::zeros(DType::float32, {2, 2});
  x.copy_from(Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  CHECK(x.data<float>()[3] == 4);
  CHECK_THROWS_AS(x.copy_from(Tensor::zeros(DType::float32, {4})), ShapeError);
  CHECK_THROWS_AS(x.copy_from(Tensor::zeros(DType::float64, {2, 2})), TypeError);
}

TEST_CASE("strings are elements like others, and printed escaped") {
  const Tensor x = Tensor::of<std::string>({2}, {"a", "b\x1b"});
  const Tensor y = x.copy();
  CHECK(y.data<std::string>()[1] == "b\x1b");
  CHECK(to_string(y) == "string 2 ['a', 'b\\x1b']");
  CHECK(y.slice(1, 2).data<std::string>()[0] == "b\x1b");
}

TEST_CASE("an empty tensor has no elements, and can be copied and reshaped") {
  const Tensor x = Tensor::zeros(DType::float32, {0, 3});
  CHECK(x.elements() == 0);
  CHECK(x.copy().shape() == Shape{0, 3});
  CHECK(x.reshaped({3, 0}).elements() == 0);
  CHECK(to_string(x) == "float32 0x3 []");
  CHECK_FALSE(Tensor().defined());
  CHECK_FALSE(Tensor().copy().defined());
}

TEST_CASE("an allocation above the memory budget is refused before it is made") {
  const std::size_t before = memory_budget();
  set_memory_budget(1000);
  CHECK_THROWS_AS(Tensor::empty(DType::float32, {251}), MemoryError);
  CHECK_NOTHROW(Tensor::empty(DType::float32, {250}));
  set_memory_budget(before);
  CHECK_THROWS_AS(Tensor::empty(DType::float64, {std::int64_t{1} << 61}), ShapeError);
  CHECK_THROWS_AS(Tensor::empty(DType::float32, {std::int64_t{1} << 50}), MemoryError);
  CHECK_THROWS_AS(Tensor::empty(DType::float32, {-1}), ShapeError);
}

TEST_CASE("the sizes beside a zero are bounded as those of a tensor that is not empty") {
  CHECK_NOTHROW(Tensor::empty(DType::float32, {0, 3, 224, 224}));
  CHECK_THROWS_WITH(
      Tensor::empty(DType::float32, {std::int64_t{1} << 50, 4, 0}),
      Catch::StartsWith("float32 1125899906842624x4x0 is empty, but its other sizes make "
                        "18014398509481984 bytes, above the memory budget of "));
}

TEST_CASE("memory of somebody else's is used in place and released through its owner") {
  float data[2] = {1, 2};
  auto owner = std::make_shared<int>(0);
  {
    Tensor x = Tensor::borrow({DType::float32, {2}}, data, owner);
    x.data<float>()[1] = 5;
    CHECK(owner.use_count() == 2);
  }
  CHECK(data[1] == 5);
  CHECK(owner.use_count() == 1);
}

TEST_CASE("tensors cut from an arena lie in its one block") {
  const Arena arena(100);
  CHECK(arena.bytes() == 128);
  Tensor a = arena.at(0, {DType::float32, {8}});
  const Tensor b = arena.at(64, {DType::float64, {8}});
  CHECK(a.shares_storage_with(b));
  CHECK(b.data<double>()[7] == 0.0);
  CHECK_THROWS_AS(arena.at(128, {DType::float32, {1}}), ShapeError);
  CHECK_THROWS_AS(arena.at(0, {DType::string, {1}}), TypeError);
  CHECK(Arena::aligned(0) == 0);
  CHECK(Arena::aligned(65) == 128);
}
