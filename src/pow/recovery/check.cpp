// SPDX-License-Identifier: BSD-3-Clause
#include "pow/recovery/check.hpp"

#include <cstring>
#include <unordered_map>

#include "pow/file/seal.hpp"
#include "pow/recovery/rebuilt.hpp"

namespace scute::core::pow {
namespace {

class checker {
 public:
  checker(state& s, const check_options& options)
      : s_(s),
        options_(options),
        w_(*s.medium),
        reader_(s.layout, s.salt, [this](uint64_t offset, std::byte* to, size_t n) {
          if (reader_bytes_.empty()) return s_.read_segment(offset, to, n);
          std::memcpy(to, reader_bytes_.data() + (offset - place_.at[0]), n);
          return true;
        }) {}

  check_report run() {
    const auto count = static_cast<uint32_t>(s_.space->count());
    for (uint32_t i = 0; i < count; ++i) {
      const use what = s_.space->note(i).what.load(std::memory_order_acquire);
      if (what == use::seal) continue;  // after its members
      if (what != use::free) segment(i);
      if (options_.progress && (i % 64 == 63 || i + 1 == count)) options_.progress(i + 1, count);
    }
    for (uint32_t number = 0; number < tables_max; ++number)
      if (table* const t = s_.find_table(number)) objects(*t);
    live();
    // Only if nothing is missing: otherwise the file would claim that it ends where damage has cut
    // it. Before the seals, since a segment without a recorded end gets none (POW-12).
    if (options_.repair && complete_) store_ends();
    // A seal must not be removed while bytes rebuilt from it may not be durable.
    if (options_.repair) {
      w_.fence(fence_site::pow_member);
      s_.refuse_if_failed();
    }
    for (uint32_t i = 0; i < count; ++i)
      if (s_.space->note(i).what.load(std::memory_order_acquire) == use::seal) seal(i);
    if (options_.repair) {
      w_.fence(fence_site::pow_repair);
      s_.refuse_if_failed();
    }
    return std::move(report_);
  }

 private:
  struct occurrences {
    uint32_t records = 0;
    bool newest = false;
  };
  struct end_line {
    log::segment place;
    format::segment_head head;
    uint64_t end, frames, last;
  };

  void note(uint32_t segment, std::string text, bool lost) {
    report_.damage.push_back(about(segment, std::move(text), lost));
  }
  damage_note about(uint32_t segment, std::string text, bool lost) {
    damage_note d{segment, std::move(text), lost};
    if (segment == nowhere) return d;
    const segment_note& n = s_.space->note(segment);
    d.lane = n.lane;
    d.session = n.session;
    return d;
  }
  damage_note about(const table& t, uint64_t index, const entry& e, const std::string& text,
                    bool lost) {
    damage_note d =
        about(e.segment, "object " + std::to_string(index) + " of table " + t.name + text, lost);
    d.objects.push_back({t.number, t.name, index, index, 1});
    return d;
  }

  void segment(uint32_t i) {
    const log::segment place = s_.space->place(i);
    uint64_t flawed = 0;
    last_ = 0;
    reader_bytes_.clear();
    place_ = place;
    rebuild_member(i);
    const auto c = reader_.read(place, [&](const log::frame& f) {
      ++report_.frames;
      last_ = f.head.transaction;
      if (f.flawed) {
        ++flawed;
        if (options_.repair)
          log::store_lines(w_, s_.medium->base(), s_.layout, place, f.position, f.lines);
      }
      frame_view v;
      if (!parse(f, v) || (v.kind != frame_kind::whole && v.kind != frame_kind::part &&
                           v.kind != frame_kind::copies))
        return;
      for_each_record(v, [&](const record& r) { look_at(i, r, f.lines.data() + r.offset); });
    });
    if (c.head && s_.layout.has_end()) end_of(i, c, place);
    if (!c.head) return note(i, "segment " + std::to_string(i) + " has no head", true);
    if (c.head_flawed || flawed != 0)
      note(i,
           std::to_string(flawed) + " frames" + (c.head_flawed ? " and the head" : "") +
               " of segment " + std::to_string(i),
           false);
    if (options_.repair && c.head_flawed)
      log::store_lines(w_, s_.medium->base(), s_.layout, place, 0,
                       std::as_bytes(std::span(&*c.head, 1)));
  }

  // Rebuilds members that have changed, before they are examined.
  void rebuild_member(uint32_t i) {
    const uint32_t seal = s_.space->note(i).seal.load(std::memory_order_relaxed);
    if (seal == nowhere) return;
    const auto t = read_table(s_, seal);
    uint32_t which = 0;
    while (t && which < t->head.count && t->members[which].segment != i) ++which;
    if (!t || which == t->head.count || is_whole(s_, reader_, t->members[which])) return;
    const rebuilt r = rebuild(s_, seal, *t, which);
    if (!r.whole)  // its objects report the loss
      return note(i,
                  "segment " + std::to_string(i) +
                      ", which its group cannot make what it was: more is damaged at one place",
                  false);
    note(i,
         std::to_string(r.pages) + " pages of segment " + std::to_string(i) +
             ", which its group has",
         false);
    if (!options_.repair) {
      reader_bytes_ = r.bytes;
      return;
    }
    s_.groups->store_member(w_, i, r.bytes.data(), t->members[which].end * log::line_size);
  }

  // A damaged seal is written again in place, since there may be no room for another one; if it has
  // no table left, its members get another seal.
  void seal(uint32_t i) {
    const auto t = read_table(s_, i);
    if (t) {
      reader_bytes_.clear();
      for (uint32_t k = 0; k < t->head.count; ++k)
        if (!is_whole(s_, reader_, t->members[k])) return;  // reported before; may still be needed
      if (has_both_tables(s_, i) && sums_are_right(s_, i, *t)) return;
    }
    note(i, "segment " + std::to_string(i) + ", the seal of a group", false);
    if (!options_.repair || s_.read_only) return;
    if (t) {
      s_.groups->restore(w_, i);
      return;
    }
    s_.groups->give_up(w_, i);
    s_.groups->forget_loose();
    s_.groups->make(w_, true);
  }

  // POW-12. (Objects that lost records report that themselves.)
  void end_of(uint32_t i, const log::segment_contents& c, const log::segment& place) {
    const bool full = s_.space->note(i).what.load(std::memory_order_acquire) == use::full;
    if (!full || (c.stated && !c.stated_flawed)) return;
    // After a killed session, the next opening for writing writes that record.
    if (s_.read_only && c.head->epoch > s_.head.decided) return;
    note(i, "the record of where segment " + std::to_string(i) + " ends", false);
    ends_.push_back({place, *c.head, c.stated ? c.stated->end : c.end,
                     c.stated ? c.stated->frames : c.frames, c.stated ? c.stated->last : last_});
  }

  void store_ends() {
    for (const end_line& e : ends_)
      log::store_end(w_, s_.medium->base(), s_.layout, e.place, e.head, e.end, e.frames, e.last);
  }

  void look_at(uint32_t segment, const record& r, const std::byte* bytes) {
    ++report_.records;
    table* const t = s_.find_table(r.table);
    const entry* const e = t == nullptr ? nullptr : t->find(r.index());
    if (e == nullptr) return;
    occurrences& here = seen_[e];
    ++here.records;
    if (e->version.load(std::memory_order_relaxed) != r.version || e->segment != segment) return;
    here.newest = true;
    if (!options_.compare || t->serialized_by == nullptr || r.tombstone) return;
    const uint32_t size = t->size != 0 ? t->size : t->serialized_by->measure(r.index());
    now_.resize(size);
    if (size != 0) t->serialized_by->encode(r.index(), now_.data(), size);
    if (size != r.size || std::memcmp(now_.data(), bytes, size) != 0)
      report_.changed.push_back(
          about(*t, r.index(), *e, " was changed outside of a section", true));
  }

  void objects(const table& t) {
    for (uint64_t i = 0; i < t.high(); ++i) {
      const entry* const e = t.find(i);
      if (e == nullptr) continue;
      if (e->is_written() && e->segment != nowhere)
        live_[e->segment] += static_cast<int64_t>(round_record(e->bytes()));
      const auto at = seen_.find(e);
      const occurrences here = at == seen_.end() ? occurrences{} : at->second;
      const uint32_t known = e->records.load(std::memory_order_relaxed);
      const bool live = (e->state.load(std::memory_order_relaxed) & entry_live) != 0;
      // A record also says that it was erased, as long as older ones are present.
      const bool erased = !live && e->is_tombstone() && e->segment != nowhere;
      const bool lost = (live || (erased && known > 1)) && !here.newest;
      complete_ = complete_ && here.records == known && !lost;
      if (lost)
        report_.damage.push_back(
            about(t, i, *e, live ? " has no record" : " is erased, and no record says so", true));
      else if (here.records != known)
        report_.damage.push_back(
            about(t, i, *e,
                  " has " + std::to_string(here.records) + " records, not " + std::to_string(known),
                  false));
    }
  }

  // POW-16.
  void live() {
    for (uint32_t i = 0; i < s_.space->count(); ++i) {
      const segment_note& n = s_.space->note(i);
      const int64_t known = n.live.load(std::memory_order_relaxed);
      if (n.what.load(std::memory_order_acquire) != use::free && known != live_[i])
        note(i,
             "segment " + std::to_string(i) + " has " + std::to_string(live_[i]) +
                 " bytes that count, not " + std::to_string(known),
             false);
    }
  }

  state& s_;
  const check_options& options_;
  medium::writer w_;
  log::segment_reader reader_;
  check_report report_;
  std::unordered_map<const entry*, occurrences> seen_;
  std::unordered_map<uint32_t, int64_t> live_;  // by segment
  std::vector<std::byte> now_;
  std::vector<std::byte> reader_bytes_;  // of a member that was rebuilt, and not written
  log::segment place_;
  std::vector<end_line> ends_;  // to be written again
  bool complete_ = true;        // all records that are known of were there
  uint64_t last_ = 0;           // transaction of the last frame that was read
};

}  // namespace

check_report check_file(state& s, const check_options& options) {
  return checker(s, options).run();
}

}  // namespace scute::core::pow
