// SPDX-License-Identifier: Apache-2.0
#include "apps/repeated_training.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "apps/given_line.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/training/convergence_reference.hpp"
#include "d5/level2_training/validation/variant_training.hpp"

namespace d5::app {
namespace {

/// Reads --repeat; "auto" is 0. Throws: ValueError if the text is no number of runs.
std::int64_t runs_of(const std::string& repeat) {
  if (repeat == "auto") return 0;
  std::int64_t runs = 0;
  const auto [end, error] = std::from_chars(repeat.data(), repeat.data() + repeat.size(), runs);
  if (error == std::errc{} && end == repeat.data() + repeat.size() && runs >= 1) return runs;
  throw ValueError(fmt::format("train: --repeat {}: expected a number of runs, at least 1, or auto",
                               printable(repeat)));
}

/// Settings that runs of one comparison share, besides the recipe.
std::string command_words(const TrainOptions& options) {
  CommandLine line("");
  line.option("--device", options.device).option("--threads", threads());
  if (!options.data.empty()) line.option("--data", options.data);
  for (const auto& metric : options.metrics) line.option("--metrics", metric);
  return line.append(to_line(options)).text();
}

RepetitionOptions repetition_of(const TrainOptions& options, const Recipe& recipe,
                                const Interrupt& interrupt) {
  RepetitionOptions repetition{.runs = 1, .seed = recipe.training().seed, .interrupt = interrupt};
  if (options.make_reference) repetition.runs = kFewestReferenceRuns;
  if (!options.repeat.empty()) repetition.runs = runs_of(options.repeat);
  if (options.make_reference && repetition.runs < kFewestReferenceRuns) {
    throw ValueError(
        fmt::format("train: --make-reference takes {} runs or more, and --repeat says "
                    "{}",
                    kFewestReferenceRuns, printable(options.repeat)));
  }
  if (options.make_reference) expect_reference_metric(recipe);
  return repetition;
}

void draw(const TrainOptions& options, const std::vector<ComparedTraining>& trainings) {
  for (const Plot& plot : {accuracy_plot(trainings), loss_plot(trainings)}) {
    if (plot.marks.empty()) continue;
    const std::string file = (std::filesystem::path(options.pictures) / (plot.name + ".svg"));
    write_file(file, to_svg(plot));
    if (!options.quiet) fmt::print(stderr, "{} drawn\n", printable(file));
  }
}

/// For people each training is a table of its own, with its values above it: one of all would have
/// a column for each value that differs.
void print_trainings(const TrainedVariants& done, const OutputOptions& options) {
  Results shown{environment(), done.records};
  const bool apart = is_for_people(options.format) && options.pivot.empty();
  if (!apart || done.joined.size() == 1) return print(shown, options);
  for (const auto& records : done.joined) {
    shown.measurements = records;
    print(shown, options);
    print("\n", options.format);
  }
  if (done.comparisons.empty()) return;
  shown.measurements = done.comparisons;
  print(shown, options);
  print("\n", options.format);
}

/// The sentence about the best of --trials, with the options that train it again.
std::string words_of_best(const std::vector<TrainingVariant>& variants, const BestVariant& best) {
  std::string settings;
  for (const auto& [key, text] : variants[best.index].differs) {
    settings += fmt::format(" --set {}={}", key, text);
  }
  return fmt::format("best of {} trials, test_accuracy {:.4g}:{}", variants.size(),
                     best.test_accuracy, settings);
}

/// Notes that variants differ only in how ranks work together, of which there is one.
void note_no_effect(const std::vector<TrainingVariant>& variants) {
  std::set<std::string> keys;
  for (const auto& variant : variants) {
    for (const auto& [key, text] : variant.differs) keys.insert(key);
  }
  const auto is_of_ranks = [](const std::string& key) { return key.starts_with("distributed."); };
  if (keys.empty() || !std::ranges::all_of(keys, is_of_ranks)) return;
  say(
      fmt::format("note: {} has no effect on one rank: the compared trainings are the same; use "
                  "--ranks 2 or more",
                  fmt::join(keys, ", ")));
}

}  // namespace

int train_repeatedly(const TrainOptions& options, const Recipe& recipe, const TrainOnce& train,
                     Communicator& ranks, const Interrupt& interrupt) {
  if (options.resume && ranks.size() > 1) {
    throw ValueError(
        "train: --resume of repeated runs works on one rank; several ranks start again");
  }
  const bool speaks = ranks.rank() == 0;
  std::vector<TrainingVariant> variants{{.recipe = recipe}};
  if (!options.vary.empty()) variants = vary(recipe, options.vary);
  if (options.trials > 0) variants = variants_of_trials(recipe, options.trials);
  if (ranks.size() == 1) note_no_effect(variants);
  variants = in_each(variants, options.frameworks);
  RepetitionOptions repetition = repetition_of(options, recipe, interrupt);
  if (!options.quiet && speaks) {
    repetition.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  }
  const TrainedVariants done = train_variants(variants, train,
                                              {.repetition = std::move(repetition),
                                               .out = speaks ? options.out : "",
                                               .resume = options.resume,
                                               .how = command_words(options),
                                               .command = given_line(),
                                               .compare = !options.vary.empty(),
                                               .search = options.trials > 0});
  const int status = exit_status(done.records, options.if_unsupported);
  if (!speaks) return status;
  if (!options.pictures.empty()) draw(options, done.trainings);
  if (!options.out.empty()) say_written(options);
  print_trainings(done, options);
  if (is_for_people(options.format)) {
    for (const auto& verdict : done.verdicts) print_wrapped(printable(verdict));
    const auto best = options.trials > 0 ? best_of(done.joined) : std::nullopt;
    if (best) print_wrapped(printable(words_of_best(variants, *best)));
  }
  if (options.make_reference && !interrupt.due()) {
    write_file(options.recipe, with_reference(recipe, done.joined.front()));
    if (!options.quiet) {
      fmt::print(stderr, "reference written to {}\n", printable(options.recipe));
    }
  }
  return status;
}

}  // namespace d5::app
