// SPDX-License-Identifier: BSD-3-Clause
// What an audit by places in the source notices, and that it blames no correct code (AUDIT-1 to
// AUDIT-4, AUDIT-6, AUDIT-7, CLOCK-1 to CLOCK-3).
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/failure.hpp"
#include "shield/audit/call_site.hpp"
#include "shield/audit/report_clock.hpp"
#include "shield/audit/store_audit.hpp"

namespace scute::audit_tests {
namespace {

using namespace core;
using audit::call_site;
using audit::line_finding;
using audit::on_stray;
using audit::report_clock;
using audit::site_event;
using audit::store_audit;

// A place in a source that is not there.
struct named_site {
  scute_shield_site site{};
  char file[200] = {}, function[200] = {};

  named_site(const std::string& source, const std::string& name, uint32_t line) {
    source.copy(file, sizeof file - 1);
    name.copy(function, sizeof function - 1);
    site.file_distance = static_cast<int32_t>(file - reinterpret_cast<char*>(&site.file_distance));
    site.function_distance =
        static_cast<int32_t>(function - reinterpret_cast<char*>(&site.function_distance));
    site.line = line;
  }
};

class memory {
 public:
  explicit memory(uint64_t n) : n_(n) {
    at_ = static_cast<std::byte*>(
        ::mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~memory() { ::munmap(at_, n_); }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  std::span<std::byte> all() const { return {at_, n_}; }

 private:
  uint64_t n_;
  std::byte* at_;
};

constexpr uint64_t capacity = 256 * 1024, lines = capacity / 64;

class store_audits : public testing::Test {
 protected:
  explicit store_audits(on_stray what = on_stray::report) : room(store_audit::size(capacity)) {
    store_audit::format(room.all(), capacity, what, "libold.so");
    a = std::make_unique<store_audit>(room.all());
  }
  ~store_audits() override { report_clock::fence(); }

  // A commit set that has one line.
  void commit_set(uint64_t line, bool changed) {
    a->commit_set_begins();
    a->commit_set_has(line, changed);
    a->commit_set_decided(line);
  }
  uint64_t count(site_event what, const scute_shield_site* at) {
    audit::site_record s;
    for (uint32_t i = 0; i < audit::site_table::places; ++i)
      if (a->read_site(i, s) && s.line == (at != nullptr ? at->line : 0) &&
          s.file == (at != nullptr ? scute_shield_site_file(at) : ""))
        return s.counts[static_cast<size_t>(what)];
    return 0;
  }
  void report(uint64_t line) { a->report_store(line * 64 + 8, 8); }

  memory room;
  std::unique_ptr<store_audit> a;
  const named_site here{"src/here.c", "here", 12}, there{"src/there.c", "there", 34};
};

TEST_F(store_audits, ReportedChangesAreNoStrays) {
  for (int i = 0; i < 3; ++i) {
    report(5);
    report_clock::fence();
    commit_set(5, true);
    EXPECT_EQ(a->strays(), 0u);
  }
  // A store that is reported once, and seen in two commit sets.
  report(6);
  commit_set(6, true);
  commit_set(6, true);
  report_clock::fence();
  commit_set(6, true);
  EXPECT_EQ(a->strays(), 0u);
}

TEST_F(store_audits, UnreportedChangesAreStrays) {
  {
    const call_site at(&there.site);
    a->flushed(7, false);
  }
  commit_set(7, true);
  EXPECT_EQ(a->strays(), 1u);
  EXPECT_EQ(count(site_event::strays, &there.site), 1u);
  line_finding f;
  ASSERT_EQ(a->findings(), 1u);
  ASSERT_TRUE(a->read_finding(0, f));
  EXPECT_EQ(f.what, line_finding::kind::stray);
  EXPECT_EQ(f.line, 7u);
  EXPECT_EQ(f.stored_at, 0u);
  audit::site_record s;
  ASSERT_TRUE(a->read_site(f.flushed_at, s));
  EXPECT_EQ(s.file, "src/there.c");
  EXPECT_EQ(s.function, "there");

  // A line whose first store is reported and whose next one is not: the reported store is named.
  {
    const call_site at(&here.site);
    report(8);
  }
  report_clock::fence();
  commit_set(8, true);
  EXPECT_EQ(a->strays(), 1u);
  commit_set(8, true);
  EXPECT_EQ(a->strays(), 2u);
  ASSERT_TRUE(a->read_finding(1, f));
  ASSERT_TRUE(a->read_site(f.stored_at, s));
  EXPECT_EQ(s.file, "src/here.c");
}

// CLOCK-1, CLOCK-2: a commit set copies a line between the report and the store.
TEST_F(store_audits, AThreadInFlightMayStillStore) {
  report(9);
  commit_set(9, false);
  commit_set(9, false);
  EXPECT_TRUE(report_clock::in_flight());
  report_clock::fence();
  commit_set(9, true);
  EXPECT_EQ(a->strays(), 0u);
  commit_set(9, true);
  EXPECT_EQ(a->strays(), 1u);
}

// The thread stores after the copy, and fences before the commit set compares.
TEST_F(store_audits, AThreadMayFenceWhileACutCompares) {
  report(14);
  a->commit_set_begins();
  // The line is copied; then the store happens.
  report_clock::fence();
  a->commit_set_has(14, false);
  a->commit_set_decided(14);
  commit_set(14, true);
  EXPECT_EQ(a->strays(), 0u);
  commit_set(14, true);
  EXPECT_EQ(a->strays(), 1u);
}

// A line that a commit set has found changed, but could not commit, is no stray in the next one.
TEST_F(store_audits, ACutThatFailsEndsNothing) {
  report(15);
  report_clock::fence();
  for (int i = 0; i < 3; ++i) {
    a->commit_set_begins();
    a->commit_set_has(15, true);
  }
  commit_set(15, true);
  EXPECT_EQ(a->strays(), 0u);
  commit_set(15, true);
  EXPECT_EQ(a->strays(), 1u);
}

// Code that reports no stores was loaded after the opening.
TEST_F(store_audits, LaterCodeMakesStraysAdvice) {
  a->add_unreported("libold.so, libplugin.so", on_stray::report);
  EXPECT_EQ(a->unreported(), "libold.so, libplugin.so");
  EXPECT_STREQ(a->unreported_text(), "libold.so, libplugin.so");
  a->add_unreported(std::string(5000, 'x'), on_stray::ignore);
  EXPECT_LE(a->unreported().size(), 2047u);
  EXPECT_TRUE(a->unreported().starts_with("libold.so, libplugin.so"));
  commit_set(16, true);
  EXPECT_EQ(a->strays(), 0u);
}

// Another thread reports the same line, and fences, meanwhile.
TEST_F(store_audits, AnotherThreadsFenceEndsNothing) {
  report(10);
  std::thread([&] {
    report(10);
    report_clock::fence();
    commit_set(10, true);
  }).join();
  report_clock::fence();
  commit_set(10, true);
  EXPECT_EQ(a->strays(), 0u);
}

// CLOCK-3
TEST_F(store_audits, AThreadThatHasEndedIsNotInFlight) {
  std::thread([&] { report(11); }).join();
  commit_set(11, true);
  // While the thread counts as in flight, strays in lines that it reported pass unnoticed. That
  // ends.
  for (int i = 0; i < 1000 && a->strays() == 0; ++i) commit_set(11, true);
  EXPECT_EQ(a->strays(), 1u);
}

// Threads come and go, more of them than there are places for at a time.
TEST_F(store_audits, EndedThreadsLeaveTheirPlaces) {
  for (int i = 0; i < 1200; ++i) std::thread([&] { report(12); }).join();
  std::thread([&] {
    report(13);
    report_clock::fence();
  }).join();
  commit_set(13, true);
  for (int i = 0; i < 1000 && a->strays() == 0; ++i) commit_set(13, true);
  EXPECT_EQ(a->strays(), 1u);
}

TEST_F(store_audits, CountsStandAtTheirPlaces) {
  {
    const call_site outer(&here.site);
    a->flushed(20, false);
    a->flushed(20, true);
    {
      const call_site handler(&there.site);
      a->fenced(true);
    }
    a->fenced(false);
    EXPECT_EQ(call_site::current(), &here.site);
    a->report_store(21 * 64, 64);
  }
  commit_set(20, false);
  a->left(21, view::left_as::never_flushed);
  a->left(22, view::left_as::never_flushed);
  EXPECT_EQ(count(site_event::flushed, &here.site), 2u);
  EXPECT_EQ(count(site_event::flushed_again, &here.site), 1u);
  EXPECT_EQ(count(site_event::unchanged, &here.site), 1u);
  EXPECT_EQ(count(site_event::fenced, &here.site), 1u);
  EXPECT_EQ(count(site_event::fenced_idle, &here.site), 0u);
  EXPECT_EQ(count(site_event::fenced_idle, &there.site), 1u);
  EXPECT_EQ(count(site_event::never_flushed, &here.site), 1u);
  EXPECT_EQ(count(site_event::never_flushed, nullptr), 1u);
  EXPECT_EQ(a->unreported(), "libold.so");
}

// The places where a line was stored to, or flushed (AUDIT-6, AUDIT-7). The contents of lines are
// kept in the same memory, if that is requested.
TEST_F(store_audits, WhatIsLeftHasItsPlaces) {
  const named_site stores("left.c", "stores", 71), flushes("left.c", "flushes", 72);
  {
    const call_site at(&stores.site);
    a->report_store(64 * 30, 128);
  }
  {
    const call_site at(&flushes.site);
    a->flushed(30, false);
    a->flushed(31, false);
  }
  a->left(30, view::left_as::never_fenced);
  a->left(31, view::left_as::flushed_early);
  EXPECT_EQ(count(site_event::never_fenced, &flushes.site), 1u);
  EXPECT_EQ(count(site_event::never_flushed, &stores.site), 1u);
  ASSERT_EQ(a->findings(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    line_finding f;
    ASSERT_TRUE(a->read_finding(i, f));
    EXPECT_EQ(f.what,
              i == 0 ? line_finding::kind::never_fenced : line_finding::kind::flushed_early);
    audit::site_record stored, flushed;
    ASSERT_TRUE(a->read_site(f.stored_at, stored) && a->read_site(f.flushed_at, flushed));
    EXPECT_EQ(stored.line, 71u);
    EXPECT_EQ(flushed.line, 72u);
  }
  ASSERT_NE(a->contents(), nullptr);
  a->contents()->note(lines - 1, [](uint64_t& digest) {
    digest = 7 << 16;
    return true;
  });
  store_audit again(room.all());
  auto& known = *again.contents();
  EXPECT_EQ(known.known((lines - 1) / 64), uint64_t{1} << 63);
  EXPECT_TRUE(known.was(lines - 1, 7 << 16));
  EXPECT_FALSE(known.was(lines - 1, 8 << 16));
  known.note(lines, [](uint64_t&) { return true; });  // after the end
  known.forget(lines - 1);
  EXPECT_EQ(known.known((lines - 1) / 64), 0u);
  EXPECT_EQ(known.known(lines / 64), 0u);
  memory other(store_audit::size(capacity));
  store_audit::format(other.all(), capacity, on_stray::ignore, "", false);
  EXPECT_EQ(store_audit(other.all()).contents(), nullptr);
}

TEST_F(store_audits, LongNamesAreCutAndManyPlacesFallTogether) {
  const named_site longest(std::string(150, 'x') + "/end.c", std::string(150, 'f'), 1);
  {
    const call_site at(&longest.site);
    a->fenced(false);
  }
  std::vector<std::unique_ptr<named_site>> many;
  for (uint32_t i = 0; i < 3 * audit::site_table::places; ++i) {
    many.push_back(std::make_unique<named_site>("many.c", "m", 1000 + i));
    const call_site at(&many.back()->site);
    a->fenced(false);
  }
  uint64_t sum = 0, named = 0;
  bool found = false;
  audit::site_record s;
  for (uint32_t i = 0; i < audit::site_table::places; ++i) {
    if (!a->read_site(i, s)) continue;
    sum += s.counts[static_cast<size_t>(site_event::fenced)];
    named += s.line >= 1000;
    if (s.line != 1) continue;
    found = true;
    EXPECT_LT(s.file.size(), 150u);
    EXPECT_TRUE(s.file.ends_with("x/end.c"));
    EXPECT_TRUE(s.function.starts_with("fff") && s.function.size() < 150);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(sum, many.size() + 1);
  EXPECT_GT(named, audit::site_table::places / 2);
}

// Stores past the end, and more findings than there is room for.
TEST_F(store_audits, NothingIsWrittenOutside) {
  a->report_store(capacity - 8, 1 << 20);
  a->report_store(~uint64_t{0} - 4, 4);
  a->flushed(lines, false);
  a->commit_set_has(lines + 7, true);
  a->commit_set_decided(lines + 7);
  a->left(lines, view::left_as::never_flushed);
  EXPECT_EQ(a->findings(), 0u);
  for (uint64_t i = 0; i < store_audit::findings_max + 50; ++i)
    a->left(i % lines, view::left_as::never_flushed);
  EXPECT_EQ(a->findings(), store_audit::findings_max);
}

// AUDIT-2: the memory is the program's as well.
TEST_F(store_audits, MemoryThatWasStoredOverIsReadAllTheSame) {
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 50; ++turn) {
    // All but the head's first words, which say how large it is.
    auto* const words = reinterpret_cast<uint64_t*>(room.all().data());
    for (uint64_t i = 2; i < room.all().size() / 8; i += random() % 64) words[i] = random();
    audit::site_record s;
    for (uint32_t i = 0; i < audit::site_table::places; ++i) a->read_site(i, s);
    line_finding f;
    for (size_t i = 0; i < a->findings(); ++i)
      if (a->read_finding(i, f)) a->read_site(f.stored_at, s);
    EXPECT_LE(a->unreported().size(), 2048u);
  }
  std::memset(room.all().data(), 0x5a, 16);
  EXPECT_THROW(store_audit{room.all()}, failure);
  store_audit::format(room.all(), capacity, on_stray::report, "");
  EXPECT_THROW(store_audit{room.all().first(room.all().size() - 4096)}, failure);
}

class stopping_audits : public store_audits {
 protected:
  stopping_audits() : store_audits(on_stray::stop) {}
};

TEST_F(stopping_audits, OnlyAStrayStops) {
  report(3);
  report_clock::fence();
  commit_set(3, true);
  EXPECT_TRUE(a->may_commit());
  commit_set(4, true);
  EXPECT_FALSE(a->may_commit());
}

class careless_audits : public store_audits {
 protected:
  careless_audits() : store_audits(on_stray::ignore) {}
};

TEST_F(careless_audits, ReportNoSite) {
  commit_set(4, true);
  EXPECT_EQ(a->strays(), 0u);
  EXPECT_TRUE(a->may_commit());
}

// Threads store to words of the same lines. Each reports, stores and flushes, and sometimes fences,
// which commits the flushed lines. No commit set may find a stray, however the steps interleave.
TEST_F(store_audits, ThreadsThatReportAreNeverBlamed) {
  constexpr unsigned threads = 4, shared = 6, turns = 30000;
  static std::atomic<uint64_t> medium[shared][8], view[shared][8];
  std::atomic<bool> flushed[shared] = {};
  std::mutex cut_lock;
  const auto fence = [&] {
    report_clock::fence();
    const std::lock_guard hold(cut_lock);
    a->commit_set_begins();
    bool has[shared] = {}, changed[shared] = {};
    for (unsigned line = 0; line < shared; ++line) {
      if (!flushed[line].exchange(false)) continue;
      has[line] = true;
      for (unsigned w = 0; w < 8; ++w) {
        const uint64_t now = view[line][w].load();
        changed[line] = changed[line] || now != medium[line][w].load();
        medium[line][w].store(now);
      }
    }
    // Others store, and come to their fences, before this one compares its copies.
    std::this_thread::yield();
    for (unsigned line = 0; line < shared; ++line)
      if (has[line]) a->commit_set_has(line, changed[line]);
    for (unsigned line = 0; line < shared; ++line)
      if (has[line]) a->commit_set_decided(line);
  };
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      std::mt19937 random(t);
      for (unsigned i = 0; i < turns; ++i) {
        const unsigned line = static_cast<unsigned>(random() % shared);
        report(line);
        if (random() % 64 == 0) std::this_thread::yield();
        view[line][t].fetch_add(1);
        flushed[line].store(true);
        if (random() % 3 == 0) fence();
      }
      fence();
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(a->strays(), 0u);
  // And the same detector still sees one.
  view[2][7].fetch_add(1);
  flushed[2].store(true);
  fence();
  EXPECT_EQ(a->strays(), 1u);
}

}  // namespace
}  // namespace scute::audit_tests
