// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "failure.hpp"

#include <algorithm>
#include <string_view>

namespace scute_tool {

namespace {

struct option_text {
  const char* name;   // of the field
  const char* value;  // the value's name in --help; null: a switch
  bool when_opening;
  const char* help;
};

constexpr option_text options_table[] = {
    {"size", "SIZE", false, "size of the pool file: 64M, 16GiB (default 64M)"},
    {"medium", "auto|dax|file|ram", true, "where bytes persist (default auto: by file system)"},
    {"layout", "NAME", true, "name of the data layout; when opening, the pool must have it"},
    {"engine", "auto|redo|logfree|spec", false,
     "how a transaction becomes durable: redo writes a log first; logfree writes in place, with "
     "the parity as the undo log (mlpc only); spec writes a sequential log, on a disk PATH.log, "
     "and the data later (default auto: spec on a disk; else logfree with mlpc, or redo without)"},
    {"protection", "auto|none|ml|mlp|mlpc", false,
     "how much is protected: ml replicates metadata and logs, mlp adds parity, mlpc adds "
     "checksums of objects (default auto: mlpc)"},
    {"checksum", "crc32c|adler32", false, "kind of object checksum (default crc32c)"},
    {"rows", "N", false, "data rows of a zone, 1..1000 (default by size)"},
    {"parity", "P", false,
     "parity rows of a zone, 1 to 4: each rebuilds one lost page of a column; more than 1 need "
     "engine logfree or spec (default 1 with mlp and mlpc)"},
    {"lanes", "N", false, "transactions that can run at once, 1..255 (default by size)"},
    {"chunk_size", "SIZE", false, "unit of space management, 16K..256K (default by size)"},
    {"log_cap", "SIZE", false,
     "engine spec alone: size of its log, all copies, on a disk that of PATH.log; rounded up to "
     "whole chunks and what every lane needs (default by size, 4M to 64M, less in pools below "
     "64M)"},
    {"preallocate", nullptr, false, "reserve every block of the file now"},
    {"overwrite", nullptr, false, "replace an existing pool of that name"},
    {"policy", "default|conservative|scrub:N", true,
     "when checksums are tested: at opening for writing (default), also at every read "
     "(conservative), or a scrub of the pool after every N transactions (scrub:N)"},
    {"no_fault_handler", nullptr, true, "leave SIGBUS alone: a lost page ends the process"},
    {"account", nullptr, true, "count the object bytes that are read untested"},
    {"lazy_recovery", nullptr, true,
     "after a crash of engine logfree or spec resolve only the objects that are used, without a "
     "scan in the background"},
    {"damaged", nullptr, true,
     "a shielded file that is not as Scute left it is damaged: to be repaired, with check "
     "--repair"},
    {"plain_encoding", nullptr, true,
     "engine logfree: compute first and write then, instead of line by line; for measurements"},
    {"mode", "BITS", false,
     "permission bits of the file, in octal (default 0600, or of the file it replaces)"},
};

// Nothing that a file which is there could be given.
bool of_pools_alone(std::string_view name) {
  for (const char* other :
       {"size", "layout", "preallocate", "overwrite", "mode", "damaged", "policy",
        "no_fault_handler", "account", "lazy_recovery", "plain_encoding"})
    if (name == other) return true;
  return false;
}

scute::options of_session(const scute::options& all) {
  scute::options o;
  o.layout = all.layout;
  o.medium = all.medium;
  o.readonly = all.readonly;
  o.policy = all.policy;
  o.scrub_every = all.scrub_every;
  o.no_fault_handler = all.no_fault_handler;
  o.account = all.account;
  o.lazy_recovery = all.lazy_recovery;
  o.damaged = all.damaged;
  o.plain_encoding = all.plain_encoding;
  o.without_log = all.without_log;
  return o;
}

std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

}  // namespace

void pool_options::add_to(CLI::App& app, use how) {
  use_ = how;
  for (const option_text& text : options_table) {
    // An engine may get a new log.
    const bool when_switching = text.when_opening || std::string_view(text.name) == "log_cap";
    if (how == use::open && !text.when_opening) continue;
    if (how == use::switch_engine && !when_switching) continue;
    if (how == use::shield && of_pools_alone(text.name)) continue;
    flag& f = flags_.emplace_back(flag{text.name, {}, nullptr});
    if (text.value != nullptr) {
      f.option = app.add_option(flag_name(text.name), f.value, text.help)->type_name(text.value);
    } else {
      f.value = "1";
      f.option = app.add_flag(flag_name(text.name), text.help);
    }
    f.option->group("Pool options");
  }
}

bool pool_options::given(const std::string& name) const {
  return std::any_of(flags_.begin(), flags_.end(),
                     [&](const flag& f) { return f.name == name && f.option->count() > 0; });
}

bool pool_options::any_given() const {
  return std::any_of(flags_.begin(), flags_.end(),
                     [](const flag& f) { return f.option->count() > 0; });
}

scute::options pool_options::resolve(use how) const {
  scute::options options;
  working_on("environment", [&] { options.apply_env(); });
  if (how == use::open || how == use::switch_engine) options = of_session(options);
  for (const flag& f : flags_) {
    if (f.option->count() == 0) continue;
    try {
      options.set(f.name, f.value);
    } catch (const scute::error& error) {
      std::string why = scute_errormsg();
      const std::string named = "option " + f.name + ": ";  // as the flag is
      if (why.starts_with(named)) why.erase(0, named.size());
      throw failure(exit_code_of(error.code().value()), flag_name(f.name), why);
    }
  }
  return options;
}

}  // namespace scute_tool
