// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "bindings.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "level2_training/data/lent_batch.hpp"
#include "level2_training/data/python_sampler.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

std::optional<LentBatch> next(Sampler& sampler) {
  const Use use(&sampler, "the sampler");
  const Batch* batch = nullptr;
  long_call([&](const Interrupt&) { batch = sampler.next(); });
  if (!batch) return {};
  return LentBatch(*batch, lease_until_next_use(&sampler, "a sampler, until its next batch"));
}

/// A call that may wait for threads that read.
template <class F>
void change(Sampler& sampler, const F& call) {
  const Use use(&sampler, "the sampler");
  long_call([&](const Interrupt&) { call(); });
}

void reset(Sampler& sampler, std::int64_t epoch) {
  change(sampler, [&] { sampler.reset(epoch); });
}

void bind_batch(py::module_& m) {
  py::class_<LentBatch>(m, "Batch", "What one step is fed; good until the sampler's next one.")
      .def_property_readonly("values",
                             [](const LentBatch& b) { return from_values(b->values, b.lease()); })
      .def_property_readonly("size", [](const LentBatch& b) { return b->size; })
      .def_property_readonly(
          "global_size", [](const LentBatch& b) { return b->global_size; },
          "Samples on all ranks together; 0: as many on each.")
      .def_property_readonly("epoch", [](const LentBatch& b) { return b->epoch; })
      .def_property_readonly("index", [](const LentBatch& b) { return b->index; })
      .def_property_readonly(
          "samples",
          [](const LentBatch& b) { return std::vector(b->samples.begin(), b->samples.end()); },
          "Which samples of the data set these are; empty where the sampler does not know.")
      .def("__repr__", [](const LentBatch& b) {
        return fmt::format("<d5.Batch {} of epoch {}: {} samples>", b->index, b->epoch, b->size);
      });
}

constexpr const char* kAbout =
    "Splits a data set into batches. Derive from it to train on another loader's: `next()` returns "
    "a dict of arrays, dimension 0 is the sample, or None at the end of an epoch; `reset(epoch)` "
    "begins one; `len()` is its number of batches. With `seek(epoch, index)` training resumes "
    "quickly, without it by going through the epoch; `dataset` says what is read, if d5 has it, "
    "and "
    "`samples()` which of its samples the last batch holds, as `d5.test_sampler` wants to know. "
    "Ranks get a slice of each batch each, and batches in turn where they test, unless the class "
    "has `take_part(rank, ranks)` and `take_batches(rank, ranks)` of its own.";

void bind_network_feed(py::module_& m) {
  py::class_<NetworkFeed, std::shared_ptr<NetworkFeed>>(
      m, "NetworkFeed", "Where a network takes its own data from.", ended_without_gil())
      .def_property_readonly(
          "batch",
          py::cpp_function(
              [](NetworkFeed& feed) {
                return LentBatch(feed.batch(), lease_until_next_use(&feed, "a network's feed"));
              },
              py::keep_alive<0, 1>()),
          "Of the last run; before the first, that of the first.")
      .def(
          "seek",
          [](NetworkFeed& feed, std::int64_t epoch, std::int64_t index) {
            long_call([&](const Interrupt&) { feed.seek(epoch, index); });
          },
          py::arg("epoch"), py::arg("index"), "The next run is on that batch.");
  m.def("feed_from", &feed_from, py::arg("executor").none(false), py::arg("sampler").none(false),
        py::keep_alive<0, 1>(), py::keep_alive<1, 2>(),
        "Puts a node that takes the sampler's next batch in the place of the network's inputs: "
        "executor.inference({}) and optimizer.step({}) pull their own data.");
}

}  // namespace

void bind_sampler(py::module_& m) {
  constexpr auto inside = py::return_value_policy::reference_internal;
  bind_batch(m);
  py::class_<Sampler, PythonSampler, std::shared_ptr<Sampler>> sampler(m, "Sampler", kAbout,
                                                                       ended_without_gil());
  sampler.def(py::init<>())
      .def("next", &next, py::keep_alive<0, 1>(), "The next batch, or None at the end of an epoch.")
      .def("reset", &reset, py::arg("epoch") = 0)
      .def(
          "seek",
          [](Sampler& sampler, std::int64_t epoch, std::int64_t index) {
            change(sampler, [&] { sampler.seek(epoch, index); });
          },
          py::arg("epoch"), py::arg("index"), "Continues before a batch of an epoch.")
      .def(
          "read_ahead",
          [](Sampler& sampler, int threads) {
            change(sampler, [&] { sampler.read_ahead(threads); });
          },
          py::arg("threads"),
          "From the next batch on so many threads read batches ahead; one for a sampler in Python, "
          "whose batches are copied.")
      .def(
          "take_part",
          [](Sampler& sampler, int rank, int ranks) {
            change(sampler, [&] { sampler.take_part(rank, ranks); });
          },
          py::arg("rank"), py::arg("ranks"),
          "From the next batch on gives a part of every batch: that of one rank among several.")
      .def(
          "take_batches",
          [](Sampler& sampler, int rank, int ranks) {
            change(sampler, [&] { sampler.take_batches(rank, ranks); });
          },
          py::arg("rank"), py::arg("ranks"),
          "From the next batch on gives batches `rank`, `rank` + `ranks`, ... alone.")
      .def_property_readonly("dataset", &Sampler::dataset, inside)
      .def_property_readonly(
          "left_out", &Sampler::left_out,
          "Samples that an epoch would have, but that are in no batch of any rank.")
      .def("__len__", &Sampler::batches)
      .def(
          "__iter__",
          [](Sampler& sampler) -> Sampler& {
            reset(sampler, 0);
            return sampler;
          },
          inside)
      .def(
          "__next__",
          [](Sampler& sampler) {
            if (auto batch = next(sampler)) return *std::move(batch);
            throw py::stop_iteration();
          },
          py::keep_alive<0, 1>())
      .def("__repr__", [](const py::object& self) {
        const auto& sampler = self.cast<const Sampler&>();
        return fmt::format("<d5.Sampler: {} batches an epoch of {}>", sampler.batches(),
                           std::string(py::repr(self.attr("dataset"))));
      });

  let_derive(sampler);
  m.def(
      "sampler",
      [](const std::string& name, std::shared_ptr<Dataset> dataset, const Options& options) {
        return samplers().at(name).make(std::move(dataset), to_settings(options));
      },
      py::arg("name"), py::arg("dataset").none(false),
      "Batches of a data set, such as sampler(\"shuffle\", data, batch_size=64, seed=1).");
  bind_network_feed(m);
}

}  // namespace d5::python
