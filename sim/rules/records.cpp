// SPDX-License-Identifier: BSD-3-Clause
#include "rules/records.hpp"

#include <algorithm>
#include <array>

namespace scute::sim {
namespace {

bool covers(const log_record& r, uint64_t line) noexcept {
  return r.kind != record_kind::commit && line - r.line < r.lines;
}

}  // namespace

rule_set rules_of_paper() {
  rule_set r;
  r.first_undo_wins = r.undo_counts = r.copying_between = r.page_leaves_out_open = false;
  r.times_go_on = r.page_time_is_start = r.undo_line_written_on_eviction = false;
  r.commit_cools = r.undo_line_logged_too = r.one_truncation_point =
      r.recovery_moves_truncation_point = false;
  return r;
}

std::span<const named_rule> all_rules() {
  static constexpr std::array<named_rule, 15> all{{
      {"HPMT-1", &rule_set::first_undo_wins},
      {"HPMT-2", &rule_set::undo_counts},
      {"HPMT-3", &rule_set::copying_between},
      {"HPMT-4", &rule_set::page_leaves_out_open},
      {"HPMT-5", &rule_set::times_go_on},
      {"HPMT-6", &rule_set::page_time_is_start},
      {"HPMT-7", &rule_set::undo_line_written_on_eviction},
      {"HPMT-8", &rule_set::commit_cools},
      {"HPMT-9", &rule_set::one_truncation_point},
      {"HPMT-10", &rule_set::log_before_eviction},
      {"HPMT-11", &rule_set::undo_before_line},
      {"HPMT-12", &rule_set::line_before_commit},
      {"HPMT-13", &rule_set::log_in_order},
      {"HPMT-14", &rule_set::recovery_moves_truncation_point},
      {"HPMT-15", &rule_set::undo_line_logged_too},
  }};
  return all;
}

recovery::recovery(std::span<const log_record> records, uint64_t truncation_point,
                   const rule_set& rules)
    : rules_(rules), next_time_(truncation_point + 1) {
  // A commit is in force as long as any record of its transaction is: it is no older than they are.
  for (const log_record& r : records) {
    next_time_ = std::max({next_time_, r.time + 1, r.end + 1});
    if (r.kind == record_kind::commit) commits_.push_back({r.transaction, r.time});
  }
  commits_.push_back({0, 1});
  std::ranges::sort(commits_, {}, &commit_of::transaction);
  for (const log_record& r : records)
    if (r.kind != record_kind::commit && time_of(r, commit_time(r.transaction)) > truncation_point)
      records_.push_back(r);
}

uint64_t recovery::commit_time(uint32_t transaction) const {
  const auto at = std::ranges::lower_bound(commits_, transaction, {}, &commit_of::transaction);
  return at != commits_.end() && at->transaction == transaction ? at->time : 0;
}

uint64_t recovery::time_of(const log_record& r, uint64_t commit) const {
  if (r.kind == record_kind::page && rules_.page_time_is_start) return r.time;
  return commit != 0 ? commit : r.time;
}

// HPMT-4, what the copying could not see: the line had left the other core's cache.
bool recovery::open_elsewhere(const log_record& page, uint64_t line) const {
  return std::ranges::any_of(records_, [&](const log_record& r) {
    return r.kind == record_kind::line && covers(r, line) && r.transaction != page.transaction &&
           r.time < page.end && commit_time(r.transaction) == 0;
  });
}

const log_record* recovery::by_paper(uint64_t line) const {
  const log_record *page = nullptr, *undo = nullptr, *newest = nullptr;
  uint64_t newest_time = 0;
  for (const log_record& r : records_) {
    if (!covers(r, line)) continue;
    const uint64_t commit = commit_time(r.transaction);
    if (commit == 0) {
      if (r.kind == record_kind::page) page = &r;
      if (r.kind == record_kind::undo && (undo == nullptr || r.time < undo->time)) undo = &r;
    } else if (r.kind != record_kind::undo && time_of(r, commit) >= newest_time) {
      newest = &r;
      newest_time = time_of(r, commit);
    }
  }
  return newest != nullptr ? newest : undo != nullptr ? undo : page;
}

const log_record* recovery::source_for(uint64_t line) const {
  if (!rules_.first_undo_wins && !rules_.undo_counts && !rules_.copying_between)
    return by_paper(line);
  const log_record *open = nullptr, *page = nullptr, *newest = nullptr;
  uint64_t newest_time = 0;
  for (const log_record& r : records_) {
    if (!covers(r, line)) continue;
    const uint64_t commit = commit_time(r.transaction);
    if (r.kind == record_kind::page && rules_.page_leaves_out_open && open_elsewhere(r, line))
      continue;
    if (commit != 0) {
      if (r.kind == record_kind::undo && !rules_.undo_counts) continue;
      const uint64_t time = time_of(r, commit);
      // Of one transaction, the last in the log.
      if (time >= newest_time) {
        newest = &r;
        newest_time = time;
      }
      continue;
    }
    if (r.kind == record_kind::undo || (r.kind == record_kind::line && rules_.first_undo_wins)) {
      const bool better =
          open == nullptr || (rules_.first_undo_wins ? r.time < open->time : r.time > open->time);
      if (better) open = &r;
    }
    if (r.kind == record_kind::page && (page == nullptr || r.time < page->time)) page = &r;
  }
  if (open != nullptr && open->kind == record_kind::undo) return open;
  if (page != nullptr && page->time > newest_time) return page;
  return newest != nullptr && newest->kind != record_kind::undo ? newest : nullptr;
}

}  // namespace scute::sim
