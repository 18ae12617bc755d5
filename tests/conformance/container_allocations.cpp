// SPDX-License-Identifier: Apache-2.0
// Reading samples of fixed shapes from a container allocates nothing once each was read.
#include <cstdio>
#include <string>
#include <vector>

#include "conformance/heap_watch.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "temporary_folder.hpp"

namespace {

d5::TensorDataset samples() {
  const std::vector<std::string> texts{"a", std::string(1000, 'b'), std::string(50, 'c')};
  return {"samples",
          {{"image", d5::Tensor::zeros(d5::DType::uint8, {3, 4, 5})},
           {"wave", d5::Tensor::zeros(d5::DType::float32, {3, 7})},
           {"label", d5::Tensor::vector<std::int64_t>({1, 2, 3})},
           {"text", d5::Tensor::vector(texts)}}};
}

/// The number of allocations in a warm epoch.
std::size_t allocations(const std::string& container) {
  const d5::testing::TemporaryFolder folder;
  const auto format = d5::containers().at(container).make();
  const std::string path = folder / ("a." + format->extension());
  d5::convert(samples(), container, path, {.shards = 2});
  const auto data = d5::open_container(container, path);
  std::vector<d5::Tensor> batch = d5::empty_batch(*data, 1);
  const auto epoch = [&] {
    for (std::int64_t i = 0; i < data->size(); ++i) data->read(std::span(&i, 1), {}, batch);
  };
  epoch();
  d5::conformance::HeapWatch heap;
  epoch();
  heap.stop();
  if (heap.count() > 0) std::printf("%s: %s\n", container.c_str(), heap.first().c_str());
  return heap.count();
}

}  // namespace

int main() {
  std::size_t found = 0;
  for (const char* container : {"raw", "npz", "tar", "tfrecord"}) found += allocations(container);
  std::printf("%zu allocations\n", found);
  return found == 0 ? 0 : 1;
}
