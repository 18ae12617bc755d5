// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/batch_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

struct Link {
  std::shared_ptr<const BatchStep> step;
  std::string stream;
};

class SteppedSampler final : public Sampler {
 public:
  SteppedSampler(std::shared_ptr<Sampler> sampler, const std::vector<EntryChoice>& steps,
                 std::uint64_t seed)
      : sampler_(std::move(sampler)), fields_(sampler_->dataset().fields()), seed_(seed) {
    for (const auto& [name, settings] : steps) {
      const auto& fields = links_.empty() ? fields_ : links_.back().step->fields();
      links_.push_back({.step = batch_steps().at(name).make(fields, settings),
                        .stream = fmt::format("batch_steps.{}.{}", links_.size(), name)});
    }
  }

  const Batch* next() override {
    const Batch* from = sampler_->next();
    if (!from || from->size == 0) return from;
    Buffer& buffer = buffer_of(from->size);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      buffer.stages[0][f] = from->values.at(fields_[f].name).tensor();
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      RandomStream random =
          Draw{.seed = seed_, .epoch = from->epoch}.stream(links_[i].stream, from->index);
      links_[i].step->run(buffer.stages[i], random, buffer.stages[i + 1]);
    }
    buffer.batch.epoch = from->epoch;
    buffer.batch.index = from->index;
    buffer.batch.global_size = from->global_size;
    buffer.batch.samples = from->samples;
    buffer.batch.draws = from->draws;
    buffer.batch.making_seconds = from->making_seconds;
    return &buffer.batch;
  }
  void reset(std::int64_t epoch) override { sampler_->reset(epoch); }
  void seek(std::int64_t epoch, std::int64_t index) override { sampler_->seek(epoch, index); }
  [[nodiscard]] std::int64_t batches() const override { return sampler_->batches(); }
  [[nodiscard]] SamplerLaw law() const override { return sampler_->law(); }
  [[nodiscard]] std::map<std::string, std::string> settings() const override {
    return sampler_->settings();
  }
  [[nodiscard]] std::int64_t left_out() const override { return sampler_->left_out(); }
  [[nodiscard]] const Dataset& dataset() const override { return sampler_->dataset(); }
  void take_part(int rank, int ranks) override { sampler_->take_part(rank, ranks); }
  void take_batches(int rank, int ranks) override { sampler_->take_batches(rank, ranks); }

 private:
  /// Memory for batches of one size. There are few sizes, such as the full one and the tail's.
  struct Buffer {
    std::vector<std::vector<Tensor>> stages;  ///< input of the first step, and output of each
    Batch batch;
  };

  Buffer& buffer_of(std::int64_t size) {
    for (const auto& buffer : buffers_) {
      if (buffer->batch.size == size) return *buffer;
    }
    Buffer& buffer = *buffers_.emplace_back(std::make_unique<Buffer>());
    buffer.batch.size = size;
    buffer.stages.emplace_back(fields_.size());
    for (const Link& link : links_) {
      auto& tensors = buffer.stages.emplace_back();
      for (const auto& [name, desc] : link.step->fields()) {
        std::vector<std::int64_t> dims{size};
        dims.insert(dims.end(), desc.shape.begin(), desc.shape.end());
        tensors.push_back(Tensor::empty(desc.dtype, Shape(std::move(dims))));
      }
    }
    const auto& fields = links_.back().step->fields();
    for (std::size_t f = 0; f < fields.size(); ++f) {
      buffer.batch.values[fields[f].name] = buffer.stages.back()[f];
    }
    return buffer;
  }

  std::shared_ptr<Sampler> sampler_;
  std::vector<Dataset::Field> fields_;
  std::uint64_t seed_;
  std::vector<Link> links_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace

void BatchStepOptions::declare(OptionList& options) {
  options.add("batch_steps", batch_steps, "steps over training batches, in order", "batch step");
}

std::shared_ptr<Sampler> with_batch_steps(std::shared_ptr<Sampler> sampler,
                                          const std::vector<EntryChoice>& steps,
                                          std::uint64_t seed) {
  if (steps.empty()) return sampler;
  return std::make_shared<SteppedSampler>(std::move(sampler), steps, seed);
}

}  // namespace d5
