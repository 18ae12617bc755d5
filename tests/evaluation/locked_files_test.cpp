// SPDX-License-Identifier: Apache-2.0
// A lock holds every file that a data set's reader reads, whichever reader it is.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/evaluation/run/evaluation_lock.hpp"
#include "d5/level2_training/data/container.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::ToyEvaluation;

/// A data set with its files below the folder "data".
struct ReaderCase {
  std::string name;
  std::string reader;  ///< the manifest's field
  std::function<void(const std::string& folder)> write;
  std::string file;   ///< one that is changed and removed, below the folder
  std::string added;  ///< one that its reader would also read; empty: it reads no other
};

void write_with_folder(const std::string& path, const std::string& content) {
  fs::create_directories(fs::path(path).parent_path());
  write_file(path, content);
}

void write_samples(const std::string& format, const std::string& path, float value) {
  fs::create_directories(fs::path(path).parent_path());
  const auto writer = containers().at(format).make()->create(path, {{"x", {DType::float32, {2}}}});
  const Tensor sample = Tensor::of<float>({1, 2}, {value, value});
  writer->add("one", std::span(&sample, 1));
  writer->finish();
}

ReaderCase container_case(const std::string& format, const std::string& ending) {
  return {
      .name = format,
      .reader = "{name: container, train: data/part." + ending + ", format: " + format + "}",
      .write =
          [=](const std::string& folder) { write_samples(format, folder + "/part." + ending, 1); },
      .file = "part." + ending,
      .added = ""};
}

std::string cifar_record(char pixel) { return std::string(1, '\0') + std::string(3072, pixel); }

std::vector<ReaderCase> reader_cases() {
  std::vector<ReaderCase> cases;
  for (const auto& [format, ending] :
       {std::pair("npy", "npy"), std::pair("npz", "npz"), std::pair("raw", "safetensors"),
        std::pair("tar", "tar"), std::pair("tfrecord", "tfrecord")}) {
    cases.push_back(container_case(format, ending));
  }
  cases.push_back({.name = "a folder of containers",
                   .reader = "{name: container, train: data, format: npz}",
                   .write =
                       [](const std::string& folder) {
                         write_samples("npz", folder + "/a.npz", 1);
                         write_samples("npz", folder + "/b.npz", 2);
                       },
                   .file = "b.npz",
                   .added = "c.npz"});
  cases.push_back({.name = "files in folders",
                   .reader = "{name: files, data: data}",
                   .write =
                       [](const std::string& folder) {
                         write_with_folder(folder + "/cats/1.jpg", "one");
                         write_with_folder(folder + "/dogs/2.jpg", "two");
                       },
                   .file = "cats/1.jpg",
                   .added = "dogs/3.jpg"});
  cases.push_back({.name = "files of a list",
                   .reader = "{name: files, data: data/list.txt}",
                   .write =
                       [](const std::string& folder) {
                         write_with_folder(folder + "/1.jpg", "one");
                         write_with_folder(folder + "/list.txt", "1.jpg 0\n");
                       },
                   .file = "1.jpg",
                   .added = ""});
  cases.push_back({.name = "the list itself",
                   .reader = "{name: files, data: data/list.txt}",
                   .write =
                       [](const std::string& folder) {
                         write_with_folder(folder + "/1.jpg", "one");
                         write_with_folder(folder + "/list.txt", "1.jpg 0\n");
                       },
                   .file = "list.txt",
                   .added = ""});
  cases.push_back(
      {.name = "mnist",
       .reader = "{name: mnist, data: data}",
       .write =
           [](const std::string& folder) { fs::copy(carried_file("data/mnist-sample"), folder); },
       .file = "t10k-labels-idx1-ubyte.gz",
       .added = ""});
  cases.push_back({.name = "cifar-10",
                   .reader = "{name: cifar-10, data: data}",
                   .write =
                       [](const std::string& folder) {
                         write_with_folder(folder + "/data_batch_1.bin", cifar_record('a'));
                         write_with_folder(folder + "/test_batch.bin", cifar_record('b'));
                       },
                   .file = "test_batch.bin",
                   .added = "data_batch_2.bin"});
  cases.push_back({.name = "text",
                   .reader = "{name: text, data: data/book.txt, length: 4}",
                   .write =
                       [](const std::string& folder) {
                         write_with_folder(folder + "/book.txt", std::string(200, 'x'));
                       },
                   .file = "book.txt",
                   .added = ""});
  cases.push_back({.name = "imagenet",
                   .reader = "{name: imagenet, data: data/train, val: data/val}",
                   .write =
                       [](const std::string& folder) {
                         write_with_folder(folder + "/train/n01440764/1.JPEG", "one");
                         write_with_folder(folder + "/val/n01440764/2.JPEG", "two");
                       },
                   .file = "val/n01440764/2.JPEG",
                   .added = "val/n01440764/3.JPEG"});
  cases.push_back({.name = "ucf-101",
                   .reader = "{name: ucf-101, data: data, lists: data}",
                   .write =
                       [](const std::string& folder) {
                         write_with_folder(folder + "/classInd.txt", "1 Run\n");
                         write_with_folder(folder + "/trainlist01.txt", "Run/v_a.avi 1\n");
                         write_with_folder(folder + "/testlist01.txt", "Run/v_b.avi\n");
                         write_with_folder(folder + "/Run/v_a/1.jpg", "one");
                         write_with_folder(folder + "/Run/v_b/1.jpg", "two");
                       },
                   .file = "Run/v_b/1.jpg",
                   .added = "Run/v_b/2.jpg"});
  return cases;
}

std::string dataset_of(const ToyEvaluation& toy, const std::string& samples) {
  write_file(toy / "d.yaml",
             "kind: dataset\nname: d\nversion: 1.0.0-dev\ntask: t\nlicence: CC0-1.0\n" + samples);
  return toy / "d.yaml";
}

std::string lock_of(const ToyEvaluation& toy, const std::string& dataset) {
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.dataset = dataset;
  manifest.scenarios = {{"closed_loop"}};
  write_file(toy / "e.lock.json", evaluation_lock(fix_evaluation(manifest)));
  return toy / "e.lock.json";
}

std::string refusal_of(const std::string& lock) {
  try {
    (void)locked_evaluation(lock);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a file of any reader that is another, missing or new is refused, with both digests") {
  for (const ReaderCase& one : reader_cases()) {
    INFO(one.name);
    const ToyEvaluation toy;
    one.write(toy / "data");
    const std::string part = one.reader.find("container") != std::string::npos ||
                                     one.reader.find("files") != std::string::npos
                                 ? "part: train\n"
                                 : "";
    const std::string lock = lock_of(toy, dataset_of(toy, "reader: " + one.reader + "\n" + part));
    CHECK(refusal_of(lock) == "");

    const std::string file = toy / ("data/" + one.file), before = read_file(file);
    const std::string known = "datasets/d@1.0.0-dev/files/data/" + one.file;
    std::string after = before;
    after[after.size() / 2] ^= 1;
    write_file(file, after);
    CHECK_THAT(refusal_of(lock), Contains(known + ": " + detail::sha256(after) + ", but " +
                                          detail::sha256(before) + " was locked"));
    fs::remove(file);
    CHECK_THAT(refusal_of(lock),
               Contains(known + ": nothing, but " + detail::sha256(before) + " was locked"));
    write_file(file, before);
    CHECK(refusal_of(lock) == "");

    if (one.added.empty()) continue;
    const std::string added = toy / ("data/" + one.added);
    write_file(added, before);
    CHECK_THAT(refusal_of(lock), Contains("files/data/" + one.added + ": " +
                                          detail::sha256(before) + ", but nothing was locked"));
  }
}

TEST_CASE("a sample's file of a manifest is refused before anything runs") {
  const ToyEvaluation toy;
  const std::string lock = lock_of(toy, toy / "colours.yaml");
  CHECK(refusal_of(lock) == "");
  const std::string file = toy / "colours/pc.png", before = read_file(file);
  write_file(file, "another");
  CHECK_THAT(refusal_of(lock), Contains("files/colours/pc.png: " + detail::sha256("another")) &&
                                   Contains(detail::sha256(before) + " was locked"));
  fs::remove(file);
  CHECK_THAT(refusal_of(lock), Contains("files/colours/pc.png: nothing"));
}

TEST_CASE("files that scenarios name are locked, too") {
  const ToyEvaluation toy;
  write_file(toy / "arrivals.csv", "0\n0.1\n");
  write_file(toy / "e.yaml",
             "kind: evaluation\nname: e\nversion: 1.0.0-dev\nmodels: [toy.yaml]\nscenarios: "
             "{name: recorded, file: arrivals.csv}\n");
  const auto manifest = find_manifest<EvaluationManifest>(toy / "e.yaml").manifest;
  write_file(toy / "e.lock.json", evaluation_lock(fix_evaluation(manifest)));
  CHECK(refusal_of(toy / "e.lock.json") == "");
  write_file(toy / "arrivals.csv", "0\n0.2\n");
  CHECK_THAT(refusal_of(toy / "e.lock.json"),
             Contains("files/arrivals.csv: " + detail::sha256("0\n0.2\n")) &&
                 Contains(detail::sha256("0\n0.1\n") + " was locked"));
}

}  // namespace d5
