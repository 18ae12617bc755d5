// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/dlpack.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

/// A DLPack tensor of another library: floats, with strides as wanted, that counts its deletion.
struct Foreign {
  std::vector<float> data = {0, 1, 2, 3, 4, 5};
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;
  D5DLManagedTensor managed{};

  Foreign(std::vector<std::int64_t> the_shape, std::vector<std::int64_t> the_strides)
      : shape(std::move(the_shape)), strides(std::move(the_strides)) {
    managed.dl_tensor = {data.data(),
                         {1, 0},
                         std::int32_t(shape.size()),
                         {2, 32, 1},
                         shape.data(),
                         strides.empty() ? nullptr : strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](D5DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
};

}  // namespace

TEST_CASE("a tensor goes out and comes back without a copy, for every type that DLPack has") {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = DType(i);
    if (dtype == DType::string || bits_of(dtype) < 8) {
      CHECK_THROWS_AS(to_dlpack(Tensor::empty(dtype, {2})), Unsupported);
      continue;
    }
    INFO(name_of(dtype));
    const Tensor before = Tensor::zeros(dtype, {2, 3});
    const Tensor after = from_dlpack(to_dlpack(before));
    CHECK(after.desc() == before.desc());
    CHECK(after.raw() == before.raw());
  }
}

TEST_CASE("the structure is as DLPack's specification says") {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  D5DLManagedTensor* managed = to_dlpack(x.slice(1, 2));
  CHECK(managed->dl_tensor.device.device_type == 1);
  CHECK(managed->dl_tensor.ndim == 2);
  CHECK(managed->dl_tensor.dtype.code == 2);
  CHECK(managed->dl_tensor.dtype.bits == 32);
  CHECK(managed->dl_tensor.dtype.lanes == 1);
  CHECK(managed->dl_tensor.shape[0] == 1);
  CHECK(managed->dl_tensor.strides[0] == 3);
  CHECK(static_cast<const float*>(managed->dl_tensor.data)[0] == 4);
  managed->deleter(managed);
}

TEST_CASE("storage lives as long as the other library holds it, and the other way round") {
  D5DLManagedTensor* managed = nullptr;
  {
    const Tensor x = Tensor::of<float>({1}, {7});
    managed = to_dlpack(x);
  }
  CHECK(static_cast<const float*>(managed->dl_tensor.data)[0] == 7);
  managed->deleter(managed);

  Foreign foreign({2, 3}, {3, 1});
  {
    const Tensor x = from_dlpack(&foreign.managed);
    const Tensor row = x.slice(1, 2);
    CHECK(row.data<float>() == foreign.data.data() + 3);
    CHECK(foreign.deleted == 0);
  }
  CHECK(foreign.deleted == 1);
}

TEST_CASE("strides that describe a dense array are accepted, even odd ones") {
  Foreign none({2, 3}, {}), one_row({1, 6}, {999, 1}), empty({0, 3}, {7, 7}), scalar({}, {});
  CHECK(from_dlpack(&none.managed).shape() == Shape{2, 3});
  CHECK(from_dlpack(&one_row.managed).shape() == Shape{1, 6});
  CHECK(from_dlpack(&empty.managed).elements() == 0);
  CHECK(from_dlpack(&scalar.managed).item<float>() == 0);
}

TEST_CASE("an offset in bytes is added") {
  Foreign foreign({2}, {1});
  foreign.managed.dl_tensor.byte_offset = 8;
  CHECK(from_dlpack(&foreign.managed).data<float>()[0] == 2);
}

TEST_CASE("a tensor that d5 cannot hold is refused and left to its owner") {
  const auto refuse = [](auto change, auto error_matches) {
    Foreign foreign({2, 3}, {3, 1});
    change(foreign.managed.dl_tensor);
    CHECK_THROWS_WITH(from_dlpack(&foreign.managed), Catch::Contains(error_matches));
    CHECK(foreign.deleted == 0);
  };
  refuse([](auto& t) { t.strides[0] = 1, t.strides[1] = 2; }, "is strided");
  refuse([](auto& t) { t.dtype.lanes = 4; }, "has no d5 type");
  refuse([](auto& t) { t.dtype.code = 99; }, "has no d5 type");
  refuse([](auto& t) { t.device.device_type = 12; }, "unknown to d5");
  refuse([](auto& t) { t.byte_offset = 1; }, "not aligned");
  refuse([](auto& t) { t.shape[0] = -1; }, "no number of elements");
  refuse([](auto& t) { t.ndim = -1; }, "has no shape");
  refuse([](auto& t) { t.data = nullptr; }, "has no data");
}

TEST_CASE("version 1 says what holds of the memory, and is refused as another version") {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  D5DLManagedTensorVersioned* managed = to_versioned_dlpack(x, kDlpackReadOnly);
  CHECK(managed->version.major == 1);
  CHECK(managed->flags == 1);  // DLPACK_FLAG_BITMASK_READ_ONLY
  CHECK(managed->dl_tensor.ndim == 2);
  managed->version.major = 2;
  CHECK_THROWS_AS(from_dlpack(managed), Unsupported);
  managed->version.major = 1;
  CHECK(from_dlpack(managed).raw() == x.raw());
}
