// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/dataset_summary.hpp"

#include "answered.hpp"
#include "bindings.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/level2_training/data/batch_step.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset_bench.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "declared_keywords.hpp"
#include "long_call.hpp"
#include "result_keeps_self.hpp"

namespace d5::python {

/// Indices of samples, a list or an array, which `indices_of` reads.
struct Indices : py::object {
  PYBIND11_OBJECT_DEFAULT(Indices, py::object, is_object)
};

}  // namespace d5::python

template <>
struct pybind11::detail::handle_type_name<d5::python::Indices> {
  static constexpr auto name = const_name(
      "collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | "
      "numpy.typing.NDArray[typing.Any]");
};

namespace d5::python {
namespace {

using Made = std::shared_ptr<Dataset>;
using Base = std::shared_ptr<Dataset>;

/// Reads names, and dicts with a name and settings.
using Steps = py::typing::List<py::typing::Union<py::str, py::typing::Dict<py::str, Anything>>>;

template <class T>
std::vector<EntryChoice> choices_of(const Steps& all, const Registry<T>& registry) {
  std::vector<EntryChoice> choices;
  for (const auto& one : all) {
    const bool is_name = py::isinstance<py::str>(one);
    choices.push_back(is_name ? EntryChoice{one.cast<std::string>()}
                              : entry_choice(one, "a step", registry));
  }
  return choices;
}

/// Throws: TypeError for flags, which would be the samples 0 and 1.
std::vector<std::int64_t> indices_of(const Indices& given) {
  py::object samples = given;
  if (py::hasattr(samples, "tolist")) samples = samples.attr("tolist")();
  const bool has_flags = py::isinstance<py::sequence>(samples) &&
                         std::ranges::any_of(samples, [](const py::handle& one) {
                           return py::isinstance<py::bool_>(one);
                         });
  auto indices = if_it_fits<std::vector<std::int64_t>>(samples);
  if (indices && !has_flags) return *std::move(indices);
  throw TypeError(
      fmt::format("d5.subset: samples is {}, expected Sequence[int]{}", shown(given),
                  has_flags ? "; np.flatnonzero(samples) are the indices of flags" : ""));
}

void bind_summary_parts(py::module_& m) {
  m.def(
      "tensor_dataset",
      [](const Values& fields, const std::string& name) -> Made {
        std::vector<std::pair<std::string, Tensor>> tensors;
        for (const auto& [field, value] : fields) {
          tensors.emplace_back(
              answered<std::string>(field, "d5.tensor_dataset: a name in fields", "a text"),
              to_tensor(value));
        }
        return std::make_shared<TensorDataset>(name, std::move(tensors));
      },
      py::arg("fields"), py::arg("name") = "arrays",
      "A data set of samples in memory: an array per field, dimension 0 is the sample.");
  m.def(
      "subset",
      [](const Base& base, const Indices& samples) -> Made {
        return std::make_shared<SubsetDataset>(base, indices_of(samples));
      },
      py::arg("dataset").none(false), py::arg("samples"),
      "A data set of these samples, in this order.");
  m.def(
      "split",
      [](const Base& base, double share, std::uint64_t seed) { return split(base, share, seed); },
      py::arg("dataset").none(false), py::arg("share"), py::kw_only(), py::arg("seed") = 0,
      "Splits a data set into two parts without common samples: the test part has `share` of them, "
      "drawn by the seed.");
  m.def(
      "transformed",
      [](const Base& base, const Steps& steps, const std::string& field) -> Made {
        return std::make_shared<TransformedDataset>(base, choices_of(steps, sample_steps()), field);
      },
      py::arg("dataset").none(false), py::arg("steps"), py::arg("field") = "image",
      "Applies preprocessing steps (`d5 list steps`), names or dicts with a name and settings, to "
      "one field of a data set.");
  m.def(
      "with_batch_steps",
      [](const std::shared_ptr<Sampler>& sampler, const Steps& steps, std::uint64_t seed) {
        return with_batch_steps(sampler, choices_of(steps, batch_steps()), seed);
      },
      py::arg("sampler").none(false), py::arg("steps"), py::kw_only(), py::arg("seed") = 0,
      result_keeps_self(),
      "Applies steps such as {\"name\": \"mixup\", \"classes\": 10} to a sampler's batches.");
}

}  // namespace

void bind_dataset_summary(py::module_& m) {
  bind_summary_parts(m);
  m.def(
      "class_counts",
      [](const Dataset& dataset, const std::string& field) {
        std::map<std::int64_t, std::int64_t> counts;
        long_call([&](const Interrupt&) {
          for (const std::int64_t label : dataset.labels(field)) ++counts[label];
        });
        return counts;
      },
      py::arg("dataset").none(false), py::arg("field") = "label",
      "Number of samples for each value of a field.");
  m.def(
      "write_pictures",
      [](const Dataset& dataset, std::int64_t count, const Path& folder) {
        std::int64_t written = 0;
        long_call([&](const Interrupt& interrupt) {
          written = write_pictures(dataset, count, folder.string(), interrupt);
        });
        return written;
      },
      py::arg("dataset").none(false), py::arg("count"), py::arg("folder"),
      "Writes the images of the first samples as INDEX-FIELD.png; returns their number.");
  m.def(
      "read_all",
      [](const Dataset& dataset) {
        std::int64_t bytes = 0;
        long_call([&](const Interrupt& interrupt) { bytes = read_all(dataset, interrupt); });
        return bytes;
      },
      py::arg("dataset").none(false),
      "Reads every sample once, and raises an error for broken ones. Returns the number of bytes.");
  m.def(
      "bench_dataset",
      [](const std::string& words, std::int64_t batch_size, std::vector<std::string> samplers,
         int loader_threads, std::uint64_t seed, const Options& keywords) {
        DatasetBenchOptions how{
            .batch_size = batch_size,
            .samplers = std::move(samplers),
            .loader_threads = loader_threads,
            .measuring = read_keywords<MeasureOptions>(keywords, "d5.bench_dataset")};
        how.measuring.seed = seed;
        const EntryChoice choice = dataset_of_words(words);
        std::vector<Measurement> records;
        long_call([&](const Interrupt& interrupt) {
          how.measuring.interrupt = interrupt;
          records = bench_dataset(choice, how);
        });
        return Measurements(records);
      },
      py::arg("dataset").none(false), py::kw_only(), py::arg("batch_size") = 64,
      py::arg("samplers") = std::vector<std::string>{"ordered", "shuffle"},
      py::arg("loader_threads") = 0, py::arg("seed") = 0,
      "Benchmarks samplers, interleaved: `d5 data bench`. Returns the time of a batch, and samples "
      "and bytes per second. The data set is a text: \"mnist:data=DIR\", or a container's file.");
  tell_keywords(m, "bench_dataset", options_of<MeasureOptions>());
}

}  // namespace d5::python
