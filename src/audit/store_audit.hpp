// SPDX-License-Identifier: BSD-3-Clause
// What a program does to one view, by the places in its source; and whether lines have changed that
// nobody has told of. The program's process writes it, the supervisor reads it when the view has
// ended, whatever the end was.
//
// AUDIT-3 A line that a commit set finds changed is a stray if no store to it was told of since a
//    commit set has copied it last, as report_clock has it: so a stray is one for certain where all
//    code tells of its stores. A stray store to a line that is told of as well between the same two
//    commit sets, or while some thread is in flight, is not noticed.
// AUDIT-4 Nothing about durability depends on any of this, but for one thing: if strays are to stop
//    the program, a commit set with one is not committed, and the view is halted: what the file has
//    is then the last commit set before (file_view.hpp, VIEW-9). The supervisor looks at what a
//    dead program has left in the same way.
// AUDIT-5 A line that is about to be loaded is a stray's as well if it is not what its digest says,
//    by the same rule as a commit set's: so one is found before the program has made use of it,
//    whether it is ever flushed or not. A stray counts once, for where it was loaded or where it
//    was flushed. Who looks reads when the line was copied last, then its digest, then its bytes,
//    and whether a store was told of at the end: what a commit set and a store do meanwhile leaves
//    none of a proper store's lines a stray.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "audit/site_table.hpp"
#include "view/audit.hpp"
#include "view/line_watch.hpp"

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
           flushed_at = 0;  // places in the table; 0: not known. Of stray_loaded: loaded_at
};

class store_audit : public view::line_watch {
 public:
  static constexpr size_t findings_max = 1024;
  static uint64_t size(uint64_t capacity);
  // Of zeros, aligned to 4096. `remembers`: what lines hold when they are flushed is noted
  // (AUDIT-7). `unreported`: names of objects whose stores nobody tells of, so that strays are
  // advice; or "".
  static void format(std::span<std::byte> at, uint64_t capacity, on_stray what,
                     const std::string& unreported, bool remembers = true);
  // Throws failure if none is there.
  explicit store_audit(std::span<std::byte> at);

  // Instrumented code is about to store there, or the kernel. Async-signal-safe.
  void report_store(uint64_t offset, uint64_t n) noexcept;
  // AUDIT-5, for who is about to load. Async-signal-safe, these four; general registers only
  // (HOOK-7).
  bool looks_for_strays() const noexcept;
  // When the line was copied last; to be handed to was_reported().
  uint64_t copied(uint64_t line) const noexcept;
  // Of the line, since then; or it is known as a stray already.
  bool was_reported(uint64_t line, uint64_t copied) const noexcept;
  // By the code that the thread is in. False: somebody else had found it. may_go_on(): the program
  // is not to be stopped for it.
  bool found_by_load(uint64_t line) noexcept;
  bool may_go_on() const noexcept;
  // Tells of what was found by loads and not told of yet. Not of general registers only.
  virtual void report_loaded() noexcept {}

  // Lines that had to be made durable by somebody else.
  void left(uint64_t line, view::left_as how) noexcept;

  void flushed(uint64_t line, bool again) noexcept override;
  void fenced(bool idle) noexcept override;
  view::flushed_contents* contents() noexcept override { return contents_ ? &*contents_ : nullptr; }
  void commit_set_begins() noexcept override;
  void commit_set_has(uint64_t line, bool changed) noexcept override;
  void commit_set_decided(uint64_t line) noexcept override;
  bool may_commit() noexcept override;

  // The program has loaded code whose stores nobody tells of.
  void add_unreported(const std::string& names, on_stray what) noexcept;

  uint64_t strays() const noexcept;
  std::string unreported() const;
  const char* unreported_text() const noexcept;  // as long as the memory is there
  bool read_site(uint32_t index, site_record& to) const { return sites_.read(index, to); }
  bool read_names(uint32_t index, site_names& to) const noexcept {
    return sites_.read_names(index, to);
  }
  // The first ones.
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
  uint64_t moment_ = 0;  // that lines of the commit set under way count as copied at
  bool may_commit_ = true;
};

}  // namespace scute::core::audit
