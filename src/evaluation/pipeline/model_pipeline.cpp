// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/model_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "d5/core/errors/error.hpp"
#include "evaluation/pipeline/class_words.hpp"
#include "evaluation/pipeline/network_answer.hpp"
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

/// One row of an output, as a tensor of its own shape.
Tensor row_of(const Tensor& tensor, std::int64_t row, const std::string& name) {
  if (tensor.shape().rank() == 0 || row >= tensor.shape()[0]) {
    throw ShapeError(fmt::format("pipeline: output '{}' is {}, expected a row {} of the batch",
                                 printable(name), to_string(tensor.desc()), row));
  }
  const auto dims = tensor.shape().dims();
  const Shape shape(std::vector<std::int64_t>(dims.begin() + 1, dims.end()));
  return tensor.slice(row, row + 1).reshaped(shape).copy();
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
                             std::vector<std::string> labels)
    : samples_(std::move(samples)),
      held_(std::make_shared<HeldSamples>(samples_)),
      inputs_(std::move(inputs)) {
  for (const PipelineInput& input : inputs_) {
    fields_.push_back(field_called(*samples_, input.field));
    transformed_.push_back(std::make_unique<TransformedDataset>(held_, input.steps, input.field));
  }
  for (const EntryChoice& choice : answer) {
    auto step = answer_steps().at(choice.name).make(choice.settings);
    answer_.push_back({choice.name, std::move(step)});
  }
  if (!labels.empty()) answer_.push_back({"labels", detail::class_words(std::move(labels))});
}

ModelPipeline::~ModelPipeline() = default;

TensorDesc ModelPipeline::prepared_desc(std::size_t input) const {
  return transformed_.at(input)->fields()[fields_[input]].desc;
}

void ModelPipeline::load(std::span<const std::int64_t> samples) { held_->hold(samples); }

void ModelPipeline::unload() { held_->forget(); }

ValueMap ModelPipeline::prepare(std::int64_t sample) const {
  ValueMap result;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    std::vector<Tensor> read = empty_batch(*transformed_[i], 1);
    transformed_[i]->read({&sample, 1}, {}, read);
    result[inputs_[i].name] = std::move(read[fields_[i]]);
  }
  return result;
}

ValueMap ModelPipeline::right(std::int64_t sample) const {
  std::vector<Tensor> read = empty_batch(*held_, 1);
  held_->read({&sample, 1}, {}, read);
  ValueMap result;
  for (std::size_t f = 0; f < read.size(); ++f) {
    if (std::ranges::find(fields_, f) != fields_.end()) continue;
    result[samples_->fields()[f].name] = row_of(read[f], 0, samples_->fields()[f].name);
  }
  return result;
}

ValueMap ModelPipeline::batch(std::span<const ValueMap> prepared) {
  if (prepared.empty()) throw ValueError("pipeline: a batch of no samples");
  if (prepared.size() == 1) return prepared[0];
  ValueMap result;
  for (const auto& [name, first] : prepared[0]) {
    const Tensor& one = first.tensor();
    auto dims = one.shape().dims();
    std::vector<std::int64_t> sizes(dims.begin(), dims.end());
    sizes[0] = static_cast<std::int64_t>(prepared.size());
    Tensor all = Tensor::empty(one.dtype(), Shape(sizes));
    auto* out = static_cast<std::byte*>(all.raw());
    for (const ValueMap& sample : prepared) {
      const Tensor& tensor = sample.at(name).tensor();
      if (tensor.dtype() != one.dtype() || tensor.shape() != one.shape()) {
        throw ShapeError(
            fmt::format("pipeline: input '{}' is {} of one sample and {} of another; "
                        "samples of a batch must be alike",
                        printable(name), to_string(one.desc()), to_string(tensor.desc())));
      }
      std::memcpy(out, tensor.raw(), tensor.bytes());
      out += tensor.bytes();
    }
    result[name] = std::move(all);
  }
  return result;
}

ValueMap ModelPipeline::answer(const ValueMap& outputs, std::int64_t row) const {
  ValueMap values;
  for (const auto& [name, value] : outputs) values[name] = row_of(value.tensor(), row, name);
  detail::expect_numbers(values);
  for (const NamedStep& step : answer_) step.step->run(values);
  return values;
}

std::vector<StreamStage> ModelPipeline::stages_before(int threads) const {
  std::vector<StreamStage> stages;
  stages.push_back({"read", threads, [this](PipelineItem& item) {
                      std::vector<Tensor> read = empty_batch(*held_, 1);
                      held_->read({&item.sample, 1}, {}, read);
                      for (std::size_t f = 0; f < read.size(); ++f) {
                        const auto& name = samples_->fields()[f].name;
                        item.fields[name] = row_of(read[f], 0, name);
                      }
                      for (const auto& input : inputs_) {  // a step may change its own in place
                        item.inputs[input.name] = item.fields.at(input.field).tensor().copy();
                      }
                    }});
  for (const PipelineInput& input : inputs_) {
    const std::string before = inputs_.size() > 1 ? input.name + "." : "";
    for (const auto& step : detail::step_stages(input.steps)) {
      stages.push_back(
          {before + step->name(), threads, [step, name = input.name](PipelineItem& item) {
             Value& value = item.inputs.at(name);
             value = step->run(std::move(value.tensor()), item.sample, {});
           }});
    }
  }
  // The first dimension is the batch's. The steps' descriptions are held against what came.
  auto [name, count, run] = std::move(stages.back());
  stages.back() = {name, count, [this, run](PipelineItem& item) {
                     run(item);
                     for (std::size_t i = 0; i < inputs_.size(); ++i) shape_input(i, item);
                   }};
  return stages;
}

void ModelPipeline::shape_input(std::size_t i, PipelineItem& item) const {
  Value& value = item.inputs.at(inputs_[i].name);
  const Tensor& tensor = value.tensor();
  const TensorDesc told = prepared_desc(i);
  const auto dims = tensor.shape().dims();
  bool fits = tensor.dtype() == told.dtype && dims.size() == told.shape.rank();
  for (std::size_t d = 0; fits && d < dims.size(); ++d) {
    fits = told.shape[d] == kUnknownDim || told.shape[d] == dims[d];
  }
  if (!fits) {
    throw ContractError(fmt::format("pipeline: steps of input '{}' gave {}, but described {}",
                                    printable(inputs_[i].name), to_string(tensor.desc()),
                                    to_string(told)));
  }
  std::vector<std::int64_t> sizes{1};
  sizes.insert(sizes.end(), dims.begin(), dims.end());
  value = tensor.reshaped(Shape(std::move(sizes)));
}

std::vector<StreamStage> ModelPipeline::stages_after(int threads) const {
  std::vector<StreamStage> stages;
  for (const NamedStep& step : answer_) {
    stages.push_back(
        {step.name, threads, [step = step.step](PipelineItem& item) { step->run(item.answer); }});
  }
  return stages;
}

Pipeline::Predict ModelPipeline::predict_with(Predictor& predictor) {
  return [&predictor](std::span<PipelineItem*> items) {
    std::vector<ValueMap> prepared;
    for (const PipelineItem* item : items) prepared.push_back(item->inputs);
    const ValueMap& outputs = predictor.predict(batch(prepared));
    detail::expect_batch(outputs, std::int64_t(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (const auto& [name, value] : outputs) {
        items[i]->answer[name] = row_of(value.tensor(), std::int64_t(i), name);
      }
      try {
        detail::expect_numbers(items[i]->answer);
      } catch (const NumericError& error) {  // of this sample alone
        items[i]->fault = error.what();
      }
    }
  };
}

}  // namespace d5
