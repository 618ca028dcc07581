// SPDX-License-Identifier: BSD-3-Clause
// verify.cpp: is the pool what the ledger and the seed say?
#include "campaign.hpp"
#include "drill.hpp"
#include "mischief.hpp"
#include "worker.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace scute_torture {

namespace {
constexpr uint64_t spoil_after = 5;  // verifications
}

// All that was committed, by the writers' own account.
uint64_t campaign::confirmed() const noexcept {
  uint64_t all = 0;
  for (size_t i = 0; i < actors_.size(); ++i) all += book_.pages[i].confirmed;
  return all;
}

// A slow worker may be killed several times before it commits anything, and a stale file is none
// while nothing was committed since.
bool campaign::spoils_now() const noexcept {
  if (how_.drill.empty() || drilled_ || tally_.verified < spoil_after) return false;
  return how_.drill != "stale" || confirmed() > confirmed_earlier_;
}

void campaign::verify() {
  const bool spoilt = spoils_now();
  const std::string earlier = folder_ + "/torture.earlier";
  if (spoilt) drilled_ = spoil(how_.drill, path(), earlier, how_.pool(), actors_);
  auto pool = scute::pool::open(path(), how_.pool());
  const auto info = pool.info();
  medium_ = info.medium;
  if (info.clean == 0) book_.opened += 1;
  if (clean_ && !spoilt && *clean_ != (info.clean != 0))
    throw violation(*clean_ ? "the worker closed the pool, and it is not marked clean."
                            : "the worker was killed while running, and the pool is marked clean.");
  actors_.find_roots(pool);
  verify_structures(pool);  // and the end of recovery, if any is pending
  if (ended_some(pool)) book_.replayed += 1;
  verify_numbers(pool);
  verify_objects(pool);
  meet_lost_page(pool, actors_[tally_.verified % actors_.size()]);
  pool.close();
  clean_ = true;
  ++tally_.verified;
  if (how_.drill == "stale" && tally_.verified == 2) {
    std::filesystem::copy_file(path(), earlier);
    confirmed_earlier_ = confirmed();
  }
}

// All that was committed, the one in flight wholly or not at all, and nothing beyond.
void campaign::verify_numbers(const scute::pool& pool) {
  for (size_t i = 0; i < actors_.size(); ++i) {
    actor& a = actors_[i];
    ledger::page& page = book_.pages[i];
    const uint64_t announced = page.announced, confirmed = page.confirmed,
                   found = a.number_in(pool);
    if (found < confirmed)
      throw violation(fmt::format(
          "{}: transaction {} was committed, but the pool has only those up to {}. Lost first: {} "
          "({}).",
          a.name(), confirmed, found, found + 1, a.describe(found + 1, page.way_of(found + 1))));
    if (found > announced)
      throw violation(fmt::format("{}: the pool has transaction {}, but only {} were ever begun.",
                                  a.name(), found, announced));
    if (announced != confirmed) (found == announced ? book_.found_new : book_.found_old) += 1;
    for (uint64_t n = page.verified + 1; n <= found; ++n) a.advance(n, page.way_of(n));
    try {
      a.compare(pool);
    } catch (const std::exception& e) {
      throw violation(fmt::format(
          "{}\n  The pool has this writer's transactions up to {}; {} were committed and {} begun "
          "when the worker was killed.\n  The next one: {}.",
          e.what(), found, confirmed, announced, a.describe(found + 1, page.way_of(found + 1))));
    }
    page.verified = found;
    page.confirmed = found;
    page.announced = found;
  }
}

// Nothing but what the model knows.
void campaign::verify_objects(const scute::pool& pool) {
  for (size_t i = 0; i < actors_.size(); ++i) {
    const actor& a = actors_[i];
    if (a.type() == 0) continue;
    const auto owned = a.owned(pool);
    scute_oid oid = 0;
    scute::detail::check(scute_first(pool.native_handle(), a.type(), &oid));
    uint64_t count = 0;
    for (; oid != 0; ++count) {
      if (!owned.contains(oid))
        throw violation(
            fmt::format("{}: object {:#x} of {} bytes is in the pool, but nothing "
                        "refers to it: a transaction that did not happen left it.",
                        a.name(), oid, pool.size_of(scute::ptr<char[]>(oid))));
      scute::detail::check(scute_next(pool.native_handle(), oid, a.type(), &oid));
    }
    if (count != owned.size())
      throw violation(fmt::format("{}: {} objects are referred to, but the enumeration finds {}.",
                                  a.name(), owned.size(), count));
  }
}

void campaign::verify_structures(const scute::pool& pool) {
  std::string findings;
  const auto report = pool.check(
      false, [&](std::string_view what, uint64_t offset, uint64_t length, scute_oid object, bool) {
        if (findings.size() < 1000)
          findings +=
              fmt::format("\n  {} at {:#x}, {} bytes, object {:#x}", what, offset, length, object);
      });
  if (report.damaged != 0)
    throw violation(
        fmt::format("the check finds {} damaged structures:{}", report.damaged, findings));
  // The recovery after a kill reports nothing but recovery, either.
  if (const uint64_t repaired = pool.info().repaired; repaired != 0) {
    for (const scute_event& e : pool.events())
      findings += fmt::format("\n  kind {} at {:#x}, {} bytes, object {:#x}",
                              static_cast<int>(e.kind), e.offset, e.length, e.object);
    throw violation(
        fmt::format("opening the pool repaired {} damaged structures:{}", repaired, findings));
  }
  tally_.objects += report.objects;
  tally_.bytes += report.object_bytes;
}

// POOL-6: when everything is freed, as much fits as into a new pool.
void campaign::verify_space() {
  // Nothing is killed any more, so nothing need be durable: the page cache will do for a disk.
  scute::options quick = how_.pool();
  if (medium_ == SCUTE_MEDIUM_FILE) quick.medium = scute::medium::ram;
  // On a disk engine spec has its log in another file, so that more fits.
  const std::string fresh_path = folder_ + "/torture.new";
  scute::pool::create(fresh_path, how_.pool()).close();
  auto fresh = scute::pool::open(fresh_path, quick);
  actors_.prepare(fresh);
  tally_.when_new = measure(fresh);
  fresh.close();
  auto pool = scute::pool::open(path(), quick);
  actors_.clear(pool);
  if (how_.drill == "hoard") hoard(pool);
  tally_.now = measure(pool);
  const space& now = tally_.now;
  const space& then = tally_.when_new;
  if (now != then)
    throw violation(fmt::format(
        "space is lost: with everything freed, {} objects of 100 bytes fit, {} of 3,000 and {} of "
        "one chunk; into the new pool {}, {} and {}.",
        now.small, now.medium, now.chunks, then.small, then.medium, then.chunks));
  verify_structures(pool);
  pool.close();
}

}  // namespace scute_torture
