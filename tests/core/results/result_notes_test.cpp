// SPDX-License-Identifier: Apache-2.0
// Notes below a table apply to each row that names them.
#include "core/results/result_notes.hpp"

#include <catch2/catch.hpp>

using namespace d5;
using Texts = std::vector<std::string>;

namespace {

Measurement noted(Status status, const std::string& reason) {
  return {.subject = "one", .status = status, .reason = reason};
}

std::string few(const std::string& samples) {
  return samples + " samples, fewer than the 30 that a median needs";
}

}  // namespace

TEST_CASE("a note of rows with 15, 7 and 9 samples says 7 to 15 samples") {
  detail::ResultNotes notes;
  for (const char* samples : {"15", "7", "9", "7"}) {
    CHECK(notes.status_of(noted(Status::mistrusted, few(samples))) == "mistrusted [1]");
  }
  CHECK(notes.reasons() == Texts{few("7 to 15")});
  CHECK(notes.to_text() == "[1] " + few("7 to 15") + "\n");
}

TEST_CASE("a note of rows that have the same number says that number") {
  detail::ResultNotes notes;
  (void)notes.status_of(noted(Status::mistrusted, few("7")));
  (void)notes.status_of(noted(Status::mistrusted, few("7")));
  CHECK(notes.reasons() == Texts{few("7")});
}

TEST_CASE("what stands behind a number stands behind the range") {
  detail::ResultNotes notes;
  (void)notes.status_of(noted(Status::mistrusted, "it drifts by 22%, as 3.5 of 10 do"));
  (void)notes.status_of(noted(Status::mistrusted, "it drifts by 9%, as 1.25 of 10 do"));
  CHECK(notes.reasons() == Texts{"it drifts by 9 to 22%, as 1.25 to 3.5 of 10 do"});
}

TEST_CASE("numbers within words make no range: the first is shown, with how many are alike") {
  detail::ResultNotes notes;
  for (const char* reason : {"node conv1 has no kernel", "node conv2 has no kernel",
                             "node conv31 has no kernel", "node conv1 has no kernel"}) {
    CHECK(notes.status_of(noted(Status::unsupported, reason)) == "unsupported [1]");
  }
  CHECK(notes.reasons() == Texts{"node conv1 has no kernel (and alike in 3 more rows)"});
}

TEST_CASE("a row names each of its reasons, and what was thrown is one") {
  detail::ResultNotes notes;
  CHECK(notes.status_of(noted(Status::passed, "")) == "passed");
  CHECK(notes.status_of(noted(Status::mistrusted, "it drifts")) == "mistrusted [1]");
  CHECK(notes.status_of(noted(Status::mistrusted, few("7") + "; it drifts")) == "mistrusted [1,2]");
  CHECK(notes.status_of(noted(Status::failed, "3 given; 4 expected")) == "failed [3]");
  CHECK(notes.reasons() == Texts{"it drifts", few("7"), "3 given; 4 expected"});
}
