// SPDX-License-Identifier: Apache-2.0
// Checkpoints whose content is wrong and whose checksum is right: refused, or a run goes on from
// them.
#include "core/files/sha256.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level2_training/training/loss_curve.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"
#include "level2_training/points.hpp"
#include "temporary_folder.hpp"

namespace d5::fuzz {
namespace {

constexpr std::size_t kPrefix = 8;  // the header's length
constexpr std::size_t kSum = 64;    // hexadecimal digits
constexpr std::string_view kSumKey = "\"sha256\":\"";

/// Two epochs of 40 points in batches of 6, by Adam, whose state a checkpoint holds too.
struct Run {
  Run()
      : optimizer(test::points_optimizer("adam")),
        train(samplers().at("shuffle").make(test::points(40), {{"batch_size", 6}, {"seed", 5}})),
        trainer(*optimizer, *train, nullptr, TrainerOptions{.epochs = 2}) {
    trainer.events().add(std::make_shared<LossCurve>());
    trainer.events().add(std::make_shared<TrainingAccuracy>());
  }
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> train;
  Trainer trainer;
};

std::string content_of(Run& run) {
  const testing::TemporaryFolder folder;
  run.trainer.save_checkpoint(folder / "run");
  return read_file(folder / "run");
}

const std::string& sound() {
  static const std::string bytes = [] {
    Run run;
    return content_of(run);
  }();
  return bytes;
}

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += char(value >> (8 * i));
  return bytes;
}

/// A file of that header and data, with the right checksum if it has a place for one.
std::string sealed(const std::string& header, const std::string& data) {
  std::string file = little_endian(header.size()) + header + data;
  const std::size_t key = file.find(kSumKey);
  const std::size_t sum = key + kSumKey.size();
  if (key == std::string::npos || sum + kSum > file.size()) return file;
  file.replace(sum, kSum, kSum, '0');
  return file.replace(sum, kSum, d5::detail::sha256(file));
}

}  // namespace

std::string name() { return "checkpoint"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  std::size_t length = 0;
  for (std::size_t i = kPrefix; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(sound()[i]);
  }
  std::string header = sound().substr(kPrefix, length), data = sound().substr(kPrefix + length);
  switch (random.below(6)) {
    case 0:
      data = with_damage(data, random);
      break;
    case 1:
      header = with_damage(header, random);
      break;
    case 2:
      header = with_other_number(header, random);
      break;
    default:
      header = with_other_values(header, random);
  }
  return sealed(header, data);
}

std::string run_case(const std::string& bytes) {
  Run run;
  const testing::TemporaryFolder folder;
  write_file(folder / "run", bytes);
  run.trainer.resume(folder / "run");
  run.trainer.run();
  return {};
}

}  // namespace d5::fuzz
