// SPDX-License-Identifier: Apache-2.0
// Read rate of containers with a hot page cache: 64 MiB of samples of the size of an ImageNet JPEG
// (110 kB), and of a CIFAR image (3 kB), in order, each into the same memory. Compared with `cat`:
// the file through a buffer. Ratios are of the times for the same samples.
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "tests/temporary_folder.hpp"

namespace {

constexpr std::int64_t kBytes = std::int64_t{64} << 20;

/// Samples of `bytes` random bytes each, with a label.
d5::TensorDataset samples_of(std::int64_t bytes) {
  const std::int64_t samples = kBytes / bytes;
  d5::Tensor data = d5::Tensor::empty(d5::DType::uint8, {samples, bytes});
  d5::RandomStream random(1);
  for (auto& byte : data.span<std::uint8_t>()) byte = std::uint8_t(random.bits());
  return {"random", {{"data", data}, {"label", d5::Tensor::zeros(d5::DType::int64, {samples})}}};
}

d5::Subject reading_samples(const std::string& container, const std::string& path) {
  const auto data = d5::open_container(container, path);
  const auto batch = std::make_shared<std::vector<d5::Tensor>>(d5::empty_batch(*data, 1));
  return {.run = [=] {
    for (std::int64_t i = 0; i < data->size(); ++i) data->read(std::span(&i, 1), {}, *batch);
  }};
}

d5::Subject reading_file(const std::string& path) {
  const auto buffer = std::make_shared<std::vector<char>>(std::size_t{128} << 10);
  return {.run = [=] {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (::read(file, buffer->data(), buffer->size()) > 0) {
    }
    ::close(file);
  }};
}

}  // namespace

int main(int argc, char** argv) {
  const d5::testing::TemporaryFolder folder;
  for (const std::int64_t bytes : {3'072, 110'000}) {
    std::vector<d5::benchmarks::Peer> peers;
    const d5::TensorDataset samples = samples_of(bytes);
    for (const char* container : {"raw", "npz", "tar", "tfrecord"}) {
      const auto format = d5::containers().at(container).make();
      const std::string path =
          folder / (std::to_string(bytes) + container + "." + format->extension());
      d5::convert(samples, container, path);
      if (peers.empty()) peers.push_back({"cat", [=] { return reading_file(path); }});
      peers.push_back({container, [=] { return reading_samples(container, path); }});
    }
    d5::benchmarks::add("samples_of_" + std::to_string(bytes) + "_bytes", peers);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
