// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/launching/failed_launch.hpp"

#include <fmt/format.h>

#include <string_view>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

/// What the first rank to fail says of it; all that was said where none does.
std::string said_error(const std::string& output) {
  constexpr std::string_view kBefore = "d5: error: ";
  const std::size_t at = output.find(kBefore);
  if (at == std::string::npos) return printable_message(output);
  const std::size_t begin = at + kBefore.size();
  return printable_message(output.substr(begin, output.find('\n', begin) - begin));
}

}  // namespace

void throw_failed(const LaunchedRun& run, const std::string& what, int ranks) {
  constexpr int kRefused = 2;
  if (run.status == kRefused) throw ValueError(said_error(run.output));
  throw CommunicationError(fmt::format("{} on {} ranks ended with {}: {}", what, ranks, run.status,
                                       said_error(run.output)));
}

}  // namespace d5::detail
