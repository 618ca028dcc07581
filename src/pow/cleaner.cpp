// SPDX-License-Identifier: BSD-3-Clause
#include "pow/cleaner.hpp"

#include <algorithm>
#include <map>

#include "pow/file/seal.hpp"

namespace scute::core::pow {

cleaner::cleaner(state& s) : s_(s) {}

// Chooses the segment with the fewest bytes that count, or the one that has to be void before it.
uint32_t cleaner::choose(gains wanted) {
  uint32_t best = nowhere;
  int64_t least = static_cast<int64_t>(s_.layout.frame_max() - frame_overhead);
  // A copy needs a head, and a line at its end.
  least -=
      wanted == gains::any ? static_cast<int64_t>(frame_overhead + 4 * log::line_size) : least / 16;
  const int64_t most = least;
  std::map<uint32_t, int64_t> groups;  // bytes that count, of a member on average
  for (uint32_t i = 0; i < s_.space->count(); ++i) {
    const segment_note& n = s_.space->note(i);
    if (n.what.load(std::memory_order_acquire) != use::full ||
        n.pinned.load(std::memory_order_acquire) || n.damaged.load(std::memory_order_relaxed))
      continue;
    const uint32_t seal = n.seal.load(std::memory_order_relaxed);
    int64_t live =
        n.live.load(std::memory_order_relaxed) + n.packing.load(std::memory_order_relaxed);
    if (seal != nowhere) {
      // A cleaner that takes one member takes the group: the others come next.
      if (live >= most) continue;
      const auto [at, fresh] = groups.try_emplace(seal, 0);
      if (fresh) at->second = static_cast<int64_t>(s_.groups->live_of(seal));
      live = at->second;
    }
    if (live < least) {
      least = live;
      best = i;
    }
  }
  if (s_.groups != nullptr && (best == nowhere || !s_.space->note(best).loose))
    s_.groups->forget_loose();
  while (best != nowhere && s_.space->note(best).after != nowhere)
    best = s_.space->note(best).after;
  return best;
}

bool cleaner::take_one(need kept, gains least) {
  for (;;) {
    const uint32_t victim = choose(least);
    if (victim == nowhere) return false;
    if (take(victim, kept)) return true;
    // Segments into which a batch continues from this one must stay too.
    for (uint32_t i = victim; i != nowhere;) {
      const uint32_t before = i;
      s_.space->note(i).damaged.store(true, std::memory_order_relaxed);
      i = nowhere;
      for (uint32_t k = 0; k < s_.space->count(); ++k)
        if (s_.space->note(k).after.load(std::memory_order_relaxed) == before) i = k;
    }
  }
}

int cleaner::take_for(need kept) {
  const int64_t before = gained_;
  const bool any =
      take_one(need::cleaning) || (kept == need::erasing && take_one(need::cleaning, gains::any));
  return !any ? 0 : gained_ > before ? 2 : 1;
}

// Whether everything that counts has left the victim: only unneeded tombstones remain.
bool cleaner::is_empty() const {
  int64_t left = 0, graves = 0;
  for (int tries = 0; tries < 3; ++tries) {  // sections replace some meanwhile
    left = s_.space->note(victim_).live.load(std::memory_order_relaxed);
    graves = 0;
    for (const grave& g : graves_)
      if (counts(*g.e, g.r)) graves += static_cast<int64_t>(round_record(0));
    if (left <= graves) return true;
  }
  return false;
}

// Whether the record is the newest of its id, and the entry points to it.
bool cleaner::counts(entry& e, const record& r) const {
  const entry_guard guard(e);
  return e.version.load(std::memory_order_relaxed) == r.version && e.segment == victim_;
}

void cleaner::look_at(const log::frame& f) {
  frame_view v;
  if (!parse(f, v)) return;
  if (v.kind == frame_kind::part) parts_ = true;
  if (v.kind != frame_kind::whole && v.kind != frame_kind::part && v.kind != frame_kind::copies)
    return;
  for_each_record(v, [&](const record& r) {
    table* const t = s_.find_table(r.table);
    entry* const e = t == nullptr ? nullptr : t->find(r.index());
    if (e == nullptr) return;
    found_.push_back({e, t});
    if (!counts(*e, r)) return;
    if (r.tombstone)
      graves_.push_back({t, r, e});
    else
      add(*t, r, *e, f.lines.data() + r.offset);
  });
}

void cleaner::add(table& t, const record& r, entry& e, const std::byte* bytes) {
  const uint64_t whole = round_record(r.size) + sizeof(record_head);
  if (copies_.empty() || image_.size() + whole > most_) {
    write_copies();
    const lane& l = s_.lane_at(cleaner_lane);
    const uint64_t least = sizeof(format::frame_head) + whole;
    most_ = l.room() >= least + 256 ? l.room() : s_.layout.frame_max();
    log::segment_writer::start(image_);
  }
  if (group_ != r.version) add_group(image_, group_ = r.version);
  std::byte* const to = add_record(image_, t.number, r.id, r.size, r.tombstone);
  if (r.size != 0) std::memcpy(to, bytes, r.size);
  copies_.push_back({&t, r.index(), &e, r.version, r.size | (r.tombstone ? tombstone_flag : 0),
                     static_cast<uint32_t>(to - image_.data())});
}

// POW-23: decides by tag which tombstones stay.
void cleaner::raise_tags(std::vector<uint32_t> tags) {
  const size_t stay = std::max(tags_kept_least, tags.size() / 8);
  if (tags.size() <= stay) return;
  const auto last = tags.begin() + static_cast<ptrdiff_t>(stay);
  std::nth_element(tags.begin(), last, tags.end(), std::greater<>());
  s_.raise_tags(s_.lane_at(cleaner_lane).w, *last);
}

// POW-6, POW-23.
void cleaner::add_tombstones() {
  if (graves_.empty()) return;
  std::sort(found_.begin(), found_.end(),
            [](const found_record& a, const found_record& b) { return a.e < b.e; });
  std::vector<uint32_t> tags;
  std::vector<const grave*> old;  // of ids without any other record
  for (const grave& g : graves_) {
    const auto [from, to] =
        std::equal_range(found_.begin(), found_.end(), found_record{g.e, nullptr},
                         [](const found_record& a, const found_record& b) { return a.e < b.e; });
    if (g.e->records.load(std::memory_order_relaxed) > static_cast<uint64_t>(to - from)) {
      add(*g.t, g.r, *g.e, nullptr);
    } else if (const uint32_t tag = tag_of_id(g.r.id); s_.remembers(*g.t, tag)) {
      old.push_back(&g);
      // If the program has not opened a table, it is unknown whether its tags matter.
      if (g.t->serialized_by != nullptr && tag != tag_max) tags.push_back(tag);
    }
  }
  raise_tags(std::move(tags));
  for (const grave* const g : old)
    if (s_.remembers(*g->t, tag_of_id(g->r.id))) add(*g->t, g->r, *g->e, nullptr);
}

// Makes the records in the image durable. From then on the entries point to them.
void cleaner::write_copies() {
  group_ = 0;
  if (copies_.empty()) return;
  lane& l = s_.lane_at(cleaner_lane);
  const uint32_t open_before = l.segment();
  s_.make_room(l, image_.size(), kept_, false, log::stores::streamed);
  if (l.segment() != open_before) --gained_;
  const uint64_t size = image_.size();
  const uint64_t position =
      l.append(image_, frame_kind::copies, 0, ++l.clock, 0, log::stores::streamed);
  l.w.fence(fence_site::pow_copies);
  s_.refuse_if_failed();
  l.finish();
  l.confirm();
  s_.count.copied_bytes.fetch_add(size, std::memory_order_relaxed);
  segment_note& to = s_.space->note(l.segment());
  auto packing = static_cast<int64_t>(s_.layout.lines_of(size) * log::line_size);
  for (const copy& c : copies_)
    packing -= static_cast<int64_t>(round_record(c.size & ~tombstone_flag));
  to.packing.fetch_add(packing, std::memory_order_relaxed);
  for (const copy& c : copies_) {
    const entry_guard guard(*c.e);
    c.e->records.fetch_add(1, std::memory_order_relaxed);
    if (c.e->version.load(std::memory_order_relaxed) != c.version || c.e->segment != victim_)
      continue;  // replaced meanwhile
    c.e->segment = l.segment();
    const auto bytes = static_cast<int64_t>(round_record(c.e->bytes()));
    to.live.fetch_add(bytes, std::memory_order_relaxed);
    s_.space->note(victim_).live.fetch_sub(bytes, std::memory_order_relaxed);
    if (c.t->found != nullptr)
      if (location* const where = c.t->found->find(c.index))
        *where = {l.segment(), static_cast<uint32_t>(position), c.inside};
  }
  copies_.clear();
}

// Writes for every lane up to which batch everything is durable.
void cleaner::write_mark() {
  lane& l = s_.lane_at(cleaner_lane);
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < lanes_max; ++i) lanes += s_.find_lane(i) != nullptr;
  s_.make_room(l, sizeof(format::frame_head) + lanes * sizeof(dependency), kept_, false,
               log::stores::streamed);
  log::segment_writer::start(image_);
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (const lane* const other = s_.find_lane(i); other != nullptr && lanes != 0) {
      --lanes;
      add_dependency(image_, i, other->durable());
    }
  l.append(image_, frame_kind::mark, 0, ++l.clock, 0, log::stores::streamed);
  l.w.fence(fence_site::pow_mark);
  s_.refuse_if_failed();
  l.finish();
  l.confirm();
}

bool cleaner::take(uint32_t victim, need kept) {
  return take(victim, kept, true);
}
bool cleaner::release(uint32_t victim) {
  return take(victim, need::recovery, false);
}

bool cleaner::take(uint32_t victim, need kept, bool marked) {
  lane& l = s_.lane_at(cleaner_lane);
  victim_ = victim;
  kept_ = kept;
  parts_ = false;
  found_.clear();
  graves_.clear();
  copies_.clear();
  // No lane appends to a full segment, so it does not change while it is read.
  log::segment_reader reader(
      s_.layout, s_.salt,
      [&](uint64_t offset, std::byte* to, size_t n) { return s_.read_segment(offset, to, n); },
      [&](uint64_t offset, size_t n) { return s_.view_segment(offset, n); });
  const auto before = s_.space->note(victim).what.exchange(use::victim);
  const uint32_t seal = s_.space->note(victim).seal.load(std::memory_order_relaxed);
  bool names = s_.names.load(std::memory_order_relaxed) || s_.limit.one_stream;
  try {
    // The last chance to repair a member: the others have its missing bytes as long as the group
    // exists.
    if (seal != nowhere) s_.groups->repair(l.w, seal);
    // A copy counts by itself, whatever its record's batch depends on.
    if (names) s_.sync(l.w);
    reader.read(s_.space->place(victim), [&](const log::frame& f) { look_at(f); });
    add_tombstones();
    write_copies();
    if (!is_empty()) {
      s_.space->note(victim).what.store(before);
      s_.space->note(victim).damaged.store(true, std::memory_order_relaxed);
      return false;
    }
    // The first `later` section may have replaced the records that were found dead. It has set
    // `names` before.
    names = names || s_.names.load(std::memory_order_relaxed);
    if (names) {
      s_.sync(l.w);
      for (uint32_t i = 0; i < lanes_max; ++i)
        if (const lane* const other = s_.find_lane(i))
          for (unsigned spins = 0; other->naming.load(std::memory_order_seq_cst);)
            spin_pause(spins);
      s_.sync(l.w);
    }
    s_.marks = s_.marks || names || parts_;
    if (s_.marks && marked) write_mark();
    s_.store_void_head(l.w, victim);
    if (seal != nowhere) s_.groups->store_void(l.w, seal);  // POW-19
    l.w.fence(fence_site::pow_void);
    s_.refuse_if_failed();
  } catch (...) {
    s_.space->note(victim).what.store(before);
    throw;
  }
  for (const found_record& g : found_) {
    entry& e = *g.e;
    const entry_guard guard(e);
    const uint32_t left = e.records.fetch_sub(1, std::memory_order_relaxed) - 1;
    // Only the tombstone is left, and the records that it was for are gone: it no longer counts
    // where it lies (POW-16).
    if (left != 1 || !e.is_tombstone() || e.segment == victim || e.segment == nowhere) continue;
    if (s_.remembers(*g.t, tag_of(e.state.load(std::memory_order_relaxed)))) continue;
    s_.space->note(e.segment).live.fetch_sub(static_cast<int64_t>(round_record(0)),
                                             std::memory_order_relaxed);
    e.segment = nowhere;
  }
  // An unneeded tombstone has no segment. Otherwise a thread that makes the object again would
  // subtract its bytes from the live bytes of the segment's next use (POW-16).
  for (const grave& g : graves_) {
    const entry_guard guard(*g.e);
    if (g.e->segment == victim) g.e->segment = nowhere;
  }
  for (uint32_t i = 0; i < s_.space->count(); ++i)
    if (uint32_t was = victim; s_.space->note(i).after.load(std::memory_order_relaxed) == victim)
      s_.space->note(i).after.compare_exchange_strong(was, nowhere);
  if (seal != nowhere) s_.groups->end(seal);
  s_.space->give(victim);
  ++gained_;
  s_.count.cleaned_segments.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace scute::core::pow
