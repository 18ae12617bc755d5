// SPDX-License-Identifier: Apache-2.0
#include "apps/repeated_training.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "apps/publish.hpp"
#include "d5/core/error.hpp"
#include "d5/level2_training/trials.hpp"

namespace d5::app {

RepeatedTraining::RepeatedTraining(std::vector<TrainingVariant> variants, TrainOnce train,
                                   std::string how)
    : variants_(std::move(variants)), train_(std::move(train)), how_(std::move(how)) {}

std::string RepeatedTraining::piece(const TrainingVariant& variant, std::uint64_t seed) const {
  const std::string name = fmt::format("{} seed {}", variant.framework, seed);
  return variant.name.empty() ? name : variant.name + " " + name;
}

/// The recipes with all their values, and how long each trains, which their checksums leave out.
std::string RepeatedTraining::how() const {
  std::string text = "train " + how_;
  for (const auto& variant : variants_) {
    const TrainingOptions training = variant.recipe.training();
    text += fmt::format(" {} {} {} epochs {} batches {}", variant.framework, variant.name,
                        training.epochs, training.most_batches, variant.recipe.checksum());
  }
  return text;
}

void RepeatedTraining::run(const RepetitionOptions& options, const OutputOptions& output,
                           Begin begin, Write write) {
  if (!output.out.empty() && write == Write::yes) {
    using enum ResultJournal::Begin;
    journal_ = std::make_shared<ResultJournal>(output.out, how(),
                                               begin == Begin::resumed ? resumed : anew);
  }
  std::vector<d5::RepeatedTraining> trainings;
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

int RepeatedTraining::publish(const std::vector<Measurement>& joined, const OutputOptions& output,
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

std::vector<TrainingVariant> vary(const Recipe& recipe, const std::string& words) {
  const std::size_t equals = words.find('=');
  const std::string key = words.substr(0, equals);
  std::vector<TrainingVariant> variants;
  std::istringstream values(equals == std::string::npos ? "" : words.substr(equals + 1));
  for (std::string value; std::getline(values, value, ',');) {
    TrainingVariant& one = variants.emplace_back(
        TrainingVariant{.name = value, .recipe = recipe, .differs = {{key, value}}});
    one.recipe.set(fmt::format("{}={}", key, value));
  }
  if (variants.size() >= 2) return variants;
  throw ValueError(
      fmt::format("train: --vary {}: expected a key and two values or more, as "
                  "optimizer.name=adam,momentum",
                  printable(words)));
}

std::vector<TrainingVariant> variants_of_trials(const Recipe& recipe, std::int64_t trials) {
  std::vector<TrainingVariant> variants;
  for (const Recipe& one : trials_of(recipe, trials)) {
    TrainingVariant variant{.recipe = one};
    for (const auto& range : recipe.ranges()) {
      const std::string& text = one.values().find(range.key)->second.text;
      variant.differs[range.key] = text;
      variant.name += fmt::format("{}{}={}", variant.name.empty() ? "" : " ", range.key, text);
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<TrainingVariant> in_each(const std::vector<TrainingVariant>& variants,
                                     const std::vector<std::string>& frameworks) {
  std::vector<TrainingVariant> all;
  for (const auto& variant : variants) {
    for (const auto& framework : frameworks) {
      TrainingVariant& one = all.emplace_back(variant);
      one.framework = framework;
      if (frameworks.size() == 1) continue;
      one.name += (one.name.empty() ? "" : " in ") + framework;
    }
  }
  return all;
}

std::int64_t runs_of(const std::string& repeat) {
  if (repeat == "auto") return 0;
  std::int64_t runs = 0;
  const auto [end, error] = std::from_chars(repeat.data(), repeat.data() + repeat.size(), runs);
  if (error == std::errc{} && end == repeat.data() + repeat.size() && runs >= 1) return runs;
  throw ValueError(fmt::format("train: --repeat {}: expected a number of runs, at least 1, or auto",
                               printable(repeat)));
}

}  // namespace d5::app
