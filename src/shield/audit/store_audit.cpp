// SPDX-License-Identifier: BSD-3-Clause
#include "shield/audit/store_audit.hpp"

#include <algorithm>
#include <cstring>

#include "base/failure.hpp"
#include "shield/audit/audit_memory.hpp"
#include "shield/audit/call_site.hpp"
#include "shield/audit/report_clock.hpp"
#include "shield/view/line.hpp"

namespace scute::core::audit {

namespace {

constexpr uint64_t page = 4096;

constexpr uint64_t up(uint64_t n) {
  return (n + page - 1) / page * page;
}

}  // namespace

uint64_t store_audit::size(uint64_t capacity) {
  static_assert(sizeof(head) <= page);
  return page + up(findings_max * sizeof(finding)) + up(site_table::size()) +
         up(view::lines_of(up(capacity)) * sizeof(words)) +
         up(view::flushed_contents::size(view::lines_of(up(capacity))));
}

void store_audit::format(std::span<std::byte> at, uint64_t capacity, on_stray what,
                         const std::string& unreported, bool remembers) {
  if (at.size() < size(capacity))
    throw failure(SCUTE_E_INVALID, "the memory of an audit is too small for its file");
  auto& h = *reinterpret_cast<head*>(at.data());
  h.lines = view::lines_of(up(capacity));
  h.strays_do.store(static_cast<uint32_t>(what));
  h.remembers = remembers ? 1 : 0;
  std::memcpy(h.unreported, unreported.data(),
              std::min(unreported.size(), sizeof h.unreported - 1));
  h.mark.store(head::mark_value, std::memory_order_release);
}

store_audit::store_audit(std::span<std::byte> at) {
  head_ = reinterpret_cast<head*>(at.data());
  if (at.size() < page || head_->mark.load(std::memory_order_acquire) != head::mark_value)
    throw failure(SCUTE_E_CORRUPT, "the audit of a view was never begun");
  std::byte* next = at.data() + page;
  findings_ = reinterpret_cast<finding*>(next);
  next += up(findings_max * sizeof(finding));
  sites_ = site_table({next, site_table::size()});
  next += up(site_table::size());
  words_ = reinterpret_cast<words*>(next);
  // AUDIT-2
  const auto room =
      next > at.data() + at.size() ? 0 : static_cast<uint64_t>(at.data() + at.size() - next);
  const uint64_t lines = head_->lines, contents = up(lines * sizeof(words));
  if (lines > room / sizeof(words) || contents > room ||
      view::flushed_contents::size(lines) > room - contents)
    throw failure(SCUTE_E_CORRUPT, "the audit of a view has a size that is not its own");
  if (head_->remembers != 0) contents_.emplace(std::span(next + contents, room - contents), lines);
}

void store_audit::flushed(uint64_t line, bool again) noexcept {
  if (line >= head_->lines) return;
  const uint32_t site = sites_.index_of(call_site::current());
  sites_.count(site, site_event::flushed);
  if (again) sites_.count(site, site_event::flushed_again);
  std::atomic<uint64_t>& copied = words_[line].copied;
  uint64_t before = copied.load(std::memory_order_relaxed);
  while (site_of(before) != site &&
         !copied.compare_exchange_weak(before, (before & ~site_mask) | site)) {
  }
}

void store_audit::fenced(bool idle) noexcept {
  const uint32_t site = sites_.index_of(call_site::current());
  sites_.count(site, site_event::fenced);
  if (idle) sites_.count(site, site_event::fenced_idle);
}

void store_audit::commit_set_begins() noexcept {
  report_loaded();
  moment_ = report_clock::copied_at(report_clock::next_commit_set());
}

// AUDIT-3
void store_audit::commit_set_has(uint64_t line, bool changed) noexcept {
  if (line >= head_->lines) return;
  const words& w = words_[line];
  const uint64_t copied = w.copied.load(std::memory_order_relaxed);
  const uint64_t reported = w.reported.load(std::memory_order_acquire);
  const uint32_t flushed_at = site_of(copied);
  if (!changed) sites_.count(flushed_at, site_event::unchanged);
  const auto what = static_cast<on_stray>(head_->strays_do.load(std::memory_order_relaxed));
  if (!changed || what == on_stray::ignore ||
      moment_of(reported) >= std::max(moment_of(copied), uint64_t{report_clock::begin}))
    return;
  if (what == on_stray::stop) may_commit_ = false;
  if ((copied & found_mark) != 0) return;  // AUDIT-5: counted
  head_->strays.fetch_add(1, std::memory_order_relaxed);
  sites_.count(flushed_at, site_event::strays);
  const line_finding f{line_finding::kind::stray, line, site_of(reported), flushed_at};
  add(f);
  stray(f);
}

void store_audit::commit_set_decided(uint64_t line) noexcept {
  if (line >= head_->lines) return;
  std::atomic<uint64_t>& copied = words_[line].copied;
  uint64_t before = copied.load(std::memory_order_relaxed);
  while (!copied.compare_exchange_weak(before, word_of(moment_, site_of(before)))) {
  }
}

bool store_audit::may_commit() noexcept {
  return may_commit_;
}

void store_audit::left(uint64_t line, view::left_as how) noexcept {
  if (line >= head_->lines) return;
  const uint32_t stored_at = site_of(words_[line].reported.load(std::memory_order_relaxed));
  const uint32_t flushed_at = site_of(words_[line].copied.load(std::memory_order_relaxed));
  using kind = line_finding::kind;
  switch (how) {
    case view::left_as::never_flushed:
      sites_.count(stored_at, site_event::never_flushed);
      return add({kind::never_flushed, line, stored_at, 0});
    case view::left_as::flushed_early:
      sites_.count(stored_at, site_event::never_flushed);
      return add({kind::flushed_early, line, stored_at, flushed_at});
    case view::left_as::never_fenced:
      sites_.count(flushed_at, site_event::never_fenced);
      return add({kind::never_fenced, line, stored_at, flushed_at});
  }
}

void store_audit::add_unreported(const std::string& names, on_stray what) noexcept {
  const size_t had = unreported().size();
  if (names.size() > had)
    names.copy(head_->unreported + had, sizeof head_->unreported - 1 - had, had);
  head_->strays_do.store(static_cast<uint32_t>(what));
}

const char* store_audit::unreported_text() const noexcept {
  return head_->unreported;
}

uint64_t store_audit::strays() const noexcept {
  return head_->strays.load(std::memory_order_relaxed);
}

std::string store_audit::unreported() const {
  const char *const at = head_->unreported, *const end = at + sizeof head_->unreported;
  return {at, static_cast<size_t>(std::find(at, end, '\0') - at)};
}

size_t store_audit::findings() const noexcept {
  return static_cast<size_t>(
      std::min<uint64_t>(head_->findings.load(std::memory_order_relaxed), findings_max));
}

bool store_audit::read_finding(size_t i, line_finding& to) const noexcept {
  const finding& f = findings_[i];
  const uint32_t kind = f.kind.load(std::memory_order_acquire);
  to = {static_cast<line_finding::kind>(kind), f.line,
        f.stored_at & static_cast<uint32_t>(site_mask),
        f.flushed_at & static_cast<uint32_t>(site_mask)};
  return kind >= 1 && kind <= 5;
}

}  // namespace scute::core::audit
