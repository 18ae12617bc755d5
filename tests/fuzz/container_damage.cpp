// SPDX-License-Identifier: Apache-2.0
#include "fuzz/container_damage.hpp"

#include <map>

#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "fuzz/mutation.hpp"
#include "level2_training/mixed_samples.hpp"
#include "temporary_folder.hpp"

namespace d5::fuzz {
namespace {

const std::string& sound(const std::string& container) {
  static std::map<std::string, std::string> files;
  std::string& bytes = files[container];
  if (!bytes.empty()) return bytes;
  const testing::TemporaryFolder folder;
  const std::string path = folder / ("a." + containers().at(container).make()->extension());
  if (container == "npy") {
    convert(TensorDataset("x", {{"data", Tensor::zeros(DType::float32, {3, 2})}}), container, path);
  } else {
    convert(test::MixedSamples(4), container, path);
  }
  return bytes = read_file(path);
}

}  // namespace

std::string damaged_container(const std::string& container, RandomStream& random) {
  const std::string& bytes = sound(container);
  switch (random.below(4)) {
    case 0:
      return with_flipped_bit(bytes, random);
    case 1:
      return with_other_number(bytes, random);
    case 2:
      return bytes.substr(0, random.below(bytes.size()));
    default:
      return with_damage(bytes, random);
  }
}

void read_container(const std::string& container, const std::string& bytes) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file(path, bytes);
  const auto data = containers().at(container).make()->open({path}, {});
  std::vector<Tensor> sample = empty_batch(*data, 1);
  for (std::int64_t i = 0; i < data->size(); ++i) {
    data->read(std::span(&i, 1), {}, sample);
    (void)data->sample_name(i);
  }
}

}  // namespace d5::fuzz
