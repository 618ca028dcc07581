// SPDX-License-Identifier: BSD-3-Clause
#include "pow/recovery/scan.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>

#include "pow/file/seal.hpp"
#include "pow/recovery/rebuilt.hpp"
#include "pow/sections/thread_team.hpp"

namespace scute::core::pow {
namespace {

constexpr size_t words_in_line = log::line_size / 8;

// Whether word i of a torn head may come from a head that was being written.
bool fits(size_t i, uint64_t word, uint64_t salt, uint64_t session,
          const log::segment_layout& layout) noexcept {
  switch (i) {
    case 0:
      return static_cast<uint32_t>(word) == format::segment_magic ||
             static_cast<uint32_t>(word) == seal_magic;
    case 1: return word == salt;
    case 2: return word <= session;
    case 4:
      return static_cast<uint32_t>(word) < lanes_max &&
             word >> 32 == static_cast<uint32_t>(layout.how());
    case 5: return word == layout.size();
    case 7: return word == 0;
    default: return true;
  }
}

// Words that are the same in both kinds of heads.
constexpr bool fits_both(size_t i) noexcept {
  return i == 1 || i == 7;
}

}  // namespace

head_state classify_head(std::span<const std::byte> line, uint64_t salt, uint64_t session,
                         const log::segment_layout& layout, bool clean) noexcept {
  uint64_t words[words_in_line], nobodys[words_in_line];
  const void_head h = make_void_head(salt);
  std::memcpy(words, line.data(), sizeof words);
  std::memcpy(nobodys, &h, sizeof nobodys);
  if (std::memcmp(words, nobodys, sizeof words) == 0) return head_state::nobodys;
  // A head that was being written has words of both; one that has changed since has none of the
  // other.
  bool mixed = false;
  for (size_t i = 0; i < words_in_line; ++i) {
    if (words[i] != nobodys[i] && !fits(i, words[i], salt, session, layout))
      return head_state::damaged;
    mixed = mixed || (words[i] == nobodys[i] && !fits_both(i));
  }
  return mixed && !clean ? head_state::torn : head_state::damaged;
}

struct scan::worker {
  explicit worker(scan& in)
      : reader(
            in.s_.layout, in.s_.salt,
            [&in](uint64_t offset, std::byte* to, size_t n) {
              return in.s_.read_segment(offset, to, n);
            },
            [&in](uint64_t offset, size_t n) { return in.s_.view_segment(offset, n); }) {}
  log::segment_reader reader;
  std::vector<waiting_frame> waiting;
  std::map<lane_key, uint64_t> confirmed;
  std::vector<damage_note> damage;
  uint64_t records = 0, frames = 0;
};

scan::scan(state& s) : readings(s.space->count()), s_(s) {}

bool scan::counts_already(const segment_reading& r, uint64_t number) const noexcept {
  if (r.session > s_.head.decided) return false;
  for (uint32_t i = 0; i < s_.head.last_valid_count; ++i) {
    const last_valid_batch& c = s_.head.last_valid[i];
    if (c.session == r.session && c.lane == r.lane) return number <= c.number;
  }
  return true;
}

void scan::insert(uint32_t segment, uint64_t position, const record& r, bool counts) {
  table* t = s_.find_table(r.table);
  if (t == nullptr) t = &s_.add_table(r.table);
  entry& e = t->at(r.index());
  const entry_guard guard(e);
  e.records.fetch_add(1, std::memory_order_relaxed);
  if (!counts || r.version == 0) return;
  const uint64_t before = e.version.load(std::memory_order_relaxed);
  if (r.version < before) return;
  if (r.version == before) {
    // A copy and its original. The older one may have to be removed, so it is the one that counts:
    // then the unfinished copies of a cleaner are made void first.
    const segment_reading &there = readings[e.segment], &here = readings[segment];
    if (std::pair(there.session, there.generation) <= std::pair(here.session, here.generation))
      return;
  }
  e.version.store(r.version, std::memory_order_relaxed);
  e.segment = segment;
  e.size = r.size | (r.tombstone ? tombstone_flag : 0);
  const uint32_t marks = entry_locked | (r.tombstone ? 0 : uint32_t{entry_live});
  e.state.store(marks | tag_of_id(r.id) << tag_shift, std::memory_order_relaxed);
  t->found->at(r.index()) = {segment, static_cast<uint32_t>(position),
                             static_cast<uint32_t>(r.offset)};
}

void scan::insert(const waiting_frame& f, bool counts) {
  for (const record& r : f.records) insert(f.segment, f.position, r, counts);
}

void scan::read_one(worker& w, uint32_t segment) {
  segment_reading& r = readings[segment];
  std::vector<waiting_frame> here;
  const auto note_damage = [&](std::string text, bool lost) {
    w.damage.push_back({segment, std::move(text), lost});
  };
  uint64_t last = 0, known = 0, end = s_.layout.step(), inserted = 0;
  bool any_flawed = false;
  const log::segment_contents c = w.reader.read(s_.space->place(segment), [&](const log::frame& f) {
    any_flawed = any_flawed || f.flawed;
    const uint64_t from = end;
    end = f.position + s_.layout.lines_of(f.head.size);
    ++r.frames;
    r.last_transaction = f.head.transaction;
    frame_view v;
    if (!parse(f, v)) return;
    if (f.behind_gap) r.gaps.push_back({last, v.number, from, f.position});
    if (f.flawed) r.flaws.push_back(v.number);
    last = v.number;
    r.part_last = v.kind == frame_kind::part;
    known = std::max(known, v.confirmed);
    const auto note_if_broken = [&](bool whole) {
      if (!whole)
        note_damage("a frame with inconsistent records at line " + std::to_string(f.position),
                    true);
    };
    const auto may_be = [&](const record& one) {
      if (one.table < tables_max && one.index() < s_.index_max()) return true;
      note_damage("object " + std::to_string(one.index()) + " of table number " +
                      std::to_string(one.table) + ", which a file of this max_size has no room for",
                  true);
      return false;
    };
    r.lane = f.of->lane;
    r.session = f.of->epoch;
    r.generation = f.of->generation;
    const bool single = v.kind == frame_kind::whole || v.kind == frame_kind::copies;
    // Most of a properly closed file; only its records are kept.
    if (single && counts_already(r, v.number)) {
      ++inserted;
      return note_if_broken(for_each_record(v, [&](const record& one) {
        if (!may_be(one)) return;
        ++w.records;
        insert(segment, f.position, one, true);
      }));
    }
    waiting_frame n{segment, 0, 0, v.number, v.version, f.position, v.kind, v.part, 0, {}, {}};
    for (size_t i = 0; i < v.named_count(); ++i) n.names.push_back(v.named(i));
    if (v.kind == frame_kind::mark) {
      for (size_t at = 0; at + sizeof(dependency) <= v.rest.size(); at += sizeof(dependency)) {
        dependency d;
        std::memcpy(&d, v.rest.data() + at, sizeof d);
        n.names.push_back(d);
      }
    } else if (v.kind == frame_kind::commit || v.kind == frame_kind::abort) {
      if (v.rest.size() == sizeof n.parts) std::memcpy(&n.parts, v.rest.data(), sizeof n.parts);
    } else {
      note_if_broken(for_each_record(v, [&](const record& one) {
        if (may_be(one)) n.records.push_back(one);
      }));
    }
    w.records += n.records.size();
    here.push_back(std::move(n));
  });
  if (!c.head) {
    std::byte line[log::line_size];
    r.head = head_state::damaged;
    const uint64_t places[] = {
        0, s_.layout.how() == log::redundancy::tracks ? s_.layout.sum_offset_of(0) : 0};
    for (const uint64_t offset : places) {
      if (!s_.read_segment(s_.space->place(segment).at[0] + offset, line, sizeof line)) {
        r.flawed = true;
        continue;
      }
      const head_state h =
          classify_head(line, s_.salt, s_.head.session, s_.layout, s_.head.clean != 0);
      r.flawed = r.flawed || h != head_state::nobodys;
      if (h == head_state::nobodys || (h == head_state::torn && r.head == head_state::damaged))
        r.head = h;
      // A seal that was being written, or is damaged, loses nothing.
      if (s_.groups != nullptr && looks_like_seal(line, s_.salt)) {
        r.head = head_state::torn;
        if (s_.head.clean != 0)
          note_damage("segment " + std::to_string(segment) + ", the seal of a group", false);
      }
    }
    if (r.head == head_state::damaged)
      note_damage("segment " + std::to_string(segment) + " has no head: all in it is lost", true);
    return;
  }
  r.head = head_state::used;
  r.flawed = c.head_flawed || any_flawed;
  r.lane = c.head->lane;
  r.session = c.head->epoch;
  r.generation = c.head->generation;
  r.first = c.head->truncation_point;
  r.last = last;
  r.end = end;
  r.head_flawed = c.head_flawed;
  r.as_head = c.head;
  r.stated = c.stated;
  r.stated_flawed = c.stated_flawed;
  if (r.seal != nowhere && !c.stated) {
    const seal_member& m = readings[r.seal].table->members[r.which];
    r.stated = format::segment_end{format::segment_end_magic, 0, m.end, m.frames, m.last, {}};
    r.stated_flawed = true;
    if (r.rebuilt == 0)
      note_damage("the record of where segment " + std::to_string(segment) + " ends", false);
  }
  // A gap followed by a frame shows how much is missing, and so does a known end. Here there is
  // neither, so any number of records may be missing.
  if (c.blind != 0 && r.gaps.empty() && !r.stated)
    note_damage("pages at the end of the read part of segment " + std::to_string(segment) +
                    " cannot be read: any records there",
                true);
  w.frames += here.size() + inserted;
  const lane_key key(r.session, static_cast<uint32_t>(r.lane));
  auto& claims = w.confirmed[key];
  claims = std::max(claims, known);
  for (waiting_frame& f : here) {
    f.session = r.session;
    f.lane = static_cast<uint32_t>(r.lane);
    const bool single = f.kind == frame_kind::whole || f.kind == frame_kind::copies;
    if (f.kind == frame_kind::mark)
      for (const dependency& d : f.names) {
        auto& there = w.confirmed[{r.session, d.lane}];
        there = std::max(there, d.number);
      }
    if (f.kind == frame_kind::mark) f.names.clear();
    if (single && f.number <= known) {
      for (const record& one : f.records) insert(segment, f.position, one, true);
      continue;
    }
    w.waiting.push_back(std::move(f));
  }
}

// Whether a line is void, or was becoming void: each word of it is that of the old head, or of the
// void one. (POW-19: while a seal counts, only store_member() writes anything else there, and its
// words are of neither.)
bool scan::is_on_its_way(const std::byte* line, const format::segment_head& before) const {
  const void_head h = make_void_head(s_.salt);
  uint64_t words[words_in_line], from[words_in_line], to[words_in_line];
  std::memcpy(words, line, sizeof words);
  std::memcpy(from, &before, sizeof from);
  std::memcpy(to, &h, sizeof to);
  bool any = false;
  for (size_t i = 0; i < words_in_line; ++i) {
    if (words[i] != from[i] && words[i] != to[i]) return false;
    any = any || words[i] != from[i];
  }
  return any;
}

// Whether a member itself says that it is void or has another use, or was becoming void.
bool scan::is_stale(const seal_table& t, uint32_t seal) const {
  for (uint32_t k = 0; k < t.head.count; ++k) {
    const seal_member& m = t.members[k];
    if (readings[m.segment].seal != nowhere || readings[m.segment].head == head_state::seal ||
        m.segment == seal)
      return true;
    format::segment_head h;
    std::byte line[log::line_size];
    if (!s_.read_segment(s_.space->place(m.segment).at[0], line, sizeof line)) continue;
    std::memcpy(&h, line, sizeof h);
    if (h.magic == format::segment_magic && h.checksum == log::segment_head_checksum(h) &&
        h.salt == s_.salt) {
      if (h.lane != m.lane || h.epoch != m.session || h.generation != m.generation) return true;
      continue;
    }
    if (is_on_its_way(line, head_of(s_, m))) return true;
  }
  return false;
}

void scan::read_seals() {
  if (s_.groups == nullptr) return;
  std::vector<std::pair<uint32_t, seal_table>> found;
  for (uint32_t i = 0; i < readings.size(); ++i)
    if (const auto t = read_table(s_, i)) {
      found.emplace_back(i, *t);
      readings[i].head = head_state::seal;
    }
  for (const auto& [segment, t] : found) {
    segment_reading& r = readings[segment];
    seal_table first;
    const uint64_t at = s_.space->place(segment).at[0];
    if (s_.head.clean != 0 &&
        (!s_.read_segment(at, reinterpret_cast<std::byte*>(&first), sizeof first) ||
         std::memcmp(&first, &t, sizeof t) != 0))
      damage.push_back({segment,
                        "a table of segment " + std::to_string(segment) + ", the seal of a group",
                        false});
    if (is_stale(t, segment)) {
      r.head = head_state::torn;  // it will be void
      continue;
    }
    r.table = t;
    for (uint32_t k = 0; k < t.head.count; ++k) {
      readings[t.members[k].segment].seal = segment;
      readings[t.members[k].segment].which = k;
    }
  }
}

// Reads the broken members. A rebuilt one may help to rebuild another. Returns those that are still
// not complete.
std::vector<uint32_t> scan::read_broken(std::vector<uint32_t> broken) {
  std::map<uint32_t, uint64_t> lines;  // that are valid, as far as is known
  for (bool again = true; again && !broken.empty();) {
    again = false;
    std::vector<uint32_t> left;
    for (const uint32_t i : broken) {
      segment_reading& r = readings[i];
      rebuilt now = rebuild(s_, r.seal, *readings[r.seal].table, r.which);
      const bool more = now.pages != 0 && now.lines > lines[i];
      if (more) {
        lines[i] = now.lines;
        r.rebuilt += now.pages;
        s_.repaired[i] = std::move(now.bytes);
        again = true;
      }
      if (!now.whole) left.push_back(i);
    }
    broken.swap(left);
  }
  return broken;
}

// POW-22. broken: incomplete members.
void scan::compare_seals(uint32_t threads, const std::vector<uint32_t>& broken) {
  std::vector<uint32_t> seals;
  for (uint32_t i = 0; i < readings.size(); ++i)
    if (readings[i].table &&
        std::ranges::none_of(broken, [&](uint32_t member) { return readings[member].seal == i; }))
      seals.push_back(i);
  in_threads(threads, seals.size(), [&](const auto& next) {
    for (uint64_t k = next(); k < seals.size(); k = next()) {
      segment_reading& r = readings[seals[k]];
      r.sum_differs = !sums_are_right(s_, seals[k], *r.table);
    }
  });
  for (const uint32_t i : seals)
    if (readings[i].sum_differs)
      damage.push_back(
          {i, "the XOR in segment " + std::to_string(i) + ", the seal of a group", false});
}

void scan::take_over(worker& w) {
  for (auto& f : w.waiting) waiting.push_back(std::move(f));
  for (const auto& [key, number] : w.confirmed) confirmed[key] = std::max(confirmed[key], number);
  for (auto& d : w.damage) damage.push_back(std::move(d));
  records += w.records;
  frames += w.frames;
}

void scan::read_all(uint32_t threads, const progress_fn& progress) {
  const uint64_t count = readings.size();
  read_seals();
  std::vector<uint32_t> broken;
  std::atomic<uint64_t> done{0};
  std::mutex lock;
  in_threads(threads, count, [&](const auto& next) {
    worker w(*this);
    for (uint64_t i = next(); i < count; i = next()) {
      const auto segment = static_cast<uint32_t>(i);
      const segment_reading& r = readings[i];
      if (r.seal != nowhere && !is_whole(s_, w.reader, readings[r.seal].table->members[r.which])) {
        const std::lock_guard guard(lock);
        broken.push_back(segment);
      } else if (!r.table) {
        read_one(w, segment);
      }
      const uint64_t now = ++done;
      if (progress && (now % 64 == 0 || now == count)) {
        const std::lock_guard guard(lock);
        progress(now, count);
      }
    }
    const std::lock_guard guard(lock);
    take_over(w);
  });
  compare_seals(threads, read_broken(broken));
  worker w(*this);
  for (const uint32_t i : broken) {
    read_one(w, i);
    if (readings[i].rebuilt != 0)
      w.damage.push_back({i,
                          std::to_string(readings[i].rebuilt) + " pages of segment " +
                              std::to_string(i) + ", which its group has",
                          false});
  }
  take_over(w);
  find_free();
}

// A closed file records how many segments were in use. If all of these are found, the segments
// without a head were free.
void scan::find_free() {
  if (s_.head.clean == 0 || s_.head.in_use == 0) return;
  const auto used = static_cast<uint64_t>(std::ranges::count_if(
      readings, [](const auto& r) { return r.head == head_state::used || r.table; }));
  if (used != s_.head.in_use) return;
  for (damage_note& d : damage) {
    segment_reading& r = readings[d.segment];
    if (r.head != head_state::damaged) continue;
    r.head = head_state::torn;
    d.text = "the head of segment " + std::to_string(d.segment) + ", which is free";
    d.lost = false;
  }
}

}  // namespace scute::core::pow
