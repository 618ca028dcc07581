// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/erasure/erasure_search.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "base/rounding.hpp"
#include "codec/parity/galois.hpp"
#include "core/repair/page_layout.hpp"
#include "core/shared/optimistic.hpp"

namespace scute::core::repair {
namespace {

constexpr size_t segment_gap = 64, segments_max = 4;  // ERASE-1

}  // namespace

erasure_search::erasure_search(pool::state& s, const pool::fragment& f, pool::erasure_hints* hints,
                               doubt in_doubt)
    : s_(s), f_(f), in_doubt_(std::move(in_doubt)), hints_(hints) {
  const std::vector<unit> units = units_of(f);
  kept_.resize(units.back().at + units.back().length);
  for (const unit& u : units) {
    if (!areas_.empty()) {
      area& last = areas_.back();
      if (last.offset + last.length == u.offset && u.offset % format::page != 0) {
        last.length += u.length;
        continue;
      }
    }
    if (u.length != 0)
      areas_.push_back({u.offset, u.at, u.length, pool::cell_of(s.geo, u.offset), {}});
  }
  for (area& a : areas_) {
    a.syndromes.resize(s.geo.parity * a.length);
    pool::sample(s, a.offset, a.length, &kept_[a.at], a.syndromes.data());
  }
  cut_into_segments();
  find_candidates();
}

// ERASE-1
void erasure_search::cut_into_segments() {
  const auto cut = [&](size_t gap) {
    segments_.clear();
    for (size_t i = 0; i < areas_.size(); ++i) {
      const area& a = areas_[i];
      bool open = false;
      for (size_t k = 0; k < a.length; ++k) {
        bool odd = false;
        for (uint32_t p = 0; p < s_.geo.parity; ++p)
          odd = odd || a.syndromes[p * a.length + k] != std::byte{0};
        if (!odd) continue;
        if (!open || a.at + k - segments_.back().end >= gap) {
          segment& g = segments_.emplace_back();
          g.in = i;
          g.begin = a.at + k;
        }
        open = true;
        segments_.back().end = a.at + k + 1;
      }
    }
  };
  cut(segment_gap);
  if (segments_.size() <= segments_max) return;
  cut(format::page);
  // Many small injuries are probably in different rows: no one set of rows explains them.
  for (segment& g : segments_) {
    const area& a = areas_[g.in];
    size_t odd = 0;
    for (size_t k = g.begin - a.at; k < g.end - a.at; ++k)
      for (uint32_t p = 0; p < s_.geo.parity; ++p)
        if (a.syndromes[p * a.length + k] != std::byte{0}) {
          ++odd;
          break;
        }
    g.scattered = odd * 2 < g.end - g.begin;
  }
}

// The state of a page of another row.
erasure_search::page_view erasure_search::look_at(uint64_t zone, uint64_t row, uint64_t block) {
  page_view v;
  v.of.fill(standing::unknown);
  const uint64_t page = s_.geo.zone_offset(zone) + row * s_.geo.row_size + block;
  const auto mark = [&](uint64_t offset, uint64_t length, standing as) {
    const uint64_t from = std::max(offset, page);
    const uint64_t to = std::min(offset + length, page + format::page);
    if (from >= to) return;
    // A granule counts as vouched for only as a whole.
    const uint64_t first =
        as == standing::vouched ? (from - page + granule - 1) / granule : (from - page) / granule;
    const uint64_t last = as == standing::vouched && to != page + format::page
                              ? (to - page) / granule
                              : (to - page + granule - 1) / granule;
    for (uint64_t i = first; i < last; ++i)
      v.of[i] = v.of[i] == standing::unknown ? as : std::max(v.of[i], as);
  };
  for_each_place(s_, page, [&](const fragment_in_page& p) {
    const pool::fragment& f = p.fragment;
    if (pool::valid(s_, f)) {
      format::fragment_header h;
      std::memcpy(&h, s_.at(f.header), sizeof h);
      if (!p.claimed || (!f.metadata && in_doubt_ && in_doubt_(h.tag))) return;
      const uint32_t n = pool::covered(s_, f, h);
      mark(f.header, header_end, standing::vouched);
      if (n != pool::not_covered) mark(f.payload, n, standing::vouched);
      return;
    }
    // A place that no first header claims need not hold a fragment; if the first header is damaged,
    // it may.
    if (!p.claimed && pool::valid(s_, first_of(f))) return;
    if (f.header != f_.header) neighbours_.push_back(f);
    const uint64_t end = std::max(f.header + header_end, f.payload + f.room);
    const bool whole = p.claimed && f.payload == f.header + header_end && f.header >= page &&
                       end <= page + format::page;
    if (whole) v.damaged.emplace_back(block + f.header - page, block + end - page);
    mark(f.header, header_end, whole ? standing::damaged : standing::in_part);
    mark(f.payload, f.room, whole ? standing::damaged : standing::in_part);
  });
  return v;
}

// ERASE-2, ERASE-4
void erasure_search::find_candidates() {
  const auto& g = s_.geo;
  struct candidate {
    uint16_t cell;
    standing as;
  };
  const pool::optimistic_reads mark;
  for (size_t i = 0; i < areas_.size(); ++i) {
    const area& a = areas_[i];
    const bool any = std::any_of(segments_.begin(), segments_.end(),
                                 [&](const segment& x) { return x.in == i; });
    if (!any) continue;
    const uint64_t block = round_down(a.cell.column, format::page);
    const uint64_t end = s_.used_end[a.cell.zone].load(std::memory_order_acquire);
    std::vector<std::vector<candidate>> found(segments_.size());
    for (segment& x : segments_)
      if (x.in == i && hints_ != nullptr) x.hints = hints_->all(a.cell.zone, block);
    for (uint64_t row = 0; row < g.rows && row * g.row_size + block < end; ++row) {
      if (row == a.cell.row) continue;
      const page_view v = look_at(a.cell.zone, row, block);
      // An overwritten page has nothing sound in it.
      const bool sound = std::count(v.of.begin(), v.of.end(), standing::vouched) != 0;
      for (size_t k = 0; k < segments_.size(); ++k) {
        segment& x = segments_[k];
        if (x.in != i) continue;
        const uint64_t from = a.cell.column + (x.begin - a.at), to = from + (x.end - x.begin);
        standing as = standing::vouched;
        for (uint64_t c = (from - block) / granule; c * granule < to - block; ++c)
          as = std::max(as, v.of[c]);
        const bool certain = std::any_of(
            v.damaged.begin(), v.damaged.end(),
            [&](const auto& columns) { return columns.first >= from && columns.second <= to; });
        if (sound && as == standing::in_part) as = standing::beside;
        if (!sound && as == standing::unknown) as = standing::blank;
        // Damage was found there before. The repair may have left the bytes that no checksum
        // vouches for.
        const bool before = std::any_of(x.hints.begin(), x.hints.end(),
                                        [&](const pool::cell_set& h) { return h.has(row); });
        if (before && as != standing::vouched) as = standing::damaged;
        if (certain)
          x.certain.push_back(static_cast<uint16_t>(row));
        else if (as != standing::vouched)
          found[k].push_back({static_cast<uint16_t>(row), as});
      }
    }
    for (size_t k = 0; k < segments_.size(); ++k) {
      segment& x = segments_[k];
      if (x.in != i) continue;
      for (uint32_t p = 0; p < g.parity; ++p)
        found[k].push_back({static_cast<uint16_t>(g.rows + p), standing::parity});
      std::stable_sort(found[k].begin(), found[k].end(),
                       [](const candidate& m, const candidate& n) { return m.as > n.as; });
      for (const candidate& c : found[k]) x.candidates.push_back(c.cell);
      x.hopeless = x.hopeless || x.certain.size() >= g.parity;
    }
  }
}

uint32_t erasure_search::covered(const bytes& image) const noexcept {
  format::fragment_header h;
  std::memcpy(&h, image.data(), sizeof h);
  return pool::covered(s_, f_, h);
}

// Decodes bytes [begin, end) of the image, which lie in the segment, with these cells unknown.
void erasure_search::decode(const segment& g, const pool::cell_set& unknown, size_t begin,
                            size_t end, bytes& to) const {
  const area& a = areas_[g.in];
  uint16_t rows[pool::parities_max];
  uint32_t count = 0;
  pool::parity_set trusted = pool::all_parities(s_.geo);
  for (uint32_t i = 0; i < unknown.count; ++i) {
    const uint16_t cell = unknown.cells[i];
    if (cell >= s_.geo.rows)
      trusted &= ~(pool::parity_set{1} << (cell - s_.geo.rows));
    else if (cell != a.cell.row)
      rows[count++] = cell;
  }
  pool::recipe r;
  std::copy(kept_.begin() + static_cast<ptrdiff_t>(begin),
            kept_.begin() + static_cast<ptrdiff_t>(end),
            to.begin() + static_cast<ptrdiff_t>(begin));
  if (!pool::find_recipe(s_.geo, a.cell.row, {rows, count}, trusted, r)) return;
  // The recipe for the cell, applied to syndromes, gives the error of the stored bytes.
  for (uint32_t i = 0; i < r.sum_count; ++i)
    codec::galois::multiply_into(&to[begin], &a.syndromes[r.parity[i] * a.length + (begin - a.at)],
                                 r.weight[i], end - begin);
}

// ERASE-2: the next set to try. Returns false if there is none.
bool erasure_search::next_set(segment& g, pool::cell_set& unknown) {
  const uint64_t own = areas_[g.in].cell.row;
  while (g.hint < g.hints.size()) {
    unknown = g.hints[g.hint++];
    if (unknown.has(own) && unknown.count <= s_.geo.parity) return true;
  }
  const size_t others = std::min(s_.geo.parity - 1 - g.certain.size(), g.candidates.size());
  if (g.begun) {
    // In the order of the least likely one of each combination.
    size_t i = 0;
    while (i < others && g.next[i] + 1 == (i + 1 < others ? g.next[i + 1] : g.candidates.size()))
      ++i;
    if (i == others) return false;
    ++g.next[i];
    std::iota(g.next.begin(), g.next.begin() + static_cast<ptrdiff_t>(i), 0u);
  } else {
    g.begun = true;
    g.next.resize(others);
    std::iota(g.next.begin(), g.next.end(), 0u);
  }
  unknown = {};
  unknown.add(own);
  for (const uint16_t cell : g.certain) unknown.add(cell);
  for (const uint32_t k : g.next) unknown.add(g.candidates[k]);
  return true;
}

// Whether choice i of a segment exists; makes it if necessary.
bool erasure_search::has_choice(segment& g, size_t i) {
  const uint64_t most = g.scattered ? scattered_max : g.has_header() ? header_sets_max : sets_max;
  bytes image;
  const auto note = [&](const choice& c) {
    if (image.empty()) image = kept_;
    if (!c.decoded)
      image = kept_;
    else if (g.has_header())
      decode(g, c.unknown, g.begin, std::min(g.end, header_end), image);
    if (g.has_header() && covered(image) == pool::not_covered) return;  // ERASE-3
    if (c.decoded) decode(g, c.unknown, g.begin, g.end, image);
    const std::string_view text(reinterpret_cast<const char*>(&image[g.begin]), g.end - g.begin);
    if (g.seen.insert(std::hash<std::string_view>{}(text)).second) g.choices.push_back(c);
  };
  while (g.choices.size() <= i && !g.over) {
    pool::cell_set unknown;
    if (g.hopeless || g.tried >= most || !next_set(g, unknown)) g.over = true;
    // The unchanged bytes come second.
    ++g.tried;
    if (g.tried == 2 || (g.over && g.tried < 2)) note({});
    if (!g.over) note({true, unknown});
  }
  return i < g.choices.size();
}

// Tries one choice for each segment.
bool erasure_search::try_these(const std::vector<choice>& chosen, bytes& image) {
  image = kept_;
  const auto apply = [&](size_t k) {
    const segment& g = segments_[k];
    if (chosen[k].decoded) decode(g, chosen[k].unknown, g.begin, g.end, image);
  };
  size_t k = 0;
  if (segments_[0].has_header()) apply(k++);
  const uint32_t n = covered(image);
  if (n == pool::not_covered) return false;
  for (; k < segments_.size() && segments_[k].begin < header_end + n; ++k) apply(k);
  ++attempts_;
  return image_valid(s_, f_, image);
}

bool erasure_search::try_choices(const std::vector<size_t>& which, bytes& image) {
  std::vector<choice> chosen;
  for (size_t k = 0; k < segments_.size(); ++k) chosen.push_back(segments_[k].choices[which[k]]);
  return try_these(chosen, image);
}

// Tries one set for all segments.
bool erasure_search::try_alike(std::vector<choice>& chosen, bytes& image) {
  chosen.resize(segments_.size());
  for (size_t i = 0; has_choice(segments_[0], i) && !over(); ++i) {
    const choice& c = segments_[0].choices[i];
    if (!c.decoded) continue;
    bool fits = true;
    for (size_t k = 0; k < segments_.size(); ++k) {
      chosen[k] = c;
      fits = fits && c.unknown.has(areas_[segments_[k].in].cell.row) && !segments_[k].hopeless;
    }
    if (fits && try_these(chosen, image)) return true;
  }
  return false;
}

// Tries all choices of each segment in turn, with the first two of the others.
bool erasure_search::try_each_alone(std::vector<size_t>& which, bytes& image) {
  bool any = true;
  for (size_t i = 0; any; ++i) {
    any = false;
    for (size_t turn = 0; turn < segments_.size(); ++turn) {
      if (over() || !has_choice(segments_[turn], i)) continue;
      any = true;
      if (i < 2 && turn != 0) continue;  // was among those of the first one
      for (uint32_t mask = 0; mask < 1u << segments_.size(); ++mask) {
        bool there = (mask >> turn & 1) == 0;
        for (size_t k = 0; k < segments_.size() && there; ++k) {
          which[k] = k == turn ? i : mask >> k & 1;
          there = has_choice(segments_[k], which[k]);
        }
        if (there && try_choices(which, image)) return true;
      }
    }
  }
  return false;
}

// Tries all combinations, by the highest number of a choice.
bool erasure_search::try_all(std::vector<size_t>& which, bytes& image) {
  std::vector<size_t> most(segments_.size());
  for (size_t shell = 2; !over(); ++shell) {
    bool any = false;
    for (size_t k = 0; k < segments_.size(); ++k) {
      any = has_choice(segments_[k], shell) || any;
      most[k] = std::min(shell, segments_[k].choices.size() - 1);
    }
    if (!any) return false;
    std::fill(which.begin(), which.end(), 0);
    for (bool more = true; more && !over();) {
      ++rounds_;
      if (*std::max_element(which.begin(), which.end()) == shell && try_choices(which, image))
        return true;
      more = false;
      for (size_t k = 0; k < which.size() && !more; ++k) {
        more = which[k] < most[k];
        which[k] = more ? which[k] + 1 : 0;
      }
    }
  }
  return false;
}

bool erasure_search::find(bytes& image, uint64_t attempts) {
  if (segments_.empty() || s_.geo.parity < 2) return false;
  limit_ = attempts;
  attempts_ = rounds_ = 0;
  for (segment& g : segments_)
    if (!has_choice(g, 0)) return false;
  std::vector<choice> chosen(segments_.size());
  std::vector<size_t> which(segments_.size());
  limit_ = attempts / 2;
  const bool alike = segments_.size() > 1 && try_alike(chosen, image);
  limit_ = attempts;
  if (!alike) {
    if (!try_each_alone(which, image) && (segments_.size() == 1 || !try_all(which, image)))
      return false;
    for (size_t k = 0; k < segments_.size(); ++k) chosen[k] = segments_[k].choices[which[k]];
  }
  for (size_t k = 0; k < segments_.size() && hints_ != nullptr; ++k) {
    const pool::cell& at = areas_[segments_[k].in].cell;
    if (chosen[k].decoded)
      hints_->add(at.zone, round_down(at.column, format::page), chosen[k].unknown);
  }
  return true;
}

bool erasure_search::find_other(bytes& image) {
  if (segments_.empty() || !segments_[0].has_header() || s_.geo.parity < 2) return false;
  limit_ = attempts_max;
  attempts_ = rounds_ = 0;
  for (segment& g : segments_)
    if (!has_choice(g, 0)) return false;
  segment& head = segments_[0];
  bytes header = kept_;
  for (size_t i = 0; !over() && has_choice(head, i); ++i) {
    const choice c = head.choices[i];
    if (!c.decoded) continue;
    decode(head, c.unknown, head.begin, std::min(head.end, header_end), header);
    if (std::memcmp(header.data(), kept_.data(), header_end) == 0) return false;
    // First the payload with the same set. Then the likely choices for each of its segments; one of
    // these is to leave it (its object was freed).
    bool fits = true;
    for (const segment& g : segments_)
      fits = fits && c.unknown.has(areas_[g.in].cell.row) && !g.hopeless;
    if (fits && try_these(std::vector<choice>(segments_.size(), c), image)) return true;
    std::vector<size_t> which(segments_.size());
    which[0] = i;
    for (bool more = true; more && !over();) {
      if (try_choices(which, image)) return true;
      more = false;
      for (size_t k = 1; k < which.size() && !more; ++k) {
        more = which[k] + 1 < others_max && has_choice(segments_[k], which[k] + 1);
        which[k] = more ? which[k] + 1 : 0;
      }
    }
  }
  return false;
}

bool erasure_search::learn() {
  if (hints_ == nullptr || segments_.size() < 2) return false;
  bool fresh = false, any = false;
  const uint64_t repairs = s_.repaired.load(std::memory_order_relaxed);
  for (const segment& g : segments_) {
    const pool::cell& at = areas_[g.in].cell;
    if (g.hopeless || g.scattered) return false;
    fresh = hints_->worth_learning(at.zone, round_down(at.column, format::page), repairs) || fresh;
  }
  if (!fresh) return false;
  // Takes some of each block: the list is in the order of blocks.
  const size_t step = neighbours_.size() / neighbours_max + 1;
  for (size_t i = 0; i < neighbours_.size(); i += step) {
    const pool::fragment& f = neighbours_[i];
    bytes image;
    any = erasure_search(s_, f, hints_, in_doubt_).find(image, attempts_max / 4) || any;
  }
  return any;
}

bool find_erasures(pool::state& s, const pool::fragment& f, pool::erasure_hints* hints,
                   std::vector<std::byte>& image, const erasure_search::doubt& in_doubt) {
  if (s.geo.parity < 2) return false;
  erasure_search search(s, f, hints, in_doubt);
  return search.find(image) ||
         (search.learn() && erasure_search(s, f, hints, in_doubt).find(image));
}

}  // namespace scute::core::repair
