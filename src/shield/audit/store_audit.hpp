// SPDX-License-Identifier: BSD-3-Clause
// Records what a program does to one view, by places in its source, and finds lines that have
// changed without a report. The program's process writes it; the supervisor reads it when the view
// has ended, however it ended.
//
// AUDIT-3 A line that a commit set finds changed is a stray if no store to it was reported since a
//    commit set last copied it, by report_clock's time. If all code reports its stores, a stray is
//    certain.
// AUDIT-4 Durability does not depend on the audit, with one exception: if strays are to stop the
//    program, a commit set with one is not committed, and the view is halted (file_view.hpp,
//    VIEW-9). The file then has the previous commit set. The supervisor examines what a dead
//    program left in the same way.
// AUDIT-5 A line about to be loaded is also a stray if it differs from its digest, by AUDIT-3's
//    rule. So a stray is found before the program uses it, even if the line is never flushed. It
//    counts once, for the place that loaded or flushed it.
//
// About AUDIT-3: a stray store is not found if a store to the same line is reported between the
// same two commit sets, or while some thread is in flight.
//
// About AUDIT-5: the check before a load reads when the line was last copied, then its digest, then
// its bytes, and at the end whether a store was reported. So a concurrent commit set or a regular
// store never makes a line look like a stray.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "shield/audit/site_table.hpp"
#include "shield/view/audit.hpp"
#include "shield/view/line_watch.hpp"

namespace scute::core::audit {

enum class on_stray : uint32_t { ignore = 0, report = 1, stop = 2 };

struct line_finding {
  enum class kind : uint8_t {
    never_flushed = 1,
    stray = 2,
    stray_loaded = 3,
    never_fenced = 4,
    flushed_early = 5
  };
  kind what = kind::stray;
  uint64_t line = 0;
  uint32_t stored_at = 0,
           // places in the table; 0: unknown. With stray_loaded, flushed_at is the load's place.
      flushed_at = 0;
};

class store_audit : public view::line_watch {
 public:
  static constexpr size_t findings_max = 1024;
  static uint64_t size(uint64_t capacity);
  // Formats zeroed memory, aligned to 4096. `remembers`: the contents of flushed lines are noted
  // (AUDIT-7). `unreported`: names of objects that do not report their stores, so that strays are
  // only advice; or "".
  static void format(std::span<std::byte> at, uint64_t capacity, on_stray what,
                     const std::string& unreported, bool remembers = true);
  // Attaches to an audit. Throws failure if there is none.
  explicit store_audit(std::span<std::byte> at);

  // Instrumented code, or the kernel, is about to store there. Async-signal-safe.
  void report_store(uint64_t offset, uint64_t n) noexcept;
  // AUDIT-5, for code that is about to load. These functions are async-signal-safe and use general
  // registers only (HOOK-7).
  bool looks_for_strays() const noexcept;
  // When the line was last copied; an argument for was_reported().
  uint64_t copied(uint64_t line) const noexcept;
  // Whether a store to the line was reported since then, or the line is a known stray.
  bool was_reported(uint64_t line, uint64_t copied) const noexcept;
  // The code that the thread is executing has found a stray. Returns false if another thread had
  // found it before. may_go_on(): the program need not be stopped for it.
  bool found_by_load(uint64_t line) noexcept;
  bool may_go_on() const noexcept;
  // Reports the strays that loads have found and that are not reported yet. May use all registers.
  virtual void report_loaded() noexcept {}

  // The view or the supervisor had to make the line durable.
  void left(uint64_t line, view::left_as how) noexcept;

  void flushed(uint64_t line, bool again) noexcept override;
  void fenced(bool idle) noexcept override;
  view::flushed_contents* contents() noexcept override { return contents_ ? &*contents_ : nullptr; }
  void commit_set_begins() noexcept override;
  void commit_set_has(uint64_t line, bool changed) noexcept override;
  void commit_set_decided(uint64_t line) noexcept override;
  bool may_commit() noexcept override;

  // The program has loaded code that does not report its stores.
  void add_unreported(const std::string& names, on_stray what) noexcept;

  uint64_t strays() const noexcept;
  std::string unreported() const;
  const char* unreported_text() const noexcept;  // valid as long as the memory is
  bool read_site(uint32_t index, site_record& to) const { return sites_.read(index, to); }
  bool read_names(uint32_t index, site_names& to) const noexcept {
    return sites_.read_names(index, to);
  }
  // The first strays and lines left; at most findings_max.
  size_t findings() const noexcept;
  bool read_finding(size_t i, line_finding& to) const noexcept;

 protected:
  // A stray was found, with the commit lock held; the first ones only, and each once.
  virtual void stray(const line_finding&) noexcept {}

 private:
  struct head;
  struct finding;
  struct words;

  void add(const line_finding& f) noexcept;

  head* head_ = nullptr;
  finding* findings_ = nullptr;
  site_table sites_;
  words* words_ = nullptr;
  std::optional<view::flushed_contents> contents_;
  uint64_t moment_ = 0;  // the moment at which lines of the commit set under way count as copied
  bool may_commit_ = true;
};

}  // namespace scute::core::audit
