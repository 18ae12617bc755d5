// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/python_sampler.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// Stands for the samples of a loader that d5 does not know.
class UnknownDataset final : public Dataset {
 public:
  explicit UnknownDataset(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::int64_t size() const override { return 0; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t>, const Draw&, std::span<Tensor>) const override {
    throw Unsupported(fmt::format("data set '{}': only its loader reads it", printable(name_)));
  }

 private:
  std::string name_;
  std::vector<Field> fields_;
};

std::int64_t samples_in(const ValueMap& values, const std::string& who) {
  std::int64_t samples = -1;
  for (const auto& [name, value] : values) {
    const Shape& shape = value.tensor().shape();
    if (shape.rank() > 0 && (samples < 0 || shape[0] == samples)) {
      samples = shape[0];
      continue;
    }
    throw ShapeError(fmt::format("sampler {}: field '{}' is {}, expected {} in dimension 0", who,
                                 printable(name), to_string(value.tensor().desc()),
                                 samples < 0 ? "samples" : fmt::format("{} samples", samples)));
  }
  if (samples < 1) {
    throw ValueError(fmt::format("sampler {}: next() gave no samples; None ends the epoch", who));
  }
  return samples;
}

}  // namespace

py::object PythonSampler::self() const {
  return py::cast(static_cast<const Sampler*>(this), py::return_value_policy::reference);
}

std::string PythonSampler::class_name() const {
  return py::str(py::type::of(self()).attr("__name__"));
}

template <class... Arguments>
py::object PythonSampler::call(const char* method, Arguments... arguments) const {
  const py::function own = py::get_override(static_cast<const Sampler*>(this), method);
  if (own) return own(arguments...);
  throw Unsupported(fmt::format(
      "sampler {}: the class has no method {}; one that derives from d5.Sampler has next(), "
      "reset(epoch) and __len__()",
      class_name(), method));
}

const Batch* PythonSampler::next() {
  return call_python([&]() -> const Batch* {
    const py::object given = call("next");
    if (given.is_none()) return nullptr;
    if (!py::isinstance<py::dict>(given)) {
      throw TypeError(
          fmt::format("sampler {}: next() gave a {}, expected a dict of arrays by field, or None",
                      class_name(), std::string(py::str(py::type::of(given).attr("__name__")))));
    }
    batch_.values = to_values(py::reinterpret_borrow<Values>(given));
    batch_.size = samples_in(batch_.values, class_name());
    batch_.epoch = epoch_;
    batch_.index = index_++;
    take_samples();
    return &batch_;
  });
}

void PythonSampler::take_samples() {
  if (!overrides(self(), "Sampler", "samples")) return;
  samples_ = call("samples").cast<std::vector<std::int64_t>>();
  batch_.samples = samples_;
  if (std::int64_t(samples_.size()) == batch_.size) return;
  throw ValueError(fmt::format("sampler {}: samples() tells {}, but the batch has {}", class_name(),
                               samples_.size(), batch_.size));
}

void PythonSampler::reset(std::int64_t epoch) {
  call_python([&] { call("reset", epoch); });
  epoch_ = epoch;
  index_ = 0;
}

void PythonSampler::seek(std::int64_t epoch, std::int64_t index) {
  const bool has_seek =
      call_python([&] { return bool(py::get_override(static_cast<Sampler*>(this), "seek")); });
  if (has_seek) {
    call_python([&] { call("seek", epoch, index); });
    epoch_ = epoch;
    index_ = index;
    return;
  }
  reset(epoch);
  while (index_ < index) {
    if (next()) continue;
    throw ValueError(call_python([&] {
      return fmt::format("sampler {}: batch {} of epoch {} was asked for, which has {}",
                         class_name(), index, epoch, index_);
    }));
  }
}

std::int64_t PythonSampler::batches() const {
  return call_python([&] { return call("__len__").cast<std::int64_t>(); });
}

const Dataset& PythonSampler::dataset() const {
  if (!dataset_) {
    call_python([&] {
      if (overrides(self(), "Sampler", "dataset")) {
        dataset_ = self().attr("dataset").cast<std::shared_ptr<Dataset>>();
      } else {
        dataset_ = std::make_shared<UnknownDataset>(class_name());
      }
    });
  }
  return *dataset_;
}

}  // namespace d5::python
