// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

DatasetManifest manifest_of(const Settings& settings) {
  DatasetManifest manifest;
  manifest.name = "digits";
  manifest.version = "1.0.0";
  manifest.reader = {{"mnist", settings}};
  return manifest;
}

TEST_CASE("samples that are held are opened once, until something else is") {
  const DatasetManifest sample = manifest_of({{"subset", "sample"}});
  CHECK(open_samples(sample) != open_samples(sample));
  hold_samples({sample});
  const auto held = open_samples(sample);
  CHECK(held == open_samples(sample));
  CHECK(held->size() == 1000);
  const DatasetManifest scaled = manifest_of({{"subset", "sample"}, {"mean", 0.5}});
  CHECK(open_samples(scaled) != held);
  hold_samples({sample});
  CHECK(held == open_samples(sample));
  hold_samples({scaled});
  CHECK(held != open_samples(sample));
  CHECK(open_samples(scaled) == open_samples(scaled));
  hold_samples({});
}

TEST_CASE("samples whose file has changed are opened again") {
  const testing::TemporaryFolder folder;
  const std::string files = folder / "mnist";
  std::filesystem::copy(carried_file("data/mnist-sample"), files);
  const DatasetManifest manifest = manifest_of({{"data", files}});
  hold_samples({manifest});
  const auto held = open_samples(manifest);
  CHECK(held == open_samples(manifest));
  const std::string labels = files + "/t10k-labels-idx1-ubyte.gz";
  write_file(labels, read_file(labels));
  CHECK(held != open_samples(manifest));
  hold_samples({manifest});
  CHECK(held != open_samples(manifest));
  CHECK(open_samples(manifest) == open_samples(manifest));
  hold_samples({});
}

TEST_CASE(
    "what cannot be opened, or might be fetched, is not held, and says so when it is opened") {
  hold_samples({manifest_of({{"data", "/nowhere"}}), manifest_of({{"download", true}})});
  CHECK_THROWS(open_samples(manifest_of({{"data", "/nowhere"}})));
}

TEST_CASE("samples that take too long to hold are left to their user, and not tried again") {
  struct NoOptions {
    void declare(OptionList&) {}
  };
  static int opened = 0;
  datasets().add(
      "opened-slowly",
      DatasetEntry::with<NoOptions>("slow, for a test", [](const Interrupt& interrupt, NoOptions) {
        ++opened;
        if (interrupt.possible()) throw Interrupted("its deadline passed");
        return open_dataset("mnist", {{"subset", "sample"}});
      }));
  DatasetManifest manifest = manifest_of({});
  manifest.reader[0].name = "opened-slowly";
  hold_samples({manifest});
  hold_samples({manifest});
  CHECK(opened == 1);
  CHECK(open_samples(manifest)->size() == 1000);
  CHECK(opened == 2);
}

}  // namespace
}  // namespace d5
