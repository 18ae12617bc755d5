// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/model_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "evaluation/pipeline/class_words.hpp"
#include "evaluation/pipeline/step_stage.hpp"

namespace d5 {
namespace {

std::size_t field_called(const Dataset& samples, const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t f = 0; f < samples.fields().size(); ++f) {
    if (samples.fields()[f].name == name) return f;
    known.push_back(samples.fields()[f].name);
  }
  throw_unknown_name("field of data set " + samples.name(), name, known);
}

Shape without_batch(const Shape& shape) {
  return Shape(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

std::vector<StreamStage> on_threads(std::vector<StreamStage> stages, int threads) {
  for (StreamStage& stage : stages) stage.threads = threads;
  return stages;
}

}  // namespace

/// Samples as the data set holds them, some of them in memory.
class ModelPipeline::HeldSamples final : public Dataset {
 public:
  explicit HeldSamples(std::shared_ptr<const Dataset> base) : base_(std::move(base)) {}
  [[nodiscard]] std::string name() const override { return base_->name(); }
  [[nodiscard]] std::int64_t size() const override { return base_->size(); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return base_->fields(); }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    return base_->sample_name(index);
  }

  void hold(std::span<const std::int64_t> indices) {
    const bool alike = std::ranges::all_of(
        fields(), [](const Field& field) { return field.desc.shape.is_static(); });
    if (alike) return hold_together(indices);  // in memory that is had at once
    for (const std::int64_t& index : indices) hold_together({&index, 1});
  }
  void forget() {
    const std::unique_lock lock(mutex_);
    held_.clear();
  }

  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override {
    const std::shared_lock lock(mutex_);
    const auto place = indices.size() == 1 ? held_.find(indices[0]) : held_.end();
    if (place == held_.end()) return base_->read(indices, draw, batch);
    for (std::size_t f = 0; f < batch.size(); ++f) {  // copies: what a step edits is its own
      const Tensor& held = place->second[f];
      const bool fits = batch[f].defined() && batch[f].desc() == held.desc();
      if (fits) batch[f].copy_from(held);
      if (!fits) batch[f] = held.copy();
    }
  }

 private:
  void hold_together(std::span<const std::int64_t> indices) {
    std::vector<Tensor> batch = empty_batch(*base_, std::int64_t(indices.size()));
    base_->read(indices, {}, batch);
    const std::unique_lock lock(mutex_);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::vector<Tensor>& sample = held_[indices[i]];
      sample.clear();
      for (const Tensor& all : batch) {
        sample.push_back(all.slice(std::int64_t(i), std::int64_t(i) + 1));
      }
    }
  }

  std::shared_ptr<const Dataset> base_;
  mutable std::shared_mutex mutex_;
  std::map<std::int64_t, std::vector<Tensor>> held_;
};

ModelPipeline::ModelPipeline(std::shared_ptr<const Dataset> samples,
                             std::vector<PipelineInput> inputs,
                             const std::vector<EntryChoice>& answer,
                             std::vector<std::string> labels, ModelCall call)
    : samples_(std::move(samples)),
      held_(std::make_shared<HeldSamples>(samples_)),
      inputs_(std::move(inputs)),
      call_(std::move(call)) {
  before_.push_back({.name = "read", .run = [this](PipelineItem& item) { read(item); }});
  for (const PipelineInput& input : inputs_) add_input(input);
  // The steps' descriptions are held against what came.
  before_.back().run = [this, run = before_.back().run](PipelineItem& item) {
    run(item);
    shape_inputs(item);
  };
  const auto add_answer = [&](const std::string& name, std::shared_ptr<const AnswerStep> step) {
    after_.push_back({.name = name, .run = [step = std::move(step)](PipelineItem& item) {
                        step->run(item.answer);
                      }});
  };
  for (const auto& [name, settings] : answer)
    add_answer(name, answer_steps().at(name).make(settings));
  if (!labels.empty()) add_answer("labels", detail::class_words(std::move(labels)));
}

ModelPipeline::~ModelPipeline() = default;

void ModelPipeline::add_input(const PipelineInput& input) {
  const std::size_t field = field_called(*samples_, input.field);
  const TransformedDataset described(held_, input.steps, input.field);
  prepared_.push_back(described.fields()[field].desc);
  if (call_.streams() && input.rank) expect_frames(input);
  const std::string before = inputs_.size() > 1 ? input.name + "." : "";
  for (const auto& step : detail::step_stages(input.steps)) {
    before_.push_back(
        {.name = before + step->name(), .run = [this, step, name = input.name](PipelineItem& item) {
           Value& value = item.inputs.at(name);
           try {
             value = step->run(std::move(value.tensor()), item.sample, {});
           } catch (const FormatError& error) {
             throw FormatError(fmt::format("sample {} ('{}'), {}", item.sample,
                                           printable(held_->sample_name(item.sample)),
                                           error.what()));
           }
         }});
  }
}

void ModelPipeline::expect_frames(const PipelineInput& input) {
  const std::size_t rank = prepared_.back().shape.rank();
  if (rank == *input.rank + 1) call_.frames.insert(input.name);
  if (rank == *input.rank || rank == *input.rank + 1) return;
  throw ShapeError(fmt::format(
      "pipeline: steps of input '{}' give {}, expected {} dimensions, or {} with those "
      "of frames first",
      printable(input.name), to_string(prepared_.back()), *input.rank, *input.rank + 1));
}

void ModelPipeline::load(std::span<const std::int64_t> samples) { held_->hold(samples); }

void ModelPipeline::unload() { held_->forget(); }

void ModelPipeline::prepare(PipelineItem& item) const {
  for (const StreamStage& stage : before_) stage.run(item);
}

void ModelPipeline::read(PipelineItem& item) const {
  std::vector<Tensor> sample = empty_batch(*held_, 1);
  held_->read({&item.sample, 1}, {}, sample);
  for (std::size_t f = 0; f < sample.size(); ++f) {
    item.fields[samples_->fields()[f].name] = sample[f].reshaped(without_batch(sample[f].shape()));
  }
  for (const PipelineInput& input : inputs_) {  // a step may change its own in place
    item.inputs[input.name] = item.fields.at(input.field).tensor().copy();
  }
}

void ModelPipeline::shape_inputs(PipelineItem& item) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Value& value = item.inputs.at(inputs_[i].name);
    const Tensor& tensor = value.tensor();
    const TensorDesc& described = prepared_[i];
    const auto dims = tensor.shape().dims();
    bool fits = tensor.dtype() == described.dtype && dims.size() == described.shape.rank();
    for (std::size_t d = 0; fits && d < dims.size(); ++d) {
      fits = described.shape[d] == kUnknownDim || described.shape[d] == dims[d];
    }
    if (!fits) {
      throw ContractError(fmt::format("pipeline: steps of input '{}' gave {}, but described {}",
                                      printable(inputs_[i].name), to_string(tensor.desc()),
                                      to_string(described)));
    }
    value = call_.single(inputs_[i].name, tensor);
  }
}

void ModelPipeline::answer(PipelineItem& item) const {
  for (const StreamStage& stage : after_) stage.run(item);
}

std::vector<StreamStage> ModelPipeline::stages_before(int threads) const {
  return on_threads(before_, threads);
}

std::vector<StreamStage> ModelPipeline::stages_after(int threads) const {
  return on_threads(after_, threads);
}

}  // namespace d5
