// SPDX-License-Identifier: Apache-2.0
#include "apps/kept_results.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/evaluation/database_options.hpp"
#include "apps/given_line.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"

namespace d5::app {
namespace {

/// A temporary folder for one file, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() : path_(std::filesystem::temp_directory_path() / "d5-results-XXXXXX") {
    if (!mkdtemp(path_.data())) throw IoError("no temporary folder can be made for --database");
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file() const { return path_ + "/results.json"; }

 private:
  std::string path_;
};

/// State of the one command that a process runs.
struct Keeping {
  std::string address;
  std::map<const CLI::App*, OutputOptions*> options;  ///< options of the commands that may keep
  std::unique_ptr<EvaluationDatabase> database;
  std::string only_kept;  ///< results file for the database alone, without `--out`
};
Keeping& keeping() {
  static Keeping keeping;
  return keeping;
}

/// Among several ranks, the first writes results.
bool is_first_rank() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return !rank || std::string_view(rank) == "0";
}

void say_kept(const std::string& id, const OutputOptions& options) {
  if (!options.quiet) say(fmt::format("kept as run {}", id.substr(0, 8)));
}

/// Whether it is one of `d5 eval`, which share a database by $D5_DATABASE.
bool is_of_eval(const CLI::App& command) {
  return command.get_parent() && command.get_parent()->get_name() == "eval";
}

}  // namespace

void add_keeping_option(CLI::App& command, OutputOptions& options) {
  command
      .add_option("--database", keeping().address,
                  is_of_eval(command)
                      ? "also store the results in this database: a file, or postgresql://...; by "
                        "default $D5_DATABASE, if it is set ('d5 eval history')"
                      : "also store the results in this database: a file, or postgresql://... "
                        "('d5 eval history')")
      ->option_text("ADDRESS")
      ->group("Common options");
  keeping().options[&command] = &options;
}

std::unique_ptr<EvaluationDatabase> take_database() { return std::move(keeping().database); }

void expect_no_database(const std::string& file) {
  constexpr std::string_view kBegin = "SQLite format 3";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;  // reading would consume a pipe
  std::string begin(kBegin.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), std::streamsize(begin.size()));
  if (begin != kBegin) return;
  throw ValueError(fmt::format(
      "'{0}' is a database, not a results file: 'd5 eval export RUN --database {0} --to RUN.json' "
      "writes a run in it to a file, 'd5 eval history --database {0}' lists the runs",
      printable(file)));
}

bool is_only_kept(const std::string& file) { return !file.empty() && file == keeping().only_kept; }

int run_kept_if(const CLI::App& command, const std::function<int()>& run) {
  Keeping& here = keeping();
  const auto keeps = here.options.find(&command);
  if (keeps == here.options.end() || !is_first_rank()) return run();
  if (here.address.empty() && is_of_eval(command)) here.address = named_database();
  if (here.address.empty()) return run();
  here.database = EvaluationDatabase::open(here.address);
  OutputOptions& options = *keeps->second;
  std::optional<ScratchFolder> folder;
  if (options.out.empty()) options.out = here.only_kept = folder.emplace().file();
  const int status = run();
  const auto database = std::move(here.database);  // null if the command took it
  std::error_code ignored;
  if (!database || !std::filesystem::exists(options.out, ignored)) return status;
  say_kept(database->add(read_results(options.out), given_line()), options);
  return status;
}

void keep_unwritten(const Results& results, const OutputOptions& options) {
  const auto database = std::move(keeping().database);
  if (database) say_kept(database->add(results), options);
}

}  // namespace d5::app
