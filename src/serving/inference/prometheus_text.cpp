// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/prometheus_text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <functional>

namespace d5::detail {
namespace {

double seconds_of(std::int64_t ns) { return double(ns) * 1e-9; }

std::string escaped_label(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return escaped;
}

/// The families of metrics, each with a sample or more of every model.
class MetricFamilies {
 public:
  explicit MetricFamilies(std::span<const InferenceModelStatistics> models) : models_(models) {}

  using Samples = std::function<void(const InferenceModelStatistics&)>;
  void add(const char* name, const char* type, const char* help, const Samples& samples) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    name_ = name;
    for (const InferenceModelStatistics& model : models_) {
      labels_ = fmt::format("model=\"{}\",version=\"{}\"", escaped_label(model.name),
                            escaped_label(model.version));
      samples(model);
    }
  }
  template <class Number>
  void sample(Number value, std::string_view end = "", const std::string& more = "") {
    text_ += fmt::format("{}{}{{{}{}}} {}\n", name_, end, labels_, more, value);
  }
  void histogram(const DurationHistogram& all) {
    std::int64_t until = 0;  // buckets are cumulative
    for (std::size_t i = 0; i < all.buckets.size(); ++i) {
      until += all.buckets[i];
      const std::string end =
          i < DurationHistogram::kEnds.size() ? fmt::format("{}", all.kEnds[i]) : "+Inf";
      sample(until, "_bucket", fmt::format(",le=\"{}\"", end));
    }
    sample(seconds_of(all.ns), "_sum");
    sample(until, "_count");
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::span<const InferenceModelStatistics> models_;
  std::string text_, name_, labels_;
};

}  // namespace

std::string prometheus_text(std::span<const InferenceModelStatistics> models) {
  using Model = InferenceModelStatistics;
  MetricFamilies families(models);
  families.add("d5_inference_requests_total", "counter", "Requests answered, by result.",
               [&](const Model& model) {
                 families.sample(model.success.count, "", ",result=\"success\"");
                 families.sample(model.fail.count, "", ",result=\"fail\"");
               });
  families.add("d5_inference_samples_total", "counter", "Samples of successful requests.",
               [&](const Model& model) { families.sample(model.samples); });
  families.add("d5_inference_executions_total", "counter",
               "Successful calls of the model, each of a batch.",
               [&](const Model& model) { families.sample(model.executions); });
  families.add("d5_inference_compute_seconds_total", "counter",
               "Time of executions, by step, summed over the requests in each.",
               [&](const Model& model) {
                 families.sample(seconds_of(model.compute_input.ns), "", ",step=\"input\"");
                 families.sample(seconds_of(model.compute_infer.ns), "", ",step=\"infer\"");
                 families.sample(seconds_of(model.compute_output.ns), "", ",step=\"output\"");
               });
  families.add("d5_inference_request_seconds", "histogram", "Latency of successful requests.",
               [&](const Model& model) { families.histogram(model.success_times); });
  families.add("d5_inference_queue_seconds", "histogram",
               "Time of successful requests until an instance took their first sample.",
               [&](const Model& model) { families.histogram(model.queue_times); });
  families.add("d5_inference_waiting_requests", "gauge", "Requests in the queue now.",
               [&](const Model& model) { families.sample(model.waiting); });
  return std::move(families).text();
}

}  // namespace d5::detail
