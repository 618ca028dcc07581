// SPDX-License-Identifier: BSD-3-Clause
// kv_store.hpp: what the `scute kv` commands keep in a pool: a sorted map from keys to values, and
// for every source that was loaded how far it was loaded.
//
// The resume table is changed in the same transaction as the records, so that after a crash the
// position says exactly which records are there.
#pragma once

#include "kv_range.hpp"
#include "open_pool.hpp"
#include "record_sink.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scute_tool {

struct kv_root;  // the pool's root object

class kv_store final : public record_sink {
 public:
  // The pool's root must be a store. To write, an empty pool gets one; to read, it counts as an
  // empty store. Throws failure.
  kv_store(const open_pool& pool, bool to_write);

  std::optional<std::string> get(const std::string& key) const;
  uint64_t count(const scan_range& range) const;
  void scan(const scan_range& range,
            const std::function<void(std::string_view key, std::string_view value)>& visit) const;

  // False: the key was there and has the new value now.
  bool put(const std::string& key, const std::string& value);
  // False: there was no such key.
  bool erase(const std::string& key);

  std::optional<load_state> loaded(const std::string& source) const override;
  uint64_t load(const std::vector<record>& batch, const std::string& source,
                const load_state& state) override;

 private:
  const open_pool& pool_;
  scute::ptr<kv_root> root_;
};

}  // namespace scute_tool
