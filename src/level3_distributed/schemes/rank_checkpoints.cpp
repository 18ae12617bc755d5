// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/rank_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "level2_training/training/older_checkpoints.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5::detail {
namespace {

/// Checkpoint files by their position in training, the newest last; a step may have one before and
/// one after a test run.
using Parts = std::map<std::string, std::string>;

Parts parts_at(const std::string& file) {
  std::vector<std::string> files = older_checkpoints(file);
  files.push_back(file);
  Parts parts;
  for (const std::string& one : files) {
    try {
      const Checkpoint part = read_checkpoint(one);
      parts[fmt::format("{:020} {:020} {:020}", part.step, part.epoch, part.batch)] = one;
    } catch (const IoError&) {
    } catch (const FormatError&) {  // ignores unreadable files
    }
  }
  return parts;
}

/// The number of ranks that wrote the newest part of rank 0, and its file.
struct Writers {
  std::int64_t ranks = 0;
  std::string file;
};

/// Rank 0's view, on every rank.
Writers writers_of(const Parts& parts, Communicator& ranks) {
  std::string mine;
  if (ranks.rank() == 0 && !parts.empty()) {
    const std::string& newest = parts.rbegin()->second;
    mine = fmt::format("{} {}", read_checkpoint(newest).ranks, newest);
  }
  const std::string text = gather_texts(ranks, mine).front();
  if (text.empty()) return {};
  return {std::stoll(text), text.substr(text.find(' ') + 1)};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string part_of_rank(const std::string& file, int rank) {
  return rank == 0 || file.empty() ? file : fmt::format("{}.rank-{}", file, rank);
}

std::string common_checkpoint(const std::string& file, Communicator& ranks, bool suits_any_ranks) {
  const auto files = gather_texts(ranks, file);
  const auto named = std::ranges::find_if(files, [](const auto& one) { return !one.empty(); });
  if (named == files.end()) return "";
  const Parts mine = parts_at(part_of_rank(*named, ranks.rank()));
  const Writers written = writers_of(mine, ranks);
  if (written.ranks != 0 && written.ranks != ranks.size()) {
    if (suits_any_ranks) return written.file;
    throw FormatError(fmt::format(
        "checkpoint '{}' was written by {} ranks with state of their own, and there are {} ranks "
        "now: resume it on {}, or train by a scheme and an exchange without state per rank "
        "(consistent_decentralized with exchange dense and scaling strong)",
        printable(*named), written.ranks, ranks.size(), written.ranks));
  }
  std::string keys;
  for (const auto& [key, path] : mine) keys += key + "\n";
  const auto all = gather_texts(ranks, keys);
  for (auto part = mine.rbegin(); part != mine.rend(); ++part) {
    const bool is_common = std::ranges::all_of(
        all, [&](const std::string& one) { return one.find(part->first) != std::string::npos; });
    if (is_common) return part->second;
  }
  std::string what;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto steps = lines_of(all[std::size_t(rank)]);
    what +=
        fmt::format("{}rank {} has {}", rank == 0 ? "" : ", ", rank,
                    steps.empty() ? "none" : "step " + std::to_string(std::stoll(steps.back())));
  }
  throw FormatError(fmt::format(
      "checkpoint '{0}': the ranks have no checkpoint of a common step: {1}; each rank's part is "
      "needed ('{0}', '{0}.rank-1', ...): copy them to where the ranks run, or train "
      "without {2}",
      printable(*named), what, option_word("resume")));
}

}  // namespace d5::detail
