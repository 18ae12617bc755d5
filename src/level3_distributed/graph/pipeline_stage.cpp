// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/pipeline_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/error.hpp"
#include "d5/level3_distributed/communicator_agreement.hpp"

namespace d5 {
namespace {

bool has_gradient(const CutTensor& cut) { return is_floating_point(cut.desc.dtype); }

}  // namespace

/// What a stage says in one run. It sends without waiting: a neighbour may be sending, too.
/// Messages of one tensor and direction are in the order of the micro-batches.
class PipelineStage::Messages {
 public:
  explicit Messages(Communicator& ranks) : ranks_(ranks) {}

  void send_forward(const CutTensor& cut, const Tensor& value) {
    for (const int to : cut.to) send(value, to, 2 * cut.number);
  }
  void send_back(const CutTensor& cut, const Tensor& gradient) {
    send(gradient, cut.from, 2 * cut.number + 1);
  }
  [[nodiscard]] Tensor receive_forward(const CutTensor& cut) {
    return receive(cut, cut.from, 2 * cut.number);
  }
  /// The sum of what the readers give.
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
    ranks_.receive(data, from, tag);
    return data;
  }

  Communicator& ranks_;
  std::vector<std::pair<Tensor, std::unique_ptr<Request>>> sent_;
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
  if (!CommunicatorAgreement(ranks_).any(has_loss_)) {
    throw NotFound(
        fmt::format("pipeline: no stage has an output '{}', expected the loss", printable(loss_)));
  }
  if (ends_.empty()) {
    throw Unsupported(
        fmt::format("pipeline: stage {} writes neither the loss '{}' nor what others read, so "
                    "nothing goes back through it; cut elsewhere, or take those nodes out",
                    ranks_->rank(), printable(loss_)));
  }
  executor_ = make_executor(part_.network, with_gradients);
}

std::unique_ptr<BatchInFlight> PipelineStage::forward(const ValueMap& values, Messages& messages) {
  ValueMap inputs;
  for (const std::string& name : part_.network.input_names()) {
    if (const auto value = values.find(name); value != values.end()) inputs.insert(*value);
  }
  for (const CutTensor& cut : part_.receives) inputs[cut.name] = messages.receive_forward(cut);
  auto batch = executor_->forward(inputs, ends_);
  for (const CutTensor& cut : part_.sends) {
    messages.send_forward(cut, batch->outputs().at(cut.name).tensor());
  }
  return batch;
}

void PipelineStage::backward(BatchInFlight& batch, std::size_t micro_batches, Messages& messages) {
  ValueMap gradients;
  for (const CutTensor& cut : part_.sends) {
    if (has_gradient(cut)) gradients[cut.name] = messages.receive_back(cut);
  }
  if (has_loss_) {
    const TensorDesc& desc = batch.outputs().at(loss_).tensor().desc();
    Tensor mean = Tensor::empty(desc.dtype, desc.shape);
    dispatch(RealTypes{}, desc.dtype, "the loss of a pipeline",
             [&]<class T>() { std::ranges::fill(mean.span<T>(), T(1.0 / double(micro_batches))); });
    gradients[loss_] = mean;
  }
  batch.backward(gradients);
  for (const CutTensor& cut : part_.receives) {
    if (has_gradient(cut)) messages.send_back(cut, batch.gradient(cut.name));
  }
}

std::optional<double> PipelineStage::run(std::span<const ValueMap> micro_batches) {
  if (micro_batches.empty())
    throw ValueError("a pipeline runs no micro-batch, expected one or more");
  Messages messages(*ranks_);
  std::vector<std::unique_ptr<BatchInFlight>> under_way(micro_batches.size());
  std::vector<Tensor> sums;
  double loss = 0;
  for (const PipelineTask& task :
       schedule_->tasks(ranks_->rank(), ranks_->size(), int(micro_batches.size()))) {
    const auto i = std::size_t(task.micro_batch);
    if (task.pass == PipelineTask::Pass::forward) {
      under_way.at(i) = forward(micro_batches[i], messages);
      if (!has_loss_) continue;
      const Tensor& mine = under_way[i]->outputs().at(loss_).tensor();
      dispatch(RealTypes{}, mine.dtype(), "the loss of a pipeline",
               [&]<class T>() { loss += double(mine.item<T>()) / double(micro_batches.size()); });
      continue;
    }
    backward(*under_way.at(i), micro_batches.size(), messages);
    under_way[i].reset();
    std::vector<Parameter>& parameters = network().parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (sums.size() == p) {
        sums.push_back(parameters[p].gradient.copy());
      } else {
        ranks_->reduce_local(sums[p], parameters[p].gradient);
      }
    }
  }
  messages.wait();
  std::vector<Parameter>& parameters = network().parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) parameters[p].gradient.copy_from(sums.at(p));
  return has_loss_ ? std::optional(loss) : std::nullopt;
}

}  // namespace d5
