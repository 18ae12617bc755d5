// SPDX-License-Identifier: Apache-2.0
#include "core/parsing/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "core/errors/utf8.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Builds the tree while the file is parsed, so that limits are enforced early.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const std::string& file, const YamlLimits& limits) : file_(file), limits_(limits) {}
  YamlNode root;

  [[noreturn]] void fail(int line, int column, const std::string& what) const {
    throw FormatError(fmt::format("{}:{}:{}: {}", printable(file_), line, column, what));
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    fail(mark.line + 1, mark.column + 1, what);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    OnScalar(mark, "", anchor, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "aliases (*name) are not read here; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    if (wants_key()) {
      if (!keys_.back().insert(value).second) {
        fail(mark, fmt::format("key '{}' is given twice", printable(value)));
      }
      key_ = value;
      key_mark_ = mark;
      has_key_ = true;
      return;
    }
    YamlNode& node = add(mark);
    node.text = value;
    node.quoted = tag == "!";
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) fail(mark, "anchors (&name) are not read here");
    if (tag.size() > 1) fail(mark, "tags (!name) are not read here");
    if (++nodes_ > limits_.nodes) {
      fail(mark, fmt::format("holds more than {} values", limits_.nodes));
    }
  }
  [[nodiscard]] bool wants_key() const {
    return !open_.empty() && open_.back()->is_map() && !has_key_;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    check(mark, tag, anchor);
    if (wants_key()) fail(mark, "a map or a list cannot be a key");
    if (open_.size() >= limits_.depth) {
      fail(mark, fmt::format("maps and lists are nested deeper than {}", limits_.depth));
    }
    YamlNode& node = add(mark);
    node.kind = kind;
    open_.push_back(&node);
    keys_.emplace_back();
  }
  void close() {
    open_.pop_back();
    keys_.pop_back();
  }
  /// A node's entries grow only while it is the innermost open one, so pointers stay valid.
  YamlNode& add(const YAML::Mark& mark) {
    const YAML::Mark& place = has_key_ ? key_mark_ : mark;
    if (!open_.empty() && open_.back()->is_list()) {
      key_ = std::to_string(open_.back()->entries.size());
    }
    if (!open_.empty()) open_.back()->entries.push_back({key_, YamlNode()});
    YamlNode& node = open_.empty() ? root : open_.back()->entries.back().node;
    node.line = place.line + 1;
    node.column = place.column + 1;
    has_key_ = false;
    return node;
  }

  const std::string& file_;
  const YamlLimits& limits_;
  std::vector<YamlNode*> open_;
  std::vector<std::unordered_set<std::string>> keys_;  ///< keys of each open map
  std::string key_;
  YAML::Mark key_mark_;
  bool has_key_ = false;
  int nodes_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(const std::string& key) const {
  const auto entry = std::ranges::find(entries, key, &YamlEntry::key);
  return entry == entries.end() ? nullptr : &entry->node;
}

YamlNode parse_yaml(const std::string& text, const std::string& file, const YamlLimits& limits) {
  Builder builder(file, limits);
  if (text.size() > limits.bytes) {
    builder.fail(1, 1, fmt::format("the file has {} bytes, {} at most", text.size(), limits.bytes));
  }
  if (const std::size_t bad = first_unprintable(text); bad != std::string::npos) {
    const std::string_view before = std::string_view(text).substr(0, bad);
    const std::size_t line = before.rfind('\n');  // npos + 1 is 0
    builder.fail(static_cast<int>(std::ranges::count(before, '\n')) + 1,
                 static_cast<int>(bad - (line + 1)) + 1,
                 fmt::format("'{}' is not text, expected UTF-8 without control characters",
                             printable(text.substr(bad, 4))));
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    Builder second(file, limits);
    if (parser.HandleNextDocument(second)) {
      builder.fail(second.root.line, second.root.column, "a second document begins; expected one");
    }
  } catch (const YAML::Exception& error) {
    builder.fail(error.mark, fmt::format("is not YAML: {}", printable(error.msg)));
  }
  return std::move(builder.root);
}

}  // namespace d5::detail
