// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/prediction/networks/network_description.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetworkListExamples =
    R"(  d5 network list
  d5 network list --format json
  d5 network show ethernet-10g    each of its numbers, and its source)";

int run_network_list(const app::OutputOptions& options) {
  TextTable table(
      {"name", "summary", "hosts", "ranks a host", "topology", "latency (s)", "bandwidth (B/s)"});
  for (const auto& name : carried_networks()) {
    const NetworkDescription network = load_network_description(name);
    table.add({name, network.summary, fmt::format("{}", network.hosts),
               fmt::format("{}", network.ranks_per_host), network.topology,
               fmt::format("{}", network.latency.value),
               fmt::format("{}", network.bandwidth.value)});
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_network_list(app::Program& program) {
  auto options = std::make_shared<app::OutputOptions>();
  auto& command =
      program.add("network list", "list the built-in descriptions of cluster networks",
                  kNetworkListExamples, [options] { return run_network_list(*options); });
  app::add_format_options(command, *options);
}

}  // namespace d5::command
