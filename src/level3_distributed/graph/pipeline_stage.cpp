// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/pipeline_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"

namespace d5 {
namespace {

bool has_gradient(const CutTensor& cut) { return is_floating_point(cut.desc.dtype); }

}  // namespace

/// The messages of a stage in one run. Sends do not block, because a neighbour may be sending too.
/// Messages of one tensor and direction are in the order of the micro-batches.
class PipelineStage::Messages {
 public:
  Messages(Communicator& ranks, double& waited_seconds)
      : ranks_(ranks), waited_seconds_(waited_seconds) {}

  void send_forward(const CutTensor& cut, const Tensor& value) {
    for (const int to : cut.to) send(value, to, 2 * cut.number);
  }
  void send_back(const CutTensor& cut, const Tensor& gradient) {
    send(gradient, cut.from, 2 * cut.number + 1);
  }
  [[nodiscard]] Tensor receive_forward(const CutTensor& cut) {
    return receive(cut, cut.from, 2 * cut.number);
  }
  /// The sum of the readers' gradients.
  [[nodiscard]] Tensor receive_back(const CutTensor& cut) {
    Tensor sum = receive(cut, cut.to.front(), 2 * cut.number + 1);
    for (std::size_t i = 1; i < cut.to.size(); ++i) {
      ranks_.reduce_local(sum, receive(cut, cut.to[i], 2 * cut.number + 1));
    }
    return sum;
  }
  void wait() {
    for (auto& [data, request] : sent_) request->wait();
    sent_.clear();
  }

 private:
  void send(const Tensor& value, int to, int tag) {
    Tensor data = value.copy();  // the executor's next run overwrites it
    auto request = ranks_.start_send(data, to, tag);
    sent_.emplace_back(std::move(data), std::move(request));
  }
  [[nodiscard]] Tensor receive(const CutTensor& cut, int from, int tag) {
    Tensor data = Tensor::empty(cut.desc.dtype, cut.desc.shape);
    Span span("pipeline", "wait");
    span.argument("stage", from);
    const double begin = now_seconds();  // the clock includes the wait for the message
    ranks_.receive(data, from, tag);
    waited_seconds_ += now_seconds() - begin;
    return data;
  }

  Communicator& ranks_;
  double& waited_seconds_;
  std::vector<std::pair<Tensor, std::unique_ptr<Request>>> sent_;
};

/// Sums the gradients of a run's micro-batches, in the order of their backward passes.
class PipelineStage::GradientSums final : public ExecutionEvent {
 public:
  GradientSums(Network network, std::shared_ptr<Communicator> ranks)
      : network_(std::move(network)), ranks_(std::move(ranks)) {}

  void begin(std::size_t micro_batches, const GradientFinal& final) {
    left_ = total_ = micro_batches;
    final_ = &final;
    added_ = 0;
  }
  void gradient_ready(Parameter& parameter, std::size_t index, Stream&) override {
    if (left_ == 0) return;  // not in `train`
    add(parameter, index);
    added_ = index + 1;
  }
  /// Sets whether any sample of the current micro-batch counts; if not, its gradients may have 0 /
  /// 0.
  void expect(bool counts) { counts_ = counts; }
  /// Called after the backward pass of a micro-batch.
  void end_micro_batch() {
    auto& parameters = network_.parameters();
    for (; added_ < parameters.size(); ++added_) add(parameters[added_], added_);
    added_ = 0;
    --left_;
  }
  void give_up() { left_ = 0; }

 private:
  void add(Parameter& parameter, std::size_t index) {
    if (!counts_) parameter.gradient.copy_from(Tensor::zeros(parameter.gradient.desc()));
    if (left_ < total_) {
      Tensor& into = left_ > 1 ? sums_[index] : parameter.gradient;
      ranks_->reduce_local(into, left_ > 1 ? parameter.gradient : sums_[index]);
    } else if (total_ > 1) {
      sums_.resize(network_.parameters().size());
      if (!sums_[index].defined()) sums_[index] = Tensor::empty(parameter.gradient.desc());
      sums_[index].copy_from(parameter.gradient);
    }
    if (left_ == 1 && *final_) (*final_)(index);
  }

  Network network_;
  std::shared_ptr<Communicator> ranks_;
  std::vector<Tensor> sums_;
  std::size_t total_ = 0, left_ = 0;  // micro-batches of the run, and those without backward
  bool counts_ = true;
  std::size_t added_ = 0;  // parameters added in the current micro-batch
  const GradientFinal* final_ = nullptr;
};

PipelineStage::PipelineStage(NetworkPart part, std::string loss,
                             std::shared_ptr<Communicator> ranks,
                             std::shared_ptr<PipelineSchedule> schedule,
                             const ExecutorOptions& options)
    : part_(std::move(part)),
      loss_(std::move(loss)),
      ranks_(std::move(ranks)),
      schedule_(std::move(schedule)) {
  ExecutorOptions with_gradients = options;
  for (const CutTensor& cut : part_.receives) {
    if (has_gradient(cut)) with_gradients.gradients.push_back(cut.name);
  }
  for (const CutTensor& cut : part_.sends) {
    if (has_gradient(cut)) ends_.push_back(cut.name);
  }
  const auto outputs = part_.network.output_names();
  has_loss_ = std::ranges::find(outputs, loss_) != outputs.end();
  if (has_loss_) ends_.push_back(loss_);
  CommunicatorAgreement stages(ranks_);
  if (!stages.any(has_loss_)) {
    throw NotFound(
        fmt::format("pipeline: no stage has an output '{}', expected the loss", printable(loss_)));
  }
  if (stages.any(ends_.empty())) {
    throw Unsupported(
        fmt::format("pipeline: a stage writes neither the loss '{}' nor an input of another stage, "
                    "so it has no backward pass; cut elsewhere, or remove those nodes",
                    printable(loss_)));
  }
  executor_ = make_executor(part_.network, with_gradients);
  sums_ = std::make_shared<GradientSums>(part_.network, ranks_);
  executor_->events().add(sums_);
}

PipelineStage::~PipelineStage() = default;

ValueMap PipelineStage::inputs_of(const MicroBatch& micro_batch, Messages& messages) const {
  ValueMap inputs;
  for (const std::string& name : part_.network.input_names()) {
    const auto value = micro_batch.values.find(name);
    if (value != micro_batch.values.end()) inputs.insert(*value);
  }
  for (const CutTensor& cut : cut_of(micro_batch).receives) {
    inputs[cut.name] = messages.receive_forward(cut);
  }
  return inputs;
}

void PipelineStage::send_outputs(const MicroBatch& micro_batch, const ValueMap& outputs,
                                 Messages& messages) {
  for (const CutTensor& cut : cut_of(micro_batch).sends) {
    messages.send_forward(cut, outputs.at(cut.name).tensor());
  }
}

void PipelineStage::backward(BatchInFlight& batch, const MicroBatch& micro_batch,
                             Messages& messages) {
  ValueMap gradients;
  for (const CutTensor& cut : cut_of(micro_batch).sends) {
    if (has_gradient(cut)) gradients[cut.name] = messages.receive_back(cut);
  }
  if (has_loss_) {
    const TensorDesc& desc = batch.outputs().at(loss_).tensor().desc();
    Tensor factor = Tensor::empty(desc.dtype, desc.shape);
    dispatch(RealTypes{}, desc.dtype, "the loss of a pipeline",
             [&]<class T>() { std::ranges::fill(factor.span<T>(), T(micro_batch.factor)); });
    gradients[loss_] = factor;
  }
  const Span span("pipeline", "backward");
  const bool counts = micro_batch.factor != 0;
  sums_->expect(counts);
  batch.backward(gradients);
  for (const CutTensor& cut : cut_of(micro_batch).receives) {
    if (!has_gradient(cut)) continue;
    messages.send_back(cut, counts ? batch.gradient(cut.name) : Tensor::zeros(cut.desc));
  }
}

void PipelineStage::train(std::span<const MicroBatch> micro_batches, const ReadOutputs& read,
                          const GradientFinal& final) {
  if (micro_batches.empty())
    throw ValueError("a pipeline runs no micro-batch, expected one or more");
  Messages messages(*ranks_, waited_seconds_);
  std::vector<std::unique_ptr<BatchInFlight>> under_way(micro_batches.size());
  struct Summing {
    GradientSums& sums;
    ~Summing() { sums.give_up(); }
  } const summing{*sums_};
  sums_->begin(micro_batches.size(), final);
  for (const PipelineTask& task :
       schedule_->tasks(ranks_->rank(), ranks_->size(), int(micro_batches.size()))) {
    const auto i = std::size_t(task.micro_batch);
    const MicroBatch& micro_batch = micro_batches[i];
    if (task.pass == PipelineTask::Pass::forward) {
      const ValueMap inputs = inputs_of(micro_batch, messages);
      Span span("pipeline", "forward");
      span.argument("micro_batch", i);
      under_way.at(i) = executor_->forward(inputs, ends_);
      const ValueMap& outputs = under_way[i]->outputs();
      send_outputs(micro_batch, outputs, messages);
      read(i, outputs);
    } else {
      backward(*under_way.at(i), micro_batch, messages);
      under_way[i].reset();
      sums_->end_micro_batch();
    }
  }
  messages.wait();
}

void PipelineStage::infer(std::span<const MicroBatch> micro_batches, const ReadOutputs& read) {
  Messages messages(*ranks_, waited_seconds_);
  for (std::size_t i = 0; i < micro_batches.size(); ++i) {
    const ValueMap inputs = inputs_of(micro_batches[i], messages);
    Span span("pipeline", "forward");
    span.argument("micro_batch", i);
    const ValueMap& outputs = executor_->inference(inputs);
    send_outputs(micro_batches[i], outputs, messages);
    read(i, outputs);
  }
  messages.wait();
}

std::optional<double> PipelineStage::run(std::span<const ValueMap> micro_batches) {
  std::vector<MicroBatch> batches;
  for (const ValueMap& values : micro_batches) {
    batches.push_back({.values = values, .factor = 1.0 / double(micro_batches.size())});
  }
  double loss = 0;
  train(batches, [&](std::size_t, const ValueMap& outputs) {
    if (!has_loss_) return;
    const Tensor& mine = outputs.at(loss_).tensor();
    dispatch(RealTypes{}, mine.dtype(), "the loss of a pipeline",
             [&]<class T>() { loss += double(mine.item<T>()) / double(micro_batches.size()); });
  });
  return has_loss_ ? std::optional(loss) : std::nullopt;
}

}  // namespace d5
