// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/transformed_dataset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/batch_check.hpp"
#include "level2_training/data/chained_run.hpp"

namespace d5 {
namespace {

using detail::ChainedRun;
using detail::view_of;

[[noreturn]] void rethrow_with(const std::string& who) {
  try {
    throw;
  } catch (const FormatError& error) {
    throw FormatError(who + error.what());
  } catch (const IoError& error) {
    throw IoError(who + error.what());
  } catch (const ShapeError& error) {
    throw ShapeError(who + error.what());
  } catch (const TypeError& error) {
    throw TypeError(who + error.what());
  } catch (const ValueError& error) {
    throw ValueError(who + error.what());
  } catch (const Unsupported& error) {
    throw Unsupported(who + error.what());
  }
}

bool fits(const TensorDesc& desc, const SampleView& view) {
  return desc.dtype == view.dtype &&
         std::ranges::equal(desc.shape.dims(), view.dims(), [](std::int64_t a, std::int64_t b) {
           return a == kUnknownDim || a == b;
         });
}

}  // namespace

/// Buffers of one thread, reused for the next sample.
struct TransformedDataset::Bench {
  std::vector<Tensor> sample;  ///< fields of the base
  std::vector<std::unique_ptr<StepRun::Memory>> of_steps;
  detail::Memories memories;
};

/// Exclusive use of a bench until the end of the scope.
class TransformedDataset::Loan {
 public:
  explicit Loan(const TransformedDataset& dataset) : dataset_(dataset) {
    const std::lock_guard lock(dataset_.mutex_);
    if (dataset_.idle_.empty()) {
      bench_ = std::make_unique<Bench>();
      bench_->sample = empty_batch(*dataset_.base_, 1);
      for (const Link& link : dataset_.links_) bench_->of_steps.push_back(link.step->memory());
      return;
    }
    bench_ = std::move(dataset_.idle_.back());
    dataset_.idle_.pop_back();
  }
  ~Loan() {
    const std::lock_guard lock(dataset_.mutex_);
    dataset_.idle_.push_back(std::move(bench_));
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  [[nodiscard]] Bench& bench() const { return *bench_; }

 private:
  const TransformedDataset& dataset_;
  std::unique_ptr<Bench> bench_;
};

TransformedDataset::TransformedDataset(std::shared_ptr<const Dataset> base,
                                       std::vector<EntryChoice> steps, const std::string& field)
    : base_(std::move(base)), fields_(base_->fields()) {
  const auto place = std::ranges::find(fields_, field, &Field::name);
  if (place == fields_.end()) {
    throw NotFound(fmt::format("steps of '{}': it has no field '{}', but {}", printable(name()),
                               printable(field),
                               fmt::join(fields_ | std::views::transform(&Field::name), ", ")));
  }
  field_ = std::size_t(place - fields_.begin());
  add_steps(std::move(steps));
}

TransformedDataset::~TransformedDataset() = default;

void TransformedDataset::add_steps(std::vector<EntryChoice> steps) {
  TensorDesc desc = fields_[field_].desc;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [name, settings] = steps[i];
    Link link{.step = sample_steps().at(name).make(settings),
              .stream = fmt::format("steps.{}.{}", i, name),
              .who = fmt::format("step {} ({}): ", i, printable(name))};
    try {
      desc = link.step->describe(desc);
    } catch (const Error&) {
      rethrow_with(fmt::format("steps of '{}': {}", printable(base_->name()), link.who));
    }
    if (desc.shape.rank() > SampleView::kMostDims) {
      throw ShapeError(fmt::format("steps of '{}': {}{} has more than {} dimensions",
                                   printable(base_->name()), link.who, to_string(desc),
                                   SampleView::kMostDims));
    }
    names_ += (names_.empty() ? "" : ", ") + name;
    if (!links_.empty()) {
      if (auto both = links_.back().step->joined_with(link.step)) {
        link.step = std::move(both);
        links_.pop_back();
      }
    }
    links_.push_back(std::move(link));
  }
  fields_[field_].desc = desc;
}

std::string TransformedDataset::description() const {
  return fmt::format("{}, then {}", base_->description(), names_);
}

Shape TransformedDataset::sample_shape(std::size_t field, std::int64_t index) const {
  return field == field_ ? Dataset::sample_shape(field, index) : base_->sample_shape(field, index);
}

std::vector<std::int64_t> TransformedDataset::labels(std::string_view field) const {
  return field == fields_[field_].name ? Dataset::labels(field) : base_->labels(field);
}

void TransformedDataset::read(std::span<const std::int64_t> indices, const Draw& draw,
                              std::span<Tensor> batch) const {
  detail::check_batch(*this, indices, batch);
  const Loan loan(*this);
  for (std::size_t row = 0; row < indices.size(); ++row) {
    read_sample(indices[row], draw, loan.bench(), row, batch);
  }
}

void TransformedDataset::read_sample(std::int64_t index, const Draw& draw, Bench& bench,
                                     std::size_t row, std::span<Tensor> batch) const {
  base_->read(std::span(&index, 1), draw, bench.sample);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const TensorDesc& desc = fields_[f].desc;
    const bool open = !desc.shape.is_static();
    if (f != field_) {
      if (open) {
        batch[f] = bench.sample[f];
        bench.sample[f] = {};
      } else if (desc.dtype == DType::string) {
        const std::int64_t count = bench.sample[f].elements();
        std::copy_n(bench.sample[f].data<std::string>(), count,
                    batch[f].data<std::string>() + std::int64_t(row) * count);
      } else {
        const std::size_t bytes = bench.sample[f].bytes();
        std::memcpy(static_cast<std::byte*>(batch[f].raw()) + row * bytes, bench.sample[f].raw(),
                    bytes);
      }
      continue;
    }
    SampleView wanted;
    if (!open) {
      wanted = view_of(desc.dtype, desc.shape.dims(), nullptr);
      wanted.data = static_cast<std::byte*>(batch[f].raw()) + row * wanted.bytes();
    }
    const SampleView result = run_steps(index, draw, bench, wanted);
    if (open) {
      std::vector<std::int64_t> dims{1};
      dims.insert(dims.end(), result.dims().begin(), result.dims().end());
      batch[f] = Tensor::empty(desc.dtype, Shape(std::move(dims)));
      wanted.data = batch[f].raw();
    }
    if (result.data != wanted.data) std::memcpy(wanted.data, result.data, result.bytes());
  }
}

/// Returns the output of the last step: in `last`, or in the bench.
SampleView TransformedDataset::run_steps(std::int64_t index, const Draw& draw, Bench& bench,
                                         const SampleView& last) const {
  Tensor& sample = bench.sample[field_];
  SampleView view = view_of(sample.dtype(), sample.shape().dims().subspan(1), sample.raw());
  bool owned = false;  // the sample may be the data set's own memory
  const Link* at = nullptr;
  try {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      at = &links_[i];
      RandomStream random = draw.stream(at->stream, index);
      ChainedRun run(view, random, bench.of_steps[i].get(), bench.memories, owned,
                     i + 1 == links_.size() ? last : SampleView{});
      at->step->run(run);
      view = run.result();
      owned = run.owns_result();
    }
  } catch (const Error&) {
    rethrow_with(fmt::format("dataset '{}', sample {} ('{}'): {}", printable(name()), index,
                             printable(sample_name(index)), at->who));
  }
  if (!fits(fields_[field_].desc, view)) {
    throw ContractError(fmt::format("dataset '{}': steps {} gave {} {}, but described {}",
                                    printable(name()), names_, name_of(view.dtype),
                                    fmt::join(view.dims(), "x"), to_string(fields_[field_].desc)));
  }
  return view;
}

void StepOptions::declare(OptionList& options) {
  options.add("steps", steps, "steps of the training part, in order", "step");
  options.add("test_steps", test_steps, "steps of the test part, in order", "step");
  options.add("steps_of", steps_of, "field that the steps process");
}

DatasetPair with_steps(DatasetPair pair, const StepOptions& options) {
  const auto add = [&](std::shared_ptr<const Dataset>& part,
                       const std::vector<EntryChoice>& steps) {
    if (part && !steps.empty()) {
      part = std::make_shared<TransformedDataset>(part, steps, options.steps_of);
    }
  };
  add(pair.train, options.steps);
  add(pair.test, options.test_steps);
  return pair;
}

}  // namespace d5
