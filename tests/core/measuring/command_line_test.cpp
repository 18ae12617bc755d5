// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/command_line.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>

#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/measure.hpp"

using namespace d5;

namespace {

/// The words of `line` as a shell parses them, each in brackets.
std::string read_by_shell(const std::string& line) {
  const std::string command = "printf '[%s]' " + line;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe);
  CHECK(pclose(pipe) == 0);
  return {buffer.data(), size};
}

}  // namespace

TEST_CASE("words are quoted where a shell would read them otherwise") {
  CHECK(CommandLine("op bench").word("Relu 8").option("--pass", "forward").text() ==
        "d5 op bench 'Relu 8' --pass forward");
  CHECK(CommandLine("net show").word("models/lenet.onnx").flag("--quiet").text() ==
        "d5 net show models/lenet.onnx --quiet");
  CHECK(CommandLine().option("--samples", 3).option("--most-seconds", 0.5).text() ==
        " --samples 3 --most-seconds 0.5");
}

TEST_CASE("a shell reads every word back to itself") {
  for (const std::string word :
       {"",   "a b",      "it's",  "''",      "$HOME",  "`id`", "\"x\"",           "a\\b",
        "*",  "~",        "a;b",   "a&b|c>d", "#",      "!",    "int64:1x2{2,-1}", "a\nb",
        "\t", "\xc3\xa4", "k=v,w", "(x)",     "a%b@c+d"}) {
    INFO(word);
    CHECK(read_by_shell(CommandLine().word(word).text()) == "[" + word + "]");
  }
}

TEST_CASE("a command says where it runs: frameworks, a device that is not the host, threads") {
  const std::string threads = " --threads " + std::to_string(d5::threads());
  CHECK(CommandLine().runs_in({"reference", "torch"}).text() ==
        " --framework reference,torch" + threads);
  CHECK(CommandLine().runs_in({"./my plug.so"}, {DeviceKind::cuda, 1}).text() ==
        " --framework './my plug.so' --device cuda:1" + threads);
}

TEST_CASE("how it is measured: all that is not as usual, and the seed") {
  CHECK(to_line(MeasureOptions{}) == " --seed 0");
  CHECK(to_line({.samples = 7, .warmup = 0, .most_seconds = 1.5, .cold_cache = true, .seed = 9},
                {"time", "time_to_accuracy:target=0.9", "page_faults"}) ==
        " --seed 9 --samples 7 --warmup 0 --most-seconds 1.5 --cold-cache --metrics "
        "time_to_accuracy:target=0.9,page_faults");
}
