// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/launching/failed_launch.hpp"

#include <fmt/format.h>

#include "core/errors/error_line.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// The message of the first rank that failed, or else the whole output.
std::string why_ended(const std::string& output) {
  const std::string said = said_error(output);
  return printable_message(said.empty() ? output : said);
}

}  // namespace

void throw_failed(const LaunchedRun& run, const std::string& what, int ranks) {
  if (run.status == kRefusedStatus) throw ValueError(why_ended(run.output));
  throw CommunicationError(fmt::format("{} on {} ranks ended with {}: {}", what, ranks, run.status,
                                       why_ended(run.output)));
}

}  // namespace d5::detail
