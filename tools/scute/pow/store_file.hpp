// SPDX-License-Identifier: BSD-3-Clause
// store_file.hpp: an open persist-on-write file, and the flags that say how.
#pragma once

#include <scute/pow.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace scute_tool {

class progress;

struct damage {
  damage() = default;
  explicit damage(const scute_pow_damage& d);
  nlohmann::ordered_json in_json() const;

  std::string what;
  bool lost = false;
  uint32_t segment = SCUTE_POW_NO_SEGMENT, lane = 0;
  uint64_t session = 0, first_section = 0, last_section = 0;
  struct range {
    std::string table;
    uint64_t first, last, records;
  };
  std::vector<range> objects;
};

class store_flags {
 public:
  // For opening; `create`: for making the file too.
  void add_to(CLI::App& app, bool create);
  void add_salvage(CLI::App& app);

  std::string medium = "auto", protection;
  uint64_t size = 0, max_size = 0, max_memory = 0, segment_size = 0;
  bool salvage = false;
};

class store_file {
 public:
  enum class how { read, write, create };

  // bar: shown during recovery, and in compact() and check(); null: none. Throws failure.
  store_file(const std::string& path, const store_flags& flags, how mode, progress* bar);

  // Damage that opening has found.
  const std::vector<damage>& found() const { return found_; }
  const std::string& path() const { return path_; }
  scute::pow::store& store() { return store_; }
  // This has made the file.
  bool is_new() const { return is_new_; }
  scute_pow_info info() const;
  std::vector<scute_pow_table_info> tables() const;  // their names are in names_
  bool has_table(const std::string& name) const;
  // To learn whether closing succeeded. Throws failure.
  void close();

 private:
  scute::pow::store open(const store_flags& flags, how mode, progress* bar);

  std::string path_;
  std::vector<damage> found_;
  mutable std::vector<std::string> names_;
  bool is_new_ = false;
  scute::pow::store store_;
};

const char* name_of(scute_pow_protection p);

}  // namespace scute_tool
