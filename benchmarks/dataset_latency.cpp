// SPDX-License-Identifier: Apache-2.0
// Time until a batch of photographs is ready for training (decoded, a random part resized to 224 x
// 224, flipped, normalised), by storage format, batch size and order of samples; and the time to
// read it still encoded. The questions of table III of Ben-Nun et al., "A Modular Benchmarking
// Infrastructure for High-Performance and Reproducible Deep Learning" (IPDPS 2019).
//
// Uses the photographs of $D5_DATA_DIR/imagenet-sample, repeated until there are 1,024; files are
// in the page cache. One thread by default.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/command_line.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "tests/level2_training/encoded_images.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace d5;
using Data = std::shared_ptr<const Dataset>;
constexpr std::int64_t kSamples = 1024;

/// A data set to measure, by storage format.
struct Storage {
  std::string name;
  Data data;
};

struct Order {
  std::string name;
  EntryChoice sampler;
};
const std::vector<Order> kOrders{{"in order", {"ordered"}},
                                 {"shuffled", {"shuffle"}},
                                 {"buffer of 128", {"buffered", {{"buffer_size", 128}}}}};

/// A list with every photograph as often as needed: file names are repeated, not copied.
Data photographs(const testing::TemporaryFolder& folder) {
  std::vector<std::string> paths;
  const std::filesystem::path sample =
      std::filesystem::path(std::getenv("D5_DATA_DIR")) / "imagenet-sample";
  for (const auto& [name, content] : testing::photographs()) paths.push_back(sample / name);
  const std::string list = folder / "photographs.txt";
  std::ofstream lines(list);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    lines << paths[std::size_t(i) % paths.size()] << ' ' << i << '\n';
  }
  lines.close();
  return open_dataset("files", {{"data", list}}).train;
}

std::vector<Storage> all_storages(const testing::TemporaryFolder& folder) {
  const Data files = photographs(folder);
  std::vector<Storage> storages{{"files", files}};
  for (const std::string container : {"tar", "tfrecord"}) {
    for (const std::int64_t shards : {std::int64_t{1}, kSamples}) {
      const std::string path = folder / fmt::format("{}.{}", shards, container);
      convert(*files, container, path, {.shards = shards > 1 ? shards : 0});
      storages.push_back(
          {shards == 1 ? container + ", 1 file" : fmt::format("{}, {} files", container, shards),
           open_container(container, path)});
    }
  }
  return storages;
}

/// Random numbers in memory, without files and decoding.
Data synthetic() {
  return open_dataset("synthetic",
                      {{"fields", "image float32 3x224x224 normal, label int64 below 1000"},
                       {"size", 128},
                       {"cached", true}})
      .train;
}

Data ready(const Data& data) {
  return std::make_shared<TransformedDataset>(
      data, std::vector<EntryChoice>{
                {"decode"}, {"random_resized_crop", {{"size", 224}}}, {"flip"}, {"normalise"}});
}

/// Reads the next batch, epoch after epoch.
Subject batches(const Data& data, const Order& order, std::int64_t batch, int threads) {
  Settings settings = order.sampler.settings;
  settings.set("batch_size", batch);
  settings.set("tail", "drop");
  const std::shared_ptr<Sampler> sampler = samplers().at(order.sampler.name).make(data, settings);
  if (threads > 0) sampler->read_ahead(threads);
  const auto epoch = std::make_shared<std::int64_t>(0);
  return {.run = [=] {
    while (!sampler->next()) sampler->reset(++*epoch);
  }};
}

/// Measures subjects in turns. Subjects that read ahead are measured alone, because they also work
/// in the others' turns.
std::vector<Measurement> measured(const std::vector<Subject>& subjects, int threads,
                                  const MeasureOptions& options) {
  if (threads == 0) return measure(subjects, {"time"}, options);
  std::vector<Measurement> all;
  for (const Subject& subject : subjects) {
    const auto records = measure({subject}, {"time"}, options);
    all.insert(all.end(), records.begin(), records.end());
  }
  return all;
}

/// Prints one line per storage, and one column per batch size and order.
void print(const std::string& title, const std::vector<Storage>& storages,
           const std::vector<std::int64_t>& sizes, int threads, const MeasureOptions& options) {
  std::map<std::string, std::string> lines;
  std::string head = fmt::format("| {} (ms) |", title), rule = "| --- |";
  for (const std::int64_t batch : sizes) {
    for (const Order& order : kOrders) {
      head += fmt::format(" {}, {} |", batch, order.name);
      rule += " --- |";
      std::vector<Subject> subjects;
      for (const Storage& storage : storages) {
        subjects.push_back(batches(storage.data, order, batch, threads));
        subjects.back().record.subject = storage.name;
      }
      for (const Measurement& record : measured(subjects, threads, options)) {
        const auto [median, interval, confidence] = estimate(record);
        // Few samples have no interval.
        const std::string width =
            std::isnan(interval.low)
                ? ""
                : fmt::format(" [{:.3g}, {:.3g}]", 1e3 * interval.low, 1e3 * interval.high);
        lines[record.subject] +=
            fmt::format(" {:.3g}{}{} |", 1e3 * median, width, record.reason.empty() ? "" : " *");
        if (!record.reason.empty()) {
          fmt::print(stderr, "{}, {} {}: {}\n", record.subject, batch, order.name, record.reason);
        }
      }
    }
  }
  fmt::print("{}\n{}\n", head, rule);
  for (const Storage& storage : storages) {
    fmt::print("| {} |{}\n", storage.name, lines[storage.name]);
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  benchmarks::CommandLine line("The time of a batch of photographs, by how they are kept.");
  MeasureOptions options;
  std::vector<std::int64_t> sizes{1, 128};
  int threads = 0;
  bool encoded = false;
  line.add("--samples", &options.samples, "samples per cell of the table");
  line.add("--batch", &sizes, "batch sizes");
  line.add("--loader-threads", &threads, "threads that read ahead");
  line.add("--encoded", &encoded, "read alone, without decoding");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (testing::photographs().empty()) {
    fmt::print(stderr, "bench_dataset_latency: needs D5_DATA_DIR with imagenet-sample\n");
    return 1;
  }
  set_threads(1);
  const testing::TemporaryFolder folder;
  std::vector<Storage> storages = all_storages(folder);
  if (!encoded) {
    for (Storage& storage : storages) storage.data = ready(storage.data);
    storages.push_back({"synthetic", synthetic()});
  }
  print(encoded ? "encoded" : "ready for training", storages, sizes, threads, options);
}
