// SPDX-License-Identifier: BSD-3-Clause
#include "live.hpp"

#include <fmt/format.h>
#include <scute/scute.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace scute_demo {

namespace {

constexpr uint64_t page = 4096;
constexpr unsigned workers = 2;
constexpr uint64_t objects_per_worker = 64;
// Injuries of one round lie that many pages of a row apart, so that no fragment (three pages at
// most) meets two of them; the scrub at the round's end takes them all away.
constexpr uint64_t spacing = 4;
constexpr uint64_t per_round = 12;

using clock = std::chrono::steady_clock;

// Bytes that follow from a number.
void fill(unsigned char* to, uint64_t n, uint64_t key) {
  uint64_t x = key * 0x9e3779b97f4a7c15u + 1;
  for (uint64_t i = 0; i < n; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    to[i] = static_cast<unsigned char>(x >> 24);
  }
}

// Objects of one thread, and what they hold.
class ledger {
 public:
  ledger(scute::pool& pool, unsigned seed) : pool_(pool), random_(seed) {
    for (uint64_t i = 0; i < objects_per_worker; ++i) {
      const uint64_t size = 32u << random_() % 9;
      pool_.transact([&](scute::tx& tx) {
        entries_.push_back({tx.make_array<unsigned char>(size), size, random_()});
        fill(tx.open(entries_.back().where).data(), size, entries_.back().key);
      });
    }
  }

  // One transaction: an object must hold what was written to it last, and gets something new.
  void change() {
    entry& e = entries_[random_() % entries_.size()];
    const uint64_t fresh = random_();
    pool_.transact([&](scute::tx& tx) {
      const auto bytes = tx.open(e.where);
      expected_.resize(e.size);
      fill(expected_.data(), e.size, e.key);
      if (std::memcmp(bytes.data(), expected_.data(), e.size) != 0) ++wrong;
      fill(bytes.data(), e.size, fresh);
    });
    e.key = fresh;
    ++transactions;
  }

  void remove() {
    for (const entry& e : entries_) pool_.transact([&](scute::tx& tx) { tx.destroy(e.where); });
  }

  uint64_t transactions = 0, wrong = 0;

 private:
  struct entry {
    scute::ptr<unsigned char[]> where;
    uint64_t size, key;
  };
  scute::pool& pool_;
  std::mt19937_64 random_;
  std::vector<entry> entries_;
  std::vector<unsigned char> expected_;
};

// Transactions go through it, and what must not fall into one. A shared_mutex alone would let new
// transactions in for ever.
struct turnstile {
  std::mutex door;
  std::shared_mutex inside;
  std::shared_lock<std::shared_mutex> enter() {
    const std::lock_guard turn(door);
    return std::shared_lock(inside);
  }
};

// One round of injuries, each in a column of its own. Pages are lost at any time; flips and
// scribbles fall between two transactions: half of a scribble before and half after a commit's
// write to the same bytes would be two injuries of one column, one of them to its parity.
void injure(scute::pool& pool, const scute::info& facts, std::mt19937_64& random,
            turnstile& between, live_outcome& out) {
  std::vector<uint64_t> columns;
  for (uint64_t c = 0; c + spacing <= facts.row_size / page; c += spacing) columns.push_back(c);
  std::shuffle(columns.begin(), columns.end(), random);
  columns.resize(std::min<uint64_t>(columns.size(), per_round));
  for (const uint64_t column : columns) {
    const uint64_t zone = random() % facts.zone_count;
    const uint64_t row = random() % (facts.rows + facts.parity);
    uint64_t at = 0;
    scute::detail::check(scute_offset_of(pool.native_handle(), zone, row, column * page, &at));
    scute::injection what;
    what.seed = random();
    what.offset = at;
    what.count = 1;
    switch (random() % 3) {
      case 0:
        what.kind = SCUTE_INJURE_LOSE_PAGE;
        ++out.lost_pages;
        break;
      case 1:
        what.kind = SCUTE_INJURE_FLIP;
        what.bits = 8u << random() % 4;
        what.offset = at + random() % (page / 8) * 8;
        ++out.flips;
        break;
      default:
        what.kind = SCUTE_INJURE_SCRIBBLE;
        what.length = 1 + random() % page;
        what.offset = at + random() % (page - what.length + 1);
        ++out.scribbles;
        break;
    }
    if (what.kind == SCUTE_INJURE_LOSE_PAGE) {
      pool.inject(what);
      continue;
    }
    const std::lock_guard door(between.door);  // no thread enters any more
    const std::unique_lock turn(between.inside);
    pool.inject(what);
  }
}

}  // namespace

live_outcome damage_under_load(const std::string& path, double seconds, std::mt19937_64& random,
                               status_line& status) {
  live_outcome out;
  scute::pool pool = scute::pool::open(path);
  const scute::info facts = pool.info();
  const auto began = clock::now();
  std::vector<ledger> ledgers;
  ledgers.reserve(workers);
  for (unsigned t = 0; t < workers; ++t)
    ledgers.emplace_back(pool, static_cast<unsigned>(random()));
  std::atomic<bool> over{false};
  turnstile between;
  std::vector<std::exception_ptr> failed(workers);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < workers; ++t)
    threads.emplace_back([&, t] {
      try {
        while (!over.load(std::memory_order_relaxed)) {
          const std::shared_lock turn = between.enter();
          ledgers[t].change();
        }
      } catch (...) {
        failed[t] = std::current_exception();
      }
    });
  const auto stop = [&] {
    over = true;
    for (auto& thread : threads) thread.join();
    threads.clear();
  };
  try {
    for (double passed = 0; passed < seconds;) {
      injure(pool, facts, random, between, out);
      scute::scrub_options how;
      how.threads = 1;
      // Places that commits kept a scrub from examining are left to the next one. Nothing more is
      // injured before.
      bool repaired = false;
      for (int tries = 0; !repaired && tries < 100; ++tries, ++out.scrubs) {
        const auto found = pool.scrub(how);
        out.lost += found.lost;
        repaired = found.lost != 0 || (found.complete != 0 && found.repaired == found.damaged);
      }
      passed = std::chrono::duration<double>(clock::now() - began).count();
      status.show("live damage", std::min(1.0, passed / seconds),
                  fmt::format("{} injuries", out.injuries()));
    }
  } catch (...) {
    stop();
    throw;
  }
  stop();
  for (const auto& e : failed)
    if (e) std::rethrow_exception(e);
  for (auto& l : ledgers) {
    l.remove();
    out.transactions += l.transactions;
    out.wrong += l.wrong;
  }
  const scute::info after = pool.info();
  out.pages_repaired = after.pages_repaired;
  out.repaired = after.repaired;
  out.lost = std::max(out.lost, after.lost);
  pool.close();
  out.seconds = std::chrono::duration<double>(clock::now() - began).count();
  return out;
}

}  // namespace scute_demo
