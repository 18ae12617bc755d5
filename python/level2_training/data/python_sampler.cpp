// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/python_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

/// Stands for the samples of a loader that d5 cannot read.
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

PythonSampler::~PythonSampler() { end_reading(); }

py::object PythonSampler::self() const {
  return py::cast(static_cast<const Sampler*>(this), py::return_value_policy::reference);
}

std::string PythonSampler::class_name() const {
  return py::str(py::type::of(self()).attr("__name__"));
}

template <class... Arguments>
py::object PythonSampler::call(const char* method, Arguments... arguments) const {
  const py::function own = override_of(static_cast<const Sampler*>(this), method);
  if (own) return own(arguments...);
  throw Unsupported(fmt::format(
      "sampler {}: the class has no method {}; one that derives from d5.Sampler has next(), "
      "reset(epoch) and __len__()",
      class_name(), method));
}

bool PythonSampler::has(const char* method) const {
  return call_python([&] { return overrides(self(), "Sampler", method); });
}

std::shared_ptr<OwnedBatch> PythonSampler::ask() {
  return call_python([&]() -> std::shared_ptr<OwnedBatch> {
    const py::object given = call("next");
    if (given.is_none()) {
      expect_length();
      return nullptr;
    }
    if (!py::isinstance<py::dict>(given)) {
      throw TypeError(
          fmt::format("sampler {}: next() gave a {}, expected a dict of arrays by field, or None",
                      class_name(), std::string(py::str(py::type::of(given).attr("__name__")))));
    }
    auto whole = std::make_shared<OwnedBatch>();
    Batch& batch = whole->batch;
    batch.values = to_values(py::reinterpret_borrow<Values>(given));
    batch.size = samples_in(batch.values, class_name());
    batch.epoch = epoch_;
    ++asked_;
    if (!overrides(self(), "Sampler", "samples")) return whole;
    whole->samples = answered<std::vector<std::int64_t>>(
        call("samples"), "sampler " + class_name() + ": samples()", "a list of indices");
    batch.samples = whole->samples;
    if (std::int64_t(whole->samples.size()) == batch.size) return whole;
    throw ValueError(fmt::format("sampler {}: samples() tells {}, but the batch has {}",
                                 class_name(), whole->samples.size(), batch.size));
  });
}

std::int64_t PythonSampler::length() const {
  return answered<std::int64_t>(call("__len__"), "sampler " + class_name() + ": __len__()",
                                "a whole number");
}

void PythonSampler::expect_length() const {
  if (asked_ == length()) return;
  throw ValueError(fmt::format(
      "sampler {}: epoch {} had {} batches, but __len__() says {}, by which training ends an epoch",
      class_name(), epoch_, asked_, length()));
}

void PythonSampler::cut(OwnedBatch& whole) const {
  Batch& batch = whole.batch;
  const auto [rank, ranks] = of_samples_;
  if (ranks == 1) return;
  const std::int64_t share = batch.size / ranks, more = batch.size % ranks;
  const std::int64_t begin = rank * share + std::min<std::int64_t>(rank, more);
  const std::int64_t size = share + (rank < more ? 1 : 0);
  for (auto& [name, value] : batch.values) value = value.tensor().slice(begin, begin + size);
  if (!batch.samples.empty()) {
    batch.samples = batch.samples.subspan(std::size_t(begin), std::size_t(size));
  }
  if (size == 0) batch.values.clear();  // nothing runs on them
  batch.global_size = batch.size;
  batch.size = size;
}

std::shared_ptr<OwnedBatch> PythonSampler::read() {
  while (true) {
    const std::int64_t place = asked_;
    auto batch = ask();
    if (batch && place % of_batches_.ranks != of_batches_.rank) continue;
    if (batch) {
      cut(*batch);
      batch->batch.index = index_++;
    }
    return batch;
  }
}

BatchesAhead::Read PythonSampler::reader() {
  const auto weak =
      call_python([&] { return std::make_shared<PythonReference>(py::weakref(self())); });
  return [this, weak]() -> std::shared_ptr<OwnedBatch> {
    // Holds the object during the call, which may drop the last other reference.
    const auto stays =
        call_python([&] { return std::make_shared<PythonReference>(weak->object()); });
    if (stays->object.is_none()) return nullptr;
    auto batch = read();
    if (!batch) return nullptr;
    for (auto& [name, value] : batch->batch.values) value = value.tensor().copy();
    return batch;
  };
}

const Batch* PythonSampler::next() {
  given_ = nullptr;
  if (threads_ == 0) {
    given_ = read();
  } else {
    if (!ahead_) ahead_ = std::make_unique<BatchesAhead>(reader());
    try {
      given_ = ahead_->next();
    } catch (...) {
      rest();  // the next call tries again
      throw;
    }
  }
  return given_ ? &given_->batch : nullptr;
}

void PythonSampler::rest() {
  if (ahead_ && ahead_->is_within_read()) {
    throw ValueError(call_python([&] {
      return fmt::format(
          "sampler {}: its own next(), which a read-ahead thread calls, moved or changed it; do so "
          "outside of next(), or with read_ahead(0)",
          class_name());
    }));
  }
  end_reading();
}

void PythonSampler::end_reading() {
  if (!ahead_) return;
  std::optional<py::gil_scoped_release> released;
  if (PyGILState_Check() != 0) released.emplace();
  ahead_.reset();
}

void PythonSampler::begin(std::int64_t epoch) {
  call_python([&] { call("reset", epoch); });
  epoch_ = epoch;
  index_ = asked_ = 0;
}

void PythonSampler::reset(std::int64_t epoch) {
  rest();
  begin(epoch);
}

void PythonSampler::seek(std::int64_t epoch, std::int64_t index) {
  rest();
  if (has("seek")) {
    // In the class's batches: those of all ranks.
    const std::int64_t place = index * of_batches_.ranks;
    call_python([&] { call("seek", epoch, place); });
    epoch_ = epoch;
    index_ = index;
    asked_ = place;
    return;
  }
  begin(epoch);
  while (index_ < index) {
    if (read()) continue;
    throw ValueError(call_python([&] {
      return fmt::format("sampler {}: batch {} of epoch {} was asked for, which has {}",
                         class_name(), index, epoch, index_);
    }));
  }
}

std::int64_t PythonSampler::batches() const {
  const auto all = call_python([&] { return length(); });
  const auto [rank, ranks] = of_batches_;
  return (all - rank + ranks - 1) / ranks;
}

SamplerLaw PythonSampler::law() const {
  const bool is_whole = of_samples_.ranks == 1 && of_batches_.ranks == 1;
  return {.draws = dataset().size(), .least = is_whole ? 1 : 0};
}

void PythonSampler::take(const char* method, int rank, int ranks, Share& share) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    throw ValueError(call_python([&] {
      return fmt::format("sampler {}: part {} of {} was asked for; parts count from 0",
                         class_name(), rank, ranks);
    }));
  }
  rest();
  if (has(method)) {
    call_python([&] { call(method, rank, ranks); });
  } else {
    share = {rank, ranks};
  }
}

void PythonSampler::take_part(int rank, int ranks) { take("take_part", rank, ranks, of_samples_); }

void PythonSampler::take_batches(int rank, int ranks) {
  take("take_batches", rank, ranks, of_batches_);
}

void PythonSampler::read_ahead(int threads) {
  constexpr int kMost = 1024;
  if (threads < 0 || threads > kMost) {
    throw ValueError(call_python([&] {
      return fmt::format("sampler {}: {} threads were asked for to read ahead; expected 0 to {}",
                         class_name(), threads, kMost);
    }));
  }
  rest();
  threads_ = threads;
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

std::map<std::string, std::string> PythonSampler::settings() const {
  return call_python([&] {
    std::map<std::string, std::string> all;
    if (!overrides(self(), "Sampler", "settings")) return all;
    for (const auto& [name, value] :
         answered<py::dict>(call("settings"), "sampler " + class_name() + ": settings()",
                            "a dict of values by name")) {
      all[py::str(name)] = py::str(value);
    }
    return all;
  });
}

std::shared_ptr<Sampler> to_sampler(const py::object& made) {
  const auto owner = std::make_shared<PythonReference>(made);
  return {owner, expected_part<Sampler>(made, "a d5.Sampler").get()};
}

}  // namespace d5::python
