// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/profile/training_profile.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using testing::run_d5, testing::TemporaryFolder;

TEST_CASE("d5 profile writes what a training step is made of") {
  const TemporaryFolder folder;
  const auto run =
      run_d5("profile lenet --batch 2,4 --steps 3 --least-time 0s --launches 1 --out " +
             (folder / "p.json") + " --graph " + (folder / "g.svg"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(testing::content_of(folder / "g.svg"), Catch::Contains("conv1"));
  const TrainingProfile profile = read_training_profile(folder / "p.json");
  CHECK(profile.batches.size() == 2);
  CHECK(profile.batches[0].steps.size() == 3);
  CHECK_THAT(run.out, Catch::Contains("step, scheduled"));
  CHECK_THAT(run.err, Catch::Contains("mistrusted: 3 steps"));
}

TEST_CASE("copies that are profiled at once have their samples in one file") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const auto run = run_d5(
      "profile lenet --batch 2 --steps 6 --least-time 0s --copies 2 --launches 2 "
      "--threads 1 --graph " +
      (folder / "g.svg") + " --out " + (folder / "p.json"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  const TrainingProfile profile = read_training_profile(folder / "p.json");
  CHECK(profile.copies == 2);
  CHECK(profile.batches.at(0).launches == std::vector<std::int64_t>{3, 3});
  CHECK(profile.batches.at(0).steps.size() == 12);
  CHECK(profile.batches.at(0).seconds.at(0).size() == 12);
  CHECK_THAT(run.err, Catch::Contains("profile of 2 copies, launch 2 of 2") &&
                          Catch::Contains("mistrusted: 6 steps of each batch size"));
  CHECK(std::filesystem::exists(folder / "g.svg"));
}

TEST_CASE("a profile from costs adds up to the step that is known, and runs nothing") {
  const TemporaryFolder folder;
  const auto run = run_d5("profile vgg-13 --batch 32 --from-cost 198ms --switch 10us --out " +
                          (folder / "p.json"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  // Sums of some hundred pieces, rounded.
  CHECK(step_times(read_training_profile(folder / "p.json"), 32).step ==
        Approx(0.198).epsilon(1e-9));
}

TEST_CASE("a recipe is profiled with its own batch, unless another is given") {
  const TemporaryFolder folder;
  const auto batch_of = [&](const std::string& options) {
    const auto run =
        run_d5("profile mnist-lenet-quick --steps 2 --least-time 0s --launches 1 --out " +
               (folder / "p.json") + options);
    INFO(run.err);
    REQUIRE(run.status == 0);
    return read_training_profile(folder / "p.json").batches.at(0).batch;
  };
  CHECK(batch_of("") == 32);
  CHECK(batch_of(" --set sampler.batch_size=8") == 8);
  CHECK(batch_of(" --set sampler.batch_size=8 --batch 4") == 4);
}

TEST_CASE("a recipe's step is shared by costs, too") {
  const TemporaryFolder folder;
  const auto run =
      run_d5("profile mnist-lenet-quick --from-cost 198ms --out " + (folder / "p.json"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  const TrainingProfile profile = read_training_profile(folder / "p.json");
  CHECK(profile.batches.at(0).batch == 32);
  CHECK(profile.optimizer == "momentum");
  CHECK(step_times(profile, 32).step == Approx(0.198).epsilon(1e-9));  // sums, rounded
}

TEST_CASE("d5 profile refuses what it cannot do before it begins") {
  CHECK(run_d5("profile lenett").status == 2);
  CHECK(run_d5("profile lenet --batch 0").status == 2);
  CHECK(run_d5("profile lenet --steps 1").status == 2);
  CHECK(run_d5("profile lenet --framework reference,reference").status == 2);
  CHECK(run_d5("profile lenet --from-cost 0s").status == 2);
  CHECK(run_d5("profile lenet --from-cost 1s --batch 1,2").status == 2);
}
