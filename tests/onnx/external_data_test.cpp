// SPDX-License-Identifier: Apache-2.0
// Tensors whose bytes lie in other files: inside the model's folder, and nowhere else.
#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;
using ::onnx::TensorProto;

/// A model's folder in one with a file that is none of its business.
class Folder : public d5::testing::TemporaryFolder {
 public:
  Folder() {
    fs::create_directories(path() / "model");
    write("outside.bin", "0123456789abcdef");
    write("model/inside.bin", "0123456789abcdef");
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path() / name, std::ios::binary) << content;
  }
};

struct External {
  std::string location, offset = "", length = "";
  std::int64_t elements = 4;
};

std::string save_external(const Folder& folder, const External& external) {
  auto message = relu_message();
  auto& tensor = add_weights(message, {external.elements});
  tensor.set_data_location(TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", external.location);
  add("offset", external.offset);
  add("length", external.length);
  folder.write("model/model.onnx", message.SerializeAsString());
  return (folder.path() / "model/model.onnx").string();
}

TEST_CASE("external data is read from inside the model's folder") {
  const Folder folder;
  const auto path = save_external(folder, {"inside.bin", "4", "8", 2});
  const Model model = load(path);
  CHECK(std::string(static_cast<const char*>(model.graph.initializers.at("w").raw()), 8) ==
        "456789ab");
  // Many tensors may name the same bytes; together they meet the memory budget.
  const std::size_t budget = memory_budget();
  set_memory_budget(7);
  CHECK_THROWS_AS(load(path), MemoryError);
  set_memory_budget(budget);
}

std::string data_of(const std::string& path) {
  return {static_cast<const char*>(load(path).graph.initializers.at("w").raw()), 16};
}

TEST_CASE("external data may be a link that stays where the model is") {
  const Folder folder;
  const fs::path model = folder.path() / "model";
  SECTION("within the model's folder") {
    fs::create_directory(model / "parts");
    fs::rename(model / "inside.bin", model / "parts/w.bin");
    fs::create_symlink("parts/w.bin", model / "link.bin");
    CHECK(data_of(save_external(folder, {"link.bin"})) == "0123456789abcdef");
  }
  SECTION("one file under two names") {
    fs::create_hard_link(model / "inside.bin", model / "twin.bin");
    CHECK(data_of(save_external(folder, {"twin.bin"})) == "0123456789abcdef");
  }
  SECTION("beside the file that a link to the model leads to") {
    const std::string path = save_external(folder, {"inside.bin"});
    fs::create_directory(folder.path() / "links");
    fs::create_symlink("../model/model.onnx", folder.path() / "links/m.onnx");
    CHECK(data_of((folder.path() / "links/m.onnx").string()) == "0123456789abcdef");
  }
}

/// As huggingface_hub lays a repository out.
TEST_CASE("a model in Hugging Face's cache has its data there") {
  const Folder folder;
  const fs::path cache = folder.path() / "hub/models--org--name";
  const fs::path snapshot = cache / "snapshots/0123abc/onnx";
  fs::create_directories(cache / "blobs");
  fs::create_directories(snapshot);
  const std::string saved = save_external(folder, {"model.onnx_data"});
  fs::rename(folder.path() / "model/inside.bin", cache / "blobs/d4735e");
  fs::create_symlink("../../../blobs/d4735e", snapshot / "model.onnx_data");
  const std::string path = (snapshot / "model.onnx").string();
  SECTION("both as links") {
    fs::rename(saved, cache / "blobs/6b86b2");
    fs::create_symlink("../../../blobs/6b86b2", snapshot / "model.onnx");
  }
  SECTION("with a model that was written there") { fs::rename(saved, path); }
  CHECK(data_of(path) == "0123456789abcdef");

  fs::remove(snapshot / "model.onnx_data");  // but not in that of another repository
  const fs::path other = folder.path() / "hub/models--org--other/blobs/d4735e";
  fs::create_directories(other.parent_path());
  fs::rename(cache / "blobs/d4735e", other);
  fs::create_symlink(other, snapshot / "model.onnx_data");
  CHECK_THAT(refusal<FormatError>([&] { (void)load(path); }),
             Catch::Contains("leads out of the model's folder"));
}

TEST_CASE("external data elsewhere is refused") {
  const Folder folder;
  const auto refused = [&](const External& external) {
    const auto path = save_external(folder, external);
    refusal<Error>([&] { (void)load(path); });
  };
  SECTION("by an absolute path") { refused({(folder.path() / "outside.bin").string()}); }
  SECTION("by climbing out") { refused({"../outside.bin"}); }
  SECTION("by climbing out and in again") { refused({"../model/inside.bin"}); }
  SECTION("through a link") {
    fs::create_symlink(folder.path() / "outside.bin", folder.path() / "model/link.bin");
    refused({"link.bin"});
  }
  SECTION("through a link to a folder") {
    fs::create_directory_symlink(folder.path(), folder.path() / "model/up");
    refused({"up/outside.bin"});
  }
  SECTION("in a folder") {
    fs::create_directory(folder.path() / "model/sub");
    refused({"sub"});
  }
  SECTION("in a device") { refused({"/dev/zero"}); }
  SECTION("in a pipe") {
    REQUIRE(::mkfifo((folder.path() / "model/pipe").c_str(), 0600) == 0);
    refused({"pipe"});
  }
  SECTION("in no file") { refused({"missing.bin"}); }
  SECTION("past the end") { refused({"inside.bin", "8", "16"}); }
  SECTION("at an offset that overflows") { refused({"inside.bin", "18446744073709551615", "16"}); }
  SECTION("at a negative offset") { refused({"inside.bin", "-4", "16"}); }
  SECTION("with a length that is not the tensor's") { refused({"inside.bin", "0", "8"}); }
  SECTION("larger than the file") { refused({"inside.bin", "", "", std::int64_t{1} << 40}); }
  SECTION("of a model from memory") {
    save_external(folder, {"inside.bin"});
    std::ifstream file(folder.path() / "model/model.onnx", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    CHECK_THROWS_AS(parse(bytes_of(bytes), "memory"), FormatError);
  }
}

}  // namespace
}  // namespace d5::onnx
