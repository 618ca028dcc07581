// SPDX-License-Identifier: BSD-3-Clause
#include "schemes/spec_hpmt.hpp"

#include <algorithm>

namespace scute::sim {
namespace {

// A page record: the lines, and a line with what they are of.
constexpr unsigned page_record_lines = lines_of_page + 1;

}  // namespace

spec_hpmt::spec_hpmt(machine& m, bool persist_data)
    : scheme(m), persist_data_(persist_data), more_(m.cores.size()) {
  for (more_of_core& c : more_) {
    const uint32_t turn = c.next_turn++;
    c.epochs.push_back({++clock_, turn, 1, 0, 0, {}, {}});
  }
}

void spec_hpmt::append(unsigned core, record_kind kind, uint64_t line, ticks at) {
  per_core& c = cores_[core];
  epoch& e = more_[core].epochs.back();
  const unsigned bytes = kind == record_kind::commit ? commit_bytes : record_bytes;
  const size_t number = c.log.append(bytes, at);
  e.bytes += bytes;
  if (kind == record_kind::undo) ++counts_.undo_records;
  if (kind == record_kind::line) {
    ++counts_.line_records;
    e.lines.push_back(line);
  }
  ++clock_;
  if (contents_ == nullptr) return;
  kept k{{kind, static_cast<uint8_t>(core), c.transaction, clock_, clock_, line, 1, 0},
         core,
         number,
         e.turn,
         0,
         {}};
  if (kind != record_kind::commit) k.bytes.push_back(contents_->line(line));
  records_.push_back(k);
}

void spec_hpmt::finish_copies(unsigned core, ticks now) {
  more_of_core& m = more_[core];
  for (copying& c : m.copies) {
    if (c.over || c.done > now) continue;
    c.over = true;
    tlb_page* const p = machine_.cache.pages(core).find(c.page);
    if (p == nullptr || !p->copying) continue;
    p->copying = false;
    p->epoch_bit = true;
    p->turn = c.of->turn;
    p->count = c.of->id;
    if (contents_ != nullptr) {
      records_[c.record].durable = c.done;
      records_[c.record].record.end = ++clock_;
    }
  }
  // The engine writes to `done` of abandoned copies, too.
  while (!m.copies.empty() && m.copies.front().over && m.copies.front().done != log_area::never)
    m.copies.pop_front();
}

// HPMT-15, and what is hot anyway.
bool spec_hpmt::is_logged(unsigned core, uint64_t line) {
  const tlb_page* const p = machine_.cache.pages(core).find(page_of_line(line));
  return rules.undo_line_logged_too && p != nullptr && (p->epoch_bit || p->copying);
}

void spec_hpmt::beginning(unsigned core) {
  more_[core].undo_pages.clear();
}

ticks spec_hpmt::storing(unsigned core, uint64_t address, unsigned, l1_line& l, tlb_page& p,
                         ticks at) {
  per_core& c = cores_[core];
  if (!c.open) return at;
  more_of_core& m = more_[core];
  const uint64_t line = line_of(address);
  if (!m.copies.empty()) finish_copies(core, at);
  if (p.epoch_bit) {
    if (!l.logbit) touch(c, line);
    l.pbit = l.logbit = true;
    return at;
  }
  if (!l.logbit) {
    append(core, record_kind::undo, line, at);
    l.logbit = true;
    touch(c, line);
    if (m.undo_pages.empty() || m.undo_pages.back() != page_of_line(line))
      m.undo_pages.push_back(page_of_line(line));
  }
  if (p.copying) return at;
  if (++p.count == machine_.numbers.hot) m.wanted.push_back(p.key);
  p.count = static_cast<uint8_t>(std::min<unsigned>(p.count, machine_.numbers.hot));
  return at;
}

ticks spec_hpmt::leaving_l1(unsigned core, l1_line& l, ticks at) {
  per_core& c = cores_[core];
  const bool logbit = l.logbit, pbit = l.pbit;
  l.logbit = l.pbit = false;
  if (!c.open || !logbit) return at;
  at = std::max(at, l.written);
  const bool hot = pbit || is_logged(core, l.key);
  if (hot && rules.log_before_eviction) append(core, record_kind::line, l.key, at);
  if (hot || rules.undo_before_line) at = c.log.flush(at);
  if (!pbit && rules.undo_line_written_on_eviction) {
    more_[core].left = std::max(more_[core].left, machine_.mem.write(l.key, at));
    ++counts_.data_lines;
    l.dirty = false;
  }
  return at;
}

void spec_hpmt::leaving_tlb(unsigned core, tlb_page& p) {
  if (!p.copying) return;
  for (copying& c : more_[core].copies)
    if (c.page == p.key) c.over = true;
}

void spec_hpmt::copy_page(unsigned core, uint64_t page, ticks at) {
  more_of_core& m = more_[core];
  tlb_page* const p = machine_.cache.pages(core).find(page);
  if (p == nullptr || p->epoch_bit || p->copying) return;
  // HPMT-4: not while another core has a line of it open.
  for (unsigned other = 0; other < cores_.size(); ++other) {
    if (other == core || !cores_[other].open || !rules.page_leaves_out_open) continue;
    for (uint64_t line = page * lines_of_page; line < (page + 1) * lines_of_page; ++line) {
      const l1_line* const theirs = machine_.cache.first(other).find(line);
      if (theirs == nullptr || !theirs->logbit) continue;
      p->count = 0;
      return;
    }
  }
  ++counts_.page_records;
  p->copying = true;
  epoch& e = m.epochs.back();
  ++e.pages;
  e.bytes += page_record_lines * line_bytes;
  e.copied.push_back(page);
  m.copies.push_back({page, log_area::never, false, records_.size(), &e});
  const uint64_t to = cores_[core].log.reserve(page_record_lines);
  ++clock_;
  if (contents_ != nullptr) {
    kept k{{record_kind::page, static_cast<uint8_t>(core), 0, clock_, clock_, page * lines_of_page,
            lines_of_page, 0},
           core,
           SIZE_MAX,
           e.turn,
           log_area::never,
           {}};
    for (unsigned i = 0; i < lines_of_page; ++i)
      k.bytes.push_back(contents_->line(page * lines_of_page + i));
    records_.push_back(std::move(k));
  }
  machine_.mem.pm.begin({to, page_record_lines, false, 0, false, &m.copies.back().done}, at);
}

// HPMT-8.
void spec_hpmt::cool_others(unsigned core) {
  for (unsigned other = 0; other < cores_.size(); ++other) {
    if (other == core) continue;
    for (const uint64_t page : more_[core].undo_pages) {
      tlb_page* const p = machine_.cache.pages(other).find(page);
      if (p == nullptr) continue;
      p->epoch_bit = p->copying = false;
      p->count = 0;
      for (copying& c : more_[other].copies)
        if (c.page == page) c.over = true;
    }
  }
}

ticks spec_hpmt::committing(unsigned core, ticks at) {
  per_core& c = cores_[core];
  more_of_core& m = more_[core];
  ticks durable = at;
  if (!c.touched.empty()) {
    std::vector<uint64_t> in_place;
    for (const uint64_t line : c.touched) {
      l1_line* const l = machine_.cache.first(core).find(line);
      if (l == nullptr || !l->logbit) continue;  // it has left, and was seen to then
      if (l->pbit || is_logged(core, line)) {
        append(core, record_kind::line, line, at);
        l->pbit = true;
        if (persist_data_) in_place.push_back(line);
      } else {
        in_place.push_back(line);
      }
    }
    const auto write_in_place = [&](ticks from) {
      ticks done = from;
      for (const uint64_t line : in_place)
        done = std::max(done, machine_.cache.write_back(core, line, from));
      counts_.data_lines += in_place.size();
      return done;
    };
    // UNDO-1 needs the log first; only then the data, then the commit.
    if (!in_place.empty() || m.left > at) {
      const bool early = !rules.line_before_commit;
      if (early) append(core, record_kind::commit, 0, at);
      durable = c.log.flush(at);
      for (const uint64_t line : in_place)
        if (l1_line* const l = machine_.cache.first(core).find(line)) l->logbit = false;
      durable = std::max(write_in_place(durable), early ? ticks{0} : m.left);
      if (!early) append(core, record_kind::commit, 0, durable);
    } else {
      append(core, record_kind::commit, 0, at);
    }
    durable = c.log.flush(durable);
    for (const uint64_t line : c.touched)
      if (l1_line* const l = machine_.cache.first(core).find(line)) {
        l->logbit = false;
        // Until then it is a line of an open transaction, which does not leave.
        l->written = std::max(l->written, durable);
      }
    if (rules.commit_cools) cool_others(core);
  }
  for (const uint64_t page : m.wanted) copy_page(core, page, durable);
  m.wanted.clear();
  durable = turn_epoch(core, durable);
  double alive = 0;
  for (const more_of_core& each : more_)
    for (const epoch& e : each.epochs) alive += static_cast<double>(e.bytes);
  log_bytes_sum_ += alive;
  return durable;
}

ticks spec_hpmt::turn_epoch(unsigned core, ticks at) {
  more_of_core& m = more_[core];
  const settings& s = machine_.numbers;
  const epoch& current = m.epochs.back();
  if (static_cast<double>(current.bytes) < s.epoch_records * 1024 && current.pages < s.epoch_pages)
    return at;
  if (m.epochs.size() + 1 >= s.epochs) at = clear_oldest(core, at);
  const auto id = static_cast<uint8_t>(current.id % 7 + 1);
  m.epochs.push_back({++clock_, m.next_turn++, id, 0, 0, {}, {}});
  return at;
}

ticks spec_hpmt::clear_oldest(unsigned core, ticks at) {
  more_of_core& m = more_[core];
  epoch& oldest = m.epochs.front();
  ++counts_.epochs_cleared;
  // By software: it reads the records and writes back what they name.
  std::ranges::sort(oldest.lines);
  oldest.lines.erase(std::unique(oldest.lines.begin(), oldest.lines.end()), oldest.lines.end());
  ticks done = at;
  const auto persist = [&](uint64_t line) {
    const ticks durable = machine_.cache.write_back(core, line, at);
    if (durable != at) ++counts_.data_lines;
    done = std::max(done, durable);
  };
  for (const uint64_t line : oldest.lines) persist(line);
  for (const uint64_t page : oldest.copied)
    for (unsigned i = 0; i < lines_of_page; ++i) persist(page * lines_of_page + i);
  const ticks cycle = from_ns(1 / machine_.numbers.core_ghz);
  done = std::max(done, at + (oldest.lines.size() + oldest.copied.size() * lines_of_page) * cycle);
  machine_.cache.pages(core).for_each([&](tlb_page& p) {
    if (!p.epoch_bit || p.turn != oldest.turn) return;
    p.epoch_bit = false;
    p.count = 0;
  });
  for (copying& c : m.copies)
    if (c.of == &oldest) {
      c.over = true;
      if (tlb_page* const p = machine_.cache.pages(core).find(c.page)) p->copying = false;
    }
  const uint32_t turn = oldest.turn;
  m.epochs.pop_front();
  // HPMT-9: one line says from when on records count.
  if (!rules.one_truncation_point) {
    cores_[core].log.append(8, done);
    drops_.push_back({core, turn, cores_[core].log.flush(done)});
    return drops_.back().durable;
  }
  uint64_t first = UINT64_MAX;
  for (const more_of_core& each : more_)
    if (!each.epochs.empty()) first = std::min(first, each.epochs.front().start);
  cores_[core].log.append(8, done);
  const ticks durable = cores_[core].log.flush(done);
  truncation_points_.push_back({first - 1, durable});
  return durable;
}

scheme::counts spec_hpmt::counted() const {
  counts all = scheme::counted();
  if (all.transactions != 0)
    all.log_bytes_mean = log_bytes_sum_ / static_cast<double>(all.transactions);
  return all;
}

scheme::recovered spec_hpmt::recover(ticks crash) const {
  recovered found{contents_->durable_at(crash), {}};
  uint64_t void_until = 0;
  for (const truncation_point& h : truncation_points_)
    if (h.durable <= crash) void_until = std::max(void_until, h.time);
  std::vector<log_record> durable;
  for (size_t i = 0; i < records_.size(); ++i) {
    const kept& k = records_[i];
    const ticks when = k.number == SIZE_MAX ? k.durable : cores_[k.core].log.durable(k.number);
    if (when > crash) continue;
    if (k.record.kind == record_kind::commit) found.committed.push_back(k.record.transaction);
    const auto of_epoch = [&](const drop& d) {
      return d.core == k.core && d.turn == k.turn && d.durable <= crash;
    };
    if (std::ranges::any_of(drops_, of_epoch)) continue;
    durable.push_back(k.record);
    durable.back().bytes = static_cast<uint32_t>(i);
  }
  const recovery r(durable, void_until, rules);
  std::vector<uint64_t> lines;
  for (const log_record& d : durable)
    if (d.kind != record_kind::commit)
      for (uint64_t l = d.line; l < d.line + d.lines; ++l) lines.push_back(l);
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  for (const uint64_t line : lines)
    if (const log_record* const from = r.source_for(line))
      found.memory[line] = records_[from->bytes].bytes[line - from->line];
  std::ranges::sort(found.committed);
  return found;
}

}  // namespace scute::sim
