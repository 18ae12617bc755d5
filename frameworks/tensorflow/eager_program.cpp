// SPDX-License-Identifier: Apache-2.0
#include "eager_program.hpp"

#include <algorithm>
#include <string_view>

#include "tensor_view.hpp"

namespace d5::tensorflow {
namespace {

/// A shape in the form of the result `term` of a shape operation.
Tensor shape_tensor(const Shape& shape, DType dtype) {
  if (dtype == DType::int64) return Tensor::vector(Sizes(shape.begin(), shape.end()));
  return Tensor::vector(std::vector<std::int32_t>(shape.begin(), shape.end()));
}

}  // namespace

EagerProgram::EagerProgram(const Graph& graph, std::span<const Term> fed,
                           std::span<const Term> results)
    : who_(graph.who()), runtime_(Runtime::current()), reads_(fed.size()) {
  for (std::size_t i = 0; i < fed.size(); ++i) {
    if (is_there(fed[i])) places_.try_emplace({fed[i].oper, fed[i].index}, -1 - Place(i));
  }
  for (const Term term : results) results_.push_back(place_of(graph, term));
  note_reads(results_);
  for (const Step& step : steps_) note_reads(step.arguments);
  find_last_uses();
  places_.clear();
}

void EagerProgram::note_reads(const std::vector<Place>& places) {
  for (const Place place : places) {
    if (place < 0) reads_[std::size_t(-1 - place)] = true;
  }
}

EagerProgram::Place EagerProgram::place_of(const Graph& graph, Term term) {
  const std::pair key(term.oper, term.index);
  if (!places_.contains(key)) visit(graph, term.oper);
  return places_.at(key);
}

void EagerProgram::visit(const Graph& graph, TF_Operation* operation) {
  const std::string_view type = TF_OperationOpType(operation);
  if (type == "Const") {
    TF_Tensor* value = nullptr;
    TF_OperationGetAttrTensor(operation, "value", &value, status_);
    status_.expect_ok(who_);
    places_[{operation, 0}] = add_known(*TensorPointer(value));
    return;
  }
  const int inputs = TF_OperationNumInputs(operation);
  if (type == "Shape" || type == "ShapeN") {  // the tensors themselves are not needed
    for (int i = 0; i < inputs; ++i) {
      const Shape shape = graph.shape(TF_OperationInput({operation, i}));
      if (!shape.is_static()) break;
      const DType dtype = graph.dtype({operation, i});
      places_[{operation, i}] = add_known(*copied(shape_tensor(shape, dtype)));
      if (i + 1 == inputs) return;
    }
  }
  std::vector<Place> arguments;
  for (int i = 0; i < inputs; ++i) {
    arguments.push_back(place_of(graph, TF_OperationInput({operation, i})));
  }
  add_step(operation, std::move(arguments));
}

EagerProgram::Place EagerProgram::add_known(const TF_Tensor& value) {
  values_.emplace_back(TFE_NewTensorHandle(&value, status_));
  status_.expect_ok(who_);
  known_.push_back(true);
  return Place(values_.size()) - 1;
}

void EagerProgram::add_step(TF_Operation* operation, std::vector<Place> arguments) {
  Step step{EagerOperation(operation, *runtime_, who_), std::move(arguments),
            Place(values_.size())};
  const bool is_known = !step.arguments.empty() && step.operation.is_function() &&
                        std::ranges::all_of(step.arguments, [&](Place place) {
                          return place >= 0 && known_[std::size_t(place)];
                        });
  for (int i = 0; i < step.operation.outputs(); ++i) {
    places_.try_emplace({operation, i}, step.first + i);
    values_.emplace_back();
    known_.push_back(is_known);
  }
  if (is_known) {
    execute(step);
  } else {
    steps_.push_back(std::move(step));
  }
}

void EagerProgram::find_last_uses() {
  std::vector<bool> wanted = known_;
  for (const Place place : results_) {
    if (place >= 0) wanted[std::size_t(place)] = true;
  }
  for (std::size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    const auto finish = [&](Place place) {
      if (place < 0 || wanted[std::size_t(place)]) return;
      wanted[std::size_t(place)] = true;
      step.finished.push_back(place);
    };
    for (const Place place : step.arguments) finish(place);
    for (int i = 0; i < step.operation.outputs(); ++i) finish(step.first + i);
  }
}

void EagerProgram::execute(Step& step) {
  arguments_.clear();
  for (const Place place : step.arguments) {
    arguments_.push_back(place >= 0 ? values_[std::size_t(place)].get()
                                    : fed_[std::size_t(-1 - place)]);
  }
  step.operation.execute(arguments_, &values_[std::size_t(step.first)], who_);
}

void EagerProgram::run(std::span<TFE_TensorHandle* const> fed) {
  fed_ = fed;
  for (Step& step : steps_) {
    execute(step);
    for (const Place place : step.finished) values_[std::size_t(place)].reset();
  }
}

TensorPointer EagerProgram::result(std::size_t k) const {
  const Place place = results_[k];
  TFE_TensorHandle* const handle =
      place >= 0 ? values_[std::size_t(place)].get() : fed_[std::size_t(-1 - place)];
  TensorPointer tensor(TFE_TensorHandleResolve(handle, status_));
  status_.expect_ok(who_);
  return tensor;
}

void EagerProgram::forget() {
  for (const Place place : results_) {
    if (place >= 0 && !known_[std::size_t(place)]) values_[std::size_t(place)].reset();
  }
}

}  // namespace d5::tensorflow
