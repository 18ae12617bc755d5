// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/scaling_prediction.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/training/predicted_curve.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"
#include "d5/prediction/training/prediction_timeline.hpp"
#include "long_call.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

PredictedCurve predict_cluster(const TrainingProfile& profile, const ClusterDescription& cluster,
                               std::vector<int> ranks, std::int64_t batch,
                               const std::string& scheme,
                               const std::vector<std::string>& strategies,
                               const std::string& scaling, const std::string& wire,
                               const std::string& model, bool what_helps, const std::string& budget,
                               bool every_rank, const std::optional<Path>& trace,
                               const std::optional<Path>& map, bool force) {
  PlannedTraining plan{simulated_training(batch, scheme, wire, map, force), cluster};
  choose_network_model(plan.training, model, cluster);
  plan.training.simulation.limit(budget);
  plan.training.every_rank = every_rank;
  PredictedCurve curve;
  curve.model = profile.model;
  curve.framework = profile.framework;
  curve.device = profile.device;
  curve.cluster = cluster.name;
  for (const std::string& words : strategies) {
    const EntryChoice choice = entry_of_words("prediction strategy", words);
    apply_strategies({&choice, 1}, plan);
    curve.strategy += (curve.strategy.empty() ? "" : ",") + words;
  }
  ScalingPredictionOptions options{.ranks = std::move(ranks),
                                   .scaling = predicted_scaling(scaling),
                                   .what_helps = what_helps,
                                   .training = plan.training};
  long_call([&](const Interrupt& interrupt) {
    options.interrupt = interrupt;
    if (trace) check_writable(trace->string());
    options.on_left_out = [&](const std::string& what) { curve.left_out = what; };
    curve.points = predict_scaling(profile, plan.cluster, options);
    if (trace) write_timeline(predicted_timeline(profile, plan.cluster, options), trace->string());
  });
  return curve;
}

void bind_clusters(py::module_& m) {
  py::class_<ClusterDescription>(m, "ClusterDescription",
                                 "Description of a cluster: figures, each with its source.")
      .def(py::init([](std::string name, double latency, double bandwidth, std::int64_t hosts,
                       const std::string& source) {
             ClusterDescription cluster;
             cluster.name = std::move(name);
             cluster.hosts = hosts;
             cluster.latency = {latency, source};
             cluster.bandwidth = {bandwidth, source};
             return parse_cluster_description(to_yaml(cluster), cluster.name);
           }),
           py::arg("name"), py::arg("latency"), py::arg("bandwidth"), py::kw_only(),
           py::arg("hosts") = 1'000'000, py::arg("source") = "given",
           "Latency in s, bandwidth of a host's port in bytes/s.")
      .def_readonly("name", &ClusterDescription::name, "Name of the cluster: \"ethernet-10g\".")
      .def_readonly("summary", &ClusterDescription::summary, "Line that describes it.")
      .def_property_readonly(
          "latency", [](const ClusterDescription& one) { return one.latency.value; },
          "Latency of a message's first byte from host to host, in s.")
      .def_property_readonly(
          "bandwidth", [](const ClusterDescription& one) { return one.bandwidth.value; },
          "Bandwidth of a host's port in one direction, in bytes/s.")
      .def_property_readonly("most_ranks", &ClusterDescription::most_ranks,
                             "Number of ranks that the cluster has room for.")
      .def(
          "yaml", [](const ClusterDescription& one) { return to_yaml(one); },
          "The description as a file's text, with the source of each figure.")
      .def(py::pickle([](const ClusterDescription& one) { return to_yaml(one); },
                      [](const std::string& yaml) {
                        return parse_cluster_description(yaml, "a pickled cluster");
                      }))
      .def("__repr__", [](const ClusterDescription& one) {
        return fmt::format("<d5.ClusterDescription {}>", printable(one.name));
      });
  m.def("cluster_description", &load_cluster_description, py::arg("name_or_file"),
        "Loads a built-in description (\"ethernet-10g\"), or a YAML file.");
  m.def("cluster_of_wire", &cluster_of_wire, py::arg("wire"),
        "Makes a cluster from \"50us,1GB/s\": a port of this latency and bandwidth at each rank, "
        "as d5.with_wire delays messages.");
  m.def("cluster_descriptions", &carried_clusters);
}

}  // namespace

PredictedScaling predicted_scaling(const std::string& word) {
  if (word == "weak") return PredictedScaling::weak;
  if (word == "strong") return PredictedScaling::strong;
  throw ValueError(fmt::format("scaling is '{}', expected weak or strong", printable(word)));
}

SimulatedTrainingOptions simulated_training(std::int64_t batch, const std::string& scheme,
                                            const std::string& wire, const std::optional<Path>& map,
                                            bool force) {
  SimulatedTrainingOptions training;
  if (map) {
    training.map = std::make_shared<const ContentionMap>(read_results(map->string()),
                                                         force ? Misfit::mistrust : Misfit::refuse);
  }
  training.batch = batch;
  training.scheme = entry_of_words("distributed optimizer", scheme);
  if (!wire.empty()) {  // a modelled wire sends eagerly: no message waits for its receive
    training.simulation.eager_bytes = std::numeric_limits<std::int64_t>::max();
  }
  return training;
}

void bind_scaling_prediction(py::module_& m) {
  bind_clusters(m);
  py::class_<PredictedPoint>(m, "PredictedPoint",
                             "Prediction for one number of ranks. Units: s, bytes.")
      .def_readonly("ranks", &PredictedPoint::ranks, "Number of ranks.")
      .def_readonly("batch", &PredictedPoint::batch, "Batch size of a rank.")
      .def_readonly("step", &PredictedPoint::step, "Step time.")
      .def_property_readonly(
          "step_interval",
          [](const PredictedPoint& point) {
            return std::pair(point.step_interval.low, point.step_interval.high);
          },
          "Interval of `step`, from the variation of the profile's steps and of the cluster's "
          "messages.")
      .def_readonly("baseline", &PredictedPoint::baseline,
                    "Step time by closed formulas; NaN: there are none.")
      .def_readonly("throughput", &PredictedPoint::throughput, "Samples per second of all ranks.")
      .def_readonly("efficiency", &PredictedPoint::efficiency,
                    "Throughput per rank relative to one rank's; NaN: unknown.")
      .def_readonly("alone", &PredictedPoint::alone,
                    "Samples per second of one rank of the profile; NaN: outside its batches.")
      .def_readonly("alpha", &PredictedPoint::alpha,
                    "Time from the first forward to the end of the last backward, over that to the "
                    "end of the last exchange; 1: the exchange is hidden.")
      .def_readonly("exposed", &PredictedPoint::exposed,
                    "Time of a step in which a rank only communicates.")
      .def_readonly("bytes", &PredictedPoint::bytes, "Bytes that rank 0 sends in a step.")
      .def_readonly(
          "bound_by", &PredictedPoint::bound_by,
          "Bottleneck: \"computing\", \"bandwidth\" or \"latency\"; \"\" if it was not looked for.")
      .def_readonly("measured", &PredictedPoint::measured,
                    "Measured steps on that many real ranks; empty: not measured.")
      .def_property_readonly(
          "contended_step",
          [](const PredictedPoint& point) -> std::optional<double> {
            if (!point.contended) return {};
            return point.contended->step;
          },
          "Step time with the overlap map; None: there is no map.")
      .def_property_readonly(
          "contended_mistrusted",
          [](const PredictedPoint& point) {
            return point.contended ? point.contended->mistrusted : "";
          },
          "Further reasons to mistrust `contended_step`; \"\": none.")
      .def_property_readonly(
          "map_lacks",
          [](const PredictedPoint& point) -> std::optional<double> {
            if (!point.contended) return {};
            return point.contended->lacking;
          },
          "Share of the step in kernels that the overlap map has none like; None: there is no map.")
      .def_readonly("mistrusted", &PredictedPoint::mistrusted,
                    "Reason to mistrust the point; \"\": trusted.");
  py::class_<PredictedCurve>(m, "PredictedCurve", "A scaling curve.")
      .def_readonly("model", &PredictedCurve::model, "Model that was profiled.")
      .def_readonly("cluster", &PredictedCurve::cluster, "Name of the cluster.")
      .def_property_readonly(
          "network",
          [](const PredictedCurve& curve) {
            warn_of_former_name("PredictedCurve.network", "PredictedCurve.cluster");
            return curve.cluster;
          },
          "Former name of `cluster`.")
      .def_readonly("strategy", &PredictedCurve::strategy,
                    "Strategies that were applied, with commas between; \"\": none.")
      .def_readonly("points", &PredictedCurve::points, "A d5.PredictedPoint per number of ranks.")
      .def_readonly("left_out", &PredictedCurve::left_out,
                    "Numbers of ranks that `budget` left out, and why; \"\": none.")
      .def(
          "table", [](const PredictedCurve& curve) { return prediction_table({curve}); },
          "A row per number of ranks.")
      .def(
          "plot", [](const PredictedCurve& curve) { return prediction_plot({curve}); },
          "Plot of throughput over ranks, with error bands, and perfect scaling beside it.")
      .def(
          "measurements",
          [](const PredictedCurve& curve) { return Measurements(prediction_records({curve})); },
          "Records of each point: predicted_time, baseline_time, with an overlap map "
          "contended_time, and if it was measured also time and errors.")
      .def("__repr__", [](const PredictedCurve& curve) {
        return fmt::format("<d5.PredictedCurve {} on {}: {} points>", printable(curve.model),
                           printable(curve.cluster), curve.points.size());
      });
  m.def("_predict", &predict_cluster, py::arg("profile"), py::arg("cluster"), py::arg("ranks"),
        py::arg("batch"), py::kw_only(),
        py::arg("scheme") = "consistent_decentralized:all_reduce=ring",
        py::arg("strategies") = std::vector<std::string>{}, py::arg("scaling") = "weak",
        py::arg("wire") = "", py::arg("model") = "", py::arg("what_helps") = false,
        py::arg("budget") = "20s", py::arg("every_rank") = false, py::arg("trace") = py::none(),
        py::arg("map") = py::none(), py::arg("force") = false,
        "Predicts a cluster; implements d5.predict.");
  m.def("prediction_table", &prediction_table, py::arg("curves"),
        "A table of curves, side by side.");
  m.def("prediction_plot", &prediction_plot, py::arg("curves"),
        "Samples per second over ranks: perfect, predicted, by formula, and measured points.");
  m.def("prediction_strategies", [] { return prediction_strategies().names(); });
}

}  // namespace d5::python
