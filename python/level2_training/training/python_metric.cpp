// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/python_metric.hpp"

#include <fmt/format.h>

#include <array>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "in_place.hpp"
#include "level2_training/training/python_training_event.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"
#include "python_state.hpp"

namespace d5::python {
namespace {

/// Throws: TypeError if the attribute is no text.
std::string text_of(const py::object& self, const char* attribute) {
  return answered<std::string>(self.attr(attribute), self, attribute, "a text");
}

/// The enumerator that the object's `attribute` names.
template <class Enum>
Enum word_of(const py::object& self, const char* attribute, std::initializer_list<Enum> all) {
  const std::string word = text_of(self, attribute);
  std::string known;
  for (const Enum one : all) {
    if (name_of(one) == word) return one;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(one));
  }
  throw ValueError(fmt::format("metric {}: {} is '{}', expected one of {}",
                               self.attr("name").cast<std::string>(), attribute, printable(word),
                               known));
}

/// Throws: ValueError if it is empty, or that of one of d5's metrics, whose rows look like its own.
std::string name_of_metric(const py::object& self) {
  std::string name = text_of(self, "name");
  const bool is_taken = metrics().find(name) != nullptr && !is_in_python("metric", name);
  if (!name.empty() && !is_taken) return name;
  throw ValueError(fmt::format("metric {}: name is '{}', {}; give it another",
                               std::string(py::str(py::type::of(self).attr("__name__"))),
                               printable(name),
                               name.empty() ? "expected a name" : "which is one of d5's metrics"));
}

Statistic statistic_of(const py::object& self) {
  const std::string word = text_of(self, "statistic");
  if (const auto statistic = statistic_from(word)) return *statistic;
  throw ValueError(fmt::format(
      "metric {}: statistic is '{}', expected median, p99, mean, maximum, rate, share, last, best "
      "or single",
      self.attr("name").cast<std::string>(), printable(word)));
}

class PythonMetric final : public PythonTrainingHooks<TrainingMetric> {
 public:
  explicit PythonMetric(const py::object& self)
      : PythonTrainingHooks(self),
        name_(name_of_metric(self)),
        unit_(text_of(self, "unit")),
        statistic_(statistic_of(self)),
        begin_(overrides(self, "Metric", "begin")),
        end_(overrides(self, "Metric", "end")),
        sample_(overrides(self, "Metric", "sample")) {
    using enum Quantity;
    quantity_ =
        word_of(self, "quantity",
                {time, energy, bytes, rate, count, share, ratio, loss, accuracy, error, other});
    direction_ =
        word_of(self, "direction",
                {Direction::lower_is_better, Direction::higher_is_better, Direction::neither});
    over_ranks_ = word_of(self, "over_ranks",
                          {OverRanks::maximum, OverRanks::sum, OverRanks::mean, OverRanks::apart});
    expect_state_pair(self, "Metric");
    take_samples();  // runs before may have left some
  }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string unit() const override { return unit_; }
  [[nodiscard]] Quantity quantity() const override { return quantity_; }
  [[nodiscard]] Direction direction() const override { return direction_; }
  [[nodiscard]] Statistic statistic() const override { return statistic_; }
  [[nodiscard]] OverRanks over_ranks() const override { return over_ranks_; }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    PythonTrainingHooks::after_batch(trainer, batch, outputs);
    call_python([&] { take_samples(); });  // the executor's hooks append, too
  }
  void after_test(Trainer& trainer) override {
    PythonTrainingHooks::after_test(trainer);
    call_python([&] { take_samples(); });
  }
  void begin(int repetitions) override {
    if (begin_) call_and_take("begin", repetitions);
  }
  void end() override {
    if (end_) call_and_take("end");
  }
  void sample(double seconds) override {
    if (sample_) call_and_take("sample", seconds);
  }

  [[nodiscard]] ValueMap state() const override {
    ValueMap all = TrainingMetric::state();
    call_python([&] {
      const auto class_name = py::str(py::type::of(self()).attr("__name__")).cast<std::string>();
      for (const auto& [name, value] : to_state(self().attr("state")(), class_name + ".state()")) {
        all["own/" + name] = value;
      }
    });
    return all;
  }
  void restore(const ValueMap& state) override {
    TrainingMetric::restore(state);
    ValueMap own;
    for (const auto& [name, value] : state) {
      if (name.starts_with("own/")) own[name.substr(4)] = value;
    }
    call_python([&] {
      self().attr("samples") = py::cast(samples_);
      self().attr("restore")(copy_values(own));
    });
  }

 protected:
  void called() override { take_samples(); }

 private:
  template <class... Arguments>
  void call_and_take(const char* hook, Arguments... arguments) {
    call_python([&] {
      expect_unread(self().attr(hook)(arguments...), self(), hook);
      take_samples();
    });
  }
  /// The samples that the object's list has gained.
  void take_samples() {
    const py::list all(self().attr("samples"));
    if (all.size() < samples_.size()) samples_.clear();
    for (std::size_t i = samples_.size(); i < all.size(); ++i) {
      samples_.push_back(answered<double>(all[i], self(), "samples", "numbers"));
    }
  }

  std::string name_, unit_;
  Quantity quantity_;
  Direction direction_;
  Statistic statistic_;
  OverRanks over_ranks_;
  bool begin_, end_, sample_;
};

}  // namespace

std::shared_ptr<TrainingMetric> to_metric(const py::object& object) {
  if (!py::isinstance(object, py::module_::import("d5").attr("Metric"))) {
    throw TypeError(
        fmt::format("a metric is {}; expected an object of a class derived from "
                    "d5.Metric",
                    shown(object)));
  }
  return std::make_shared<PythonMetric>(object);
}

MetricChoice to_metric_choice(const py::handle& object) {
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (!PyCallable_Check(object.ptr())) {
    throw TypeError(fmt::format(
        "a metric is {}; expected a text such as \"time_to_accuracy:target=0.98\", or a class of "
        "d5.Metric, of which each run gets an object of its own",
        shown(object)));
  }
  const auto make = std::make_shared<PythonReference>(py::reinterpret_borrow<py::object>(object));
  return MetricChoice([make]() -> std::shared_ptr<Metric> {
    return call_python([&] { return to_metric(make->object()); });
  });
}

}  // namespace d5::python
