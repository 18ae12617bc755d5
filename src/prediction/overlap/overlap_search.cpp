// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/core/results/result_journal.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/prediction/overlap/overlap_account.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "prediction/overlap/time_shares.hpp"

namespace d5 {
namespace {

constexpr const char* kStepTime = "step_time";
constexpr const char* kRound = "round";
constexpr int kFewestRounds = 6;  // needed for the interval of a median

/// Metrics of a block, in order.
constexpr const char* kBlockParts[] = {kStepTime, "compute_only", "overlap", "communication_only",
                                       "idle"};

/// Escapes text for `with_resources`, whose options are separated by ':' and '+'.
std::string escaped(std::string words) {
  for (char& c : words) {
    if (c == '+') c = '.';
    if (c == ':') c = '+';
  }
  return words;
}

Settings exchange_settings(const OverlapCandidate& candidate, const std::string& all_reduce) {
  Settings settings;
  if (candidate.bucket_bytes > 0) settings.set("bucket_bytes", candidate.bucket_bytes);
  if (candidate.resources == "default") {
    settings.set("all_reduce", all_reduce);
  } else {
    settings.set("all_reduce", "with_resources");
    settings.set("all_reduce.of", all_reduce);
    settings.set("all_reduce.resources", escaped(candidate.resources));
  }
  return settings;
}

/// A record of each candidate's block parts, without samples.
std::vector<Measurement> block_records(const std::string& model,
                                       const OverlapSearchOptions& options, int ranks) {
  std::vector<Measurement> records;
  for (const OverlapCandidate& candidate : options.candidates) {
    for (const char* part : kBlockParts) {
      Measurement record{.subject = model,
                         .command = options.command,
                         .level = "prediction",
                         .framework = options.framework,
                         .metric = part,
                         .unit = "s",
                         .quantity = Quantity::time,
                         .over_ranks = OverRanks::maximum};
      record.conditions = {{"candidate", identity(candidate.name())},
                           {"base", identity(options.candidates.front().name())},
                           {"all_reduce", identity(options.all_reduce)},
                           {"batch", identity(options.batch)},
                           {"ranks", identity(ranks)},
                           {"steps", setting(options.steps_per_block)}};
      records.push_back(std::move(record));
    }
  }
  return records;
}

/// The training of one candidate.
struct Contestant {
  std::shared_ptr<DistributedOptimizer> optimizer;
};

/// All candidates on one model.
class ModelSearch {
 public:
  ModelSearch(const std::string& model, const OverlapSearchOptions& options, Communicator& ranks)
      : model_(model),
        options_(options),
        ranks_(ranks),
        recorder_(std::make_shared<OverlapRecorder>()) {
    const Network network = models().at(model).make({{"with_loss", true}, {"training", true}});
    batch_ = {.values = random_inputs(network, {.batch = options.batch},
                                      static_cast<std::uint64_t>(ranks.rank())),
              .size = options.batch};
    for (const auto& candidate : options.candidates) {
      auto local = std::dynamic_pointer_cast<ThreeStepOptimizer>(
          optimizers()
              .at("momentum")
              .make(open_executor(options.framework, network.copy()), "loss",
                    {{"learning_rate", 1e-3}}));
      contestants_.push_back({find_scheme("consistent_decentralized")
                                  .make(local, ranks.shared_from_this(),
                                        exchange_settings(candidate, options.all_reduce))});
      (void)contestants_.back().optimizer->step(batch_);  // one-time setup
    }
  }

  /// Records of each candidate's block, with one sample: the mean over the block's steps.
  std::vector<Measurement> round(int number) {
    std::vector<Measurement> records = block_records(model_, options_, ranks_.size());
    for (Measurement& record : records) record.conditions[kRound] = setting(number);
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      const std::size_t i = (k + std::size_t(number)) % contestants_.size();
      const auto parts = block(*contestants_[i].optimizer);
      for (std::size_t part = 0; part < parts.size(); ++part) {
        records[i * std::size(kBlockParts) + part].samples = {parts[part]};
      }
    }
    return records;
  }

 private:
  /// The step time of the slowest rank, and the parts of this rank's step.
  std::vector<double> block(DistributedOptimizer& optimizer) {
    recorder_->clear();
    ranks_.barrier();
    ranks_.events().add(recorder_);
    recorder_->begin_step();
    const double begin = now_seconds();  // timed: the block's steps, each to its last update
    for (int i = 0; i < options_.steps_per_block; ++i) {
      recorder_->begin_compute();
      (void)optimizer.step(batch_);
      recorder_->end_step();
    }
    const double seconds = now_seconds() - begin;
    ranks_.events().remove(recorder_.get());
    std::vector<double> sample{detail::largest_of_ranks(ranks_, seconds) /
                               options_.steps_per_block};
    for (double StepAccount::* part : {&StepAccount::compute, &StepAccount::overlap,
                                       &StepAccount::communication, &StepAccount::idle}) {
      double sum = 0;
      for (const StepAccount& step : recorder_->steps()) sum += step.*part;
      sample.push_back(sum / options_.steps_per_block);
    }
    return sample;
  }

  std::string model_;
  const OverlapSearchOptions& options_;
  Communicator& ranks_;
  std::shared_ptr<OverlapRecorder> recorder_;
  Batch batch_;
  std::vector<Contestant> contestants_;
};

std::vector<Measurement> joined_rounds(const std::string& model,
                                       const OverlapSearchOptions& options,
                                       const std::vector<std::vector<Measurement>>& rounds,
                                       int ranks) {
  std::vector<Measurement> records = block_records(model, options, ranks);
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (const auto& round : rounds) records[i].samples.push_back(round[i].samples.front());
    if (std::ssize(rounds) < options.rounds) {
      mistrust(records[i], fmt::format("{} of {} rounds", rounds.size(), options.rounds));
    }
  }
  return records;
}

/// Rank 0's value, on all ranks.
bool word_of_rank_0(bool mine, Communicator& ranks) {
  Tensor word = Tensor::scalar<std::int32_t>(mine ? 1 : 0);
  ranks.broadcast(word, 0);
  return word.item<std::int32_t>() != 0;
}

std::string search_how(const OverlapSearchOptions& options, int ranks) {
  std::string how =
      fmt::format("overlap search by parts, {} ranks, batch {}, {} in {}, {} steps:", ranks,
                  options.batch, options.all_reduce, options.framework, options.steps_per_block);
  for (const auto& candidate : options.candidates) how += " " + candidate.name();
  return how;
}

/// Whether `record` is the step time of a candidate, over all rounds.
bool is_cell(const Measurement& record) {
  return record.metric == kStepTime && !condition_of(record, "candidate").empty() &&
         condition_of(record, kRound).empty() && !record.samples.empty();
}

}  // namespace

std::string OverlapCandidate::name() const {
  return bucket_bytes == 0
             ? resources
             : fmt::format("{} bucket={}", resources, byte_words(std::size_t(bucket_bytes)));
}

std::vector<Measurement> overlap_search(const OverlapSearchOptions& options, Communicator& ranks) {
  if (options.models.empty() || options.candidates.empty() || options.rounds < 1 ||
      options.steps_per_block < 1) {
    throw ValueError("overlap search: expected at least one model, candidate, round and step");
  }
  for (const auto& candidate : options.candidates) (void)resources_of(candidate.resources);
  const bool keeps = ranks.rank() == 0 && !options.out.empty();
  std::optional<ResultJournal> journal;
  if (keeps) {
    using enum ResultJournal::Begin;
    journal.emplace(options.out, search_how(options, ranks.size()),
                    options.resume ? resumed : anew);
  }
  Results all{environment(), {}, PiecewiseRun{.how = search_how(options, ranks.size())}};
  std::vector<Measurement> records;
  bool whole = true;
  detail::TimeShares shares(options.most_seconds, options.models.size());
  for (const std::string& model : options.models) {
    const double until = now_seconds() + shares.next();
    std::unique_ptr<ModelSearch> search;
    std::vector<std::vector<Measurement>> rounds;
    for (int number = 0; number < options.rounds && whole; ++number) {
      const std::string piece = fmt::format("{} round {}", model, number);
      const auto* done = journal ? journal->find(piece) : nullptr;
      std::vector<Measurement> round;
      if (word_of_rank_0(done != nullptr, ranks)) {
        if (done) round = *done;
      } else {
        whole = !word_of_rank_0(options.interrupt.due(), ranks);
        if (!whole) break;
        if (number >= kFewestRounds && word_of_rank_0(now_seconds() > until, ranks)) break;
        if (!search) search = std::make_unique<ModelSearch>(model, options, ranks);
        round = search->round(number);
        if (journal) journal->add(piece, round);
        if (options.say) options.say(fmt::format("{} of {}", piece, options.rounds));
      }
      all.run->pieces.push_back({piece, round.size()});
      all.measurements.insert(all.measurements.end(), round.begin(), round.end());
      if (ranks.rank() == 0) rounds.push_back(std::move(round));
    }
    if (rounds.empty()) continue;
    std::ranges::move(joined_rounds(model, options, rounds, ranks.size()),
                      std::back_inserter(records));
  }
  if (journal) {
    all.measurements.insert(all.measurements.end(), records.begin(), records.end());
    journal->finish(all, whole ? ResultJournal::End::whole : ResultJournal::End::cut_short);
  }
  return records;
}

OverlapGrid overlap_grid_of(const std::vector<Measurement>& records) {
  OverlapGrid grid;
  for (const Measurement& record : records) {
    if (!is_cell(record)) continue;
    const std::string base_name = condition_of(record, "base");
    grid.base = base_name;
    const auto base = std::ranges::find_if(records, [&](const Measurement& other) {
      return is_cell(other) && other.subject == record.subject &&
             condition_of(other, "batch") == condition_of(record, "batch") &&
             condition_of(other, "candidate") == base_name;
    });
    const double samples = condition_number(record, "batch").value_or(1) *
                           condition_number(record, "ranks").value_or(1);
    OverlapCell cell{.model = record.subject,
                     .batch = std::int64_t(condition_number(record, "batch").value_or(1)),
                     .setting = condition_of(record, "candidate"),
                     .throughput = samples / estimate(record).value};
    if (base != records.end() && base->samples.size() == record.samples.size()) {
      const Comparison gain = compare(base->samples, record.samples);
      cell.gain = Estimate{gain.ratio, gain.ratio_interval, 0.95};
      if (&*base == &record) cell.gain = Estimate{1, {1, 1}, 0.95};
    }
    grid.cells.push_back(std::move(cell));
  }
  if (!grid.cells.empty()) return grid;
  throw ValueError("no record is from 'd5 overlap search': none has step times of a candidate");
}

TextTable overlap_parts_table(const std::vector<Measurement>& records) {
  using enum TextTable::Align;
  std::vector<TextTable::Column> columns{"model", "setting"};
  for (const char* part : kBlockParts) columns.emplace_back(part, right);
  TextTable result(columns);
  for (std::size_t i = 0; i + std::size(kBlockParts) <= records.size(); ++i) {
    if (!is_cell(records[i])) continue;
    std::vector<std::string> row{records[i].subject, condition_of(records[i], "candidate")};
    for (std::size_t part = 0; part < std::size(kBlockParts); ++part) {
      row.push_back(with_prefix(estimate(records[i + part]).value, "s"));
    }
    result.add(std::move(row));
  }
  return result;
}

}  // namespace d5
