// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/peak/machine_peak.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::command {
namespace {

constexpr const char* kEnvExamples = R"(  d5 env                          readable text
  d5 env --format json            the record that every results file contains
  d5 env --peak                   measure the machine's peak performance, once; 'op bench' then
                                  reports shares of it)";

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string description_of(const FrameworkInfo& info) {
  if (!info.reason.empty()) return "absent: " + info.reason;
  const std::string version = framework(info.name).version();
  return info.path.empty() ? version + ", built in" : version + ", " + info.path;
}

TextTable properties(const Environment& env) {
  TextTable table({"what", "value"});
  const auto add = [&](const std::string& what, const std::string& value) {
    table.add({what, or_dash(value)});
  };
  add("d5", fmt::format("{}, commit {}", env.d5_version, env.source_commit));
  add("time", env.time);
  add("machine", env.hostname);
  add("system", env.os);
  add("processor",
      fmt::format("{}, {} sockets, {} cores, {} hardware threads, {} NUMA nodes", env.cpu,
                  env.sockets, env.cores, env.hardware_threads, env.numa_nodes));
  add("instruction sets", fmt::format("{}", fmt::join(env.instruction_sets, " ")));
  add("caches", fmt::format("L1 {}, L2 {}, L3 {}", memory_size(env.l1_bytes),
                            memory_size(env.l2_bytes), memory_size(env.l3_bytes)));
  add("memory", memory_size(env.memory_bytes));
  if (env.processor_limit > 0) {
    add("limit of processors", fmt::format("{:.3g}", env.processor_limit));
  }
  if (env.memory_limit_bytes > 0) add("limit of memory", memory_size(env.memory_limit_bytes));
  add("virtual machine", env.virtualisation);
  add("frequency governor", env.governor);
  add("threads", fmt::format("{}, pinned to {}", env.threads, env.pinning));
  add("threads without work", env.waiting);
  add("compiler", fmt::format("{} {} ({})", env.compiler, env.flags, env.build_type));
  for (const auto& [name, version] : env.libraries) add("library " + name, version);
  if (env.peak_byte_rate > 0) {
    add("peak", fmt::format("{} in float32, {} in float64, {} of memory",
                            with_prefix(env.peak_float32_flop_rate, "flop/s"),
                            with_prefix(env.peak_float64_flop_rate, "flop/s"),
                            with_prefix(env.peak_byte_rate, "byte/s")));
  } else {
    add("peak", "not measured; 'd5 env --peak' does, once");
  }
  add("clock", fmt::format("{} a reading", with_prefix(env.clock_seconds_per_read, "s")));
  for (const auto& [name, value] : env.variables) add("variable " + name, value);
  for (const auto& info : devices()) {
    add("device " + to_string(info.device),
        info.present ? info.description : "absent: " + info.reason);
  }
  const TransportInfo mpi = transport();
  add("communication", mpi.present ? mpi.description : "absent: " + mpi.description);
  for (const auto& info : frameworks()) add("framework " + info.name, description_of(info));
  add("plug-ins from", fmt::format("{}", fmt::join(plugin_path(), ", ")));
  const char* data = std::getenv("D5_DATA_DIR");
  add("data (D5_DATA_DIR)", data ? data : "not set");
  for (const auto& warning : env.warnings) add("warning", warning);
  return table;
}

struct EnvOptions : app::OutputOptions {
  bool peak = false;
};

/// Measures on one thread and on all, which are what most runs use.
void measure_peaks() {
  const int all = threads();
  app::say(
      "note: a peak is right only on an otherwise idle machine; if it is measured again, the "
      "highest is kept");
  for (const int count : all == 1 ? std::vector{1} : std::vector{1, all}) {
    set_threads(count);
    (void)measure_machine_peak();
  }
}

int run_env(const EnvOptions& options) {
  if (options.peak) measure_peaks();
  (void)loadable_frameworks();  // reports why others cannot be loaded
  const Results results{environment(), {}};
  if (options.format == Format::json) {
    fmt::print("{}\n", to_json(results));
  } else {
    app::print(properties(results.environment), options.format);
  }
  if (!options.out.empty()) write_results(results, options.out);
  return app::kPassed;
}

}  // namespace

void register_env(app::Program& program) {
  auto options = std::make_shared<EnvOptions>();
  auto& command = program.add("env", "describe this machine, its libraries and frameworks",
                              kEnvExamples, [options] { return run_env(*options); });
  command.add_flag("--peak", options->peak,
                   "measure the machine's peak, for shares of it and rooflines, and keep it; takes "
                   "some seconds on an otherwise idle machine");
  app::add_output_options(command, *options, app::kTableFormats);
}

}  // namespace d5::command
