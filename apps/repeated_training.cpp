// SPDX-License-Identifier: Apache-2.0
#include "apps/repeated_training.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "apps/publish.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/result_journal.hpp"
#include "d5/core/threads.hpp"
#include "d5/level2_training/convergence_reference.hpp"
#include "d5/level2_training/training_comparison.hpp"
#include "d5/level2_training/training_repetition.hpp"

namespace d5::app {
namespace {

/// Trains variants from several seeds, keeps each run that is done beside `--out`, and goes on from
/// there.
class KeptRuns {
 public:
  enum class Begin { anew, resumed };
  enum class Write { yes, no };  ///< no: another rank writes

  /// `how`: the options of all runs, which one that goes on must share.
  KeptRuns(std::vector<TrainingVariant> variants, TrainOnce train, std::string how)
      : variants_(std::move(variants)), train_(std::move(train)), how_(std::move(how)) {}
  /// Throws: ValueError, IoError of the journal.
  void run(const RepetitionOptions& options, const OutputOptions& output, Begin begin, Write write);

  /// In the order of the variants.
  [[nodiscard]] const std::vector<RepeatedRuns>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<TrainingVariant>& variants() const { return variants_; }
  /// Writes every run's records and behind them `joined`, prints these. Returns the exit status.
  int publish(const std::vector<Measurement>& joined, const OutputOptions& output, Write write);

 private:
  [[nodiscard]] std::string how() const;
  [[nodiscard]] static std::string piece(const TrainingVariant& variant, std::uint64_t seed);

  std::vector<TrainingVariant> variants_;
  TrainOnce train_;
  std::string how_;
  std::vector<RepeatedRuns> runs_;
  std::shared_ptr<ResultJournal> journal_;
};

std::string KeptRuns::piece(const TrainingVariant& variant, std::uint64_t seed) {
  const std::string name = fmt::format("{} seed {}", variant.framework, seed);
  return variant.name.empty() ? name : variant.name + " " + name;
}

/// The recipes with all their values, and how long each trains, which their checksums leave out.
std::string KeptRuns::how() const {
  std::string text = "train " + how_;
  for (const auto& variant : variants_) {
    const TrainingOptions training = variant.recipe.training();
    text += fmt::format(" {} {} {} epochs {} batches {}", variant.framework, variant.name,
                        training.epochs, training.most_batches, variant.recipe.checksum());
  }
  return text;
}

void KeptRuns::run(const RepetitionOptions& options, const OutputOptions& output, Begin begin,
                   Write write) {
  if (!output.out.empty() && write == Write::yes) {
    using enum ResultJournal::Begin;
    journal_ = std::make_shared<ResultJournal>(output.out, how(),
                                               begin == Begin::resumed ? resumed : anew);
  }
  std::vector<RepeatedTraining> trainings;
  for (const auto& variant : variants_) {
    trainings.push_back(
        {.name = variants_.size() > 1 ? variant.name : "", .train = [&](std::uint64_t seed) {
           const std::string name = piece(variant, seed);
           const auto* done = journal_ ? journal_->find(name) : nullptr;
           if (done) return *done;
           auto records = train_({.name = variant.name,
                                  .recipe = with_seed(variant.recipe, seed),
                                  .framework = variant.framework});
           for (Measurement& record : records) {
             for (const auto& [key, text] : variant.differs) record.conditions[key] = text;
           }
           if (journal_ && !options.interrupt.due()) journal_->add(name, records);
           return records;
         }});
  }
  runs_ = repeat_trainings(trainings, options);
}

int KeptRuns::publish(const std::vector<Measurement>& joined, const OutputOptions& output,
                      Write write) {
  if (write == Write::no) return exit_status(joined, output.if_unsupported);
  if (journal_) {
    Results all{environment(), {}, PiecewiseRun{.how = how()}};
    using End = ResultJournal::End;
    bool whole = true;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      whole = whole && !runs_[i].interrupted;
      for (std::size_t run = 0; run < runs_[i].records.size(); ++run) {
        const auto& records = runs_[i].records[run];
        const std::string name = piece(variants_[i], runs_[i].seeds[run]);
        if (!journal_->find(name)) continue;  // interrupted: not done
        all.run->pieces.push_back({name, records.size()});
        all.measurements.insert(all.measurements.end(), records.begin(), records.end());
      }
    }
    all.measurements.insert(all.measurements.end(), joined.begin(), joined.end());
    journal_->finish(all, whole ? End::whole : End::cut_short);
    say_written(output);
  }
  print(Results{environment(), joined}, output);
  return exit_status(joined, output.if_unsupported);
}

/// "auto" is 0. Throws: ValueError for what is no number of runs.
std::int64_t runs_of(const std::string& repeat) {
  if (repeat == "auto") return 0;
  std::int64_t runs = 0;
  const auto [end, error] = std::from_chars(repeat.data(), repeat.data() + repeat.size(), runs);
  if (error == std::errc{} && end == repeat.data() + repeat.size() && runs >= 1) return runs;
  throw ValueError(fmt::format("train: --repeat {}: expected a number of runs, at least 1, or auto",
                               printable(repeat)));
}

/// What runs that belong together share, besides the recipe.
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

void say_best(const std::vector<TrainingVariant>& variants, const BestVariant& best) {
  std::string settings;
  for (const auto& [key, text] : variants[best.index].differs) {
    settings += fmt::format(" --set {}={}", key, text);
  }
  fmt::print(stderr, "best of {} trials, test_accuracy {:.4g}:{}\n", variants.size(),
             best.test_accuracy, settings);
}

}  // namespace

int train_repeatedly(const TrainOptions& options, const Recipe& recipe, const TrainOnce& train,
                     Communicator& ranks, const Interrupt& interrupt) {
  if (options.resume && ranks.size() > 1) {
    throw ValueError("train: --resume of repeated runs is of one rank; several begin anew");
  }
  const bool speaks = ranks.rank() == 0;
  const auto write = speaks ? KeptRuns::Write::yes : KeptRuns::Write::no;
  std::vector<TrainingVariant> variants{{.recipe = recipe}};
  if (!options.vary.empty()) variants = vary(recipe, options.vary);
  if (options.trials > 0) variants = variants_of_trials(recipe, options.trials);
  KeptRuns repeated(in_each(variants, options.frameworks), train, command_words(options));
  RepetitionOptions repetition = repetition_of(options, recipe, interrupt);
  if (!options.quiet && speaks) {
    repetition.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  }
  repeated.run(repetition, options,
               options.resume ? KeptRuns::Begin::resumed : KeptRuns::Begin::anew, write);

  std::vector<std::vector<Measurement>> each;
  std::vector<ComparedTraining> trainings;
  std::vector<Measurement> joined;
  const auto append = [&](std::vector<Measurement> records) {
    joined.insert(joined.end(), records.begin(), records.end());
  };
  for (std::size_t i = 0; i < repeated.variants().size(); ++i) {
    const auto& variant = repeated.variants()[i];
    trainings.push_back({variant.name, repeated.runs()[i]});
    each.push_back(join_runs(repeated.runs()[i]));
    judge_convergence(each.back(), variant.recipe);
    append(each.back());
    if (!options.vary.empty() && i > 0) append(compare_trainings(trainings[i], trainings[0]));
  }
  if (!options.pictures.empty() && speaks) draw(options, trainings);
  const auto best = options.trials > 0 ? best_of(each) : std::nullopt;
  if (best && speaks && !options.quiet) say_best(repeated.variants(), *best);
  const int status = repeated.publish(joined, options, write);
  if (options.make_reference && speaks && !interrupt.due()) {
    write_file(options.recipe, with_reference(recipe, each.front()));
    if (!options.quiet) {
      fmt::print(stderr, "reference written to {}\n", printable(options.recipe));
    }
  }
  return status;
}

}  // namespace d5::app
