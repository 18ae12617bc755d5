// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/typing.h>

#include <optional>
#include <tuple>

#include "bindings.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "level2_training/data/lent_batch.hpp"
#include "level2_training/data/python_sampler.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"
#include "result_keeps_self.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

std::optional<LentBatch> next(Sampler& sampler) {
  const Use use(&sampler, "the sampler", FromHooks::refused);
  const Batch* batch = nullptr;
  long_call([&](const Interrupt&) { batch = sampler.next(); });
  if (!batch) return {};
  return LentBatch(*batch, lease_until_next_use(&sampler, "a sampler, until its next batch"));
}

/// A call that may wait for reading threads.
template <class F>
void change(Sampler& sampler, const F& call) {
  const Use use(&sampler, "the sampler", FromHooks::refused);
  long_call([&](const Interrupt&) { call(); });
}

void reset(Sampler& sampler, std::int64_t epoch) {
  change(sampler, [&] { sampler.reset(epoch); });
}

/// Attribute of a sampler: the epoch of its `for`, and whether reset or seek has said where the
/// next one begins.
constexpr const char* kLoop = "_loop";

py::object object_of(Sampler& sampler) {
  return py::cast(&sampler, py::return_value_policy::reference);
}

void keep_loop(Sampler& sampler, std::int64_t epoch, bool is_placed) {
  object_of(sampler).attr(kLoop) = py::make_tuple(epoch, is_placed);
}

/// Begins the next epoch, unless reset or seek has chosen a place.
Sampler& loop(Sampler& sampler) {
  std::int64_t epoch = 0;
  bool is_placed = false;
  if (const py::object kept = py::getattr(object_of(sampler), kLoop, py::none()); !kept.is_none()) {
    std::tie(epoch, is_placed) = kept.cast<std::tuple<std::int64_t, bool>>();
    if (!is_placed) ++epoch;
  }
  if (!is_placed) reset(sampler, epoch);
  keep_loop(sampler, epoch, false);
  return sampler;
}

std::vector<std::string> field_names(const LentBatch& batch) {
  std::vector<std::string> names;
  for (const auto& [name, value] : batch->values) names.push_back(name);
  return names;
}

void bind_batch(py::module_& m) {
  py::class_<LentBatch>(m, "Batch",
                        "The samples of one training step, a mapping of fields to tensors: "
                        "batch[\"image\"], executor.inference(batch). Valid until the sampler's "
                        "next batch.")
      .def_property_readonly(
          "values", [](const LentBatch& b) { return from_values(b->values, b.lease()); },
          "Tensors by field; dimension 0 is the sample. Samples of different sizes are padded to "
          "the largest, and \"NAME.length\" has their real sizes.")
      .def_property_readonly(
          "size", [](const LentBatch& b) { return b->size; }, "Number of samples of this rank.")
      .def_property_readonly(
          "global_size", [](const LentBatch& b) { return b->global_size; },
          "Number of samples on all ranks together; 0: the same number on each.")
      .def_property_readonly(
          "epoch", [](const LentBatch& b) { return b->epoch; }, "Epoch of the batch, from 0.")
      .def_property_readonly(
          "index", [](const LentBatch& b) { return b->index; },
          "Number of the batch in its epoch, from 0.")
      .def_property_readonly(
          "samples",
          [](const LentBatch& b) { return std::vector(b->samples.begin(), b->samples.end()); },
          "Indices of the samples in the sampler's `dataset` (after cut_sampler(\"shards\"), in "
          "its "
          "shard); empty if the sampler does not know them.")
      .def(
          "__getitem__",
          [](const LentBatch& b, const std::string& field) {
            const auto found = b->values.find(field);
            if (found == b->values.end()) {
              py::module_::import("d5._named_values")
                  .attr("refuse_name")("field", field, field_names(b));
            }
            return from_value(found->second, b.lease());
          },
          py::arg("field"), "The tensor of a field.")
      .def("keys", &field_names, "Names of the fields.")
      .def(
          "items",
          [](const LentBatch& b) {
            return Anything(from_values(b->values, b.lease()).attr("items")());
          },
          "Fields with their tensors.")
      .def("__contains__",
           [](const LentBatch& b, const Anything& field) {
             return py::isinstance<py::str>(field) && b->values.contains(field.cast<std::string>());
           })
      .def("__iter__",
           [](const LentBatch& b) {
             return py::typing::Iterator<py::str>(py::iter(py::cast(field_names(b))));
           })
      .def("__len__", [](const LentBatch& b) { return b->values.size(); })
      .def("__repr__", [](const LentBatch& b) {
        return fmt::format("<d5.Batch {} of epoch {}: {} samples>", b->index, b->epoch, b->size);
      });
}

constexpr const char* kAbout =
    "Splits a data set into batches. Derive from it to train on another loader's batches: `next()` "
    "returns a dict of arrays, whose dimension 0 is the sample, or None at the end of an epoch; "
    "`reset(epoch)` begins an epoch; `len()` is its number of batches. Each `for` over a sampler "
    "is an epoch, from 0 on, or begins where `reset` or `seek` has put it. With `seek(epoch, "
    "index)` "
    "training resumes quickly, without it by reading the epoch again. `dataset` is the data set "
    "that is read, if d5 has it; `samples()` returns the indices of the last batch, for "
    "`d5.test_sampler`. In `d5.train` each rank gets a slice of each batch, and tests on batches "
    "in "
    "turn; a function of your own calls `take_part(rank, ranks)` and `take_batches(rank, ranks)`, "
    "which a class may also have itself.";

void bind_network_feed(py::module_& m) {
  py::class_<NetworkFeed, std::shared_ptr<NetworkFeed>>(
      m, "NetworkFeed", "Node through which a network reads its own data.", ended_without_gil())
      .def_property_readonly(
          "batch",
          py::cpp_function(
              [](NetworkFeed& feed) {
                return LentBatch(feed.batch(), lease_until_next_use(&feed, "a network's feed"));
              },
              result_keeps_self()),
          "Batch of the last run; before the first run, that of the first.")
      .def(
          "seek",
          [](NetworkFeed& feed, std::int64_t epoch, std::int64_t index) {
            long_call([&](const Interrupt&) { feed.seek(epoch, index); });
          },
          py::arg("epoch"), py::arg("index"), "Continues with that batch in the next run.");
  m.def("feed_from", &feed_from, py::arg("executor").none(false), py::arg("sampler").none(false),
        result_keeps_self(), py::keep_alive<1, 2>(),
        "Replaces the network's inputs by a node that reads the sampler's next batch: "
        "executor.inference({}) and optimizer.step({}) then pull their own data.");
}

}  // namespace

void bind_sampler(py::module_& m) {
  constexpr auto inside = py::return_value_policy::reference_internal;
  bind_batch(m);
  py::class_<Sampler, PythonSampler, std::shared_ptr<Sampler>> sampler(
      m, "Sampler", kAbout, py::dynamic_attr(), ended_without_gil());
  sampler.def(py::init<>())
      .def(
          "next",
          [](Sampler& sampler) {
            auto batch = next(sampler);
            if (batch) keep_loop(sampler, (*batch)->epoch, false);
            return batch;
          },
          result_keeps_self(), "Returns the next batch, or None at the end of an epoch.")
      .def(
          "reset",
          [](Sampler& sampler, std::int64_t epoch) {
            reset(sampler, epoch);
            keep_loop(sampler, epoch, true);
          },
          py::arg("epoch") = 0,
          "Begins an epoch, whose batches depend on its number and the seed alone.")
      .def(
          "seek",
          [](Sampler& sampler, std::int64_t epoch, std::int64_t index) {
            change(sampler, [&] { sampler.seek(epoch, index); });
            keep_loop(sampler, epoch, true);
          },
          py::arg("epoch"), py::arg("index"), "Continues before a batch of an epoch.")
      .def(
          "read_ahead",
          [](Sampler& sampler, int threads) {
            change(sampler, [&] { sampler.read_ahead(threads); });
          },
          py::arg("threads"),
          "Lets this many threads read batches ahead, from the next batch on; one thread for a "
          "sampler in Python, whose batches are copied.")
      .def(
          "take_part",
          [](Sampler& sampler, int rank, int ranks) {
            change(sampler, [&] { sampler.take_part(rank, ranks); });
          },
          py::arg("rank"), py::arg("ranks"),
          "From the next batch on, returns one rank's slice of every batch.")
      .def(
          "take_batches",
          [](Sampler& sampler, int rank, int ranks) {
            change(sampler, [&] { sampler.take_batches(rank, ranks); });
          },
          py::arg("rank"), py::arg("ranks"),
          "From the next batch on, returns only batches `rank`, `rank` + `ranks`, ...")
      .def_property_readonly("dataset", &Sampler::dataset, inside, "The data set that it reads.")
      .def_property_readonly("left_out", &Sampler::left_out,
                             "Number of samples of an epoch that are in no batch of any rank.")
      .def(
          "settings", &Sampler::settings,
          "Options that decide its batches, by name. A trainer refuses a checkpoint that was saved "
          "with other ones. A class in Python returns {} unless it has this method.")
      .def("__len__", &Sampler::batches)
      .def("__iter__", &loop, inside)
      .def(
          "__next__",
          [](Sampler& sampler) {
            if (auto batch = next(sampler)) return *std::move(batch);
            throw py::stop_iteration();
          },
          result_keeps_self())
      .def("__repr__", [](const py::object& self) {
        const auto& sampler = self.cast<const Sampler&>();
        return fmt::format("<d5.Sampler: {} batches an epoch of {}>", sampler.batches(),
                           std::string(py::repr(self.attr("dataset"))));
      });

  sampler.attr("_hooks") = "samples";
  let_derive(sampler);
  m.def(
      "sampler",
      [](const std::string& name, std::shared_ptr<Dataset> dataset, const Options& options) {
        return samplers().at(name).make(std::move(dataset),
                                        entry_settings(options, "d5.sampler", samplers(), name));
      },
      py::arg("name"), py::arg("dataset").none(false),
      "Batches of a data set, such as sampler(\"shuffle\", data, batch_size=64, seed=1).");
  bind_network_feed(m);
}

}  // namespace d5::python
