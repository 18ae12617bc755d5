// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/framework.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// Copies of the plug-ins of tests/core/plugins, which the build lays beside this program for other
/// tests, too; and a file that is no library.
const bool path_is_set = [] {
  static const testing::TemporaryFolder own;
  const std::filesystem::path folder = own / "plugins";
  std::filesystem::copy(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "plugins",
                        folder);
  std::ofstream(folder / "d5_framework_garbage.so") << "this is no library";
  std::ofstream(folder / "d5_framework_needy.so") << "nor is this";
  std::ofstream(folder / "d5_framework_needy.needs") << "libneedy 2 (get it there)\n";
  std::ofstream(folder / "d5_framework_absent.left_out") << "no libabsent (get it there)\n";
  std::ofstream(folder / "d5_framework_numbers.left_out") << "of an earlier build\n";
  return setenv("D5_PLUGIN_PATH", folder.c_str(), 1) == 0;
}();

FrameworkInfo info_of(std::string_view name) {
  const auto all = frameworks();
  const auto place = std::find_if(all.begin(), all.end(), [&](auto& f) { return f.name == name; });
  REQUIRE(place != all.end());
  return *place;
}

}  // namespace

TEST_CASE("a plug-in is known before it is loaded, and loaded when its name is used") {
  REQUIRE(path_is_set);
  CHECK_FALSE(info_of("numbers").loaded);
  Framework& numbers = framework("numbers");
  CHECK(numbers.version() == "1.2.3");
  CHECK(numbers.part<Registry<int>>().at("answer") == 42);
  CHECK(info_of("numbers").loaded);
  CHECK(&framework("numbers") == &numbers);
}

TEST_CASE("a framework by its name and by its path is one framework") {
  const std::string path = plugin_path().front() + "/d5_framework_numbers.so";
  const std::string winding = plugin_path().front() + "/../plugins/./d5_framework_numbers.so";
  CHECK(&framework(path) == &framework("numbers"));
  CHECK(&framework(winding) == &framework("numbers"));
  CHECK(std::ranges::count(frameworks(), path, &FrameworkInfo::name) == 0);
  const std::string copy = plugin_path().front() + "/copy_of_numbers.so";
  std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(framework(copy), Catch::Contains("'numbers' is there already"));
}

TEST_CASE("a plug-in of another d5 is refused before its code runs") {
  CHECK_THROWS_AS(framework("other_version"), Unsupported);
  CHECK_THROWS_WITH(framework("other_version"), Catch::Contains("was built with d5 0.0.0"));
  CHECK(info_of("other_version").reason != "");
}

TEST_CASE("a plug-in of this version that was built against other headers is refused, too") {
  CHECK_THROWS_AS(framework("other_interface"), Unsupported);
  CHECK_THROWS_WITH(framework("other_interface"), Catch::Contains("+000000000000"));
}

TEST_CASE("a file that is no plug-in is refused with what is missing") {
  CHECK_THROWS_WITH(framework("no_stamp"), Catch::Contains("does not define d5_plugin_stamp"));
  CHECK_THROWS_WITH(framework("garbage"), Catch::Contains("cannot be loaded"));
  CHECK_THROWS_WITH(framework("missing_library"), Catch::Contains("libnowhere.so: cannot open"));
  CHECK_THROWS_AS(framework("/nowhere/d5_framework_x.so"), IoError);
}

TEST_CASE("a plug-in that cannot be loaded says what it needs") {
  const std::string way_out =
      "; it needs libneedy 2 (get it there), beside d5 or in a folder of LD_LIBRARY_PATH";
  CHECK_THROWS_AS(framework("needy"), Unsupported);
  CHECK_THROWS_WITH(framework("needy"), Catch::EndsWith(way_out));
  CHECK_THROWS_WITH(framework(plugin_path().front() + "/d5_framework_needy.so"),
                    Catch::EndsWith(way_out));
  CHECK_THAT(info_of("needy").reason, Catch::EndsWith(way_out));
  CHECK_THROWS_WITH(framework("garbage"), !Catch::Contains("it needs"));
}

TEST_CASE("a framework that the build left out is known, with the reason") {
  CHECK_THROWS_AS(framework("absent"), Unsupported);
  const std::string reason = "no libabsent (get it there); with that, build d5 again";
  CHECK_THROWS_WITH(framework("absent"),
                    "framework 'absent' was left out of this build: " + reason);
  CHECK_THAT(info_of("absent").reason, Catch::EndsWith(reason));
  CHECK(info_of("numbers").reason.empty());
}

TEST_CASE("a plug-in that throws while it registers is refused with its message") {
  CHECK_THROWS_AS(framework("throws"), Unsupported);
  CHECK_THROWS_WITH(framework("throws"), Catch::Contains("no such accelerator"));
  CHECK_THROWS_AS(framework("throws_number"), Unsupported);
}

TEST_CASE("an unknown framework is answered with what there is") {
  CHECK_THROWS_AS(framework("number"), NotFound);
  CHECK_THROWS_WITH(framework("number"), Catch::Contains("did you mean numbers?"));
}

TEST_CASE("a framework may be linked in") {
  add_framework("linked", "2", [](Framework& f) { f.part<Registry<int>>().add("one", 1); });
  CHECK(framework("linked").part<Registry<int>>().at("one") == 1);
  CHECK_THROWS_AS(add_framework("linked", "3", [](Framework&) {}), ValueError);
}

namespace {

template <std::size_t N>
struct Part {
  std::size_t number = N;
};

template <std::size_t... N>
void ask_for_all(Framework& framework, std::array<void*, sizeof...(N)>& parts,
                 std::index_sequence<N...>) {
  ((parts[N] = &framework.part<Part<N>>()), ...);
}

}  // namespace

// Meaningful under the thread sanitizer.
TEST_CASE("threads that ask for a part at the same time get one part") {
  constexpr std::size_t kThreads = 4, kParts = 32;
  add_framework("shared", "1", [](Framework&) {});
  Framework& shared = framework("shared");
  std::array<std::array<void*, kParts>, kThreads> parts{};
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : parts) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      ask_for_all(shared, mine, std::make_index_sequence<kParts>());
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& mine : parts) CHECK(mine == parts.front());
  CHECK(&shared.part<Part<7>>() == parts.front()[7]);
}

TEST_CASE("threads may look frameworks up and add them at the same time") {
  constexpr int kThreads = 4;
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      const std::string name = "added-" + std::to_string(t);
      add_framework(name, "1", [](Framework& f) { f.part<Registry<int>>().add("one", 1); });
      (void)framework(name).part<Registry<int>>().at("one");
      (void)frameworks();
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) CHECK(info_of("added-" + std::to_string(t)).loaded);
}
