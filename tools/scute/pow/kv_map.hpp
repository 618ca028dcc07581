// SPDX-License-Identifier: BSD-3-Clause
// kv_map.hpp: what the `scute pow kv` commands keep in a
// persist-on-write file: a sorted map from keys to values, and for every source that was loaded how
// far it was loaded.
#pragma once

#include "kv_range.hpp"
#include "pow/store_file.hpp"
#include "record_sink.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

namespace scute_tool {

class kv_map final : public record_sink {
 public:
  // To read, a file without one counts as an empty one. Throws failure.
  kv_map(store_file& file, bool to_write);

  // Nothing is in it, and nothing was ever loaded.
  bool is_empty() const;
  const std::string* get(const std::string& key) const;
  void scan(const scan_range& range,
            const std::function<void(std::string_view key, std::string_view value)>& visit) const;

  void put(const std::string& key, const std::string& value);
  // False: there was no such key.
  bool erase(const std::string& key);

  std::optional<load_state> loaded(const std::string& source) const override;
  uint64_t load(const std::vector<record>& batch, const std::string& source,
                const load_state& state) override;

 private:
  struct entry {
    static constexpr std::string_view scute_type = "scute.kv.source";
    uint64_t offset, hash, records;
  };

  store_file& file_;
  std::mutex lock_;
  std::unique_ptr<scute::pow::map<std::string, std::string>> records_;  // null: none
  std::unique_ptr<scute::pow::map<std::string, entry>> sources_;
};

}  // namespace scute_tool
