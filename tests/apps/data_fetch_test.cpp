// SPDX-License-Identifier: Apache-2.0
// d5 data fetch: what is right is left alone, and what was interrupted goes on.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/apps/background_run.hpp"
#include "tests/loopback_listener.hpp"

using Catch::Contains;
using d5::testing::BackgroundRun;
using d5::testing::content_of;
using d5::testing::run_d5;
using d5::testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

/// The folder of the real files; empty where there is none.
std::string mnist_files() {
  const char* shared = std::getenv("D5_DATA_DIR");
  const fs::path folder = fs::path(shared ? shared : "") / "mnist";
  if (fs::exists(folder / "train-images-idx3-ubyte.gz")) return folder.string();
  WARN("skipped: D5_DATA_DIR has no mnist");
  return "";
}

/// Serves a folder by HTTP on the loopback, one request after another. Of the first file it sends a
/// half, and no more until the client goes.
class StallingServer : public d5::testing::LoopbackListener {
 public:
  explicit StallingServer(std::string folder) : LoopbackListener(8), folder_(std::move(folder)) {
    thread_ = std::thread([this] {
      for (;;) {
        const int connection = ::accept(socket_, nullptr, nullptr);
        if (connection < 0) return;
        answer(connection);
        ::close(connection);
      }
    });
  }
  /// No more requests are taken.
  void end() {
    ::shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  ~StallingServer() { end(); }
  std::vector<std::pair<std::string, std::size_t>> requests;  ///< names and first bytes; once ended

 private:
  void answer(int connection) {
    const auto [name, begin] = read_request(connection);
    const std::string content = content_of(folder_ + "/" + name);
    const bool stalls = requests.empty();
    requests.emplace_back(name, begin);
    const std::string all = answer_head(begin, content.size()) +
                            content.substr(begin, stalls ? content.size() / 2 : content.npos);
    for (std::size_t done = 0; done < all.size();) {
      const ssize_t sent = ::send(connection, all.data() + done, all.size() - done, MSG_NOSIGNAL);
      if (sent <= 0) return;
      done += std::size_t(sent);
    }
    char letter = 0;
    if (stalls) (void)!::read(connection, &letter, 1);  // until the client goes
  }

  std::string folder_;
  std::thread thread_;
};

std::uintmax_t bytes_in(const std::string& folder) {
  std::uintmax_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) bytes += entry.file_size();
  return bytes;
}

}  // namespace

TEST_CASE("a fetch that was interrupted goes on where it ended, and the files are right") {
  const std::string source = mnist_files();
  if (source.empty()) return;
  const TemporaryFolder folder;
  StallingServer server(source);
  const std::string to = folder / "here";
  const std::string arguments = "data fetch mnist --to " + to + " --mirror " + server.url;
  const auto half = fs::file_size(source + "/train-images-idx3-ubyte.gz") / 2;
  const BackgroundRun run(arguments + " --quiet", "/dev/null");
  // Near the half: what is in the buffer yet is written when it ends.
  const int status = run.end(SIGINT, [&] { return bytes_in(to) >= half - half / 8; });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK_FALSE(fs::exists(to + "/train-images-idx3-ubyte.gz"));

  const auto rest = run_d5(arguments);

  CHECK(rest.status == 0);
  CHECK(rest.out == to + "\n");
  CHECK_THAT(rest.err, Contains("train-images-idx3-ubyte.gz (9.9 MB)"));
  const auto again = run_d5(arguments);  // asks nobody
  CHECK(again.status == 0);
  server.end();
  for (const auto& [name, begin] : server.requests) UNSCOPED_INFO(name << " from byte " << begin);
  REQUIRE(server.requests.size() == 5);
  CHECK(server.requests[1] == std::pair(server.requests[0].first, std::size_t(half)));
  for (const auto& entry : fs::directory_iterator(source)) {
    if (entry.path().extension() != ".gz") continue;
    const std::string name = entry.path().filename().string();
    CHECK(content_of(to + "/" + name) == content_of(entry.path().string()));
  }
  CHECK(run_d5("data verify mnist:data=" + to).status == 0);
}

TEST_CASE("a mirror may be a folder, and one that has other files is not believed") {
  const std::string source = mnist_files();
  if (source.empty()) return;
  const TemporaryFolder folder;
  CHECK(run_d5("data fetch mnist --quiet --to " + (folder / "right") + " --mirror file://" + source)
            .status == 0);
  fs::create_directories(folder / "wrong");
  d5::testing::write(folder / "wrong/train-images-idx3-ubyte.gz", "no images");
  // The known mirrors are tried next: they are out of reach behind a proxy that does not exist.
  const auto run =
      run_d5("data fetch mnist --to " + (folder / "to") + " --mirror file://" + (folder / "wrong"),
             "env https_proxy=http://127.0.0.1:1 http_proxy=http://127.0.0.1:1");
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("SHA-256") && Contains("put these files into"));
  CHECK_FALSE(fs::exists(folder / "to/train-images-idx3-ubyte.gz"));
}

TEST_CASE("a data set that has to be fetched by hand explains how") {
  const auto run = run_d5("data fetch imagenet");
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("image-net.org"));
  CHECK_THAT(run_d5("data fetch minst").err, Contains("did you mean mnist?"));
}
