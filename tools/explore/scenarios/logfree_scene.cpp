// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios/logfree_scene.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

namespace scute::explore {
namespace {

constexpr unsigned versions = 100;
constexpr uint64_t word = 8, gap = 64;

}  // namespace

uint64_t dice_of(uint64_t seed, uint64_t k) {
  std::mt19937_64 random(seed * 1000003 + k);
  return random();
}

void place(scute::pool& p, unsigned thread, uint64_t slot, uint64_t size, unsigned fill,
           const neighbour& of) {
  const uint64_t row_size = p.info().row_size;
  const layout where(file_of(p));
  const uint64_t base = offset_of(p, of.thread, of.slot) - where.zone;
  const uint64_t column = (base + row_size + static_cast<uint64_t>(of.apart)) % row_size;
  for (unsigned k = 0; k < 500; ++k) {
    commit(p, thread, [&](change& c) { c.alloc(slot, size, fill); });
    const uint64_t at = offset_of(p, thread, slot) - where.zone;
    if (at % row_size == column && (at / row_size == base / row_size) == (of.where == row::same))
      return;
  }
  throw std::runtime_error("no object comes to lie where the scenario needs it");
}

void spread(scute::pool& p, unsigned thread, uint64_t n, uint64_t size) {
  for (uint64_t slot = 0; slot < n; ++slot)
    commit(p, thread, [&](change& c) {
      c.alloc(slot, size, fill_of(slot, 0));
      for (unsigned k = 0; k < 7; ++k) c.alloc(slots - 1, size, k);
    });
  // The last one of those after it is named; so that slot, too, holds nothing.
  commit(p, thread, [](change& c) { c.free(slots - 1); });
}

void overwrite_all(change& c, std::initializer_list<uint64_t> of, unsigned v) {
  for (const uint64_t slot : of) c.overwrite(slot, fill_of(slot, v));
}

void commit_ring(scute::pool& p, unsigned thread, std::initializer_list<uint64_t> of, unsigned v) {
  commit(p, thread, [&](change& c) { overwrite_all(c, of, v); });
}

unsigned version_of(scute::pool& p, unsigned thread, uint64_t slot) {
  const scute_oid oid = oid_of(p, thread, slot);
  uint64_t n = 0;
  scute::detail::check(scute_object_info(p.native_handle(), oid, &n, nullptr, nullptr));
  const void* bytes = nullptr;
  scute::detail::check(scute_get_verified(p.native_handle(), oid, &bytes));
  std::vector<unsigned char> wanted(n);
  for (unsigned v = 0; v < versions; ++v) {
    fill_bytes(wanted.data(), word, fill_of(slot, v));
    if (std::memcmp(bytes, wanted.data(), word) != 0) continue;
    fill_bytes(wanted.data(), n, fill_of(slot, v));
    if (std::memcmp(bytes, wanted.data(), n) == 0) return v;
  }
  throw std::runtime_error("object " + std::to_string(slot) + " is of no version");
}

unsigned ring_version(scute::pool& p, unsigned thread, std::initializer_list<uint64_t> of) {
  const unsigned v = version_of(p, thread, *of.begin());
  for (const uint64_t slot : of) {
    const unsigned w = version_of(p, thread, slot);
    if (w != v)
      throw std::runtime_error("half a transaction: object " + std::to_string(*of.begin()) +
                               " is of version " + std::to_string(v) + ", object " +
                               std::to_string(slot) + " of version " + std::to_string(w));
  }
  return v;
}

void make_scene(scute::pool& p) {
  make_directories(p);
  commit(p, 1, [](change& c) {
    c.alloc(2, ring_size, 2);
    c.alloc(3, 60, 3);
  });
  spread(p, 0, 6, ring_size);
  place(p, 1, 0, ring_size, 4, {0, 0});
  place(p, 1, 1, ring_size, 5, {0, 1});
}

void cut_short(testing::scenario& s, const std::string& then, uint64_t dice, death::phase in,
               unsigned version, std::function<void(change&, unsigned)> ring,
               std::function<void(scute::pool&)> next) {
  s.step_on_stage("a ring is cut short; then " + then,
                  [=, ring = std::move(ring), next = std::move(next)](const testing::stage& at) {
                    if (at.pool().info().unresolved != 0)
                      commit(at.pool(), 0, [&](change& c) { ring(c, version - 1); });
                    const death d(at);
                    commit(at.pool(), 0, [&](change& c) { ring(c, version); });
                    d.die(in, dice);
                    next(at.pool());
                  });
}

void resolve(scute::pool& p) {
  scute::detail::check(scute_recovery_wait(p.native_handle(), nullptr, nullptr));
  if (p.info().unresolved != 0) throw std::runtime_error("recovery ended early");
}

death::death(const testing::stage& at) : at_(at) {
  scute::detail::check(scute_drain(at.pool().native_handle()));
  before_.assign(at.bytes().begin(), at.bytes().end());
  logged_ = at.pool().stats().logged;
  unresolved_ = at.pool().info().unresolved;
}

// Where two images differ, word by word, joined over gaps below `join`.
std::vector<death::range> death::differences(std::span<const std::byte> a,
                                             std::span<const std::byte> b, uint64_t from,
                                             uint64_t to, uint64_t join) {
  std::vector<range> all;
  for (uint64_t at = from; at < to; at += word) {
    if (std::memcmp(a.data() + at, b.data() + at, word) == 0) continue;
    if (all.empty() || at - all.back().end >= join) all.push_back({at, at});
    all.back().end = at + word;
  }
  return all;
}

void death::undo(const range& r) const {
  at_.damage(r.begin, {before_.data() + r.begin, r.end - r.begin});
}

// Lets the process die; returns what has not happened by then, parity first: whatever of it is
// undone, the rest is a state that the failure could have left.
std::vector<death::range> death::end(phase in, uint64_t dice, column durable) const {
  scute::detail::check(scute_drain(at_.pool().native_handle()));
  if (at_.pool().stats().logged != logged_)
    throw std::runtime_error("the transaction to be cut short went through a log");
  if (at_.pool().info().unresolved != unresolved_)
    throw std::runtime_error("the transaction to be cut short resolved something first");
  at_.abandon();
  const auto now = at_.bytes();
  const layout where(now);
  const uint64_t parity = where.parity(0);
  if (!differences(before_, now, where.zone, where.chunks, word).empty())
    throw std::runtime_error("the transaction to be cut short made steps");
  std::mt19937_64 random(dice);
  if (in == phase::any) in = static_cast<phase>(random() % 4);
  std::vector<range> lost;
  const uint64_t inside = (durable.offset - where.zone) % where.row_size;
  const bool words = in == phase::parity;
  for (const range& r : differences(before_, now, parity, where.zone_end(), words ? word : gap)) {
    bool keep = false;
    for (uint64_t p = 0; p < where.parities && durable.length != 0; ++p) {
      const uint64_t kept = where.parity(p) + inside;
      keep = keep || (r.begin < kept + durable.length && r.end > kept);
    }
    if (keep) continue;
    if (!words || random() % 2 == 0) lost.push_back(r);
  }
  if (in != phase::data && in != phase::torn) return lost;
  const unsigned whole = 1 + static_cast<unsigned>(random() % 7);  // eighths
  for (const range& r : differences(before_, now, where.zone, parity, gap)) {
    if (random() % 8 < whole) continue;
    if (in == phase::data || random() % 2 == 0) {
      lost.push_back(r);
      continue;
    }
    for (const range& w : differences(before_, now, r.begin, r.end, word))
      if (random() % 4 != 0) lost.push_back(w);
  }
  return lost;
}

void death::die(phase in, uint64_t dice, column durable) const {
  for (const range& r : end(in, dice, durable)) undo(r);
  at_.open();
}

void death::kill(phase in, uint64_t dice) const {
  if (in == phase::any) in = static_cast<phase>(dice % 4);
  const std::vector<range> lost = end(in, dice, {0, 0});
  std::vector<std::byte> now(at_.bytes().begin(), at_.bytes().end());
  for (const range& r : lost)
    std::memcpy(now.data() + r.begin, before_.data() + r.begin, r.end - r.begin);
  const layout where(now);
  const uint64_t parity = where.parity(0), zone_end = where.zone_end();
  for (const range& r : differences(before_, at_.bytes(), parity, zone_end, word)) undo(r);
  // LF-1: when any parity is stored, all data is durable.
  if (in != phase::parity)
    for (const range& r : differences(before_, at_.bytes(), where.zone, parity, word)) undo(r);
  // Unannounced stores, as those of a program to ranges that it has open in place.
  auto* memory = const_cast<std::byte*>(at_.bytes().data());
  for (const range& r : differences(at_.bytes(), now, where.zone, zone_end, word))
    std::memcpy(memory + r.begin, now.data() + r.begin, r.end - r.begin);
  at_.open();
}

}  // namespace scute::explore
