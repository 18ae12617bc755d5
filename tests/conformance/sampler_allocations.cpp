// SPDX-License-Identifier: Apache-2.0
// Fails where a sampler allocates memory for a batch once it gave batches of the same shapes, with
// and without threads that read ahead.
#include <fmt/format.h>

#include <memory>

#include "conformance/heap_watch.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"

namespace {

using namespace d5;

/// Rows that might differ in length, and do not.
class Rows final : public Dataset {
 public:
  [[nodiscard]] std::string name() const override { return "rows"; }
  [[nodiscard]] std::int64_t size() const override { return 100; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    if (!batch[0].defined()) batch[0] = Tensor::empty(DType::float32, {1, 5});
    for (float& value : batch[0].span<float>()) value = float(indices[0]);
    batch[1].span<std::int64_t>()[0] = indices[0] % 4;
  }

 private:
  std::vector<Field> fields_{{"row", {DType::float32, {kUnknownDim}}},
                             {"label", {DType::int64, {}}}};
};

std::shared_ptr<const Dataset> images() {
  std::vector<std::int64_t> labels(100);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = std::int64_t(i % 4);
  return std::make_shared<TensorDataset>(
      "images", std::vector<std::pair<std::string, Tensor>>{
                    {"image", Tensor::zeros(DType::float32, {100, 3, 4, 4})},
                    {"label", Tensor::vector(labels)}});
}

void go_through(Sampler& sampler) {
  while (sampler.next()) {
  }
}

/// The first allocation of an epoch's batches; empty if there is none. An epoch's first batch comes
/// with its order.
std::string allocation(Sampler& sampler) {
  for (const std::int64_t epoch : {0, 1, 2}) {
    sampler.reset(epoch);
    go_through(sampler);
  }
  sampler.reset(1);
  (void)sampler.next();
  conformance::HeapWatch heap;
  go_through(sampler);
  heap.stop();
  return heap.count() > 0 ? heap.first() : "";
}

}  // namespace

int main() {
  int bad = 0, watched = 0;
  for (const auto& data : {images(), std::shared_ptr<const Dataset>(std::make_shared<Rows>())}) {
    for (const auto& [name, entry] : samplers().entries()) {
      for (const int threads : {0, 1, 3}) {
        const auto sampler = entry.make(data, {{"batch_size", 8}});
        sampler->read_ahead(threads);
        const std::string where = allocation(*sampler);
        ++watched;
        if (where.empty()) continue;
        ++bad;
        fmt::print("{} over {} with {} threads allocates: {}\n", name, data->name(), threads,
                   where);
      }
    }
  }
  fmt::print("{} samplers watched, {} allocate\n", watched, bad);
  return bad > 0 || watched == 0 ? 1 : 0;
}
