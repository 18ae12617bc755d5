// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communication_resources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>
#include <string_view>

#include "core/machine/machine.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"

namespace d5 {
namespace {

constexpr std::array kWaiting = {"usual", "spin", "yield", "sleep"};  // in the order of `Waiting`

int number_of(std::string_view text, std::string_view what) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw ValueError(fmt::format("resources: {}={} is not a whole number", what, printable(text)));
}

bool is_bound_here(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return core < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(core), &set);
}

std::vector<int> cores_of(std::string_view text) {
  std::vector<int> cores;
  if (text == "shared" || text == "apart") {
    std::ranges::copy_if(detail::machine().allowed, std::back_inserter(cores),
                         [&](int core) { return is_bound_here(core) == (text == "shared"); });
    if (!cores.empty()) return cores;
    throw ValueError(fmt::format(
        "resources: cores=apart, but this thread computes on all cores that the process "
        "may use; bind it to fewer ({}, pin_threads)",
        option_word("threads")));
  }
  for (const auto part : std::views::split(text, '+')) {
    cores.push_back(number_of({part.begin(), part.end()}, "cores"));
  }
  return cores;
}

void set(CommunicationResources& resources, std::string_view key, const std::string& value) {
  if (key == "threads") {
    resources.threads = number_of(value, key);
  } else if (key == "chunk") {
    resources.chunk_bytes = static_cast<std::int64_t>(byte_count(value));
  } else if (key == "cores") {
    resources.cores = cores_of(value);
  } else if (key == "poll") {
    resources.poll_interval = duration_of(value);
  } else if (key == "waiting") {
    const auto place = std::ranges::find(kWaiting, value);
    if (place == kWaiting.end()) {
      throw ValueError(fmt::format("resources: waiting={}; expected one of {}", printable(value),
                                   fmt::join(kWaiting, ", ")));
    }
    resources.waiting = static_cast<Waiting>(place - kWaiting.begin());
  } else {
    throw ValueError(fmt::format(
        "resources: unknown key '{}'; expected threads, chunk, cores, waiting or poll, as in "
        "threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us",
        printable(key)));
  }
}

std::vector<std::string> words_of(const CommunicationResources& resources) {
  std::vector<std::string> words;
  if (resources.threads) words.push_back(fmt::format("threads={}", *resources.threads));
  if (resources.chunk_bytes) {
    words.push_back("chunk=" + byte_words(static_cast<std::size_t>(*resources.chunk_bytes)));
  }
  if (!resources.cores.empty()) {
    words.push_back(fmt::format("cores={}", fmt::join(resources.cores, "+")));
  }
  if (resources.waiting != Waiting::usual) {
    words.push_back(
        fmt::format("waiting={}", kWaiting[static_cast<std::size_t>(resources.waiting)]));
  }
  if (resources.poll_interval.count() != 0) {
    words.push_back("poll=" + duration_words(resources.poll_interval));
  }
  return words;
}

}  // namespace

std::string to_words(const CommunicationResources& resources) {
  const auto words = words_of(resources);
  return words.empty() ? "default" : fmt::format("{}", fmt::join(words, ":"));
}

CommunicationResources resources_of(const std::string& words) {
  CommunicationResources resources;
  if (words == "default") return resources;
  for (const auto part : std::views::split(words, ':')) {
    const std::string word(part.begin(), part.end());
    const auto equal = word.find('=');
    set(resources, word.substr(0, equal), equal == std::string::npos ? "" : word.substr(equal + 1));
  }
  expect_usable(resources);
  return resources;
}

void expect_usable(const CommunicationResources& resources) {
  if (resources.threads && (*resources.threads < 0 || *resources.threads > 1024)) {
    throw ValueError(fmt::format("resources: {} threads; expected 0 to 1024", *resources.threads));
  }
  if (resources.chunk_bytes && *resources.chunk_bytes <= 0) {
    throw ValueError(
        fmt::format("resources: a chunk of {} bytes; expected at least 1", *resources.chunk_bytes));
  }
  if (resources.poll_interval.count() < 0) {
    throw ValueError(fmt::format("resources: {} ns between polls; expected 0 or more",
                                 resources.poll_interval.count()));
  }
  const detail::Machine& machine = detail::machine();
  for (const int core : resources.cores) {
    if (std::ranges::find(machine.allowed, core) != machine.allowed.end()) continue;
    const bool exists = core >= 0 && core < machine.hardware_threads;
    throw ValueError(fmt::format("resources: core {} {}; the process may use {}", core,
                                 exists ? "may not be used" : "does not exist",
                                 detail::to_ranges(machine.allowed)));
  }
}

UsedResources ignore_all(const CommunicationResources& asked, const std::string& reason) {
  UsedResources used;
  std::vector<std::string> names;
  for (const std::string& word : words_of(asked)) names.push_back(word.substr(0, word.find('=')));
  if (!names.empty()) used.ignored = fmt::format("{}: {}", fmt::join(names, ", "), reason);
  return used;
}

}  // namespace d5
