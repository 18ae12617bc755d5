// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <vector>

#include "d5/core/files/atomic_file.hpp"
#include "tests/apps/background_run.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::run_d5;

TEST_CASE("tokens are made, listed and taken back, and shown once") {
  const testing::TemporaryFolder folder;
  const std::string file = " --tokens " + (folder / "tokens.json");
  const auto made = run_d5("token add --role run ci" + file);
  REQUIRE(made.status == 0);
  CHECK(made.out.size() == 65);  // 64 digits and the line's end
  CHECK_THAT(read_file(folder / "tokens.json"), !Contains(made.out.substr(0, 64)));
  CHECK_THAT(run_d5("token list --format csv" + file).out, Contains("ci,run,"));
  const auto wrong = run_d5("token add --role rum other" + file);
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains("did you mean run?"));
  CHECK(run_d5("token remove ci" + file).status == 0);
  CHECK_THAT(run_d5("token list --format csv" + file).out, !Contains("ci,"));
}

TEST_CASE("a server that others reach without tokens does not begin") {
  const testing::TemporaryFolder folder;
  const std::string database = " --database " + (folder / "results.db");
  const auto open = run_d5("serve --bind 0.0.0.0:0" + database);
  CHECK(open.status == 2);
  CHECK(open.out.empty());
  CHECK_THAT(open.err,
             Contains("--tokens, 'd5 token add'") && Contains("--tls-cert and --tls-key"));
  CHECK_THAT(run_d5("serve --bind 8500" + database).err, Contains("expected HOST:PORT"));
  CHECK_THAT(run_d5("serve --isolate 0 --memory 1GiB" + database).err,
             Contains("--memory limits the processes of models"));
}

struct ProcessState {
  int parent = -1;
  char state = 'X';  ///< as ps says it: Z for one that has ended, X for one that is not there
};

ProcessState state_of(const std::string& process) {
  const std::string text = testing::content_of("/proc/" + process + "/stat");
  const std::size_t name_end = text.rfind(')');  // "PID (NAME) STATE PARENT ..."
  if (name_end == text.npos) return {};
  return {std::stoi(text.substr(name_end + 4)), text[name_end + 2]};
}

std::vector<std::string> children_of(int parent) {
  std::vector<std::string> children;
  for (const auto& one : std::filesystem::directory_iterator("/proc")) {
    const std::string process = one.path().filename();
    const bool is_process = process.find_first_not_of("0123456789") == process.npos;
    if (is_process && state_of(process).parent == parent) children.push_back(process);
  }
  return children;
}

bool has_ended(const std::string& process) {
  for (int i = 0; i < 1000; ++i) {
    const char state = state_of(process).state;
    if (state == 'Z' || state == 'X') return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("models' processes end with their server, however that ends") {
  const int signal = GENERATE(SIGKILL, SIGINT);
  CAPTURE(signal);
  const testing::TemporaryFolder folder;
  const std::string printed = folder / "printed";
  const testing::BackgroundRun server(
      "serve --model lenet --instances 2 --threads 1 --quiet --bind 127.0.0.1:0 --database " +
          (folder / "results.db"),
      printed);
  std::vector<std::string> models;
  const int status = server.end(signal, [&] {
    if (!testing::content_of(printed).ends_with('\n')) return false;
    models = children_of(server.process());
    return true;
  });
  constexpr int kInterrupted = 130;
  CHECK((signal == SIGINT ? WEXITSTATUS(status) == kInterrupted : WTERMSIG(status) == SIGKILL));
  CHECK(models.size() == 2);
  for (const std::string& one : models) CHECK(has_ended(one));
}

TEST_CASE("a server that is not there is said so") {
  const auto list = run_d5("job list --server 127.0.0.1:9");
  CHECK(list.status == 2);
  CHECK_THAT(list.err, Contains("is 'd5 serve' running there?"));
  CHECK_THAT(run_d5("job list --server gopher://x").err, Contains("expected http://HOST:PORT"));
  CHECK_THAT(run_d5("agent run --server http://127.0.0.1:9").err, Contains("after 'agents:'"));
  CHECK_THAT(run_d5("eval run lenet --locked x.json --server 127.0.0.1:9").err,
             Contains("leave out --server"));
}

}  // namespace
}  // namespace d5
