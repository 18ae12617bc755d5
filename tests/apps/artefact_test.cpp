// SPDX-License-Identifier: Apache-2.0
// d5 artefact: fetch, add, list, verify, gc.
#include <filesystem>

#include "tests/apps/program_run.hpp"

using Catch::Contains;
using d5::testing::content_of;
using d5::testing::run_d5;
using d5::testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

// SHA-256 of "abc": FIPS 180-4's example.
const std::string kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

}  // namespace

TEST_CASE("an artefact is added, listed, fetched by its digest, verified and removed") {
  const TemporaryFolder folder;
  const std::string here = "env D5_CACHE_DIR=" + folder / "cache";
  d5::testing::write(folder / "abc.txt", "abc");
  const auto added = run_d5("artefact add " + (folder / "abc.txt") + " --format csv", here);
  CHECK(added.status == 0);
  CHECK(added.out == "name,sha256,bytes\r\nabc.txt," + kAbc + ",3\r\n");
  const auto fetched = run_d5("artefact fetch --sha256 " + kAbc, here);
  CHECK(fetched.status == 0);
  const std::string path = fetched.out.substr(0, fetched.out.size() - 1);
  CHECK(content_of(path) == "abc");
  CHECK_THAT(run_d5("artefact list", here).out, Contains("abc.txt") && Contains(kAbc));
  CHECK(run_d5("artefact verify", here).status == 0);

  fs::permissions(path, fs::perms::owner_all);
  d5::testing::write(path, "abd");
  const auto damaged = run_d5("artefact verify", here);
  CHECK(damaged.status == 1);
  CHECK_THAT(damaged.out, Contains("abc.txt") && Contains("SHA-256"));
  CHECK(run_d5("artefact fetch --sha256 " + kAbc, here).status == 2);
  const auto again =
      run_d5("artefact fetch file://" + (folder / "abc.txt") + " --sha256 " + kAbc, here);
  CHECK(again.status == 0);
  CHECK(content_of(path) == "abc");

  CHECK(run_d5("artefact gc --quota 0 --keep " + kAbc, here).status == 0);
  CHECK(fs::exists(path));
  CHECK_THAT(run_d5("artefact gc --quota 2B", here).out, Contains("abc.txt"));
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a wrong or malformed checksum is refused") {
  const TemporaryFolder folder;
  const std::string here = "env D5_CACHE_DIR=" + folder / "cache";
  d5::testing::write(folder / "abd.txt", "abd");
  const auto wrong =
      run_d5("artefact fetch file://" + (folder / "abd.txt") + " --sha256 " + kAbc, here);
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains(kAbc));
  CHECK_THAT(run_d5("artefact fetch --sha256 ../../x", here).err, Contains("64 digits"));
  CHECK(run_d5("artefact gc --quota much", here).status == 2);
  CHECK(run_d5("artefact gc", here).status == 2);
}
