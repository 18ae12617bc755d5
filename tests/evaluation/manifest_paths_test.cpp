// SPDX-License-Identifier: Apache-2.0
// One rule for the paths of manifests: beside the manifest, then in $D5_DATA_DIR.
#include "evaluation/manifest/manifest_paths.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/manifest/described_folder.hpp"
#include "d5/evaluation/run/asked_evaluation.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::ToyEvaluation;

void put_below(const std::string& path, const std::string& content) {
  fs::create_directories(fs::path(path).parent_path());
  write_file(path, content);
}

std::string head(const std::string& kind) {
  return "kind: " + kind + "\nname: mine\nversion: 1.0.0-dev\n";
}

std::string model_with_claim(const ToyEvaluation& toy, const std::string& claim) {
  std::string text = read_file(toy.model());
  const std::string before = toy / "colours.yaml";
  text.replace(text.find(before), before.size(), claim);
  return text;
}

/// A field of a kind of manifest that is a path.
struct PathCase {
  std::string name;
  std::string file;  ///< what the path leads to
  std::string content;
  std::function<std::string(const ToyEvaluation&, const std::string& path)> manifest;
  std::function<void(const std::string& manifest)> use;  ///< what a run does with the path
};

std::vector<PathCase> path_cases() {
  const auto open = [](const std::string& file) {
    (void)open_samples(find_manifest<DatasetManifest>(file).manifest);
  };
  const auto ask = [](const std::string& file) {
    (void)fix_evaluation(asked_evaluation({file}, "e"));
  };
  const std::string none = detail::sha256("");
  const std::string system = head("system");
  const auto evaluation = [](const ToyEvaluation& toy, const std::string& more) {
    return head("evaluation") + "models: ['" + toy.model() + "']\n" + more;
  };
  return {
      {"a folder of samples", "kinds/a.png", "",
       [=](auto&, const std::string& path) {
         return head("dataset") + "task: t\nlicence: l\nfolder: '" +
                fs::path(path).parent_path().string() + "'\nsamples:\n- {file: a.png, bytes: 0, " +
                "sha256: " + none + "}\n";
       },
       open},
      {"a reader's file", "book.txt", std::string(4000, 'x'),
       [](auto&, const std::string& path) {
         return head("dataset") + "task: t\nlicence: l\nreader: {name: text, data: '" + path +
                "'}\n";
       },
       open},
      {"a data set of an evaluation", "set.yaml",
       head("dataset") + "task: t\nlicence: l\nreader: synthetic\n",
       [=](const ToyEvaluation& toy, const std::string& path) {
         return evaluation(toy, "dataset: '" + path + "'\n");
       },
       ask},
      {"a system of an evaluation", "small.yaml", system,
       [=](const ToyEvaluation& toy, const std::string& path) {
         return evaluation(toy, "systems: ['" + path + "']\n");
       },
       ask},
      {"a framework of an evaluation", "f.yaml", head("framework") + "word: reference\n",
       [=](const ToyEvaluation& toy, const std::string& path) {
         return evaluation(toy, "frameworks: ['" + path + "']\n");
       },
       ask},
      {"arrivals of a scenario", "arrivals.csv", "0\n1\n",
       [=](const ToyEvaluation& toy, const std::string& path) {
         return evaluation(toy, "scenarios: {name: recorded, file: '" + path + "'}\n");
       },
       ask},
      {"a data set of a model's claim", "set.yaml",
       head("dataset") + "task: t\nlicence: l\nreader: synthetic\n",
       [](const ToyEvaluation& toy, const std::string& path) {
         return model_with_claim(toy, path);
       },
       ask},
  };
}

std::string refusal_when(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// What lint says of a manifest in `file`.
std::string lint_of(const std::string& file) {
  const std::string text = read_file(file);
  std::string all;
  for (const auto& fault : lint_manifest(text, file)) all += to_string(fault, file) + "\n";
  for (const auto& fault : missing_files(text, file)) all += to_string(fault, file) + "\n";
  return all;
}

/// The working directory, for as long as it lives.
class Within {
 public:
  explicit Within(const std::string& folder) { fs::current_path(folder); }
  ~Within() { fs::current_path(before_); }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  fs::path before_ = fs::current_path();
};

}  // namespace

TEST_CASE("each path of each manifest leads beside it, into D5_DATA_DIR, or wherever it says") {
  for (const PathCase& one : path_cases()) {
    INFO(one.name);
    const ToyEvaluation toy;  // its folder is $D5_DATA_DIR
    const std::string manifest = toy / "manifests/mine.yaml", other = toy / "other";
    fs::create_directories(other);
    const Within here(other);
    const auto try_it = [&](const std::string& path) {
      put_below(manifest, one.manifest(toy, path));
      const std::string lint = lint_of(manifest), run = refusal_when([&] { one.use(manifest); });
      CHECK(lint.empty() == run.empty());  // both say the same
      return run;
    };

    put_below(other + "/" + one.file, one.content);  // in the working directory alone
    const std::string refused = try_it(one.file);
    CHECK_THAT(refused, Contains("manifests/") && Contains("D5_DATA_DIR"));
    CHECK_THAT(lint_of(manifest), Contains("mine.yaml:"));
    CHECK(try_it(other + "/" + one.file) == "");  // whole

    put_below(toy / one.file, one.content);
    CHECK(try_it(one.file) == "");
    fs::remove_all(toy / fs::path(one.file).begin()->string());
    CHECK(try_it(one.file) != "");

    put_below(toy / ("manifests/" + one.file), one.content);
    CHECK(try_it(one.file) == "");
    CHECK(try_it("../manifests/" + one.file) == "");
  }
}

TEST_CASE("the file beside a manifest comes before that in D5_DATA_DIR") {
  const ToyEvaluation toy;
  put_below(toy / "book.txt", std::string(4000, 'x'));
  put_below(toy / "m/book.txt", std::string(400, 'x'));
  const std::string text = head("dataset") + "task: t\nlicence: l\npart: train\nreader: {name: " +
                           "text, data: book.txt, length: 8, test_share: 0}\n";
  put_below(toy / "m/set.yaml", text);
  put_below(toy / "set.yaml", text);  // the same content at another place
  const auto size_of = [&](const std::string& file) {
    return open_samples(find_manifest<DatasetManifest>(toy / file).manifest)->size();
  };
  CHECK(size_of("m/set.yaml") == 49);  // (400 - 8 - 1) / 8 + 1
  CHECK(size_of("set.yaml") == 499);
}

TEST_CASE("a fetched data set names no place outside of those where paths begin") {
  const std::string before = head("dataset") + "task: t\nlicence: l\nfolder: ";
  const std::string after =
      "\nsamples:\n- {file: a, bytes: 0, sha256: " + detail::sha256("") + "}\n";
  const auto faults = [&](const std::string& folder) {
    return lint_manifest(before + folder + after, "m.yaml", ManifestOrigin::fetched).size();
  };
  CHECK(faults("kinds") == 0);
  CHECK(faults("/etc") == 1);
  CHECK(faults("../kinds") == 1);
  CHECK(faults("a/../../b") == 1);
}

TEST_CASE("what describing a folder writes is found again from the working directory") {
  const ToyEvaluation toy;
  const testing::TemporaryFolder elsewhere;
  put_below(elsewhere / "my photos/cats/1.jpg", "one");
  const auto described = [](const std::string& folder) {
    return parse_manifest<DatasetManifest>(described_folder(folder), "described.yaml");
  };
  {
    const Within here(elsewhere.path().string());
    const auto manifest = described("my photos");
    CHECK(manifest.folder == "my photos");
    CHECK(manifest.name == "my-photos");
    CHECK(open_samples(manifest)->size() == 1);
  }
  {
    const Within here(elsewhere / "my photos");
    CHECK(described(".").name == "my-photos");
    CHECK(open_samples(described("."))->size() == 1);
  }
  const auto whole = described(elsewhere / "my photos");
  CHECK(fs::path(whole.folder).is_absolute());
  CHECK(open_samples(whole)->size() == 1);
  CHECK(described(toy / "colours").folder == "colours");  // in $D5_DATA_DIR
}

}  // namespace d5
