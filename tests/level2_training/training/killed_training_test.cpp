// SPDX-License-Identifier: Apache-2.0
// Training that is killed with SIGKILL, at moments over all of its life, and goes on from what is
// on the disk. D5_TEST_KILLS says how often: 1000 takes some minutes.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "d5/core/clocks/clock.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level2_training/training/loss_curve.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

/// 40 points in batches of 6, so that every epoch has a short tail; half of the inner values are
/// dropped at random.
struct KilledRun {
  explicit KilledRun(TrainerOptions options)
      : optimizer(test::points_optimizer("adam", {}, 0.5f)),
        train(samplers().at("shuffle").make(test::points(40), {{"batch_size", 6}, {"seed", 5}})),
        trainer(*optimizer, *train, nullptr, std::move(options)) {
    trainer.events().add(loss);
  }
  std::shared_ptr<LossCurve> loss = std::make_shared<LossCurve>();
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> train;
  Trainer trainer;
};

constexpr std::int64_t kEpochs = 6;

/// A process that trains with checkpoints in `file`, from what exists. It reports its start to the
/// caller; `life` is the time after which it is killed, if it still lives; nullopt if it may
/// finish.
struct Life {
  bool ended;      ///< by itself
  double seconds;  ///< since it began to train
};
Life train_in_a_process(const std::string& file, std::optional<std::chrono::microseconds> life) {
  ::setenv("D5_TEST_CHECKPOINT", file.c_str(), 1);
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(channel[1], STDOUT_FILENO);
    ::execl("/proc/self/exe", "killed_training_test", "trains until it is killed", nullptr);
    ::_exit(127);
  }
  ::close(channel[1]);
  char byte = 0;
  while (::read(channel[0], &byte, 1) == 1 && byte != '!') {
  }
  const double begin = now_seconds();
  if (life) {
    std::this_thread::sleep_for(*life);
    ::kill(child, SIGKILL);
  }
  while (::read(channel[0], &byte, 1) == 1) {  // its output must not block it
  }
  const double seconds = now_seconds() - begin;
  ::close(channel[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  const bool ended = WIFEXITED(status);
  if (ended) REQUIRE(WEXITSTATUS(status) == 0);
  return {ended, seconds};
}

}  // namespace

// The process that is killed: run by the test below only.
TEST_CASE("trains until it is killed", "[.child]") {
  const std::string file = std::getenv("D5_TEST_CHECKPOINT");
  KilledRun run(
      {.epochs = kEpochs, .checkpoint = file, .checkpoint_every = 2, .checkpoints_kept = 2});
  const int ready = 1;
  REQUIRE(::write(STDOUT_FILENO, "!", ready) == ready);
  if (fs::exists(file)) run.trainer.resume(file);
  run.trainer.run();
}

TEST_CASE("kill -9 at any moment: a restart ends with the bits of a run without it") {
  const testing::TemporaryFolder folder;
  KilledRun whole({.epochs = kEpochs});
  whole.trainer.run();
  // The moments are drawn from all of a run's life, and somewhat more. One that ended before its
  // moment bounds those that follow: the first may have met other work.
  const Life timed = train_in_a_process(folder / "timed", std::nullopt);
  REQUIRE(timed.ended);
  auto longest = std::uint64_t(1.1e6 * timed.seconds);

  const char* wanted = std::getenv("D5_TEST_KILLS");
  const int kills = wanted ? std::atoi(wanted) : 25;
  RandomStream random{std::uint64_t(::getpid())};
  CAPTURE(::getpid());
  int killed = 0, resumed = 0;
  for (int i = 0; i < kills; ++i) {
    const std::string file = folder / fmt::format("run-{}", i);
    const std::chrono::microseconds life(random.below(longest));
    CAPTURE(i, life.count());
    const bool ended = train_in_a_process(file, life).ended;
    if (ended) longest = std::max(std::uint64_t(life.count()), std::uint64_t(1));
    killed += ended ? 0 : 1;
    std::int64_t step = 0;
    if (fs::exists(file)) {
      step = read_checkpoint(file).step;  // whole, whenever it was killed
      ++resumed;
    }
    KilledRun restarted({.epochs = kEpochs});
    if (step > 0) restarted.trainer.resume(file);
    restarted.trainer.run();
    REQUIRE(test::parameters(*restarted.optimizer) == test::parameters(*whole.optimizer));
    REQUIRE(restarted.loss->samples() == whole.loss->samples());
  }
  WARN("killed " << killed << " of " << kills << ", " << resumed << " left a checkpoint");
  CHECK(killed >= kills / 4);
  CHECK(resumed >= kills / 4);
}

TEST_CASE("a run that is killed again and again comes to the same end") {
  const testing::TemporaryFolder folder;
  KilledRun whole({.epochs = kEpochs});
  whole.trainer.run();
  const Life timed = train_in_a_process(folder / "timed", std::nullopt);
  REQUIRE(timed.ended);
  const auto longest = std::uint64_t(1e6 * timed.seconds);
  RandomStream random{std::uint64_t(::getpid()) + 1};
  const std::string file = folder / "c";
  std::int64_t last_step = 0;
  for (int i = 0; i < 6; ++i) {
    (void)train_in_a_process(file, std::chrono::microseconds(random.below(longest)));
    if (!fs::exists(file)) continue;
    const std::int64_t step = read_checkpoint(file).step;
    CHECK(step >= last_step);
    last_step = step;
  }
  REQUIRE(train_in_a_process(file, std::nullopt).ended);
  KilledRun resumed({.epochs = kEpochs});
  resumed.trainer.resume(file);
  CHECK(resumed.trainer.step() == whole.trainer.step());
  CHECK(test::parameters(*resumed.optimizer) == test::parameters(*whole.optimizer));
  CHECK(resumed.loss->samples() == whole.loss->samples());
}
