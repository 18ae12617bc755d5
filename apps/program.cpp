// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "apps/ctrl_c.hpp"
#include "apps/traced_run.hpp"
#include "d5/core/error.hpp"
#include "d5/core/registry.hpp"
#include "d5/version.hpp"

namespace d5::app {
namespace {

constexpr const char* kFooter = R"(Examples:
  d5 env                                        this machine, and what was found on it
  d5 list operators                             who supports which operator
  d5 op bench "Gemm 64x64 64x64" --framework reference,torch
  d5 net check MODEL.onnx --framework torch     against the reference
  d5 train mnist-lenet-quick --set training.epochs=1

Results go to stdout, everything else to stderr. Exit status: 0 passed, 1 something failed, 2 bad
usage or input, 130 interrupted: Ctrl-C ends a measurement early and keeps what was measured (143:
SIGTERM, 129: the terminal closed).
`d5 COMMAND --help` teaches each command by examples.)";

void print_error(std::string_view message) {
  // Under mpirun several ranks print to one terminal.
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const std::string who = rank ? fmt::format("rank {}: ", rank) : "";
  std::fflush(stdout);
  fmt::print(stderr, "d5: error: {}{}\n", who, message);
}

/// The sub-command that the line got to.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

/// Empty where none was asked for, or the command runs nothing.
std::string trace_file(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw(kTraceOption);
  return option && option->count() > 0 ? option->as<std::string>() : "";
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : "d5";
}

/// What CLI11 says, or the nearest name for a word that it did not expect.
std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App& place = deepest(app);
  const auto rest = app.remaining(true);
  try {
    const bool unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) ||
                            dynamic_cast<const CLI::RequiredError*>(&error);
    if (unexpected && !rest.empty()) {
      std::vector<std::string> known;
      if (rest.front().starts_with("-")) {
        for (const auto* option : place.get_options()) {
          for (const auto& name : option->get_lnames()) known.push_back("--" + name);
        }
        throw_unknown_name("option", rest.front(), known);
      }
      for (const auto* command : place.get_subcommands([](const CLI::App*) { return true; })) {
        known.push_back(command->get_name());
      }
      if (!known.empty()) throw_unknown_name("command", rest.front(), known);
    }
  } catch (const NotFound& unknown) {
    return unknown.what();
  }
  return fmt::format("{}; see '{} --help'", error.what(), full_name(place));
}

}  // namespace

Program::Program() : app_("d5: measures, validates, combines and reproduces deep learning", "d5") {
  app_.footer(kFooter);
  app_.require_subcommand(1);
  app_.set_version_flag("--version", "d5 " D5_VERSION);
  app_.get_formatter()->column_width(34);
}

CLI::App& Program::add(std::string_view path, const std::string& summary,
                       const std::string& examples, std::function<int()> run) {
  CLI::App* parent = &app_;
  if (const auto space = path.find(' '); space != std::string_view::npos) {
    const std::string group(path.substr(0, space));
    const auto there =
        app_.get_subcommands([&](const CLI::App* command) { return command->get_name() == group; });
    parent = there.empty() ? app_.add_subcommand(group) : there.front();
    parent->require_subcommand(1);
    path.remove_prefix(space + 1);
  }
  CLI::App* command = parent->add_subcommand(std::string(path), summary);
  command->footer("Examples:\n" + examples);
  command->callback([this, run = std::move(run)] { chosen_ = run; });
  if (parent != &app_) {
    std::string summaries;
    for (const auto* child : parent->get_subcommands([](const CLI::App*) { return true; })) {
      summaries +=
          (summaries.empty() ? "" : "; ") + child->get_name() + ": " + child->get_description();
    }
    parent->description(summaries);
  }
  return *command;
}

int Program::run(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
    const int status = run_traced(trace_file(deepest(app_)), chosen_);
    return interrupted() ? interrupted_status() : status;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_.exit(error);  // --help, --version: on stdout
    print_error(explain(error, app_));
    return kBadUsage;
  } catch (const Interrupted& error) {
    print_error(error.what());
    return interrupted_status();
  } catch (const NumericError& error) {
    print_error(error.what());
    return kFailed;
  } catch (const CommunicationError& error) {
    print_error(error.what());
    return kFailed;
  } catch (const Error& error) {
    print_error(error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    print_error(fmt::format("unexpected: {}", error.what()));
    return kFailed;
  }
}

}  // namespace d5::app
