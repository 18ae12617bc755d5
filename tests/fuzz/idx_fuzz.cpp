// SPDX-License-Identifier: Apache-2.0
// Damaged IDX files: read whole, or refused.
#include <algorithm>

#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "temporary_folder.hpp"

namespace d5::fuzz {
namespace {

constexpr std::uint32_t kSamples = 3;

std::string word(std::uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

const std::string& images() {
  static const std::string file = word(0x803) + word(kSamples) + word(28) + word(28) +
                                  std::string(std::size_t{kSamples} * 28 * 28, '\x33');
  return file;
}

const std::string& labels() {
  static const std::string file = word(0x801) + word(kSamples) + std::string("\1\2\3");
  return file;
}

/// Damage, most of it in the header.
std::string damaged(const std::string& file, RandomStream& random) {
  const std::size_t header = std::min<std::size_t>(16, file.size());
  if (one_in(random, 2)) {
    return with_flipped_bit(file.substr(0, header), random) + file.substr(header);
  }
  if (one_in(random, 2)) return file.substr(0, std::size_t(random.below(file.size())));
  return with_damage(file, random);
}

}  // namespace

std::string name() { return "idx"; }

void prepare() {}

/// The first letter says which file it is.
std::string make_case(RandomStream& random) {
  return one_in(random, 2) ? "i" + damaged(images(), random) : "l" + damaged(labels(), random);
}

std::string run_case(const std::string& bytes) {
  const testing::TemporaryFolder folder;
  const std::string file = bytes.empty() ? bytes : bytes.substr(1);
  const bool is_images = bytes.starts_with('i');
  write_file(folder / "train-images-idx3-ubyte", is_images ? file : images());
  write_file(folder / "train-labels-idx1-ubyte", is_images ? labels() : file);
  write_file(folder / "t10k-images-idx3-ubyte", images());
  write_file(folder / "t10k-labels-idx1-ubyte", labels());
  const auto train = open_dataset("kmnist", {{"data", folder.path().string()}}).train;
  for (const std::int64_t label : train->labels("label")) {
    if (label < 0 || label > 9) return "a label is " + std::to_string(label);
  }
  std::vector<Tensor> batch = empty_batch(*train, 1);
  for (std::int64_t i = 0; i < train->size(); ++i) train->read(std::span(&i, 1), {}, batch);
  return train->size() == kSamples ? "" : "has another number of samples";
}

}  // namespace d5::fuzz
