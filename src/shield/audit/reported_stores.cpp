// SPDX-License-Identifier: BSD-3-Clause
// Functions that hooks call for each store and load: general registers only (HOOK-7).
#include <algorithm>

#include "shield/audit/audit_memory.hpp"
#include "shield/audit/call_site.hpp"
#include "shield/audit/report_clock.hpp"
#include "shield/view/line.hpp"

namespace scute::core::audit {

void store_audit::report_store(uint64_t offset, uint64_t n) noexcept {
  if (n == 0) return;
  n = std::min(n, ~offset);
  const uint64_t now = report_clock::report();
  const uint64_t word = word_of(now, sites_.index_of(call_site::current()));
  const uint64_t end = std::min(view::line_of(offset + n - 1) + 1, head_->lines);
  for (uint64_t line = view::line_of(offset); line < end; ++line) {
    std::atomic<uint64_t>& reported = words_[line].reported;
    uint64_t before = reported.load(std::memory_order_relaxed);
    // Moments only rise: a delayed thread's word does not replace a later one.
    while (before != word && moment_of(before) <= now &&
           !reported.compare_exchange_weak(before, word)) {
    }
  }
}

void store_audit::add(const line_finding& f) noexcept {
  const uint64_t i = head_->findings.fetch_add(1, std::memory_order_relaxed);
  if (i >= findings_max) return;
  finding& to = findings_[i];
  to.line = f.line;
  to.stored_at = f.stored_at;
  to.flushed_at = f.flushed_at;
  to.kind.store(static_cast<uint32_t>(f.what), std::memory_order_release);
}

bool store_audit::looks_for_strays() const noexcept {
  return head_->strays_do.load(std::memory_order_relaxed) !=
         static_cast<uint32_t>(on_stray::ignore);
}

bool store_audit::may_go_on() const noexcept {
  return head_->strays_do.load(std::memory_order_relaxed) != static_cast<uint32_t>(on_stray::stop);
}

uint64_t store_audit::copied(uint64_t line) const noexcept {
  return line < head_->lines ? words_[line].copied.load(std::memory_order_acquire) : found_mark;
}

bool store_audit::was_reported(uint64_t line, uint64_t copied) const noexcept {
  if ((copied & found_mark) != 0) return true;
  const uint64_t reported = words_[line].reported.load(std::memory_order_acquire);
  return moment_of(reported) >= std::max(moment_of(copied), uint64_t{report_clock::begin});
}

bool store_audit::found_by_load(uint64_t line) noexcept {
  std::atomic<uint64_t>& copied = words_[line].copied;
  const uint64_t before = copied.fetch_or(found_mark);
  if ((before & found_mark) != 0) return false;
  const uint32_t here = sites_.index_of(call_site::current());
  head_->strays.fetch_add(1, std::memory_order_relaxed);
  sites_.count(here, site_event::strays);
  add({line_finding::kind::stray_loaded, line,
       site_of(words_[line].reported.load(std::memory_order_relaxed)), here});
  return true;
}

}  // namespace scute::core::audit
