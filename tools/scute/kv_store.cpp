// SPDX-License-Identifier: BSD-3-Clause
#include "kv_store.hpp"

#include "failure.hpp"
#include "inventory.hpp"

#include <scute/containers/ordered_map.hpp>
#include <scute/containers/string.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace scute_tool {

// How far a source was loaded, in the pool.
struct load_entry {
  uint64_t offset;
  uint64_t hash;
  uint64_t records;
};

using record_map = scute::ordered_map<scute::string, scute::string>;

struct kv_root {
  uint64_t magic;
  record_map records;
  scute::ordered_map<scute::string, load_entry> sources;
};

}  // namespace scute_tool

SCUTE_TYPE(scute_tool::kv_root, "scute.kv.root")

namespace scute_tool {

namespace {

constexpr uint64_t kv_magic = 0x31766b6574756373;  // "scutekv1"

// The pool's reader does not test checksums; this does, and repairs, for text in an object of its
// own.
std::string_view verified(const scute::pool& pool, const scute::string& text) {
  const std::string_view view = text.view(pool);
  const auto address = reinterpret_cast<uintptr_t>(view.data());
  const auto handle = reinterpret_cast<uintptr_t>(&text);
  if (address >= handle && address < handle + sizeof text) return view;
  const scute_oid oid = address - scute_direct_base(pool.native_handle());
  const void* bytes = nullptr;
  scute::detail::check(scute_get_verified(pool.native_handle(), oid, &bytes));
  return text.view(pool);
}

record_map::range entries(const scute::pool& pool, const record_map& records,
                          const scan_range& range) {
  const std::string first = std::max(range.prefix, range.from.value_or(""));
  const std::optional<std::string> last = end_of(range);
  const auto begin = records.lower_bound(pool, first);
  if (!last) return {begin, records.end(pool)};
  if (*last <= first) return {begin, begin};
  return {begin, records.lower_bound(pool, *last)};
}

// Pointers and sizes that make no sense come from a damaged node of the map: reading does not test
// the nodes' checksums.
bool means_damage(const scute::error& error) {
  switch (error.which()) {
    case scute::errc::oid:
    case scute::errc::freed:
    case scute::errc::range:
    case scute::errc::type:
    case scute::errc::corrupt: return true;
    default: return false;
  }
}

template <class F>
decltype(auto) reading(const std::string& path, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const scute::error& error) {
    if (!means_damage(error)) throw failure(path, error);
    const failure cause(path, error);
    // Of an object that is lost the library says all of it.
    if (std::string_view(cause.what()).find("scute check") != std::string_view::npos)
      throw failure(path, error);
    throw failure(cause.code(), cause.what(),
                  fmt::format("the store is damaged; try `scute check {} --repair`", path));
  }
}

[[noreturn]] void throw_no_store(const open_pool& pool) {
  throw failure(exit_not_a_pool, pool.path(),
                "the pool holds another program's data, no key-value store; `scute dump` shows it");
}

}  // namespace

kv_store::kv_store(const open_pool& pool, bool to_write) : pool_(pool) {
  working_on(pool.path(), [&] {
    const scute::pool& p = pool.pool();
    const scute_oid existing = root_of(pool);
    if (existing == SCUTE_OID_NULL && !to_write) return;
    if (existing != SCUTE_OID_NULL &&
        p.type_of(scute::ptr<kv_root>(existing)) != scute::type_number<kv_root>)
      throw_no_store(pool);
    root_ = p.root<kv_root>();
    const uint64_t magic = p.get_verified(root_).magic;
    if (magic == kv_magic) return;
    if (magic != 0) throw_no_store(pool);
    if (to_write)
      p.transact([&](scute::tx& tx) { tx.edit(root_, &kv_root::magic) = kv_magic; });
    else
      root_ = {};
  });
}

std::optional<std::string> kv_store::get(const std::string& key) const {
  if (!root_) return std::nullopt;
  return reading(pool_.path(), [&]() -> std::optional<std::string> {
    const scute::pool& pool = pool_.pool();
    const scute::string* value = pool.get(root_).records.get(pool, key);
    if (value == nullptr) return std::nullopt;
    return std::string(verified(pool, *value));
  });
}

uint64_t kv_store::count(const scan_range& range) const {
  if (!root_) return 0;
  return reading(pool_.path(), [&] {
    const scute::pool& pool = pool_.pool();
    const record_map& records = pool.get(root_).records;
    if (range.prefix.empty() && !range.from && !range.to) return records.size();
    uint64_t found = 0;
    for ([[maybe_unused]] const auto& entry : entries(pool, records, range)) ++found;
    return found;
  });
}

void kv_store::scan(
    const scan_range& range,
    const std::function<void(std::string_view key, std::string_view value)>& visit) const {
  if (!root_) return;
  reading(pool_.path(), [&] {
    const scute::pool& pool = pool_.pool();
    const record_map::range found = entries(pool, pool.get(root_).records, range);
    record_map::iterator at = range.reverse ? found.end() : found.begin();
    const record_map::iterator end = range.reverse ? found.begin() : found.end();
    for (uint64_t n = 0; n < range.limit && at != end; ++n) {
      if (range.reverse) --at;
      visit(verified(pool, at.key()), verified(pool, at.value()));
      if (!range.reverse) ++at;
    }
  });
}

bool kv_store::put(const std::string& key, const std::string& value) {
  return working_on(pool_.path(), [&] {
    return pool_.pool().transact([&](scute::tx& tx) {
      return tx.edit(root_, &kv_root::records).insert_or_assign(tx, key, value);
    });
  });
}

bool kv_store::erase(const std::string& key) {
  return working_on(pool_.path(), [&] {
    return pool_.pool().transact(
        [&](scute::tx& tx) { return tx.edit(root_, &kv_root::records).erase(tx, key); });
  });
}

std::optional<load_state> kv_store::loaded(const std::string& source) const {
  return reading(pool_.path(), [&]() -> std::optional<load_state> {
    const scute::pool& pool = pool_.pool();
    const load_entry* entry = pool.get(root_).sources.get(pool, source);
    if (entry == nullptr) return std::nullopt;
    return load_state{.position = {.offset = entry->offset, .hash = entry->hash},
                      .records = entry->records};
  });
}

uint64_t kv_store::load(const std::vector<record>& batch, const std::string& source,
                        const load_state& state) {
  return working_on(pool_.path(), [&] {
    return pool_.pool().transact([&](scute::tx& tx) {
      uint64_t added = 0;
      record_map& records = tx.edit(root_, &kv_root::records);
      for (const record& r : batch) added += records.insert_or_assign(tx, r.key, r.value) ? 1 : 0;
      tx.edit(root_, &kv_root::sources)
          .insert_or_assign(tx, source,
                            load_entry{.offset = state.position.offset,
                                       .hash = state.position.hash,
                                       .records = state.records});
      return added;
    });
  });
}

}  // namespace scute_tool
