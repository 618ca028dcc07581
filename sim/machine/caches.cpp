// SPDX-License-Identifier: BSD-3-Clause
#include "machine/caches.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace scute::sim {
namespace {

constexpr uint8_t bit_of(unsigned core) noexcept {
  return static_cast<uint8_t>(1U << core);
}
using enum cache_state;

}  // namespace

caches::core_part::core_part(const settings& s)
    : l1(s.l1_sets, s.l1_ways),
      tlb1(std::max(1U, s.tlb1 / s.tlb1_ways), std::min(s.tlb1, s.tlb1_ways)),
      tlb2(std::max(1U, s.tlb2 / s.tlb2_ways), std::min(s.tlb2, s.tlb2_ways)),
      fills(s.fills) {}

caches::caches(const settings& s, memory& m)
    : s_(s),
      memory_(m),
      page_shift_(static_cast<unsigned>(std::countr_zero(uint64_t{s.pm_page} * 1024))),
      cycle_(from_ns(1 / s.core_ghz)),
      l1_time_(cycle_ * s.l1_cycles),
      l2_time_(cycle_ * s.l2_cycles),
      l3_time_(cycle_ * s.l3_cycles),
      tlb2_time_(cycle_ * s.tlb2_cycles),
      walk_time_(cycle_ * s.walk_cycles),
      way_out_(from_ns(s.pm_write_back)),
      l2_(s.l2_sets, s.l2_ways) {
  if (s.l3_sets != 0) l3_.emplace(s.l3_sets, s.l3_ways);
  for (unsigned i = 0; i < s.cores; ++i) cores_.emplace_back(s);
}

ticks caches::send(uint64_t line, ticks at) {
  if (watch != nullptr && memory_.is_persistent(line) && !watch->leaving_caches(line, at))
    return at;
  return memory_.write(line, at);
}

void caches::merge(l2_line& to, const l1_line& from) noexcept {
  to.dirty = to.dirty || from.dirty;
  to.written = std::max(to.written, from.written);
}

ticks caches::recall(unsigned core, l2_line& l, bool keep, ticks at) {
  ticks done = at;
  for (unsigned other = 0; other < cores_.size(); ++other) {
    if (other == core || (l.holders & bit_of(other)) == 0) continue;
    l1_line* const theirs = cores_[other].l1.find(l.key);
    if (theirs == nullptr) {
      l.holders = static_cast<uint8_t>(l.holders & ~bit_of(other));
      continue;
    }
    if (theirs->dirty) {
      ++cores_[core].count.taken;
      ticks free = std::max(done + l2_time_, theirs->ready);
      if (watch != nullptr && memory_.is_persistent(l.key))
        free = std::max(free, watch->leaving_l1(other, *theirs, free));
      done = free;
      merge(l, *theirs);
      theirs->dirty = false;
    }
    if (keep) {
      theirs->state = shared;
    } else {
      cores_[other].l1.remove(*theirs);
      l.holders = static_cast<uint8_t>(l.holders & ~bit_of(other));
    }
  }
  return done;
}

caches::l2_line& caches::fill_second(uint64_t line, ticks at) {
  l2_line& old = l2_.victim(line);
  if (old.key != line_cache<l2_line>::no_key) {
    ticks leave = at;
    for (unsigned core = 0; core < cores_.size(); ++core) {
      if ((old.holders & bit_of(core)) == 0) continue;
      l1_line* const theirs = cores_[core].l1.find(old.key);
      if (theirs == nullptr) continue;
      if (theirs->dirty && watch != nullptr && memory_.is_persistent(old.key))
        leave = std::max(leave, watch->leaving_l1(core, *theirs, leave));
      merge(old, *theirs);
      cores_[core].l1.remove(*theirs);
    }
    if (old.dirty) send(old.key, std::max(leave, old.written));
    if (l3_ && l3_->use(old.key) == nullptr) l3_->insert(old.key);
  }
  return l2_.insert(line);
}

void caches::fill_first(unsigned core, uint64_t line, ticks at) {
  l1_line& old = cores_[core].l1.victim(line);
  if (old.key != line_cache<l1_line>::no_key) {
    l2_line* const below = l2_.find(old.key);
    if (old.dirty) {
      ticks leave = at;
      if (watch != nullptr && memory_.is_persistent(old.key))
        leave = watch->leaving_l1(core, old, at);
      if (below != nullptr) {
        merge(*below, old);
        below->written = std::max(below->written, leave);
      }
    }
    if (below != nullptr) below->holders = static_cast<uint8_t>(below->holders & ~bit_of(core));
  }
  cores_[core].l1.insert(line);
}

ticks caches::fetch_third(unsigned core, uint64_t line, ticks at) {
  if (l3_) {
    at += l3_time_;
    if (l3_->find(line) != nullptr) {
      l3_->remove(line);
      return at;
    }
  }
  const ticks there = memory_.read(line, at);
  return watch != nullptr && memory_.is_persistent(line) ? watch->missing(core, line, at, there)
                                                         : there;
}

ticks caches::fetch(unsigned core, uint64_t line, bool store, ticks at, l2_line*& found) {
  ticks done = at + l2_time_;
  found = l2_.use(line);
  if (found != nullptr) {
    done = std::max(done, found->ready);
    return recall(core, *found, !store, done);
  }
  ++cores_[core].count.l2_misses;
  done = fetch_third(core, line, done);
  found = &fill_second(line, at);
  found->ready = done;
  return done;
}

void caches::fetch_ahead(unsigned core, uint64_t line, ticks at) {
  core_part& c = cores_[core];
  const auto same_page = [&](const ascent& a) {
    return a.steps != 0 && page_of_line(a.last) == page_of_line(line);
  };
  auto a = std::ranges::find_if(c.ascents, same_page);
  if (a == c.ascents.end()) {
    c.ascents[c.next_ascent++ % c.ascents.size()] = {line, line, 1};
    return;
  }
  if (line != a->last + 1) {
    if (line != a->last) *a = {line, line, 1};
    return;
  }
  a->last = line;
  if (++a->steps < 3) return;
  const uint64_t end = std::min(line + s_.prefetch, line | (lines_of_page - 1));
  for (uint64_t l = std::max(a->ahead, line) + 1; l <= end; ++l) {
    // The line that is asked for stays.
    const bool same_set = ((l ^ line) & (s_.l2_sets - 1)) == 0;
    if (same_set || l2_.find(l) != nullptr) continue;
    const ticks there = fetch_third(core, l, at + l2_time_);
    fill_second(l, at).ready = there;
  }
  a->ahead = std::max(a->ahead, end);
}

ticks caches::translate(unsigned core, uint64_t address, ticks at) {
  core_part& c = cores_[core];
  const uint64_t page = page_of(address);
  c.last_page = page;
  c.last_small = memory_.has_whole_pages() ? address / page_bytes : UINT64_MAX;
  c.changes = memory_.changes();
  ++c.count.tlb1_misses;
  if (c.tlb2.use(page) == nullptr) {
    ++c.count.tlb2_misses;
    tlb_page& old = c.tlb2.victim(page);
    if (old.key != line_cache<tlb_page>::no_key) {
      if (watch != nullptr) watch->leaving_tlb(core, old);
      c.tlb1.remove(old.key);
    }
    c.tlb2.insert(page);
    // The upper levels are taken to be in the walker's own caches.
    l2_line* entry = nullptr;
    at = fetch(core, line_of(tables_base + page * 8 % (uint64_t{1} << 38)), false, at + walk_time_,
               entry);
  } else {
    at += tlb2_time_;
  }
  c.tlb1.insert(page);
  return at;
}

tlb_page& caches::page(unsigned core, uint64_t address) {
  core_part& c = cores_[core];
  tlb_page* const p = c.tlb2.find(page_of(address));
  if (p == nullptr) throw std::logic_error("a page is not in the translation buffer");
  return *p;
}

caches::result caches::access_other(unsigned core, uint64_t address, bool store, ticks at) {
  core_part& c = cores_[core];
  const uint64_t line = line_of(address);
  ++c.count.accesses;
  at = translated(core, address, at);
  l1_line* l = c.l1.use(line);
  if (l != nullptr) {
    ticks done = std::max(at + l1_time_, l->ready);
    if (!store) return {done, l};
    if (l->state == shared) {
      l2_line* const below = l2_.find(line);
      done += l2_time_;
      if (below != nullptr) done = recall(core, *below, false, done);
      l->ready = done;
    }
    l->state = modified;
    return {done, l};
  }
  ++c.count.l1_misses;
  // A buffer holds the miss until the line is there.
  ticks& buffer = c.fills[c.next_fill];
  c.next_fill = c.next_fill + 1 == c.fills.size() ? 0 : c.next_fill + 1;
  at = std::max(at, buffer);
  l2_line* below = nullptr;
  const ticks done = fetch(core, line, store, at + l1_time_, below);
  buffer = done;
  const bool alone = (below->holders & ~bit_of(core)) == 0;
  below->holders = static_cast<uint8_t>(below->holders | bit_of(core));
  fill_first(core, line, at);
  l = c.l1.find(line);
  l->ready = done;
  l->written = 0;
  l->state = store ? modified : alone ? exclusive : shared;
  if (s_.prefetch != 0) fetch_ahead(core, line, at);
  return {done, l};
}

ticks caches::write_back(unsigned core, uint64_t line, ticks at, bool drop) {
  // A line that has left the caches may wait for room in the queue.
  ticks done = latest(at + way_out_, memory_.pm.on_the_way(line));
  if (drop && l3_) l3_->remove(line);
  l2_line* const below = l2_.find(line);
  if (below == nullptr) return done;
  const ticks asked = at + l1_time_ + l2_time_;
  ticks leave = asked;
  for (unsigned c = 0; c < cores_.size(); ++c) {
    l1_line* const l = cores_[c].l1.find(line);
    if (l == nullptr) continue;
    if (l->dirty) {
      leave = std::max(leave, l->written);
      if (c != core) leave += l2_time_;
      if (watch != nullptr && memory_.is_persistent(line))
        leave = std::max(leave, watch->leaving_l1(c, *l, leave));
      merge(*below, *l);
    }
    l->dirty = false;
    if (l->state == modified) l->state = exclusive;
    if (drop) cores_[c].l1.remove(*l);
  }
  if (below->dirty) {
    below->dirty = false;
    done = latest(done, send(line, std::max(leave, below->written) + way_out_));
    if (s_.write_back_holds) below->ready = std::max(below->ready, done);
    for (unsigned c = 0; c < cores_.size() && s_.write_back_holds; ++c)
      if (l1_line* const l = cores_[c].l1.find(line)) l->ready = std::max(l->ready, done);
  }
  if (drop) l2_.remove(*below);
  return done;
}

void caches::verify() {
  for (unsigned core = 0; core < cores_.size(); ++core) {
    cores_[core].l1.for_each([&](const l1_line& l) {
      const l2_line* const below = l2_.find(l.key);
      if (below == nullptr || (below->holders & bit_of(core)) == 0)
        throw std::logic_error("MESI-2: a line is in the first level only");
      for (unsigned other = 0; other < cores_.size(); ++other) {
        if (other == core || l.state == shared) continue;
        if (cores_[other].l1.find(l.key) != nullptr)
          throw std::logic_error("MESI-1: two cores have a line that one of them owns");
      }
    });
    cores_[core].tlb1.for_each([&](const tag& t) {
      if (cores_[core].tlb2.find(t.key) == nullptr)
        throw std::logic_error("MESI-3: a page is in the small translation buffer only");
    });
  }
}

}  // namespace scute::sim
