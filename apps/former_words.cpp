// SPDX-License-Identifier: Apache-2.0
#include "apps/former_words.hpp"

#include <cstdlib>
#include <string_view>

#include "apps/say.hpp"

namespace d5::app {
namespace {

constexpr std::string_view kFormerOption = "--network", kOption = "--cluster";

/// Set for the ranks that d5 starts: they are given the words of the command that noted them.
constexpr const char* kNoted = "D5_FORMER_WORDS_NOTED";

void note(const std::string& line) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (std::getenv(kNoted) || (rank && std::string_view(rank) != "0")) return;
  say("note: " + line);
  setenv(kNoted, "1", 1);
}

}  // namespace

std::vector<std::string> with_present_words(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "network") {
    note("d5 network is d5 cluster now");
    words.front() = "cluster";
  }
  if (words.front() != "predict") return words;
  for (std::string& word : words) {
    if (word == "--") break;
    if (word != kFormerOption && !word.starts_with(std::string(kFormerOption) + "=")) continue;
    note("--network is --cluster now");
    word.replace(0, kFormerOption.size(), kOption);
  }
  return words;
}

}  // namespace d5::app
