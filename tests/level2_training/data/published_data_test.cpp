// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/published_data.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "tests/cache_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

/// Two small files behind a mirror that is a folder, a cache and a shared folder of its own.
struct Mirror : testing::TemporaryFolder {
  Mirror() {
    fs::create_directories(*this / "mirror");
    write_file(*this / "mirror/a", "first");
    write_file(*this / "mirror/b", "second");
    ::setenv("XDG_CACHE_HOME", (*this / "cache").c_str(), 1);
    ::unsetenv("D5_DATA_DIR");
  }
  [[nodiscard]] std::string url() const { return "file://" + *this / "mirror"; }
  testing::OwnCacheFolder store;  ///< folder of the artefacts
};

void register_letters() {
  static const bool once = [] {
    published_data().add("letters", {.folder = "letters-files",
                                     .content = "two files",
                                     .licence = "none",
                                     .source = "https://example.org/letters",
                                     .files = {{"a", 5, detail::sha256("first")},
                                               {"b", 6, detail::sha256("second")}}});
    return true;
  }();
  (void)once;
}

}  // namespace

TEST_CASE("what is published is read by a data set of its name, and fetched or told how") {
  for (const auto& [name, data] : published_data().entries()) {
    if (name == "letters") continue;
    CAPTURE(name);
    CHECK(datasets().find(name) != nullptr);
    CHECK_FALSE(data.source.empty());
    CHECK(data.files.empty() != data.by_hand.empty());
    CHECK(data.files.empty() == data.mirrors.empty());
    for (const auto& file : data.files) CHECK(file.sha256.size() == 64);
  }
}

TEST_CASE("a set is fetched into the cache, found there and verified") {
  const Mirror mirror;
  register_letters();
  CHECK(found_data("letters").empty());
  int files = 0;
  const std::string folder = fetch_data(
      "letters", {.mirror = mirror.url(), .on_file = [&](const PublishedFile&) { ++files; }});
  CHECK(folder == mirror / "cache/d5/data/letters-files");
  CHECK(files == 2);
  CHECK(read_file(folder + "/b") == "second");
  CHECK(found_data("letters") == folder);
  for (const auto& state : verify_data("letters", folder)) CHECK(state.is == FileState::Is::right);

  write_file(folder + "/a", "fIrst");
  fs::remove(folder + "/b");
  const auto states = verify_data("letters", folder);
  CHECK(states.at(0).is == FileState::Is::wrong);
  CHECK_THAT(states.at(0).reason, Catch::Contains("SHA-256"));
  CHECK(states.at(1).is == FileState::Is::missing);
}

TEST_CASE("a set whose files are artefacts already is fetched without its mirror, as links") {
  const Mirror mirror;
  register_letters();
  const std::string first = fetch_data("letters", {.folder = mirror / "x", .mirror = mirror.url()});
  fs::remove_all(mirror / "mirror");
  const std::string second = fetch_data("letters", {.folder = mirror / "y"});
  CHECK(read_file(second + "/b") == "second");
  CHECK(fs::equivalent(first + "/a", second + "/a"));
  CHECK(ArtefactStore().list().size() == 2);
  write_file(second + "/a", "mine");  // another file takes the name; the store's own stays
  CHECK(ArtefactStore().verify().empty());
  CHECK(read_file(fetch_data("letters", {.folder = mirror / "y"}) + "/a") == "first");
}

TEST_CASE("the shared folder comes before the cache") {
  const Mirror mirror;
  register_letters();
  (void)fetch_data("letters", {.mirror = mirror.url()});
  fs::create_directories(mirror / "shared/letters-files");
  ::setenv("D5_DATA_DIR", (mirror / "shared").c_str(), 1);
  CHECK(found_data("letters") == mirror / "shared/letters-files");
  ::unsetenv("D5_DATA_DIR");
}

TEST_CASE("without a network the message says which file goes where") {
  const Mirror mirror;
  register_letters();
  fs::remove(mirror / "mirror/b");
  const FetchOptions options{.folder = mirror / "here", .mirror = mirror.url()};
  CHECK_THROWS_AS(fetch_data("letters", options), IoError);
  CHECK_THROWS_WITH(fetch_data("letters", options), Catch::Contains(mirror / "here") &&
                                                        Catch::Contains("b (6 bytes") &&
                                                        Catch::Contains(detail::sha256("second")));
  CHECK(read_file(mirror / "here/a") == "first");
}

TEST_CASE("data that must be fetched by hand says how, and an unknown name the nearest") {
  const Mirror mirror;
  CHECK_THROWS_AS(fetch_data("imagenet"), Unsupported);
  CHECK_THROWS_WITH(fetch_data("imagenet"), Catch::Contains("image-net.org"));
  CHECK_THROWS_WITH(fetch_data("minst"), Catch::Contains("mnist"));
  CHECK_THROWS_AS(found_data("minst"), NotFound);
}
