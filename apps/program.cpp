// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include "apps/ctrl_c.hpp"
#include "apps/say.hpp"
#include "apps/traced_run.hpp"
#include "apps/usage_error.hpp"
#include "d5/core/error.hpp"
#include "d5/level3_distributed/communicator.hpp"
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
  say(fmt::format("error: {}{}", who, message));
}

/// Empty where none was asked for, or the command runs nothing.
std::string trace_file(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw(kTraceOption);
  return option && option->count() > 0 ? option->as<std::string>() : "";
}

/// Or CLI11 would take `--quiet=5`.
void refuse_values_of_flags(CLI::App& app) {
  for (auto* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }
  for (auto* command : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_values_of_flags(*command);
  }
}

/// The one that is written last would be all that is left. Throws: ValueError.
void refuse_one_file_twice(const CLI::App& command) {
  std::map<std::string, std::string> writers;  // by file
  for (const std::string name : {"--out", kTraceOption, "--checkpoint"}) {
    const CLI::Option* option = command.get_option_no_throw(name);
    if (!option || option->count() == 0) continue;
    std::error_code ignored;
    const auto given = option->as<std::string>();
    const auto file = std::filesystem::weakly_canonical(given, ignored).string();
    const auto [place, fresh] = writers.emplace(file, name);
    if (fresh || file.starts_with("/dev/")) continue;
    throw ValueError(fmt::format("{} and {} are both '{}'; give each a file of its own",
                                 place->second, name, printable(given)));
  }
}

/// A command that does not divide its work among ranks would do all of it on each, in each other's
/// way. Throws: ValueError.
void refuse_ranks(const CLI::App& command) {
  const bool runs = command.get_option_no_throw(kTraceOption);
  const bool divides = command.get_option_no_throw("--distributed");
  if (!runs || divides || world()->size() == 1) return;
  throw ValueError(
      fmt::format("'{}' is of one process, and this is one of {}; 'd5 train' runs on "
                  "several ranks",
                  full_name(command), world()->size()));
}

/// A closed stdout or stderr keeps its number: no file that is opened later is taken for it.
/// Writing to what stands there fails.
void occupy_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// Throws: IoError if something that was printed cannot have arrived. A reader that went away has
/// seen enough.
void finish_stdout() {
  errno = 0;
  const bool arrived = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (arrived || errno == EPIPE) return;
  throw IoError(fmt::format("stdout cannot be written{}{}", errno ? ": " : "",
                            errno ? std::strerror(errno) : ""));
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

int Program::parse_and_run(int argc, char** argv) {
  refuse_values_of_flags(app_);
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_.exit(error);  // --help, --version: on stdout
    print_error(explain(error, app_));
    return kBadUsage;
  }
  const CLI::App& command = deepest(app_);
  refuse_one_file_twice(command);
  refuse_ranks(command);
  const int status = run_traced(trace_file(command), chosen_);
  return interrupted() ? interrupted_status() : status;
}

int Program::run(int argc, char** argv) {
  occupy_standard_streams();
  try {
    const int status = parse_and_run(argc, argv);
    finish_stdout();
    return status;
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
  } catch (const std::system_error& error) {  // of fmt::print
    if (error.code() == std::errc::broken_pipe) return kFailed;
    print_error(error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    print_error(fmt::format("unexpected: {}", error.what()));
    return kFailed;
  }
}

}  // namespace d5::app
