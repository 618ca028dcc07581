// SPDX-License-Identifier: BSD-3-Clause
#include "pow/file/seal.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "codec/checksum/crc32c.hpp"
#include "codec/parity/parity.hpp"
#include "pow/cleaner.hpp"
#include "pow/file/seal_layout.hpp"
#include "pow/recovery/rebuilt.hpp"

namespace scute::core::pow {
namespace {

constexpr uint64_t table_lines = sizeof(seal_table) / log::line_size;

log::segment_reader reader_of(const state& s) {
  return {s.layout, s.salt,
          [&s](uint64_t at, std::byte* to, size_t n) { return s.read_segment(at, to, n); },
          [&s](uint64_t at, size_t n) { return s.view_segment(at, n); }};
}

// Makes the bytes durable that were repaired in place.
void make_durable(const state& s, medium::writer& w) {
  w.fence(fence_site::pow_repair_member);
  s.refuse_if_failed();
}

}  // namespace

uint32_t table_checksum(const seal_table& t) noexcept {
  constexpr size_t before = offsetof(seal_head, salt);
  return codec::crc32c(0, reinterpret_cast<const std::byte*>(&t) + before, sizeof t - before);
}

bool looks_like_seal(const std::byte* line, uint64_t salt) noexcept {
  seal_head h;
  std::memcpy(&h, line, sizeof h);
  return h.magic == seal_magic && h.salt == salt && h.count <= members_max;
}

std::optional<seal_table> read_table(const state& s, uint32_t segment) {
  const void_head nobodys = make_void_head(s.salt);
  for (const uint64_t at : {base_of(s, segment), copy_at(s, segment)}) {
    seal_table t;
    if (!s.read_segment(at, reinterpret_cast<std::byte*>(&t), sizeof t)) continue;
    // A segment that states another use has no table, whatever its last lines are.
    if (at == base_of(s, segment) &&
        (std::memcmp(&t, &nobodys, sizeof nobodys) == 0 || t.head.magic == format::segment_magic))
      return {};
    if (t.head.magic != seal_magic || t.head.checksum != table_checksum(t) ||
        t.head.salt != s.salt || t.head.count == 0 || t.head.count > members_max)
      continue;
    const auto makes_sense = [&](const seal_member& m) {
      return m.segment < s.space->count() && m.segment != segment && m.lane < lanes_max &&
             m.end <= s.layout.lines() && m.session <= s.head.session;
    };
    if (std::all_of(t.members, t.members + t.head.count, makes_sense)) return t;
  }
  return {};
}

bool has_both_tables(const state& s, uint32_t segment) {
  seal_table t[2];
  uint64_t at[] = {base_of(s, segment), copy_at(s, segment)};
  for (int i = 0; i < 2; ++i)
    if (!s.read_segment(at[i], reinterpret_cast<std::byte*>(&t[i]), sizeof t[i])) return false;
  return std::memcmp(&t[0], &t[1], sizeof t[0]) == 0;
}

format::segment_head head_of(const state& s, const seal_member& m) noexcept {
  format::segment_head h{};
  h.magic = format::segment_magic;
  h.salt = s.salt;
  h.epoch = m.session;
  h.generation = m.generation;
  h.lane = m.lane;
  h.redundancy = static_cast<uint32_t>(s.layout.how());
  h.size = s.layout.size();
  h.truncation_point = m.first;
  h.checksum = log::segment_head_checksum(h);
  return h;
}

bool is_whole(const state& s, log::segment_reader& reader, const seal_member& m) {
  uint64_t last = 0;
  const auto c = reader.read(s.space->place(m.segment),
                             [&](const log::frame& f) { last = f.head.transaction; });
  return c.head && c.head->lane == m.lane && c.head->epoch == m.session &&
         c.head->generation == m.generation && c.gaps == 0 && c.end == m.end &&
         c.frames == m.frames && last == m.last;
}

// ---- making and ending them ---------------------------------------------------------------------

void seals::offer(medium::writer& w) {
  const uint32_t unsealed = s_.space->unsealed();
  if (unsealed < members_max) return;
  std::unique_lock alone(s_.clean_lock, std::try_to_lock);
  if (!alone.owns_lock()) {
    if (unsealed < unsealed_max)
      return;      // the lock's owner looks again, or the next one that offers
    alone.lock();  // POW-24
  }
  try {
    make(w, false);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next one does it
  }
}

void seals::make(medium::writer& w, bool rest) {
  const size_t least = rest ? 1 : members_max;
  while (choose().size() >= least) {
    uint32_t seal = nowhere;
    if (!find_room(w, seal)) return;
    try {
      // Cleaning may have taken some of them, and filled others.
      if (rest) s_.lane_at(cleaner_lane).end_segment_durably();
      const std::vector<uint32_t> from = choose();
      if (from.size() < least || !write(w, from, seal)) s_.space->give(seal);
    } catch (...) {
      s_.space->give(seal);
      throw;
    }
  }
}

// Chooses the members of the next group: those that have waited longest, so that none waits for
// ever (POW-24).
std::vector<uint32_t> seals::choose() {
  std::vector<std::pair<uint64_t, uint32_t>> ready;
  s_.space->clear_unsealed();
  uint32_t pinned = 0;
  for (uint32_t i = 0; i < s_.space->count(); ++i) {
    const segment_note& n = s_.space->note(i);
    if (n.what.load(std::memory_order_acquire) != use::full || n.seal.load() != nowhere ||
        n.loose || n.damaged.load())
      continue;
    // Pinned segments are checked again later: nothing else reports the end of their batch.
    if (n.pinned.load(std::memory_order_acquire))
      ++pinned;
    else
      ready.emplace_back(n.unsealed_since.load(std::memory_order_relaxed), i);
  }
  s_.space->count_unsealed(static_cast<uint32_t>(ready.size()) + pinned);
  std::ranges::sort(ready);
  std::vector<uint32_t> from;
  for (const auto& [since, i] : ready)
    if (from.size() < members_max) from.push_back(i);
  return from;
}

// Without room for its copies the cleaner gains nothing. But a seal without room is no failure of
// the section that offers the segment.
int seals::clean_one() {
  try {
    return s_.cleans->take_for(need::ordinary);
  } catch (const failure& f) {
    if (f.code() != SCUTE_E_NOSPC) throw;
    return 0;
  }
}

// Finds a free segment, as a lane does (POW-17). Returns false if there is none.
bool seals::find_room(medium::writer& w, uint32_t& seal) {
  // Reserved room is for threads that make more of it.
  for (unsigned in_vain = 0; !s_.space->take(need::ordinary, seal);) {
    const uint64_t segments = s_.space->count();
    if (s_.cleans_first(need::ordinary, in_vain)) {
      const int cleaned = clean_one();
      in_vain = cleaned == 2 ? 0 : in_vain + 1;
      if (cleaned != 0 || s_.end_idle_segments(state::idle::orphans)) continue;
    }
    int refusal = 0;
    if (!s_.grow(w, segments, refusal)) return false;
  }
  return true;
}

// Returns false if its contents cannot be read: then a check handles it.
bool seals::describe(uint32_t segment, seal_member& m) {
  uint64_t last = 0;
  log::segment_reader reader = reader_of(s_);
  const auto c = reader.read(s_.space->place(segment),
                             [&](const log::frame& f) { last = f.head.transaction; });
  if (!c.head || c.gaps != 0) return false;
  // A damaged statement of where the segment ends must not replace the right one (POW-18).
  const bool is_stated =
      c.stated && c.stated->end == c.end && c.stated->frames == c.frames && c.stated->last == last;
  if (s_.layout.has_end() && !is_stated) return false;
  m = {segment, c.head->lane, c.head->epoch, c.head->generation,
       c.end,   c.frames,     last,          c.head->truncation_point};
  return true;
}

bool seals::write(medium::writer& w, const std::vector<uint32_t>& from, uint32_t seal) {
  seal_table t{};
  std::vector<std::byte> sum(s_.layout.lines() * log::line_size), bytes(sum.size());
  uint64_t most = 0;
  // POW-18.
  s_.sync(w);
  for (const uint32_t segment : from) {
    seal_member m{};
    if (!describe(segment, m) || !s_.read_segment(base_of(s_, segment), bytes.data(), summed(m))) {
      s_.space->note(segment).loose = true;  // a crash has left holes in it
      continue;
    }
    t.members[t.head.count++] = m;
    codec::xor_into(sum.data(), bytes.data(), summed(m));
    most = std::max(most, summed(m));
  }
  if (t.head.count == 0) return false;
  t.head.magic = seal_magic;
  t.head.salt = s_.salt;
  t.head.session = s_.head.session;
  t.head.checksum = table_checksum(t);
  std::byte* const base = s_.medium->base();
  w.append(base + sum_at(s_, seal, 0), sum.data(), most, medium::purpose::log);
  w.fence(fence_site::pow_seal);
  store_table(w, seal, t);
  w.fence(fence_site::pow_table);
  s_.refuse_if_failed();
  for (uint32_t i = 0; i < t.head.count; ++i)
    s_.space->note(t.members[i].segment).seal.store(seal, std::memory_order_relaxed);
  s_.space->note(seal).what.store(use::seal, std::memory_order_release);
  s_.count.sealed_groups.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void seals::store_table(medium::writer& w, uint32_t seal, const seal_table& t) noexcept {
  for (const uint64_t at : {base_of(s_, seal), copy_at(s_, seal)})
    w.append(s_.medium->base() + at, &t, sizeof t, medium::purpose::log);
}

// If the first line is torn while it is repaired, it must not look like one that is becoming void.
// The present bytes may have zeros, as the void line has (POW-20).
void seals::store_member(medium::writer& w, uint32_t segment, const std::byte* bytes,
                         uint64_t n) noexcept {
  std::byte* const to = s_.medium->base() + base_of(s_, segment);
  std::byte there[log::line_size];
  if (!s_.medium->read(base_of(s_, segment), there, sizeof there) ||
      std::memcmp(there, bytes, sizeof there) != 0) {
    std::memset(there, 0xff, sizeof there);
    w.append(to, there, sizeof there, medium::purpose::log);
    w.fence(fence_site::pow_member_head);
  }
  w.append(to, bytes, n, medium::purpose::log);
}

void seals::repair(medium::writer& w, uint32_t seal) {
  const auto t = read_table(s_, seal);
  if (!t || s_.read_only) return;
  log::segment_reader reader = reader_of(s_);
  const auto lines_of = [&](const seal_member& m) {
    uint64_t lines = 0;
    const auto c = reader.read(s_.space->place(m.segment), [&](const log::frame& f) {
      lines += s_.layout.lines_of(f.head.size);
    });
    return lines + (c.head ? 1 : 0);
  };
  bool any = false;
  // Repairing one member may make another one repairable.
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < t->head.count; ++i) {
      const seal_member& m = t->members[i];
      if (s_.space->note(m.segment).seal.load(std::memory_order_relaxed) != seal ||
          is_whole(s_, reader, m))
        continue;
      const rebuilt r = rebuild(s_, seal, *t, i);
      // Store some of it, if not all: no other copy will have it.
      if (r.pages == 0 || r.lines <= lines_of(m)) continue;
      store_member(w, m.segment, r.bytes.data(), summed(m));
      any = more = true;
    }
  }
  if (!any) return;
  make_durable(s_, w);
}

bool seals::restore(medium::writer& w, uint32_t seal) {
  const auto t = read_table(s_, seal);
  if (!t || s_.read_only) return false;
  bool any = !has_both_tables(s_, seal);
  if (any) store_table(w, seal, *t);
  if (!sums_are_right(s_, seal, *t)) {
    repair(w, seal);
    log::segment_reader reader = reader_of(s_);
    const auto sum = sum_of(s_, *t);
    if (sum && std::all_of(t->members, t->members + t->head.count,
                           [&](const seal_member& m) { return is_whole(s_, reader, m); })) {
      store_sum(w, seal, *sum);
      any = true;
    }
  }
  for (uint32_t i = 0; i < t->head.count; ++i) any = restore_end(w, t->members[i]) || any;
  if (!any) return false;
  make_durable(s_, w);
  return true;
}

void seals::restore_all(medium::writer& w) {
  for (uint32_t i = 0; i < s_.space->count(); ++i) {
    if (s_.space->note(i).what.load(std::memory_order_acquire) != use::seal) continue;
    if (read_table(s_, i))
      restore(w, i);
    else
      give_up(w, i);
  }
}

// Stores the pages of the seal that have other bytes, or cannot be read. (It does not touch the
// bytes before and after the XOR.)
void seals::store_sum(medium::writer& w, uint32_t seal, const std::vector<std::byte>& sum) {
  std::byte there[head_page];
  for (uint64_t from = 0; from < sum.size();) {
    const uint64_t at = sum_at(s_, seal, from);
    const uint64_t n = std::min(sum.size() - from, head_page - at % head_page);
    if (!s_.read_segment(at, there, n) || std::memcmp(there, sum.data() + from, n) != 0)
      w.append(s_.medium->base() + at, sum.data() + from, n, medium::purpose::log);
    from += n;
  }
}

bool seals::restore_end(medium::writer& w, const seal_member& m) {
  const log::segment place = s_.space->place(m.segment);
  const format::segment_head head = head_of(s_, m);
  format::segment_end there;
  if (s_.read_segment(place.at[0] + s_.layout.offset_of(s_.layout.lines()),
                      reinterpret_cast<std::byte*>(&there), sizeof there) &&
      there.magic == format::segment_end_magic && there.end == m.end && there.frames == m.frames &&
      there.last == m.last &&
      there.checksum == log::segment_end_checksum(log::seed_of(head), there))
    return false;
  log::store_end(w, s_.medium->base(), s_.layout, place, head, m.end, m.frames, m.last);
  return true;
}

void seals::store_void(medium::writer& w, uint32_t seal) noexcept {
  static constexpr std::byte nothing[log::line_size]{};
  s_.store_void_head(w, seal);
  w.append(s_.medium->base() + copy_at(s_, seal), nothing, sizeof nothing, medium::purpose::log);
}

void seals::give_up(medium::writer& w, uint32_t seal) {
  store_void(w, seal);
  w.fence(fence_site::pow_seal_void);
  s_.refuse_if_failed();
  end(seal);
}

void seals::end(uint32_t seal) noexcept {
  for (uint32_t i = 0; i < s_.space->count(); ++i) {
    segment_note& n = s_.space->note(i);
    if (n.seal.load(std::memory_order_relaxed) != seal) continue;
    n.seal.store(nowhere, std::memory_order_relaxed);
    n.loose = true;
  }
  s_.space->give(seal);
}

void seals::forget_loose() noexcept {
  for (uint32_t i = 0; i < s_.space->count(); ++i) {
    segment_note& n = s_.space->note(i);
    if (n.loose) s_.space->add_unsealed(i);
    n.loose = false;
  }
}

uint64_t seals::live_of(uint32_t seal) const noexcept {
  int64_t live = 0;
  uint64_t n = 0;
  for (uint32_t i = 0; i < s_.space->count(); ++i)
    if (const segment_note& m = s_.space->note(i); m.seal.load() == seal) {
      live += m.live.load(std::memory_order_relaxed) + m.packing.load(std::memory_order_relaxed);
      ++n;
    }
  return live <= 0 || n == 0 ? 0 : static_cast<uint64_t>(live) / n;
}

std::optional<std::vector<std::byte>> sum_of(const state& s, const seal_table& t) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < t.head.count; ++i) most = std::max(most, summed(t.members[i]));
  std::vector<std::byte> sum(most), bytes;
  for (uint32_t i = 0; i < t.head.count; ++i) {
    const uint64_t at = base_of(s, t.members[i].segment), n = summed(t.members[i]);
    const std::byte* from = s.view_segment(at, n);
    if (from == nullptr) {
      bytes.resize(most);
      if (!s.read_segment(at, bytes.data(), n)) return {};
      from = bytes.data();
    }
    codec::xor_into(sum.data(), from, n);
  }
  return sum;
}

bool sums_are_right(const state& s, uint32_t seal, const seal_table& t) {
  const auto sum = sum_of(s, t);
  if (!sum) return false;
  std::vector<std::byte> there(sum->size());
  return s.read_segment(sum_at(s, seal, 0), there.data(), there.size()) && there == *sum;
}

}  // namespace scute::core::pow
