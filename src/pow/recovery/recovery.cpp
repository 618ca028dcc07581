// SPDX-License-Identifier: BSD-3-Clause
#include "pow/recovery/recovery.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "pow/cleaner.hpp"
#include "pow/file/seal.hpp"
#include "pow/recovery/decision.hpp"
#include "pow/recovery/salvage_report.hpp"

namespace scute::core::pow {
namespace {

class recoverer {
 public:
  recoverer(state& s, const recovery_options& options)
      : s_(s), options_(options), w_(*s.medium), scan_(s) {}

  recovery_report run() {
    if (!s_.read_only) align_heads(w_, s_.head);
    s_.add_table(catalogue_table);
    s_.set_tags(s_.head.tags);
    scan_.read_all(options_.threads, options_.progress);
    decision_ = decide(scan_.waiting, scan_.confirmed, s_.head);
    find_gaps();
    report_truncation();
    find_empty();
    for (size_t i = 0; i < scan_.waiting.size(); ++i)
      scan_.insert(scan_.waiting[i], decision_.counts[i]);
    report_damage();
    if (s_.read_only) {
      repair_in_memory();
      fill_space();
      count_live();
      return std::move(report_);
    }
    make_durable();
    begin_session();
    fill_space();
    link_spans();
    count_live();
    take_dropped();
    return std::move(report_);
  }

 private:
  // Finds places that cannot be read, followed by batches that were written later. Such a place is
  // torn, unless its missing batches are known to have been durable, or were decided before.
  void find_gaps() {
    const auto must_be = [&](const segment_reading& r, uint64_t number) {
      const lane_key key(r.session, static_cast<uint32_t>(r.lane));
      // Parts of an aborted batch may be torn.
      if (decision_.aborted.contains({key, number})) return false;
      const auto& of = r.session <= s_.head.decided ? decision_.kept : scan_.confirmed;
      const auto known = of.find(key);
      return known == of.end() ? r.session <= s_.head.decided : number <= known->second;
    };
    const auto missing = [&](uint32_t segment, uint64_t first, uint64_t last, uint64_t from,
                             uint64_t to) {
      const segment_reading& r = scan_.readings[segment];
      scan_.damage.push_back(
          {segment,
           (first == last ? "batch " + std::to_string(first)
                          : "batches " + std::to_string(first) + " to " + std::to_string(last)) +
               " of lane " + std::to_string(r.lane) + ", session " + std::to_string(r.session) +
               ", in segment " + std::to_string(segment),
           true, from, to, first, last});
    };
    std::map<std::pair<lane_key, uint64_t>, uint32_t> by_use;  // lane, generation
    for (uint32_t i = 0; i < scan_.readings.size(); ++i) {
      const segment_reading& r = scan_.readings[i];
      if (r.head != head_state::used) continue;
      by_use[{{r.session, static_cast<uint32_t>(r.lane)}, r.generation}] = i;
      // A crash leaves such copies of frames that were not yet durable.
      const auto torn = std::ranges::count_if(r.flaws, [&](uint64_t n) { return must_be(r, n); });
      if (torn != 0)
        scan_.damage.push_back({i,
                                std::to_string(torn) + " frames of segment " + std::to_string(i) +
                                    " whose redundancy is wrong",
                                false});
      if (r.head_flawed && must_be(r, r.first))
        scan_.damage.push_back({i, "a copy of the head of segment " + std::to_string(i), false});
      for (const auto& g : r.gaps) {
        const uint64_t first = std::max(g.after == 0 ? r.first : g.after + 1, uint64_t{1});
        // Parts of one batch have one number.
        const uint64_t last = std::max(g.before - 1, std::min(first, g.before));
        if (must_be(r, std::min(first, last)))
          missing(i, std::min(first, last), last, g.from, g.to);
      }
    }
    for (const auto& [use, i] : by_use) {
      const auto next = by_use.find({use.first, use.second + 1});
      const segment_reading& r = scan_.readings[i];
      const uint64_t last = std::max(r.last, r.first - 1);
      // Numbers up to this one were written to it, according to its own end or the next segment
      // (POW-12).
      uint64_t written = next == by_use.end() ? 0 : scan_.readings[next->second].first - 1;
      const bool cut = r.stated && r.end < r.stated->end;
      if (cut) written = std::max(written, r.stated->last >> 16);
      // Parts of one batch have one number.
      const uint64_t first = cut ? std::min(last + 1, written) : last + 1;
      if (written != 0 && first <= written && must_be(r, first))
        missing(i, first, written, r.end, cut ? r.stated->end : s_.layout.lines());
      else if (s_.layout.has_end() && !r.stated && r.session <= s_.head.decided)
        report_end(i, last, next != by_use.end() && written == last && !r.part_last);
    }
    for (auto& d : decision_.damage) scan_.damage.push_back(std::move(d));
  }

  // Reports that the file was cut. The segments that lay after the cut report their own losses.
  void report_truncation() {
    const uint64_t at = options_.cut_at;
    if (at == UINT64_MAX) return;
    const uint64_t end = first_segment + s_.head.segments * s_.head.segment_size;
    const uint64_t segment = at < first_segment ? 0 : (at - first_segment) / s_.head.segment_size;
    scan_.damage.push_back({static_cast<uint32_t>(segment),
                            "the end of the file: it had " + std::to_string(at) + " bytes, and " +
                                std::to_string(end) + " before",
                            false});
  }

  // Reports that the record of where the segment ends is gone. followed: the next segment shows
  // that nothing else is missing.
  void report_end(uint32_t segment, uint64_t last, bool followed) {
    const segment_reading& r = scan_.readings[segment];
    const std::string which = " of segment " + std::to_string(segment);
    if (followed)
      scan_.damage.push_back({segment, "the record of where the end" + which + " is", false});
    else
      scan_.damage.push_back({segment,
                              "the end" + which + ": all records after batch " +
                                  std::to_string(last) + " of lane " + std::to_string(r.lane) +
                                  ", session " + std::to_string(r.session) + ", if anything did",
                              true, r.end, s_.layout.lines()});
  }

  // Finds heads of segments that lanes began after batches which do not count. Nothing in them
  // counts. Until they are void the next recovery must not take the gap before them for damage.
  void find_empty() {
    for (uint32_t i = 0; i < scan_.readings.size(); ++i) {
      const segment_reading& r = scan_.readings[i];
      if (r.head != head_state::used) continue;
      const lane_key key(r.session, static_cast<uint32_t>(r.lane));
      const uint64_t kept = decision_.kept[key];
      if (kept == UINT64_MAX) continue;
      if (r.last == 0) empty_.insert(i);
      const bool cut_already = std::ranges::any_of(
          decision_.last_valid,
          [&](const last_valid_batch& c) { return lane_key(c.session, c.lane) == key; });
      if (r.first > kept + 1 && !cut_already)
        decision_.last_valid.push_back({key.first, kept, key.second, 0});
    }
  }

  void report_damage() {
    report_.damage = std::move(scan_.damage);
    report_.records = scan_.records;
    for (damage_note& d : report_.damage) {
      if (const segment_reading& r = scan_.readings[d.segment]; r.head == head_state::used) {
        d.lane = static_cast<uint32_t>(r.lane);
        d.session = r.session;
      }
      if (!d.lost || d.from >= d.to) continue;
      const salvage_report left(s_, d.segment, d.from, d.to);
      d.text += ": " + left.text();
      d.objects = left.ranges();
    }
    std::string lost;
    for (const damage_note& d : report_.damage) {
      (d.lost ? report_.lost : report_.repaired) += 1;
      if (d.lost && report_.lost <= 8) lost += (lost.empty() ? "" : "; ") + d.text;
    }
    if (report_.lost != 0 && !options_.salvage)
      throw failure(SCUTE_E_CORRUPT, s_.name + " is damaged beyond its redundancy: " + lost +
                                         ". Open it with salvage to get the rest");
  }

  // POW-9.
  void make_durable() {
    std::set<uint32_t> open;  // with batches that are not known to be durable
    for (const waiting_frame& f : scan_.waiting) {
      const auto known = scan_.confirmed.find({f.session, f.lane});
      if (f.session > s_.head.decided &&
          (known == scan_.confirmed.end() || f.number > known->second))
        open.insert(f.segment);
    }
    for (uint32_t i = 0; i < scan_.readings.size(); ++i) {
      const segment_reading& r = scan_.readings[i];
      const log::segment place = s_.space->place(i);
      if (r.head == head_state::seal) {
        s_.groups->store_table(w_, i, *r.table);
        continue;
      }
      if (r.head != head_state::used) {
        // The second table of a seal that was becoming void may still exist. It would count again
        // if the head of the segment's next use were damaged.
        if (s_.groups != nullptr)
          s_.groups->store_void(w_, i);
        else if (r.head == head_state::nobodys && !r.flawed)
          log::write_back(w_, s_.medium->base(), s_.layout, place, 0, s_.layout.step());
        else
          s_.store_void_head(w_, i);
        continue;
      }
      if (r.flawed) repair(i);
      if (r.rebuilt != 0) put_rebuilt(i);
      if (open.contains(i))
        log::write_back(w_, s_.medium->base(), s_.layout, place, 0, s_.layout.lines());
      // The end that a dead process has recorded may not be durable.
      if (s_.layout.has_end() &&
          (r.session > s_.head.decided || !r.stated || r.stated_flawed || r.stated->end != r.end))
        log::store_end(w_, s_.medium->base(), s_.layout, place, *r.as_head, r.end, r.frames,
                       r.last_transaction);
    }
    w_.fence(fence_site::pow_found);
    s_.refuse_if_failed();
    s_.repaired.clear();
    // POW-22. Members are durable by now.
    for (uint32_t i = 0; i < scan_.readings.size(); ++i)
      if (scan_.readings[i].sum_differs) s_.groups->restore(w_, i);
  }

  // Stores a member's bytes up to its end, as its group has rebuilt them.
  void put_rebuilt(uint32_t segment) {
    const uint64_t n = scan_.readings[segment].stated->end * log::line_size;
    s_.groups->store_member(w_, segment, s_.repaired[segment].data(), n);
  }

  void repair(uint32_t segment) {
    const log::segment place = s_.space->place(segment);
    log::segment_reader reader(s_.layout, s_.salt, [&](uint64_t offset, std::byte* to, size_t n) {
      return s_.read_segment(offset, to, n);
    });
    const auto c = reader.read(place, [&](const log::frame& f) {
      if (f.flawed) log::store_lines(w_, s_.medium->base(), s_.layout, place, f.position, f.lines);
    });
    if (c.head)
      log::store_lines(w_, s_.medium->base(), s_.layout, place, 0,
                       std::as_bytes(std::span(&*c.head, 1)));
  }

  // Keeps in memory the bytes that repair() would have stored.
  void repair_in_memory() {
    for (uint32_t i = 0; i < scan_.readings.size(); ++i) {
      const segment_reading& r = scan_.readings[i];
      if (r.head != head_state::used || !r.flawed || r.rebuilt != 0) continue;
      std::vector<std::byte> bytes(s_.head.segment_size);
      log::segment_reader reader(s_.layout, s_.salt, [&](uint64_t offset, std::byte* to, size_t n) {
        return s_.read_segment(offset, to, n);
      });
      const auto put = [&](uint32_t, uint64_t at, const std::byte* from, size_t n) {
        std::memcpy(bytes.data() + at, from, n);
      };
      const auto c = reader.read(s_.space->place(i), [&](const log::frame& f) {
        s_.layout.for_each_store(f.position, f.lines, put);
      });
      if (c.head) s_.layout.for_each_store(0, std::as_bytes(std::span(&*c.head, 1)), put);
      s_.repaired.emplace(i, std::move(bytes));
    }
  }

  void begin_session() {
    file_head& h = s_.head;
    if (decision_.last_valid.size() > last_valid_max)
      throw failure(SCUTE_E_UNSUPPORTED, s_.name + " was interrupted in recovery too often");
    h.decided = h.session;
    if (h.tags_session != static_cast<uint32_t>(h.session)) h.tags = unknown_tags(h.session);
    h.session += 1;
    h.tags_session = static_cast<uint32_t>(h.session);
    s_.set_tags(h.tags);
    h.clean = 0;
    h.in_use = 0;
    h.last_valid_count = static_cast<uint32_t>(decision_.last_valid.size());
    std::memset(h.last_valid, 0, sizeof h.last_valid);
    std::ranges::copy(decision_.last_valid, h.last_valid);
    write_head(w_, h);
    s_.refuse_if_failed();
  }

  void fill_space() {
    for (uint32_t i = 0; i < scan_.readings.size(); ++i) {
      const segment_reading& r = scan_.readings[i];
      segment_note& n = s_.space->note(i);
      if (r.head == head_state::seal) {
        n.what.store(use::seal, std::memory_order_relaxed);
        continue;
      }
      if (r.head != head_state::used) {
        s_.space->give(i);
        continue;
      }
      n.seal.store(r.seal, std::memory_order_relaxed);
      if (r.seal == nowhere) s_.space->add_unsealed(i);
      n.lane = static_cast<uint32_t>(r.lane);
      n.session = r.session;
      n.generation = r.generation;
      n.repaired.store(r.flawed || !r.gaps.empty() || r.rebuilt != 0, std::memory_order_relaxed);
      n.what.store(use::full, std::memory_order_relaxed);
    }
  }

  // Parts of one batch: the segments that they are in become void in their order.
  void link_spans() {
    std::map<std::pair<lane_key, uint64_t>, std::set<std::pair<uint64_t, uint32_t>>> spans;
    for (const waiting_frame& f : scan_.waiting)
      if (f.kind == frame_kind::part || f.kind == frame_kind::commit ||
          f.kind == frame_kind::abort) {
        spans[{{f.session, f.lane}, f.number}].insert(
            {scan_.readings[f.segment].generation, f.segment});
        s_.marks = true;
      }
    for (const auto& [batch, segments] : spans) {
      uint32_t before = nowhere;
      for (const auto& [generation, segment] : segments) {
        if (before != nowhere) s_.space->note(segment).after = before;
        before = segment;
      }
    }
  }

  void count_live() {
    for (uint32_t number = 0; number < tables_max; ++number) {
      table* const t = s_.find_table(number);
      if (t == nullptr) continue;
      lane& l = s_.lane_at(cleaner_lane);
      for (uint64_t i = t->high(); i-- != 0;) {
        entry* const e = t->find(i);
        if (e == nullptr) continue;
        // POW-16
        const uint32_t tag = tag_of(e->state.load(std::memory_order_relaxed));
        if (e->is_tombstone() && e->records.load(std::memory_order_relaxed) == 1 &&
            !s_.remembers(*t, tag))
          e->segment = nowhere;
        else if (e->is_written())
          s_.space->note(e->segment)
              .live.fetch_add(static_cast<int64_t>(round_record(e->bytes())),
                              std::memory_order_relaxed);
        if ((e->state.load(std::memory_order_relaxed) & entry_live) == 0)
          t->give_index(i);
        else
          l.memory.fetch_add(static_cast<int64_t>(e->bytes() + state::per_object),
                             std::memory_order_relaxed);
      }
    }
  }

  void take_dropped() {
    std::set<uint32_t> segments = empty_;
    for (size_t i = 0; i < scan_.waiting.size(); ++i)
      if (decision_.dropped[i]) {
        segments.insert(scan_.waiting[i].segment);
        ++report_.batches_dropped;
      }
    // An accepted loss is not reported again.
    for (const damage_note& d : report_.damage)
      if (d.lost && scan_.readings[d.segment].head == head_state::used) segments.insert(d.segment);
    const locked guard(s_.clean_lock);
    cleaner c(s_);
    if (!segments.empty()) release_copies(c, segments);
    for (const uint32_t segment : segments) take(c, segment);
  }
  // POW-21.
  void release_copies(cleaner& c, std::set<uint32_t>& segments) {
    for (uint32_t i = 0; i < scan_.readings.size(); ++i) {
      const segment_note& n = s_.space->note(i);
      if (n.what.load() != use::full || n.lane != cleaner_lane || n.live.load() != 0 ||
          n.seal.load() != nowhere || n.after.load() != nowhere)
        continue;
      c.release(i);
      segments.erase(i);  // it may have another use soon
    }
  }
  // Takes the segment that must be void before this one first. If that one stays, so does this one.
  void take(cleaner& c, uint32_t segment) {
    segment_note& n = s_.space->note(segment);
    if (n.after.load() != nowhere) take(c, n.after);
    if (n.after.load() != nowhere)
      n.damaged.store(true, std::memory_order_relaxed);
    else if (n.what.load() == use::full)
      c.take(segment, need::recovery);
  }

  state& s_;
  const recovery_options& options_;
  medium::writer w_;
  scan scan_;
  decision decision_;
  std::set<uint32_t> empty_;  // segments
  recovery_report report_;
};

}  // namespace

recovery_report recover(state& s, const recovery_options& options) {
  return recoverer(s, options).run();
}

}  // namespace scute::core::pow
