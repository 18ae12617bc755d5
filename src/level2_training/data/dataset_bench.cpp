// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/dataset_bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level2_training/data/dataset_summary.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "level2_training/data/batches/batch_judge.hpp"

namespace d5 {
namespace {

const Batch& next_batch(Sampler& sampler, std::int64_t& epoch) {
  for (;;) {
    if (const Batch* batch = sampler.next()) return *batch;
    sampler.reset(++epoch);
  }
}

double bytes_of(const Batch& batch) {
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : batch.values) tensors.push_back(value.tensor());
  return double(bytes_of(tensors));
}

}  // namespace

std::vector<Measurement> bench_dataset(const EntryChoice& dataset,
                                       const DatasetBenchOptions& options) {
  const DatasetPair data =
      open_dataset(dataset.name, dataset.settings, options.measuring.interrupt);
  CommandLine line("data bench");
  line.word(to_words(dataset)).option("--batch", options.batch_size);
  line.option("--sampler", fmt::format("{}", fmt::join(options.samplers, ",")));
  if (options.loader_threads > 0) line.option("--loader-threads", options.loader_threads);
  line.option("--threads", threads())
      .append(to_line(options.measuring))
      .append(options.command_options);
  std::vector<Subject> subjects;
  for (const auto& name : options.samplers) {
    const SamplerEntry& entry = samplers().at(name);
    Measurement record{.subject = "data " + to_words(dataset), .command = line.text()};
    record.level = "training";
    record.framework = "reference";
    record.conditions["sampler"] = identity(name);
    record.conditions["batch"] = identity(options.batch_size);
    if (options.loader_threads > 0) {
      record.conditions["loader_threads"] = identity(options.loader_threads);
    }
    record.conditions["data"] = identity(data.train->description());
    record.artefacts = data.train->artefacts();
    subjects.push_back(subject_or_refusal(record, [&] {
      // Batches of one size, so that each sample of the measurement is the same amount of work.
      Settings settings{{"batch_size", options.batch_size}, {"tail", "drop"}};
      entry.offer(settings, "seed", options.measuring.seed);
      const auto sampler = entry.make(data.train, settings);
      sampler->read_ahead(options.loader_threads);
      const auto epoch = std::make_shared<std::int64_t>(0);
      const double bytes = bytes_of(next_batch(*sampler, *epoch));
      return Subject{.record = record,
                     .run = [sampler, epoch] { (void)next_batch(*sampler, *epoch); },
                     .work = {.bytes = bytes, .samples = double(options.batch_size)},
                     .judge =
                         [sampler, epoch, seed = options.measuring.seed](Subject::Moment) {
                           return detail::judge_batch(next_batch(*sampler, *epoch),
                                                      sampler->dataset(), seed);
                         }};
    }));
  }
  return measure_side_by_side(subjects, {"time"}, options.measuring);
}

}  // namespace d5
