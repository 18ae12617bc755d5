// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <memory>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sampler.hpp"

using namespace d5;

namespace {

/// Given samples of one field, whose shapes differ.
class Ragged final : public Dataset {
 public:
  Ragged(TensorDesc desc, std::vector<Tensor> samples)
      : fields_{{"it", std::move(desc)}}, samples_(std::move(samples)) {}
  std::string name() const override { return "ragged"; }
  std::int64_t size() const override { return std::int64_t(samples_.size()); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    REQUIRE(indices.size() == 1);
    const Tensor& sample = samples_[std::size_t(indices[0])];
    Shape shape{1};
    for (const std::int64_t dim : sample.shape()) shape.push_back(dim);
    batch[0] = sample.reshaped(shape);
  }
  void add_field(Field field) { fields_.push_back(std::move(field)); }

 private:
  std::vector<Field> fields_;
  std::vector<Tensor> samples_;
};

template <class T>
std::vector<T> elements(const Batch& batch, const std::string& field) {
  const auto values = batch.values.at(field).tensor().span<T>();
  return {values.begin(), values.end()};
}

std::shared_ptr<Sampler> in_order(std::shared_ptr<const Dataset> data, std::int64_t batch_size,
                                  double pad = 0) {
  return samplers().at("ordered").make(std::move(data), {{"batch_size", batch_size}, {"pad", pad}});
}

}  // namespace

TEST_CASE("rows are padded to the batch's longest, and their lengths are said") {
  const auto rows = std::make_shared<Ragged>(
      TensorDesc{DType::float32, {kUnknownDim}},
      std::vector{Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({3}, {3, 4, 5}),
                  Tensor::of<float>({0}, std::initializer_list<float>{}),
                  Tensor::of<float>({1}, {6})});
  const auto sampler = in_order(rows, 3, -1.5);
  const Batch* batch = sampler->next();
  CHECK(batch->values.at("it").tensor().shape() == Shape{3, 3});
  CHECK(elements<float>(*batch, "it") == std::vector<float>{1, 2, -1.5, 3, 4, 5, -1.5, -1.5, -1.5});
  CHECK(elements<std::int64_t>(*batch, "it.length") == std::vector<std::int64_t>{2, 3, 0});
  batch = sampler->next();
  CHECK(batch->values.at("it").tensor().shape() == Shape{1, 1});
  CHECK(elements<std::int64_t>(*batch, "it.length") == std::vector<std::int64_t>{1});
  // A smaller batch left nothing behind.
  sampler->reset(1);
  CHECK(elements<float>(*sampler->next(), "it") ==
        std::vector<float>{1, 2, -1.5, 3, 4, 5, -1.5, -1.5, -1.5});
}

TEST_CASE("every open dimension is padded, also around known ones") {
  const auto blocks =
      std::make_shared<Ragged>(TensorDesc{DType::int64, {kUnknownDim, 2, kUnknownDim}},
                               std::vector{Tensor::of<std::int64_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                                           Tensor::of<std::int64_t>({2, 2, 1}, {7, 8, 9, 10})});
  const auto sampler = in_order(blocks, 2);
  const Batch* batch = sampler->next();
  CHECK(batch->values.at("it").tensor().shape() == Shape{2, 2, 2, 3});
  CHECK(elements<std::int64_t>(*batch, "it") ==
        std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 0, 0, 0, 0,  0, 0,  //
                                  7, 0, 0, 8, 0, 0, 9, 0, 0, 10, 0, 0});
  CHECK(batch->values.at("it.length").tensor().shape() == Shape{2, 2});
  CHECK(elements<std::int64_t>(*batch, "it.length") == std::vector<std::int64_t>{1, 3, 2, 1});
}

TEST_CASE("lists of texts are padded with empty ones") {
  const auto texts =
      std::make_shared<Ragged>(TensorDesc{DType::string, {kUnknownDim}},
                               std::vector{Tensor::of<std::string>({1}, {"one"}),
                                           Tensor::of<std::string>({2}, {"two", "three"})});
  const auto sampler = in_order(texts, 2);
  CHECK(elements<std::string>(*sampler->next(), "it") ==
        std::vector<std::string>{"one", "", "two", "three"});
}

TEST_CASE("padding that the type cannot hold, and names that are taken, are refused") {
  const auto bytes = [](double pad) {
    return in_order(std::make_shared<Ragged>(TensorDesc{DType::uint8, {kUnknownDim}},
                                             std::vector{Tensor::of<std::uint8_t>({1}, {7})}),
                    1, pad);
  };
  CHECK(elements<std::uint8_t>(*bytes(255)->next(), "it") == std::vector<std::uint8_t>{7});
  for (const double pad : {-1.0, 256.0, 0.5}) CHECK_THROWS_AS(bytes(pad)->next(), ValueError);

  const auto taken = std::make_shared<Ragged>(TensorDesc{DType::uint8, {kUnknownDim}},
                                              std::vector{Tensor::of<std::uint8_t>({1}, {7})});
  taken->add_field({"it.length", {DType::int64, {}}});
  CHECK_THROWS_WITH(in_order(taken, 1), Catch::Contains("it.length"));
}

TEST_CASE("a data set that reads another shape than its field has is found") {
  const auto wrong = std::make_shared<Ragged>(TensorDesc{DType::float32, {kUnknownDim, 2}},
                                              std::vector{Tensor::of<float>({1, 3}, {1, 2, 3})});
  const auto sampler = in_order(wrong, 1);
  CHECK_THROWS_AS(sampler->next(), ContractError);
}
