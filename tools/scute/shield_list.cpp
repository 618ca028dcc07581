// SPDX-License-Identifier: BSD-3-Clause
// shield_list.cpp: scute shield list [DIR...] [--json]
#include "command.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "standard_streams.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace scute_tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".scute";

struct shield_list_arguments {
  std::vector<std::string> folders;
  bool json = false;
};

struct shielded_file {
  std::string file;
  std::optional<scute_shield_condition> condition;  // none: unreadable
  std::string why;
  scute_shield_state state{};
};

const char* name_of(const std::optional<scute_shield_condition>& condition) {
  if (!condition) return "unreadable";
  switch (*condition) {
    case SCUTE_SHIELD_IN_USE: return "in use";
    case SCUTE_SHIELD_CLEAN: return "clean";
    case SCUTE_SHIELD_UNCLEAN: return "unclean";
    case SCUTE_SHIELD_TOUCHED: return "touched";
    case SCUTE_SHIELD_CHANGED: return "changed";
    case SCUTE_SHIELD_MISSING: return "missing";
  }
  return "unknown";
}

bool needs_care(const shielded_file& f) {
  return !f.condition || *f.condition == SCUTE_SHIELD_CHANGED ||
         *f.condition == SCUTE_SHIELD_MISSING;
}

bool is_file(const std::string& path) {
  std::error_code e;
  return fs::is_regular_file(path, e);
}

class listing {
 public:
  // A folder, or a shielded file.
  void add(const std::string& path) {
    std::error_code e;
    const fs::file_status status = fs::status(path, e);
    if (fs::is_directory(status)) return walk(path);
    const size_t before = files_.size();
    look(path);
    if (files_.size() == before)
      throw failure(exit_error, path, "it is neither a folder nor a shielded file");
  }
  const std::vector<shielded_file>& files() const noexcept { return files_; }
  bool is_whole() const noexcept { return whole_; }

 private:
  void walk(const fs::path& folder) {
    std::error_code e;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(folder, e), end; !e && at != end; at.increment(e))
      entries.push_back(*at);
    if (e) {
      print_error("scute: {}: {}\n", folder.string(), e.message());
      whole_ = false;
    }
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
      const fs::file_status status = entry.symlink_status(e);
      const std::string path = entry.path().string();
      if (fs::is_directory(status)) walk(entry.path());
      if (path.size() <= suffix.size() || !path.ends_with(suffix)) continue;
      const std::string file = path.substr(0, path.size() - suffix.size());
      if (fs::is_regular_file(status) || is_file(file)) look(file);
    }
  }

  void look(const std::string& file) {
    shielded_file f;
    f.file = file;
    f.state.struct_size = sizeof f.state;
    scute_shield_condition condition{};
    const int result = scute_shield_look(failure::library_path(file).c_str(), &condition, &f.state);
    // One that is gone meanwhile, and pools that have the name by chance: unless they may be taken
    // for the protection of a file.
    if (result == SCUTE_E_NOENT || (result == SCUTE_E_INVALID && !is_file(file))) return;
    if (result == SCUTE_OK)
      f.condition = condition;
    else
      f.why = failure::without(file, scute_errormsg());
    files_.push_back(std::move(f));
  }

  std::vector<shielded_file> files_;
  bool whole_ = true;
};

void print(const listing& all) {
  if (all.files().empty()) return;
  table lines({{"state"}, {"size", true}, {"may grow to", true}, {"file"}});
  for (const shielded_file& f : all.files()) {
    lines.add({name_of(f.condition), f.condition ? size_text(f.state.size) : "",
               f.condition ? size_text(f.state.capacity) : "", f.file});
    if (!f.condition) print_error("scute: {}: {}\n", f.file, f.why);
  }
  lines.print();
}

json document(const listing& all) {
  json files = json::array();
  for (const shielded_file& f : all.files()) {
    json one{{"file", f.file}, {"state", name_of(f.condition)}};
    if (f.condition) {
      one["size"] = f.state.size;
      one["capacity"] = f.state.capacity;
      one["rows"] = f.state.rows;
      one["guarded"] = f.state.guard != 0;
    } else {
      one["error"] = f.why;
    }
    files.push_back(std::move(one));
  }
  return {{"files", std::move(files)}};
}

exit_code run_shield_list(const shield_list_arguments& args) {
  listing all;
  for (const std::string& folder : args.folders) all.add(folder);
  if (args.folders.empty()) all.add(".");
  if (args.json)
    print_json(document(all));
  else
    print(all);
  if (!all.is_whole()) return exit_error;
  return std::any_of(all.files().begin(), all.files().end(), needs_care) ? exit_damaged : exit_ok;
}

}  // namespace

void add_shield_list(CLI::App& shield, exit_code& status) {
  CLI::App* app = shield.add_subcommand("list", "List the shielded files in folders");
  auto args = std::make_shared<shield_list_arguments>();
  app->add_option("DIR", args->folders,
                  "folders to search, with all below them (default: the working folder)")
      ->type_name("");
  add_json_flag(*app, args->json);
  app->footer(
      "Shows each file's state for its next opening: in use, clean, unclean (it will "
      "recover),\ntouched (another inode or other times: all of it will be read), changed (it will "
      "be refused),\nmissing, or unreadable (FILE.scute cannot be used). Nothing is opened or "
      "locked.\nExit status: 2 if a file is changed, missing or unreadable; 1 if a folder cannot "
      "be read.\n\nExamples:\n  scute shield list\n  scute shield list /mnt/pmem /srv --json");
  app->callback([args, &status] { status = run_shield_list(*args); });
}

}  // namespace scute_tool
