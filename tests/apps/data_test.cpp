// SPDX-License-Identifier: Apache-2.0
// d5 data list|show|verify|bench|convert: what their help says.
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "d5/core/results/results.hpp"
#include "d5/level2_training/data/container.hpp"
#include "tests/apps/background_run.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::BackgroundRun;
using d5::testing::run_d5;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

/// A data set of 24 samples that every machine has, as a word.
constexpr const char* kPoints =
    "'synthetic:fields=x float32 3x4 normal, label int64 below 3:size=24:test_size=6'";

nlohmann::json rows_of(const std::string& arguments) {
  const auto run = run_d5(arguments + " --format json --quiet");
  INFO(arguments << "\n" << run.err);
  REQUIRE(run.status == 0);
  return nlohmann::json::parse(run.out);
}

}  // namespace

TEST_CASE("help of the commands of data teaches by examples") {
  for (const std::string command : {"list", "fetch", "verify", "show", "convert", "bench"}) {
    const auto help = run_d5("data " + command + " --help");
    CHECK(help.status == 0);
    CHECK_THAT(help.out, Contains("Examples:\n  ") && Contains("d5 data " + command));
  }
}

TEST_CASE("data list tells where files are, and of every data set") {
  const TemporaryFolder cache;
  fs::create_directories(cache / "shared/mnist");
  const std::string set = "env XDG_CACHE_HOME=" + cache.path().string() + " D5_DATA_DIR=";
  const auto run = run_d5("data list --format json", set + (cache / "shared"));
  REQUIRE(run.status == 0);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : nlohmann::json::parse(run.out)) rows[row.at("name")] = row;
  CHECK(rows.size() == datasets().names().size());
  CHECK(rows.at("mnist").at("where") == cache / "shared/mnist");
  CHECK(rows.at("cifar-10").at("where") == "d5 data fetch cifar-10");
  CHECK_THAT(rows.at("imagenet").at("where").get<std::string>(), Contains("by hand"));
  CHECK_THAT(rows.at("mnist").at("licence").get<std::string>(), Contains("CC BY-SA"));
}

TEST_CASE("data convert writes what trains, and tells samples, bytes and checksums") {
  const TemporaryFolder folder;
  for (const std::string ending : {"safetensors", "npz", "tar", "tfrecord"}) {
    CAPTURE(ending);
    const std::string train = folder / ("train." + ending), test = folder / ("test." + ending);
    const auto rows =
        rows_of("data convert mnist:subset=sample:train_samples=320 " + train + " --shards 2");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].at("file") == folder / ("train-00000-of-00002." + ending));
    CHECK(rows[0].at("samples") == "160");
    const std::string sums = folder / "sums";
    testing::write(sums, rows[0].at("sha256").get<std::string>() + "  " +
                             rows[0].at("file").get<std::string>() + "\n");
    CHECK(std::system(("sha256sum --check --status " + sums).c_str()) == 0);
    CHECK(rows[0].at("bytes") ==
          std::to_string(fs::file_size(folder / ("train-00000-of-00002." + ending))));
    rows_of("data convert mnist:subset=sample:test_samples=100 " + test + " --part test");

    const auto recipe = [&](const std::string& dataset) {
      const std::string path = folder / "recipe.yaml", out = folder / "out.json";
      testing::write(
          path,
          "name: few\nfixed:\n  dataset: " + dataset +
              "\n  model: {name: lenet}\nmutable:\n  sampler: {name: shuffle, "
              "batch_size: 32}\n  optimizer: {name: sgd}\n  training: {epochs: 1, seed: 1}\n");
      const auto run = run_d5("train " + path + " --quiet --out " + out);
      INFO(run.err);
      REQUIRE(run.status == 0);
      for (const auto& m : read_results(out).measurements) {
        if (m.metric == "loss") return m.samples;
      }
      return std::vector<double>();
    };
    const auto losses = recipe("{name: container, train: " + train + ", test: " + test + "}");
    CHECK(losses.size() == 10);
    CHECK(losses == recipe("{name: mnist, subset: sample, train_samples: 320, test_samples: 100}"));
  }
}

TEST_CASE("data convert takes a container's files, and formats with options") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.tar", b = folder / "b.npz", c = folder / "c.npz";
  rows_of("data convert " + std::string(kPoints) + " " + a);
  rows_of("data convert " + a + " " + b);
  rows_of("data convert " + b + " " + c + " --to npz:compression=deflate");
  CHECK(fs::file_size(c) < fs::file_size(b));
  rows_of("data convert " + c + " " + (folder / "back.tar"));
  CHECK(testing::content_of(a) == testing::content_of(folder / "back.tar"));
  const auto parts =
      rows_of("data convert " + a + " " + (folder / "d.tar") + " --shard-samples 10");
  CHECK(parts.size() == 3);
  CHECK(rows_of("data convert '" + (folder / "d-*.tar") + ":format.fields=label.cls' " +
                (folder / "e.npz") + " --shard-bytes 1KiB")
            .at(0)
            .at("samples") == "24");
}

TEST_CASE("data convert refuses what it cannot do, and nothing is left") {
  const auto [arguments, message, status] = GENERATE(table<std::string, std::string, int>({
      {"minst a.tar", "did you mean mnist?", 2},
      {"none.tar a.tar", "there is no 'none.tar'", 2},
      {"mnist:subset=sample a.zip", "ends in none of .npy, .npz", 2},
      {"mnist:subset=sample a.tar --to tart", "did you mean tar?", 2},
      {"mnist:subset=sample a.tar --to npz", "does not end in .npz", 2},
      {"mnist:subset=sample a.npy", "write npz", 1},
      {"mnist:subset=sample a.npz --to npz:compression=zip", "none or deflate", 2},
      {"mnist:subset=sample a.tar --shards 0", "a whole number of 1 or more", 2},
      {"mnist:subset=sample a.tar --shards 2 --shard-samples 1", "--shards", 2},
      {"mnist:subset=sample a.tar --shard-bytes many", "many", 2},
      {"synthetic:test_size=0 a.tar --part test", "has no test part", 2},
      {"mnist:subset=sample no/such/folder/a.tar", "no/such/folder", 2},
  }));
  const TemporaryFolder folder;
  const auto run = run_d5("data convert " + arguments,
                          "sh -c 'cd " + folder.path().string() + " && exec \"$0\" \"$@\"'");
  INFO("d5 data convert " << arguments << "\n" << run.err);
  CHECK(run.status == status);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Contains(message));
  CHECK(folder.names().empty());
}

TEST_CASE("Ctrl-C ends a conversion and leaves what was there") {
  const TemporaryFolder folder;
  rows_of("data convert " + std::string(kPoints) + " " + (folder / "a.tar"));
  const auto before = folder.names();
  const std::string old = testing::content_of(folder / "a.tar");
  // Two gigabytes of random numbers: far from done when it is interrupted.
  const BackgroundRun run("data convert 'synthetic:fields=x float32 100x100 normal:size=50000' " +
                              (folder / "a.tar") + " --quiet",
                          "/dev/null");
  const int status = run.end(SIGINT, [&] { return folder.names().size() > before.size(); });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(folder.names() == before);
  CHECK(testing::content_of(folder / "a.tar") == old);
}

TEST_CASE("data show tells fields, classes and samples, and writes pictures") {
  const TemporaryFolder folder;
  const auto text = run_d5("data show " + std::string(kPoints));
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("24 samples") && Contains("3x4") && Contains("label"));
  const auto fields = rows_of("data show mnist:subset=sample --what fields");
  CHECK(fields.size() == 2);
  CHECK(rows_of("data show mnist:subset=sample --what classes").size() == 10);
  CHECK(rows_of("data show mnist:subset=sample --part test --what samples --samples 3").size() ==
        3);
  CHECK(run_d5("data show mnist:subset=sample --samples 2 --pictures " + folder.path().string())
            .status == 0);
  CHECK(folder.names() == std::vector<std::string>{"0-0.png", "1-0.png"});
  CHECK_THAT(testing::content_of(folder / "0-0.png"), Catch::StartsWith("\x89PNG"));
  CHECK(run_d5("data show mnist:subset=sample --format csv").status == 2);
  CHECK(run_d5("data show synthetic:test_size=0 --part test").status == 2);
}

TEST_CASE("data verify ends with status 1 where a sample is damaged, which it names") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.tfrecord";
  rows_of("data convert " + std::string(kPoints) + " " + path);
  CHECK(rows_of("data verify " + path).at(0).at("state") == "right");
  std::string bytes = testing::content_of(path);
  bytes[bytes.size() - 20] ^= 1;
  testing::write(path, bytes);
  const auto run = run_d5("data verify " + path);
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("wrong") && Contains("CRC-32C"));
  CHECK(run_d5("data verify minst").status == 2);
}

TEST_CASE("data bench measures samplers side by side, with threads that read ahead") {
  const TemporaryFolder folder;
  const std::string out = folder / "out.json", path = folder / "a.tar";
  rows_of("data convert " + std::string(kPoints) + " " + path);
  for (const std::string threads : {"0", "2"}) {
    const auto run = run_d5("data bench " + path + " --batch 8 --samples 5 --loader-threads " +
                            threads + " --quiet --out " + out);
    INFO(run.err);
    REQUIRE(run.status == 0);
    const Results results = read_results(out);
    REQUIRE(results.measurements.size() >= 2);
    for (const auto& m : results.measurements) {
      CHECK(m.conditions.count("loader_threads") == (threads == "2" ? 1 : 0));
      CHECK((m.command.find("--loader-threads 2") != std::string::npos) == (threads == "2"));
    }
    CHECK(results.measurements[0].conditions.at("sampler") == "ordered");
  }
  CHECK(run_d5("data bench mnist:subset=sample --sampler shufle").status == 2);
  CHECK(run_d5("data bench mnist:subset=sample --loader-threads 5000").status == 2);
}
