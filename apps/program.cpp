// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/ctrl_c.hpp"
#include "apps/former_words.hpp"
#include "apps/given_line.hpp"
#include "apps/help_format.hpp"
#include "apps/kept_results.hpp"
#include "apps/options.hpp"
#include "apps/say.hpp"
#include "apps/usage_error.hpp"
#include "apps/usage_rules.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/schemes/traced_run.hpp"
#include "d5/onnx/load_notes.hpp"
#include "d5/version.hpp"

namespace d5::app {
namespace {

/// Printed by `d5` alone: first steps.
constexpr const char* kFirstSteps =
    R"(d5 benchmarks and validates deep learning: operators, networks, training, clusters, services.
First steps:

  d5 op check "Conv 2x3x9x9 4x3x3x3"               validate an operator and its gradient
  d5 op bench "Gemm 64x64 64x64" --framework all   compare its speed in each framework
  d5 net show MODEL.onnx                           inspect your own exported model
  d5 train mnist-lenet-quick                       train by a recipe, to its accuracy
  d5 compare old.json new.json                     compare two results: faster, slower, or noise

d5 --help has all commands.
)";

constexpr const char* kFooter = R"(Examples:
  d5 env                                        this machine, its libraries and frameworks
  d5 list operators                             which framework supports which operator
  d5 op bench "Gemm 64x64 64x64" --framework reference,torch
  d5 net check MODEL.onnx --framework torch     compare with the reference
  d5 train mnist-lenet-quick --set training.epochs=1

Results go to stdout, everything else to stderr. Exit status: 0 passed, 1 something failed or is
unsupported, 2 bad usage or input, 3 a gate cannot tell, 130 interrupted: Ctrl-C ends a measurement
early and keeps what was measured (143: SIGTERM, 129: the terminal closed).
`d5 COMMAND --help` shows examples of each command.)";

/// The first example of a command's help, with the lines that continue it.
std::string first_example(const std::string& help) {
  std::istringstream lines(help);
  std::string text, line;
  std::getline(lines, line);  // "Examples:"
  while (std::getline(lines, line) && (text.empty() || line.starts_with("   "))) {
    text += line + '\n';
  }
  return text;
}

/// Prefixes the rank: under mpirun several ranks print to one terminal.
const char* rank_in_job() { return std::getenv("OMPI_COMM_WORLD_RANK"); }

void print_error(std::string_view message) {
  const char* rank = rank_in_job();
  std::string who = rank ? fmt::format("rank {}: ", rank) : "";
  if (std::string_view(message).starts_with(who))
    who.clear();  // the message names its rank already
  std::fflush(stdout);
  say(fmt::format("error: {}{}", who, message));
}

/// For errors that are usually the same on all ranks: rank 0 prints the error and ends the job at
/// once, because MPI would wait for the other ranks, which wait here. A rank that is not ended
/// prints its own message.
void print_usage_error(std::string_view message) {
  constexpr unsigned kSeconds = 2;
  const std::string_view rank = rank_in_job() ? rank_in_job() : "";
  const char* ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (!rank.empty() && rank != "0" && sleep(kSeconds) > 0) return;  // a signal ended the wait
  print_error(message);
  if (rank == "0" && ranks && std::string_view(ranks) != "1") std::_Exit(kBadUsage);
}

/// Returns an empty path if no trace was asked for, or the command runs nothing.
std::string trace_file(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw(kTraceOption);
  return option && option->count() > 0 ? option->as<std::string>() : "";
}

int run_traced_if(const CLI::App& command, const std::function<int()>& run) {
  const std::string path = trace_file(command);
  if (path.empty()) return run();  // without asking for ranks
  int status = kPassed;
  run_traced({.path = path,
              .who = kTraceOption,
              .say = [](const std::string& line) { say("note: " + line); },
              .cut_off = [] { return interrupted() ? "interrupted" : ""; }},
             world(), [&] { status = run(); });
  if (world()->rank() == 0 && command.get_option("--quiet")->count() == 0) {
    fmt::print(stderr, "{} written to {}\n", interrupted() ? "trace, cut off," : "trace",
               printable(path));
  }
  return status;
}

/// Reports what loaded files leave out: each note once, even if a command loads a file several
/// times, and on one rank of a job.
void say_notes_of_files() {
  const std::string_view rank = rank_in_job() ? rank_in_job() : "0";
  if (rank != "0") return;
  struct Said {
    std::mutex mutex;
    std::set<std::string> lines;
  };
  onnx::listen_to_notes(
      [said = std::make_shared<Said>()](const std::string& file, const std::string& note) {
        const std::string line = fmt::format("note: '{}': {}", file, note);
        const std::lock_guard lock(said->mutex);
        if (said->lines.insert(line).second) say(line);
      });
}

/// Opens /dev/null for a closed stdout or stderr, so that no file opened later takes its number.
/// Writing there fails.
void occupy_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// Throws: IoError if stdout could not be written. A reader that went away is no error.
void finish_stdout() {
  errno = 0;
  const bool arrived = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (arrived || errno == EPIPE) return;
  throw IoError(fmt::format("stdout cannot be written{}{}", errno ? ": " : "",
                            errno ? std::strerror(errno) : ""));
}

}  // namespace

Program::Program()
    : app_(
          "d5: benchmark and validate deep learning: operators, networks, training, clusters, "
          "services",
          "d5") {
  app_.footer(kFooter);
  app_.require_subcommand(1);
  app_.set_version_flag("--version", "d5 " D5_VERSION);
  app_.formatter(help_format());
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
    std::string summaries, first;
    for (const auto* child : parent->get_subcommands([](const CLI::App*) { return true; })) {
      summaries +=
          (summaries.empty() ? "" : "; ") + child->get_name() + ": " + child->get_description();
      first += first_example(child->get_footer());
    }
    parent->description(summaries);
    parent->footer(fmt::format("Examples:\n{}\n`d5 {} COMMAND --help` shows more.", first,
                               parent->get_name()));
  }
  return *command;
}

int Program::parse_and_run(int argc, char** argv) {
  if (argc <= 1) {
    fmt::print("{}", kFirstSteps);
    return kPassed;
  }
  refuse_values_of_flags(app_);
  try {
    const auto words = with_present_words({argv + 1, argv + argc});
    app_.parse(std::vector(words.rbegin(), words.rend()));  // as CLI11 takes them
    keep_given_words(words, deepest(app_));
  } catch (const CLI::ParseError& error) {
    if (is_answered(error, app_)) return app_.exit(error);  // printed on stdout
    print_usage_error(explain(error, app_));
    return kBadUsage;
  }
  const CLI::App& command = deepest(app_);
  check_usage(command);
  const int status = run_kept_if(command, [&] {
    return own_traces_.contains(&command) ? chosen_() : run_traced_if(command, chosen_);
  });
  return interrupted() ? interrupted_status() : status;
}

int Program::run(int argc, char** argv) {
  occupy_standard_streams();
  use_option_flags();
  say_notes_of_files();
  try {
    const int status = parse_and_run(argc, argv);
    finish_stdout();
    return status;
  } catch (const Interrupted& error) {
    print_error(error.what());
    return interrupted_status();
  } catch (const RunFailure& error) {
    print_error(error.what());
    return kFailed;
  } catch (const NumericError& error) {
    print_error(error.what());
    return kFailed;
  } catch (const CommunicationError& error) {
    print_error(error.what());
    return kFailed;
  } catch (const Unsupported& error) {
    print_error(error.what());
    return kFailed;
  } catch (const Error& error) {
    print_usage_error(error.what());
    return kBadUsage;
  } catch (const std::system_error& error) {  // thrown by fmt::print
    if (error.code() == std::errc::broken_pipe) return kFailed;
    print_error(error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    print_error(fmt::format("unexpected: {}", error.what()));
    return kFailed;
  }
}

}  // namespace d5::app
