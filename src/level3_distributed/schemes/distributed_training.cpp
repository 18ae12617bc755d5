// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/distributed_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "core/process/launcher.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/communicator/gather_records.hpp"
#include "d5/level3_distributed/decorators/training_step.hpp"
#include "d5/level3_distributed/samples/sample_cut.hpp"
#include "d5/level3_distributed/schemes/communication_volume.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/rank_check.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"
#include "level2_training/optimization/taken_options.hpp"
#include "level3_distributed/schemes/chosen_names.hpp"
#include "level3_distributed/schemes/rank_checkpoints.hpp"

namespace d5 {
namespace {

std::shared_ptr<Optimizer> wrap(const std::shared_ptr<Optimizer>& optimizer,
                                const DistributedOptions& options,
                                const std::shared_ptr<Communicator>& ranks) {
  auto three_step = std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
  if (!three_step) {
    throw Unsupported(
        "this optimizer cannot be distributed: it is not a ThreeStepOptimizer (a framework's own "
        "never is); choose one of 'd5 list optimizers'");
  }
  const DistributedOptimizerEntry& scheme = find_scheme(options.scheme.name);
  Settings settings = options.scheme.settings;
  // Entries with random numbers use the training's seed unless they have their own.
  detail::offer_to_chosen(settings, scheme.options(), "seed", options.seed);
  return scheme.make(std::move(three_step), ranks, settings);
}

Settings of_one_share(const Settings& sampling, const DistributedOptions& options,
                      const RankRole& role) {
  const std::int64_t batch_size = read_shared_options<SamplerOptions>(sampling).batch_size;
  const int shares = options.scaling == "weak" ? 1 : role.shares;
  if (role.pieces > 1 && batch_size % (shares * role.pieces) != 0) {
    throw ValueError(fmt::format(
        "a batch of {} cannot be cut into {} micro-batches for each of {} workers; change the "
        "batch size, or the number of micro-batches",
        batch_size, role.pieces, shares));
  }
  if (options.scaling == "weak") return sampling;
  if (batch_size % shares != 0) {
    throw ValueError(
        fmt::format("a batch of {} cannot be shared by {} workers; change the batch size, "
                    "or use {}",
                    batch_size, shares, option_word("scaling", "weak")));
  }
  Settings mine = sampling;
  mine.set("batch_size", batch_size / shares);
  return mine;
}

std::shared_ptr<SampleCut> cut_of(const EntryChoice& choice) {
  return sample_cuts().at(choice.name).make(choice.settings);
}

RankRole role_of(const DistributedOptions& options, const Communicator& ranks, int rank) {
  return find_scheme(options.scheme.name).role(rank, ranks.size(), options.scheme.settings);
}

RankRole role_of(const DistributedOptions& options, const Communicator& ranks) {
  return role_of(options, ranks, ranks.rank());
}

/// The scheme for a training resumed from a checkpoint; an empty checkpoint is none.
EntryChoice resumed(EntryChoice scheme, const std::string& checkpoint) {
  if (checkpoint.empty()) return scheme;
  const ValueMap state = detail::part_of(read_checkpoint(checkpoint).tensors, "optimizer/");
  scheme.settings = find_scheme(scheme.name).resumed(scheme.settings, state);
  return scheme;
}

/// The group of ranks that train; null on a rank that does not.
std::shared_ptr<Communicator> workers_of(const DistributedOptions& options,
                                         const std::shared_ptr<Communicator>& ranks) {
  bool all = true;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    all = all && role_of(options, *ranks, rank).works();
  }
  return all ? ranks : ranks->split(role_of(options, *ranks).works() ? 0 : -1);
}

/// Moves the parameters and gradients of a network to other memory, without their values.
void lay_out(Network& network, const std::function<Tensor(const TensorDesc&)>& memory) {
  network.lay_out_in([&](std::size_t bytes) {
    return memory({DType::uint8, {static_cast<std::int64_t>(bytes)}});
  });
}

/// A size has one value, however it is written: "64KiB" is 65536.
Condition::Value value_in_force(const std::string& key, const std::string& text) {
  const bool is_size = key.ends_with("bytes") && text.ends_with('B');
  return typed_value(is_size ? std::to_string(byte_count(text)) : text);
}

/// All options of the scheme with their values; for a chosen entry, its name.
Conditions in_force(const EntryChoice& scheme) {
  constexpr std::string_view kName = ".name";
  Conditions result;
  for (const Option& option : find_scheme(scheme.name).options()) {
    result[option.name] = {typed_value(option.initial), Role::identity};
  }
  for (const auto& [key, text] : scheme.settings.values()) {
    const bool names = key.ends_with(kName);
    result[names ? key.substr(0, key.size() - kName.size()) : key] = {value_in_force(key, text),
                                                                      Role::identity};
  }
  return result;
}

/// Adds the distribution's conditions to a rank's record.
void describe_ranks(Measurement& result, const DistributedOptions& options, int ranks) {
  result.level = "distributed";
  result.command = detail::launcher_line(ranks) + result.command;
  result.conditions["ranks"] = identity(ranks);
  result.conditions["distributed"] = identity(options.scheme.name);
  result.conditions["scaling"] = identity(options.scaling);
  result.conditions["samples"] = identity(options.samples.name);
  result.conditions["test_samples"] = identity(options.test_samples.name);
  for (const auto& [key, option] : in_force(options.scheme)) result.conditions[key] = option;
}

/// Checks that training did not end early on this rank alone, such as by a NaN loss. Throws: the
/// exception of training; Error for other failures, such as a metric that could not begin.
void expect_trained(const TrainingSession& training, const std::vector<Measurement>& results) {
  if (training.failure()) std::rethrow_exception(training.failure());
  const bool failed = std::ranges::all_of(results, [](const Measurement& m) {
    return m.status == Status::failed || m.status == Status::unsupported;
  });
  if (failed) throw Error(results.front().reason);
}

/// The options for the distribution of samples, beside the scheme's own options.
struct SampleCuts {
  EntryChoice samples{DistributedOptions().samples};
  EntryChoice test_samples{DistributedOptions().test_samples};

  void declare(OptionList& options) {
    options.add("samples", samples, "distribution of the training set over ranks",
                sample_cuts().kind());
    options.add("test_samples", test_samples, "distribution of the test set over ranks",
                sample_cuts().kind());
  }
};

void check_cuts(const DistributedOptions& options) {
  if (!cut_of(options.samples)->is_even()) {
    throw ValueError(
        fmt::format("samples '{}': ranks would have different numbers of batches and wait for each "
                    "other for ever; use it for test_samples only",
                    options.samples.name));
  }
  if (!cut_of(options.test_samples)->is_complete()) {
    throw ValueError(
        fmt::format("test_samples '{}': it may leave samples out, but a test run needs all of "
                    "them; choose batches or whole",
                    options.test_samples.name));
  }
}

}  // namespace

DistributedOptions distributed_options(const Recipe& recipe) {
  DistributedOptions options{recipe.choice("distributed", "consistent_decentralized")};
  options.seed = recipe.training().seed;
  if (options.scheme.name.empty()) options.scheme.name = "consistent_decentralized";
  options.scaling = options.scheme.settings.take("scaling", options.scaling);
  if (options.scaling != "strong" && options.scaling != "weak") {
    throw ValueError(fmt::format("{}: scaling is '{}', expected strong or weak",
                                 printable(recipe.file()), printable(options.scaling)));
  }
  const auto cuts = detail::take_options<SampleCuts>(options.scheme.settings);
  options.samples = cuts.samples;
  options.test_samples = cuts.test_samples;
  check_cuts(options);
  // Reports unknown names on one rank too, where the options are not used.
  detail::check_chosen_names(options.scheme.settings, find_scheme(options.scheme.name).options());
  return options;
}

void distribute(SessionOptions& session, const DistributedOptions& given,
                const std::shared_ptr<Communicator>& ranks) {
  if (ranks->size() == 1) return;
  DistributedOptions options = given;
  const RankRole role = role_of(options, *ranks);
  // Each worker's part has its own state (running statistics, random streams, metrics, parameters
  // under some schemes); rank 0's part has the servers' state. Two checkpoints are kept, in case
  // the job is killed between the writes of the parts.
  session.checkpoint = detail::part_of_rank(session.checkpoint, ranks->rank());
  session.checkpoints_kept = std::max<std::int64_t>(session.checkpoints_kept, 2);
  const auto workers = workers_of(options, ranks);
  const bool suits_any_ranks =
      options.scaling == "strong" &&
      find_scheme(options.scheme.name).resumes_on_other_ranks(options.scheme.settings);
  session.ranks = workers ? workers->size() : 1;
  session.resume =
      workers ? detail::common_checkpoint(session.resume, *workers, suits_any_ranks) : "";
  options.scheme = resumed(options.scheme, session.resume);
  if (ranks->rank() != 0) {
    session.writes_save = false;
    session.say = {};
  }
  if (!role.works()) session.save.clear();  // workers provide the saved network
  if (!suits_any_ranks) {
    session.variant = fmt::format("{} ranks, {} scaling", ranks->size(), options.scaling);
  }
  session.make_train_sampler = [=](const SamplerEntry& entry, std::shared_ptr<const Dataset> data,
                                   const Settings& sampling) {
    return cut_of(options.samples)
        ->sampler(std::move(data), entry, of_one_share(sampling, options, role), role.share,
                  role.shares);
  };
  session.make_test_sampler = [=](const SamplerEntry& entry, std::shared_ptr<const Dataset> data,
                                  const Settings& sampling) {
    return cut_of(options.test_samples)
        ->sampler(std::move(data), entry, sampling, role.share, role.shares);
  };
  const auto cut = std::make_shared<std::optional<Network>>();  // a part of the network
  session.make_executor = [=](const Network& whole, const std::string& loss,
                              const ExecutorOptions& execution) {
    auto executor = find_scheme(options.scheme.name)
                        .executor({whole, loss, execution}, ranks, options.scheme.settings);
    if (&executor->network().model() != &whole.model()) {
      *cut = whole;
      lay_out(**cut, phantom_tensor);
    }
    return executor;
  };
  session.wrap_optimizer = [=](const std::shared_ptr<Optimizer>& optimizer) {
    return wrap(optimizer, options, ranks);
  };
  session.run_trainer = [cut](Trainer& trainer, const Interrupt& interrupt) {
    auto* scheme = dynamic_cast<DistributedOptimizer*>(&trainer.optimizer());
    if (!scheme) return trainer.run(interrupt);
    scheme->run(trainer, interrupt);
    if (!*cut) return;
    lay_out(**cut, [](const TensorDesc& desc) { return Tensor::zeros(desc); });
    scheme->join(**cut);
  };
}

bool is_launched() { return detail::launched_ranks() > 0; }

void share_threads() {
  const int ranks_here = detail::launched_ranks_here();
  if (ranks_here < 2) return;
  // If mpirun has bound this rank to some cores, these are its share.
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const bool bound = cores <= threads() / ranks_here;
  set_threads(std::max(1, bound ? cores : threads() / ranks_here));
}

namespace {

std::vector<Measurement> train_together(const Recipe& recipe, SessionOptions session,
                                        const std::shared_ptr<Communicator>& ranks,
                                        const Interrupt& interrupt) {
  const DistributedOptions options = distributed_options(recipe);
  const StartComparison start(recipe, session, ranks);
  start.compare_recipes();
  std::erase_if(session.metrics,
                [](const auto& metric) { return metric.name() == "communication_volume"; });
  session.metrics.emplace_back([ranks] { return std::make_shared<CommunicationVolume>(ranks); });
  distribute(session, options, ranks);
  start.add_to(session);
  session.observers.insert(session.observers.begin(), std::make_shared<TrainingStep>());
  TrainingSession training(recipe, std::move(session));
  auto mine = training.run_unjudged(interrupt);
  const bool trained = role_of(options, *ranks).works();
  expect_trained(training, mine);
  const auto& scheme = dynamic_cast<const DistributedOptimizer&>(training.trainer().optimizer());
  for (auto& result : mine) {
    describe_ranks(result, options, ranks->size());
    for (const auto& [name, open] : scheme.conditions()) result.conditions[name] = open;
  }
  auto results = gather_records(std::move(mine), *ranks, trained);
  const bool cut_short = CommunicatorAgreement(ranks).any(training.trainer().interrupted());
  if (!cut_short) {
    judge(results, recipe);
    return results;
  }
  for (auto& result : results) {  // also a server's, which is not interrupted itself
    if (result.status == Status::passed) mistrust(result, "interrupted");
  }
  return results;
}

}  // namespace

std::vector<Measurement> train(const Recipe& recipe, SessionOptions session,
                               const std::shared_ptr<Communicator>& ranks,
                               const Interrupt& interrupt) {
  if (ranks->size() == 1) {
    (void)distributed_options(recipe);  // throws for unknown names
    return TrainingSession(recipe, std::move(session), interrupt).run(interrupt);
  }
  ranks->forget_failures();
  try {
    return train_together(recipe, std::move(session), ranks, interrupt);
  } catch (...) {
    ranks->tell_failure();  // a rank may fail alone while the others wait for it
    throw;
  }
}

}  // namespace d5
