// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "d5/core/tensor/small_float.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "level2_training/data/batch_check.hpp"

namespace d5::test {

/// Samples with fields of all sorts: numbers of several types, an open dimension, text, bytes; and
/// names that are hard on files.
class MixedSamples final : public Dataset {
 public:
  explicit MixedSamples(std::int64_t size) : size_(size) {}
  [[nodiscard]] std::string name() const override { return "mixed"; }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    switch (index % 4) {
      case 0:
        return "n01440764/a_" + std::to_string(index) + ".tar.JPEG";
      case 1:
        return "../x%2E y\n" + std::to_string(index);
      case 2:
        return std::string(150, 'l') + std::to_string(index);
      default:
        return std::to_string(index);
    }
  }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    detail::check_batch(*this, indices, batch);
    const std::int64_t i = indices[0];
    for (std::size_t k = 0; k < 12; ++k) batch[0].data<std::uint8_t>()[k] = std::uint8_t(i * k);
    *batch[1].data<std::int64_t>() = i % 2 == 0 ? i : -i;
    *batch[2].data<std::string>() = std::string("\0\xff\n", 3) + std::string(std::size_t(i), 'x');
    batch[3] = Tensor::empty(DType::float32, {1, i % 3, 2});
    for (auto& value : batch[3].span<float>()) value = float(i) / 3;
    batch[4] = Tensor::empty(DType::float64, {1, i % 5});
    for (auto& value : batch[4].span<double>()) value = 1.0 / double(i + 1);
    batch[5].data<bool>()[0] = i % 2 == 0;
    batch[5].data<bool>()[1] = i % 3 == 0;
    *batch[6].data<Float16>() = Float16(float(i));
    batch[7] = Tensor::empty(DType::int64, {1, i % 2});
    for (auto& value : batch[7].span<std::int64_t>()) value = -1;
  }

 private:
  std::int64_t size_;
  std::vector<Field> fields_{
      {"image", {DType::uint8, {2, 3, 2}}},      {"label", {DType::int64, {}}},
      {"text/plain.txt", {DType::string, {}}},   {"boxes", {DType::float32, {kUnknownDim, 2}}},
      {"wave", {DType::float64, {kUnknownDim}}}, {"flags", {DType::boolean, {2}}},
      {"half.npy", {DType::float16, {}}},        {"counts", {DType::int64, {kUnknownDim}}}};
};

inline bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.desc() != b.desc()) return false;
  if (a.dtype() == DType::string) {
    return std::ranges::equal(a.span<std::string>(), b.span<std::string>());
  }
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Checks that two data sets have the same fields, samples and names. Without `names`, because some
/// formats keep none.
inline void check_same(const Dataset& given, const Dataset& expected, bool names = true) {
  REQUIRE(given.size() == expected.size());
  REQUIRE(given.fields().size() == expected.fields().size());
  for (std::size_t f = 0; f < expected.fields().size(); ++f) {
    CHECK(given.fields()[f].name == expected.fields()[f].name);
    CHECK(to_string(given.fields()[f].desc) == to_string(expected.fields()[f].desc));
  }
  std::vector<Tensor> a = empty_batch(given, 1), b = empty_batch(expected, 1);
  for (std::int64_t index = 0; index < expected.size(); ++index) {
    given.read(std::span(&index, 1), {}, a);
    expected.read(std::span(&index, 1), {}, b);
    for (std::size_t f = 0; f < b.size(); ++f) {
      if (same_elements(a[f], b[f])) continue;
      CAPTURE(index, expected.fields()[f].name, to_string(a[f]), to_string(b[f]));
      FAIL("a sample differs");
    }
    if (names && given.sample_name(index) != expected.sample_name(index)) {
      CAPTURE(index, given.sample_name(index), expected.sample_name(index));
      FAIL("a name differs");
    }
  }
}

}  // namespace d5::test
