// SPDX-License-Identifier: Apache-2.0
#include "d5/core/work_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>

#include "core/measuring/work_run.hpp"
#include "d5/core/error.hpp"
#include "d5/core/measure.hpp"

namespace d5 {
namespace {

/// A run that goes on was made the same way, on the same machine.
std::string here(const std::string& how) {
  const Environment machine = environment();
  return fmt::format("{}; {}, {}, d5 {}", how, machine.hostname, machine.cpu,
                     machine.source_commit);
}

}  // namespace

const std::string& name_of(const WorkPiece& piece) {
  return piece.name.empty() ? piece.record.subject : piece.name;
}

std::vector<WorkPiece> matching(const std::vector<WorkPiece>& pieces,
                                const std::string& expression) {
  std::vector<WorkPiece> chosen;
  try {
    const std::regex pattern(expression);
    std::ranges::copy_if(pieces, std::back_inserter(chosen), [&](const WorkPiece& one) {
      return std::regex_search(name_of(one), pattern);
    });
  } catch (const std::regex_error& error) {
    throw ValueError(fmt::format("--filter '{}' is no regular expression: {}",
                                 printable(expression), error.what()));
  }
  if (chosen.empty()) {
    throw ValueError(fmt::format("--filter '{}' fits none of {}; --list names them",
                                 printable(expression), pieces.size()));
  }
  return chosen;
}

WorkDone run_work(const std::vector<WorkPiece>& pieces, const WorkOptions& options) {
  if (options.resume && options.out.empty()) {
    throw ValueError("--resume needs --out FILE.json, the results that it goes on with");
  }
  detail::WorkRun run(pieces, options.interrupt, options.on_records);
  using enum ResultJournal::Begin;
  if (!options.out.empty()) {
    run.open_journal(options.out, here(options.how), options.resume ? resumed : anew);
  }
  run.go(options.what);
  return run.finish();
}

WorkDone plan_work(const std::vector<WorkPiece>& pieces,
                   const std::function<void(const std::vector<Measurement>&)>& on_records) {
  detail::WorkRun run(pieces, {}, on_records);
  run.plan();
  return run.finish();
}

std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const Measurement& record,
    const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check) {
  std::vector<Measurement> results;
  const auto add_failure = [&](const std::string& framework) {  // of what is being thrown
    Measurement& failed = results.emplace_back(record);
    failed.framework = framework;
    record_failure(failed, std::current_exception());
  };
  try {
    for (const auto& framework : frameworks) {
      try {
        check(framework, results);
      } catch (const Interrupted&) {
        throw;
      } catch (const std::exception& error) {
        if (frameworks.size() == 1 || detail::is_bad_input(error)) throw;
        add_failure(framework);
      } catch (...) {
        if (frameworks.size() == 1) throw;
        add_failure(framework);
      }
      sampled();
    }
  } catch (const Interrupted&) {  // what was checked before stands
  }
  return results;
}

}  // namespace d5
