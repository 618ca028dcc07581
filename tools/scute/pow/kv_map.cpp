// SPDX-License-Identifier: BSD-3-Clause
#include "pow/kv_map.hpp"

#include "failure.hpp"

#include <algorithm>

namespace scute_tool {

namespace {

constexpr const char *records_name = "kv", *sources_name = "kv sources";

}  // namespace

kv_map::kv_map(store_file& file, bool to_write) : file_(file) {
  const auto open = [&](const char* name, auto& into) {
    if (!to_write && !file.has_table(name)) return;
    using face = typename std::remove_reference_t<decltype(into)>::element_type;
    into = std::make_unique<face>(file.store(), name);
  };
  working_on(file.path(), [&] {
    open(records_name, records_);
    open(sources_name, sources_);
  });
}

bool kv_map::is_empty() const {
  return (records_ == nullptr || records_->empty()) && (sources_ == nullptr || sources_->empty());
}

const std::string* kv_map::get(const std::string& key) const {
  if (records_ == nullptr || !records_->contains(key)) return nullptr;
  return &records_->at(key);
}

void kv_map::scan(
    const scan_range& range,
    const std::function<void(std::string_view key, std::string_view value)>& visit) const {
  if (records_ == nullptr || range.limit == 0) return;
  const std::string first = std::max(range.prefix, range.from.value_or(""));
  const std::optional<std::string> last = end_of(range);
  const auto in_range = [&](const std::string& key) { return !last || key < *last; };
  if (!range.reverse) {
    uint64_t n = 0;
    for (auto at = records_->lower_bound(first);
         at != records_->end() && in_range((*at).first) && n < range.limit; ++at, ++n)
      visit((*at).first, (*at).second);
    return;
  }
  // Iterators go forwards only.
  std::vector<std::pair<const std::string*, const std::string*>> all;
  for (auto at = records_->lower_bound(first); at != records_->end() && in_range((*at).first); ++at)
    all.emplace_back(&(*at).first, &(*at).second);
  const uint64_t n = std::min<uint64_t>(range.limit, all.size());
  for (uint64_t i = 0; i < n; ++i)
    visit(*all[all.size() - 1 - i].first, *all[all.size() - 1 - i].second);
}

void kv_map::put(const std::string& key, const std::string& value) {
  working_on(file_.path(), [&] {
    auto s = file_.store().section(lock_);
    records_->edit(key) = value;
    s.commit();
  });
}

bool kv_map::erase(const std::string& key) {
  return working_on(file_.path(), [&] {
    auto s = file_.store().section(lock_);
    const bool there = records_->erase(key);
    s.commit();
    return there;
  });
}

std::optional<load_state> kv_map::loaded(const std::string& source) const {
  if (sources_ == nullptr || !sources_->contains(source)) return std::nullopt;
  const entry& e = sources_->at(source);
  return load_state{.position = {.offset = e.offset, .hash = e.hash}, .records = e.records};
}

uint64_t kv_map::load(const std::vector<record>& batch, const std::string& source,
                      const load_state& state) {
  return working_on(file_.path(), [&] {
    const size_t before = records_->size();
    auto s = file_.store().section(lock_);
    for (const record& r : batch) records_->edit(r.key) = r.value;
    sources_->edit(source) = {state.position.offset, state.position.hash, state.records};
    s.commit();
    return records_->size() - before;
  });
}

}  // namespace scute_tool
