// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/networks/network_description.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetworkShowExamples =
    R"(  d5 network show ethernet-10g    each of its numbers, and its source
  d5 network show mine.yaml --ranks 2,8,64 --all-reduce ring,rabenseifner --bytes 100MB
                                  also simulated times of all-reduces: from latency and bandwidth
                                  alone (closed), and with contention at ports (ports)

Simulated ranks compute nothing: additions take no time.)";

struct NetworkShowOptions : app::OutputOptions {
  std::string network;
  std::int64_t bytes = 100'000'000;
  std::vector<int> ranks;
  std::vector<std::string> all_reduces = {"mpi", "ring"}, models = {"closed", "ports"};
};

TextTable figures(const NetworkDescription& network) {
  TextTable table({"what", "value", "unit", "source"});
  const auto add = [&](const char* what, const NetworkFigure& figure, const char* unit) {
    if (figure.source.empty()) return;
    table.add({what, fmt::format("{:.9g}", figure.value), unit, figure.source});
  };
  table.add({"hosts", fmt::format("{}", network.hosts), "", ""});
  table.add({"ranks a host", fmt::format("{}", network.ranks_per_host), "", ""});
  table.add({"topology", network.topology, "", ""});
  add("latency", network.latency, "s");
  add("bandwidth", network.bandwidth, "B/s");
  add("overhead", network.overhead, "s");
  add("look", network.look, "s");
  add("signal", network.signal, "s");
  add("end_bandwidth", network.end_bandwidth, "B/s");
  add("host_latency", network.host_latency, "s");
  add("host_bandwidth", network.host_bandwidth, "B/s");
  add("copy_bandwidth", network.copy_bandwidth, "B/s");
  for (const NetworkSegment& segment : network.segments) {
    const std::string from = fmt::format("from {} B: ", segment.bytes);
    table.add({from + "latency", fmt::format("{:.9g}", segment.latency), "s", segment.source});
    table.add(
        {from + "bandwidth", fmt::format("{:.9g}", segment.bandwidth), "B/s", segment.source});
  }
  return table;
}

double all_reduce_seconds(const NetworkDescription& network, int ranks,
                          const std::string& algorithm, const std::string& model,
                          std::int64_t bytes) {
  SimulationOptions options;
  options.model = {model};
  const auto reduce = [&](SimulatedRank&, const std::shared_ptr<Communicator>& all) {
    Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
    all_reduces().at(algorithm).make()->start(*all, data)->wait();
  };
  return run_simulated(ranks, network, reduce, options).seconds;
}

int run_network_show(const NetworkShowOptions& options) {
  const NetworkDescription network = load_network_description(options.network);
  for (const auto& name : options.all_reduces) (void)all_reduces().at(name);
  for (const auto& name : options.models) (void)find_simulated_network(name);
  const bool people = is_for_people(options.format);
  if (people) {
    app::print_wrapped(
        fmt::format("{}: {}\n\n", printable(network.name), printable(network.summary)));
  }
  if (people || options.ranks.empty()) app::print(figures(network), options.format);
  if (options.ranks.empty()) return app::kPassed;
  if (people) fmt::print("\n");
  TextTable table({"all-reduce", "bytes", "ranks", "network", "seconds"});
  for (const auto& algorithm : options.all_reduces) {
    for (const int ranks : options.ranks) {
      for (const auto& model : options.models) {
        table.add({algorithm, fmt::format("{}", options.bytes), fmt::format("{}", ranks), model,
                   fmt::format("{:.6g}", all_reduce_seconds(network, ranks, algorithm, model,
                                                            options.bytes))});
      }
    }
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_network_show(app::Program& program) {
  auto options = std::make_shared<NetworkShowOptions>();
  auto& command =
      program.add("network show", "show a network's numbers, and simulate all-reduces on it",
                  kNetworkShowExamples, [options] { return run_network_show(*options); });
  command
      .add_option("NETWORK", options->network,
                  "built-in description ('d5 network list'), or a file of your own")
      ->required();
  command.add_option("--ranks", options->ranks, "numbers of ranks to simulate all-reduces between")
      ->delimiter(',')
      ->transform(app::whole_number(1))
      ->option_text("N,...");
  command
      .add_option("--all-reduce", options->all_reduces,
                  "algorithms to simulate ('d5 list all-reduces')")
      ->delimiter(',')
      ->capture_default_str()
      ->option_text("NAME,...");
  command
      .add_option("--model", options->models,
                  "models of the network's time ('d5 list simulated-networks')")
      ->delimiter(',')
      ->capture_default_str()
      ->option_text("NAME,...");
  command.add_option("--bytes", options->bytes, "size of the data")
      ->transform(app::bytes())
      ->capture_default_str()
      ->option_text("SIZE");
  app::add_format_options(command, *options);
}

}  // namespace d5::command
