// SPDX-License-Identifier: Apache-2.0
// Damaged files of CIFAR, and damaged archives of them: read whole, or refused.
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "tar_member.hpp"
#include "temporary_folder.hpp"

namespace d5::fuzz {
namespace {

std::string record(char group, char label) {
  return std::string{group, label} + std::string(std::size_t{3} * 32 * 32, '\x33');
}

const std::string& sound() {
  static const std::string file = record(1, 99) + record(19, 0);
  return file;
}

const std::string& archive() {
  static const std::string file = testing::tar_member("train.bin", sound()) +
                                  testing::tar_member("test.bin", sound()) +
                                  std::string(1024, '\0');
  return file;
}

std::string damaged(const std::string& file, RandomStream& random) {
  switch (random.below(3)) {
    case 0:
      return with_flipped_bit(file, random);
    case 1:
      return file.substr(0, std::size_t(random.below(file.size())));
    default:
      return with_damage(file, random);
  }
}

}  // namespace

std::string name() { return "cifar"; }

void prepare() {}

/// The first letter says whether it is the archive.
std::string make_case(RandomStream& random) {
  return one_in(random, 2) ? "a" + damaged(archive(), random) : "f" + damaged(sound(), random);
}

std::string run_case(const std::string& bytes) {
  const testing::TemporaryFolder folder;
  const std::string file = bytes.empty() ? bytes : bytes.substr(1);
  if (bytes.starts_with('a')) {
    write_file(folder / "cifar-100-binary.tar.gz", file);
  } else {
    write_file(folder / "train.bin", file);
    write_file(folder / "test.bin", sound());
  }
  const auto train = open_dataset("cifar-100", {{"data", folder.path().string()}}).train;
  for (const std::int64_t label : train->labels("label")) {
    if (label < 0 || label > 99) return "a label is " + std::to_string(label);
  }
  std::vector<Tensor> batch = empty_batch(*train, 1);
  for (std::int64_t i = 0; i < train->size(); ++i) train->read(std::span(&i, 1), {}, batch);
  return {};
}

}  // namespace d5::fuzz
